"""Matrix instructions: names, and where the ISA's tables put their elements."""

from __future__ import annotations

import pytest

from tcsmt.interop.compiled.matrix_forms import MATRIX_FORMS, Fragments, shape_of
from tcsmt.interop.hardware.instructions import warp_tile
from tcsmt.matrix_units.catalogue import rows
from tests.oracles import fragments


@pytest.mark.parametrize("name", MATRIX_FORMS)
def test_elements_are_where_the_isa_says(name: str) -> None:
    unit = MATRIX_FORMS[name]
    (row,) = (row for row in rows("ada", claims=False) if row.instruction == unit)
    model = row.model
    m, k = shape_of(unit)
    assert (m, k) == (16, model.k)
    formats = model.a_format, model.b_format, model.c_format, model.d_format
    found = Fragments(unit, warp_tile(m, k, formats, dense=False))
    for operand, places in fragments.places("ada", unit, model).items():
        expected = {(at, column): (lane, element) for (lane, element), (_, at, column) in places.items()}
        assert found.places[operand] == expected
    assert found.registers("D") == 4 * model.d_format.width // 32
