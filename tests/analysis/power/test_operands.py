"""Operands by name: of the format, the same ones for a seed, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.analysis.power.operands import GENERATORS, drawn
from tcsmt.matrix_units.arithmetic.formats import FORMATS


@pytest.mark.parametrize("name", GENERATORS)
def test_drawn(name: str) -> None:
    for form in ("bf16", "e4m3"):
        formats = FORMATS[form], FORMATS[form]
        a, b = drawn(name, formats, (5, 6, 32), 1)
        again, _ = drawn(name, formats, (5, 6, 32), 1)
        assert a.shape == (5, 32) and b.shape == (32, 6) and a.tobytes() == again.tobytes()
        assert np.isnan(a.astype(float)).any() == (name == "nan") and not np.isnan(b.astype(float)).any()


def test_mixed_operands_have_a_subnormal_number() -> None:
    a, _ = drawn("mixed", (FORMATS["f16"], FORMATS["f16"]), (4, 4, 16), 0)
    assert (np.abs(a.astype(float)) < 2.0**-14).any()
