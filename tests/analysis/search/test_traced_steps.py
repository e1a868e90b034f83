"""Every step of an algorithm on one input, and what it loses of the exact result."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.error import exact_dot
from tcsmt.analysis.search.search import random_rows
from tcsmt.analysis.search.traced_steps import trace_steps
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import algorithm_named
from tcsmt.prove.statements.domain import Domain

F32 = FORMATS["f32"]


def test_walk_accounts_for_the_whole_error() -> None:
    """What the steps after the split lose, and what no step adds, is the error."""
    for name in ("ootomo-halfhalf-4", "markidis"):
        algorithm, _ = algorithm_named(name, "ampere", 2)
        rows = random_rows(
            Domain(exponents=(0, 14), bits=(22, 22)), FORMATS["f32"], 2, 12, np.random.default_rng(2)
        )
        results = rows.run(algorithm)
        for row in range(len(rows)):
            values = rows.values(row)
            lost = Fraction(0)
            shifts = {
                f"A{i}·B{j}, lanes {p.start} to {p.stop - 1}": shift
                for shift, steps in algorithm.chains(2) for i, j, p in steps
            }  # fmt: skip
            for move in trace_steps(algorithm, values):
                if move.kind != "split":
                    assert move.lost is not None
                    lost += move.lost / 2 ** shifts.get(move.name, 0)
            assert exact_dot(values) - Fraction(float(results[row])) == lost


@pytest.mark.parametrize("c_enters", ["first", "last", "unit"])
@pytest.mark.parametrize("compensated", ["kahan", "two-sum"])
def test_what_a_compensated_sum_still_holds_is_not_lost(compensated: str, c_enters: str) -> None:
    """What the steps lose is the error; numbers of 8 bits are single bf16 words, and lose nothing before."""
    name = f"single-bf16,every=instruction,c={c_enters},compensated={compensated}"
    algorithm, _ = algorithm_named(name, "ampere/mma.m16n8k8.f32.bf16.bf16.f32", 20)
    rows = random_rows(Domain(exponents=(-4, 4), bits=(8, 8)), F32, 20, 6, np.random.default_rng(2))
    results = rows.run(algorithm)
    for row in range(len(rows)):
        values = rows.values(row)
        lost = Fraction(0)
        for move in trace_steps(algorithm, values):
            assert move.lost is not None
            lost += move.lost
        assert exact_dot(values) - Fraction(float(results[row])) == lost
