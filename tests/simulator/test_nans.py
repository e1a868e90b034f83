"""Units whose NaNs follow a rule: only results that are NaNs are worth the rule's operations."""

from __future__ import annotations

import numpy as np
import pytest

import tcsmt
from tcsmt.catalogue import row_named
from tcsmt.interpret.arrays import Program
from tcsmt.models import Model, Operands
from tcsmt.simulator.rows import Words, run_words, with_one_nan
from tcsmt.survey.check import edges

F64 = "hopper/mma.m8n8k4.f64.f64.f64.f64"


def by_graph(model: Model, words: Words) -> np.ndarray:
    """Every operation of the unit's graph, on every row."""
    lanes = words.map(lambda part: np.moveaxis(part, -1, 0) if part.ndim > 1 else part).flat()
    found: np.ndarray = Program([model.trace.output]).run(dict(zip(model.input_names, lanes, strict=True)))[0]
    return found


@pytest.mark.parametrize("unit", [F64, "x86/vdpbf16ps"])
def test_rows_with_nans_among_them(unit: str) -> None:
    row = row_named(unit)
    words = edges(row, 5, 600).inputs
    expected = by_graph(row.model, words)
    assert (run_words(row.model, words) == expected).all()
    is_nan = [row.model.d_format.is_nan(int(word)) for word in expected]
    assert any(is_nan) and not all(is_nan)
    assert len(set(expected[is_nan].tolist())) > 2
    assert (with_one_nan(row.model) is None) == (unit != F64)


def test_a_product_of_matrices_with_nans() -> None:
    """Each element is a chain of instructions, whose NaNs go on to the next one."""
    model = row_named(F64).model
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((5, 10)), rng.standard_normal((10, 6))
    a.view(np.uint64)[1, 2] = 0x7FF0000000000123
    b.view(np.uint64)[7, 3] = 0xFFF8000000000456
    a[2, 9], b[9, 4] = np.inf, 0.0
    d = tcsmt.gemm(a, b, unit=F64).view(np.uint64)
    left, right = np.zeros((5, 12)), np.zeros((12, 6))
    left[:, :10], right[:10] = a, b
    rows, columns = np.divmod(np.arange(30), 6)
    x, y = left.view(np.uint64)[rows], np.ascontiguousarray(right.T).view(np.uint64)[columns]
    words = np.zeros(30, np.uint64)
    for first in range(0, 12, 4):
        lanes = slice(first, first + 4)
        words = by_graph(model, Operands(x[:, lanes], y[:, lanes], words)).astype(np.uint64)
    assert (d[rows, columns] == words).all()
    assert np.isnan(d.view(np.float64)).sum() == 6 + 5 - 1 + 1
