"""Chains of a text: which lanes an instruction takes, in which order, and what a chain does not take."""

from __future__ import annotations

import re

import pytest

from tcsmt.support.errors import TcsmtError
from tests.support.program_texts import H100, written


def test_orders_of_lanes_tails_and_groups() -> None:
    """K in another order inside a block, a tail that is never added, and the shorter block first."""
    order = "0 1 4 5 8 9 12 13 2 3 6 7 10 11 14 15"
    program = written(
        f"x = convert(A, f16)\ny = convert(B, f16)\nd = chain({H100}, x·y over permuted(K, {order}), c)",
        40, "e4m3",
    )  # fmt: skip
    (run,) = program.chains[0].how["runs"]
    wanted = [base + int(n) for base in (0, 16, 32) for n in order.split() if base + int(n) < 40]
    assert run.indices.tolist() == wanted
    (run,) = written(f"d = chain({H100}, A·B over K[:50], +0)").chains[0].how["runs"]
    assert run.indices.tolist() == [*range(50)]
    runs = written(f"d = chain({H100}, A·B over blocks(K, 24, rest=first), c)").chains[0].how["runs"]
    assert [run.indices.tolist() for run in runs] == [[*range(16)], [*range(16, 40)], [*range(40, 64)]]
    runs = written(f"d = chain({H100}, A·B over K[5 3]; A·B over K[60:], -0)").chains[0].how["runs"]
    assert [run.indices.tolist() for run in runs] == [[5, 3], [60, 61, 62, 63]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("d = chain(UNIT, A·C over K)", "'C' is no operand"),
        ("d = chain(UNIT, B·A over K)", "A's and B's, in this order"),
        ("d = chain(UNIT, A·B over L)", "'L' is no part of K"),
        ("d = chain(UNIT, A·B over K[64:])", "empty at K = 64"),
        ("d = chain(UNIT, A·B over K[64])", "place 64 of 64"),
        (
            "A0, A1 = split(A, f16, 2)\nB0, B1 = split(B, f16, 2)\nd = chain(UNIT, A0·B0 over K, A1)",
            "a number of the element",
        ),
        ("d = chain(UNIT, A B over K)", "X·Y"),
        ("d = chain(UNIT, A·B under K)", "expected over"),
        (
            "A0, A1 = split(A, f16, 2)\nB0, B1 = split(B, f16, 2)\nd = chain(UNIT, A0·B0, A·B over K)",
            "one left and one right",
        ),
        ("B0, B1 = split(B, f16, 2)\nd = chain(UNIT, A·B0 over K)", "cut both operands"),
        ("A0, A1 = split(A, f16, 2)\nd = chain(UNIT, A0·B, A1·B over K)", "cut both operands"),
        ("x = convert(A, bf16)\nd = chain(UNIT, x·B over K)", "takes f16 words, not bf16"),
        ("d = chain(UNIT, A·B scaled c·c over K)", "no scales of blocks"),
        ("x = 1:f16\nd = chain(UNIT, A·B over K, x)", "a c in f32, not in f16"),
    ],
)
def test_what_a_chain_does_not_take(text: str, why: str) -> None:
    with pytest.raises(TcsmtError, match=re.escape(why)):
        written(text.replace("UNIT", H100))
