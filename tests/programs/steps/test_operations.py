"""Scaled sums as terms, against fractions in three roundings."""

from __future__ import annotations

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.operations import multiply_add, scaled_sum
from tests.oracles.rationals import rounded

F32 = FORMATS["f32"]
WORDS = (0x3F800000, 0xBF800001, 0x00000001, 0x80800000, 0x4B7FFFFF, 0x33000000, 0xB3000001, 0x7E7FFFFF)


@pytest.mark.parametrize("name", ["RNE", "RTZ", "RNA"])
@pytest.mark.parametrize("shift", [0, 11])
def test_scaled_sums(name: str, shift: int) -> None:
    x, y = var("x", 32), var("y", 32)
    word = scaled_sum(F32, x, shift, y, ROUNDINGS[name], F32.nan_word or 0).word()
    for first in WORDS:
        for second in WORDS:
            exact = F32.value(first) / 2**shift + F32.value(second)
            (found,) = evaluate([word], {"x": first, "y": second})
            assert F32.value(found) == rounded(exact, 24, -126, name), (hex(first), hex(second))


def test_a_nan_has_the_word_that_is_asked_for() -> None:
    x, y = var("x", 32), var("y", 32)
    for name in ("RNE", "RTZ"):
        word = scaled_sum(F32, x, 0, y, ROUNDINGS[name], 0x7FFFFFFF).word()
        assert list(evaluate([word], {"x": 0x7F800000, "y": 0xFF800000})) == [0x7FFFFFFF]
    assert multiply_add(F32) == multiply_add(F32, F32.nan_word) != multiply_add(F32, 0x7FFFFFFF)
