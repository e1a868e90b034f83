"""What a stranger's word is on the way to: offered where it is there, and worth what it says."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, total, umax, var
from tcsmt.prove.engine.partial_results import PartialSums, extended_number, maximum

X, Y, Z = (var(name, 8) for name in "xyz")
SUM = total(X.sext(11), Y.sext(11), Z.sext(11))


def same(one: Term, two: Term, seed: int = 0) -> bool:
    rng = Random(seed)
    rows = [
        {name: rng.choice((0, 1, 127, 128, 255, rng.randrange(256))) for name in "xyz"} for _ in range(300)
    ]
    return all(left == right for left, right in (evaluate([one, two], row) for row in rows))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X.ult(Y).ite(Y, X), umax(X, Y)),
        (X.zext(12).ult(Y.zext(12)).ite(Y.zext(12), X.zext(12)), umax(X, Y).zext(12)),
        (
            X.zext(12).ult(umax(Y, Z).zext(12)).ite(umax(Y, Z).zext(12), X.zext(12)),
            umax(X, umax(Y, Z)).zext(12),
        ),
        (X[3:0].zext(12).ult(Y.zext(12)).ite(Y.zext(12), X[3:0].zext(12)), umax(X[3:0].zext(8), Y).zext(12)),
        (X.ult(Y).ite(X, Y), None),  # the smaller one
        (X.slt(Y).ite(Y, X), None),
        (X.ult(Z).ite(Y, X), None),
    ],
)
def test_maximum(node: Term, expected: Term | None) -> None:
    assert maximum(node) is expected
    assert expected is None or same(node, expected)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X.zext(12) ^ 128, X.sext(12) + 128),
        (SUM[7:0].zext(20) ^ 128, SUM[7:0].sext(20) + 128),
        (X.zext(12) ^ 64, None),
        (X.zext(12) ^ Y.zext(12), None),
        (X ^ 128, None),
    ],
)
def test_extended_number(node: Term, expected: Term | None) -> None:
    assert extended_number(node) is expected
    assert expected is None or same(node, expected)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X.sext(16) + Z.sext(16), (X.sext(11) + Z.sext(11)).sext(16)),
        (X.sext(9) + Z.sext(9), (X.sext(11) + Z.sext(11))[8:0]),
        (
            (X.sext(11) + Z.sext(11)).sext(16) + Y.sext(16),
            total(X.sext(11) + Z.sext(11), Y.sext(11)).sext(16),
        ),
        ((X.sext(11) + Y.sext(11))[8:0].sext(16), (X.sext(11) + Y.sext(11)).sext(16)),
        (X.sext(16) + X.sext(16), None),  # there is one of it
        (X.sext(16) + const(3, 16), None),
        ((X & Y).sext(16) + Z.sext(16), None),
        (X.sext(16) - Z.sext(16), None),
    ],
)
def test_sums(node: Term, expected: Term | None) -> None:
    sums = PartialSums()
    sums.add([X, X.sext(11), X + Y, SUM])
    assert sums.of(node) is expected
    assert expected is None or same(node, expected)


def test_a_sum_is_found_as_it_grows() -> None:
    """Two words at a time, wider than they need be, in another order: the sum of all in the end."""
    words = [var(f"w{place}", 6) for place in range(7)]
    whole = total(*(word.sext(9) for word in words))
    sums = PartialSums()
    sums.add([whole])
    stranger = words[3].sext(32)
    for place in (5, 0, 1, 6, 2, 4):
        step = sums.of(stranger + words[place].sext(32))
        assert step is not None and step.width == 32
        assert step.op == "sext" and step.args[0].op == "add" and step.args[0].width == 9
        stranger = step
    rng = Random(1)
    for _ in range(100):
        one, two = evaluate(
            [stranger, whole.sext(32)], {f"w{place}": rng.randrange(64) for place in range(7)}
        )
        assert one == two
