"""Words put together again, held against their values."""

from __future__ import annotations

from itertools import product

import pytest

from tcsmt.language.read.joining import chosen, joined, summed
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import FALSE, TRUE, Term, const, total, umax, var

X, Y = var("x", 5), var("y", 3)


def test_joined_parts_of_a_word_are_the_word() -> None:
    assert joined(X[4:2], X[1:0]) is X
    assert joined(X[3:2], joined(X[1], X[0])) is X[3:0]
    assert joined(X[4], X) is X.sext(6)
    assert joined(X[4], X.sext(7)) is X.sext(8)


def test_sums_and_maxima_of_all_their_words() -> None:
    z = var("z", 5)
    assert summed(X + z, X, alone=(True, True)) is total(X, z, X)
    assert summed(X + z, X, alone=(False, True)) is (X + z) + X
    assert summed(X + z, const(1, 5), alone=(True, True)) is (X + z) + 1
    with pytest.raises(ValueError, match="widths 5 and 3 differ"):
        summed(X, Y, alone=(True, True))
    largest = umax(X, z)
    assert chosen(X.ult(z), z, X) is chosen(X.ule(z), z, X) is chosen(~X.ult(z), X, z) is largest
    assert chosen(largest.ult(z), z, largest) is largest
    assert chosen(X.ult(z), X, z).op == "ite"


def test_values() -> None:
    pairs = [
        (X[4:2], X[1:0]),
        (X[4], X),
        (X[2], X),
        (X[4:3], X[1:0].concat(Y)),
        (Y, X),
        (X[4:3], X[2].concat(Y)),
        (const(0, 2), X.concat(const(0, 2))),
        (X.zext(7), Y.concat(X)),
        (X[2:0], const(0, 2)),
        (X[2:1], const(0, 3)),
        (X[1].concat(Y), X[0].concat(const(0, 2))),
    ]
    whole = [joined(high, low) for high, low in pairs]
    for x, y in product(range(32), range(8)):
        given = {"x": x, "y": y}
        found = evaluate(whole, given)
        for (high, low), word in zip(pairs, found, strict=True):
            one, two = evaluate([high, low], given)
            assert word == one << low.width | two


def test_values_of_choices_and_sums() -> None:
    top = X[4]
    parts: list[tuple[Term, Term]] = [
        (chosen(top, word, other), top.ite(word, other))
        for word, other in product((X, TRUE.concat(X[3:0]), FALSE.concat(X[3:0]), Y.zext(5)), repeat=2)
    ]
    parts += [(chosen(x.ult(y), *words), x.ult(y).ite(*words)) for x, y, words in _orders(X, Y.zext(5))]
    parts += [(summed(X + Y.zext(5), X, alone=(True, True)), X + Y.zext(5) + X)]
    for x, y in product(range(32), range(8)):
        row = {"x": x, "y": y}
        for ours, theirs in parts:
            assert evaluate([ours], row) == evaluate([theirs], row)


def _orders(x: Term, y: Term) -> list[tuple[Term, Term, tuple[Term, Term]]]:
    return [(*pair, words) for pair in ((x, y), (y, x)) for words in ((x, y), (y, x))]
