"""AMD's matrix cores: words whose result is known from the sources."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import DotThenAdd, IeeeDotAdd, IntegerDotAdd
from tests.support.catalogue_words import result, word_of


def test_cdna3_rounds_the_papers_example_down() -> None:
    """2048·2048 - 2048·2048 - 10^-6 on CDNA3 gives -0.25 (MMA-Sim, V-C); the others give c."""
    small = -(2.0**-20)
    a, b = [2048.0, 2048.0], [2048.0, -2048.0]
    for types in ("f16", "bf16", "xf32"):
        assert result(
            f"cdna3/v_mfma_f32_{'32x32x4' if types == 'xf32' else '32x32x8'}_{types}", a, b, small
        ) == (Fraction(-1, 4))
    for exact in ("cdna1/v_mfma_f32_32x32x8f16", "cdna2/v_mfma_f32_32x32x8f16"):
        assert result(exact, a, b, small) == Fraction(small)


def test_cdna2_flushes_subnormal_numbers() -> None:
    """MMA-Sim, V-B: a subnormal FP16 operand is zero on CDNA2, and counts on CDNA1 and CDNA3."""
    tiny = 2.0**-20
    assert result("cdna2/v_mfma_f32_32x32x8f16", [tiny], [1.0], 0.0) == 0
    assert result("cdna1/v_mfma_f32_32x32x8f16", [tiny], [1.0], 0.0) == Fraction(tiny)
    assert result("cdna3/v_mfma_f32_32x32x8_f16", [tiny], [1.0], 0.0) == Fraction(tiny)


def test_kinds() -> None:
    """CDNA2 adds with IEEE operations; CDNA3 sums products, then adds c."""
    assert isinstance(row_named("mi300x").model, DotThenAdd)
    assert isinstance(row_named("mi250x").model, IeeeDotAdd)


@pytest.mark.parametrize("name", ["cdna1/v_mfma_i32_32x32x8i8", "cdna3/v_mfma_i32_16x16x32_i8"])
def test_integers_wrap(name: str) -> None:
    """(-128)^2 is 2^14: beside the largest c, bits are carried out of the word."""
    last = row_named(name).model.k - 1
    assert word_of(name, **{f"a{last}": 0x80, f"b{last}": 0x80}, c=0x7FFFFFFF) == 0x80003FFF
    assert word_of(name, a0=0x80, b0=0x7F) == (-128 * 127) % 2**32


def test_integer_rows_are_published_and_say_k() -> None:
    integers = [row for row in rows() if row.instruction.startswith("v_mfma_i32")]
    assert {row.architecture for row in integers} == {"cdna1", "cdna2", "cdna3"}
    for row in integers:
        model = row.model
        assert isinstance(model, IntegerDotAdd)
        assert (row.evidence, model.n_fma, model.overflow) == ("published", None, "wrap")
        assert f"x{model.k}" in row.instruction
