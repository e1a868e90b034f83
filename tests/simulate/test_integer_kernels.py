"""Kernels of a model's own graph: vectors with a NaN or an infinity among them."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.rows import _columns, _program

pytest.importorskip("llvmlite", reason="the extra `fast` is not installed")

from tcsmt.simulate.compiled import MachineCode


@pytest.mark.parametrize("place", [0, 31, 32, 63, None])
def test_one_special_row_in_a_vector(place: int | None) -> None:
    """The whole vector is computed once more, and all rows are right."""
    model = row_named("volta").model
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 0x7C00, (2, 64, model.k), dtype=np.uint16)
    c = rng.integers(0, 0x7F800000, 64, dtype=np.uint32)
    if place is not None:
        a[place, 1], b[place, 2] = 0x7C01, 0xFC00
    expected = _program(model).run(_columns(model, Operands(a, b, c)))[0]
    assert np.array_equal(MachineCode(model)._rows_by_integers.run([a, b, c]), expected)
