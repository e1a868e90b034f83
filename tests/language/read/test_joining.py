"""Words put together again, held against their values."""

from __future__ import annotations

from itertools import product

from tcsmt.language.read.joining import joined
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var

X, Y = var("x", 5), var("y", 3)


def test_joined_parts_of_a_word_are_the_word() -> None:
    assert joined(X[4:2], X[1:0]) is X
    assert joined(X[3:2], joined(X[1], X[0])) is X[3:0]
    assert joined(X[4], X) is X.sext(6)
    assert joined(X[4], X.sext(7)) is X.sext(8)


def test_values() -> None:
    pairs = [
        (X[4:2], X[1:0]),
        (X[4], X),
        (X[2], X),
        (X[4:3], X[1:0].concat(Y)),
        (Y, X),
        (X[4:3], X[2].concat(Y)),
    ]
    whole = [joined(high, low) for high, low in pairs]
    for x, y in product(range(32), range(8)):
        given = {"x": x, "y": y}
        found = evaluate(whole, given)
        for (high, low), word in zip(pairs, found, strict=True):
            one, two = evaluate([high, low], given)
            assert word == one << low.width | two
