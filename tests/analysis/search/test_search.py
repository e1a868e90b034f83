"""Errors as binary64 numbers follow the exact ones."""

import numpy as np
import pytest

from tcsmt.analysis.search.bound import extreme
from tcsmt.analysis.search.search import errors, random_rows
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import algorithm_named

F32 = FORMATS["f32"]


def test_ranking_by_binary64_follows_fractions() -> None:
    algorithm, _ = algorithm_named("markidis", "volta", 4)
    rows = random_rows(TYPE1, F32, 4, 100, np.random.default_rng(9))
    (wrong,), size, _ = errors(rows, rows.run(algorithm))
    for row in range(len(rows)):
        found = extreme(algorithm, rows.values(row))
        assert found.error is not None
        assert float(found.error) == pytest.approx(wrong[row], rel=1e-9, abs=2.0**-80)
        assert float(abs(found.exact)) == pytest.approx(size[row], rel=1e-12)
