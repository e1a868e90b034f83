"""Chains of IEEE operations as units: what they compute, by NumPy and exact fractions, and their names."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.models import Operands
from tcsmt.programs.kernels.units import ARCHITECTURE, ieee_rows, ieee_unit, units_for
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import UnknownName
from tests.oracles.tiny import described


def test_names() -> None:
    names = [row.name for row in ieee_rows()]
    assert len(set(names)) == len(names) == 9
    assert {"ieee/fma.f32", "ieee/fma.f64", "ieee/mul-add.f32", "ieee/fma.f32.bf16"} <= set(names)
    assert all(row.architecture == ARCHITECTURE for row in ieee_rows())
    assert [ieee_unit(name).name for name in names] == names
    with pytest.raises(UnknownName, match=r"unknown unit 'ieee/fma.f23': did you mean ieee/fma.f32"):
        ieee_unit("ieee/fma.f23")


@pytest.mark.parametrize("name", ["ieee/mul-add.f32", "ieee/mul-add.f64"])
def test_rounded_products_are_numpys(name: str) -> None:
    model = ieee_unit(name).model
    dtype = {32: np.float32, 64: np.float64}[model.d_format.width]
    rng = np.random.default_rng(1)
    a, b, c = ((rng.standard_normal(500) * 2.0 ** rng.integers(-20, 20, 500)).astype(dtype) for _ in range(3))
    words = Operands(*(side.view(f"u{side.itemsize}") for side in (a[:, None], b[:, None], c)))
    assert run_words(model, words).tolist() == (a * b + c).view(f"u{c.itemsize}").tolist()


@pytest.mark.parametrize("name", [row.name for row in ieee_rows() if "mul" not in row.name])
def test_fused_ones_round_once(name: str) -> None:
    """To the nearest number by exact fractions, of operands whose product is longer than the result."""
    model = ieee_unit(name).model
    fmt, operand = model.d_format, float_format(model.a_format)
    rng = np.random.default_rng(2)
    for _ in range(40):
        x, y = (
            Fraction(int(rng.integers(1, 8 << operand.fraction_bits)), 1 << operand.fraction_bits)
            for _ in "ab"
        )
        a, b = operand.word(operand.value(operand.nearest_word(x))), operand.nearest_word(y)
        c = fmt.nearest_word(-operand.value(a) * operand.value(b))
        (found,) = run_words(model, Operands(np.array([[a]]), np.array([[b]]), np.array([c])))
        exact = operand.value(a) * operand.value(b) + fmt.value(c)
        assert fmt.value(int(found)) == fmt.value(fmt.nearest_word(exact)) if exact else int(found) == 0


def test_units_for_operands() -> None:
    """Those of IEEE operations first; each function once, with all its names; none with block scales."""
    half = FORMATS["f16"]
    found = units_for(half, half)
    assert found[0][0].name == "ieee/fma.f32.f16"
    assert all((row.model.a_format, row.model.b_format) == (half, half) for some in found for row in some)
    digests = [some[0].model.digest for some in found]
    assert len(set(digests)) == len(digests)
    assert all(row.model.digest == some[0].model.digest for some in found for row in some)
    assert any(len(some) > 1 for some in found)
    fp4 = FORMATS["e2m1"]
    assert not any(row.model.scale_format for some in units_for(fp4, fp4) for row in some)
    assert units_for(described(exponent_bits=2, fraction_bits=1, bias=1), half) == []
