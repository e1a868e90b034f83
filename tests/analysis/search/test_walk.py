"""Every step of an algorithm on one input, and what it loses of the exact result."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcsmt.analysis.error import exact_dot
from tcsmt.analysis.search.search import random_rows
from tcsmt.analysis.search.walk import walk
from tcsmt.compose.recipes import algorithm_named
from tcsmt.matrix_units.arithmetic.formats import FORMATS
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
            for move in walk(algorithm, values):
                if move.kind != "split":
                    assert move.lost is not None
                    lost += move.lost / 2 ** shifts.get(move.name, 0)
            assert exact_dot(values) - Fraction(float(results[row])) == lost
