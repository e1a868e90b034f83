"""Tables of narrow numbers, against the dtypes' own conversions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Specials
from tcsmt.programs.quantisation.narrow import narrowed, wide

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
}


def words_of_every_kind() -> Array:
    """Each sign, exponent and front of a fraction, with what is below them, and the ends of that; others."""
    fronts = np.arange(1 << 14, dtype=np.uint32) << np.uint32(18)
    rest = np.array([0, 1, (1 << 18) - 1], np.uint32)
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, dtype=np.uint32)
    return np.concatenate([(fronts[:, None] | rest).ravel(), random])


@pytest.mark.parametrize("name", DTYPES)
def test_numbers_are_rounded_as_the_dtype_rounds_them(name: str) -> None:
    values = words_of_every_kind().view(np.float32).reshape(-1, 2)
    dtype, most = np.dtype(DTYPES[name]), float(FORMATS[name].largest_finite)
    result = narrowed(values, FORMATS[name])
    assert result.dtype == dtype and result.shape == values.shape
    with np.errstate(all="ignore"):
        expected = np.clip(values, -most, most).astype(dtype)
    told = ~np.isnan(values) | (FORMATS[name].specials is not Specials.NONE)
    np.testing.assert_array_equal(result.view(np.uint8)[told], expected.view(np.uint8)[told])


def test_a_nan_in_e2m1_is_what_torchao_makes_of_it() -> None:
    """In integers: bit 22 is rounded to even, 126 is taken from the exponent, three bits are kept."""
    words = words_of_every_kind()
    words = words[np.isnan(words.view(np.float32))]
    expected = []
    for word in map(int, words):
        size = word & 0x7FFFFFFF
        code = size - (126 << 23) + (1 << 21) - 1 + (size >> 22 & 1) >> 22 & 7
        expected.append(code | word >> 31 << 3)
    assert narrowed(words.view(np.float32), FORMATS["e2m1"]).view(np.uint8).tolist() == expected
    assert set(expected) == {2, 3, 4, 10, 11, 12}


@pytest.mark.parametrize("dtype", [*DTYPES.values(), ml_dtypes.bfloat16, np.float16, np.float32])
def test_numbers_in_binary64(dtype: type) -> None:
    with np.errstate(all="ignore"):
        values: Array = words_of_every_kind().view(np.float32).astype(dtype).reshape(-1, 4)
        np.testing.assert_array_equal(wide(values), values.astype(np.float64))
        np.testing.assert_array_equal(wide(values.T[:, ::2]), values.T[:, ::2].astype(np.float64))


def test_a_wider_format_has_no_table() -> None:
    with pytest.raises(ValueError, match="bf16"):
        narrowed(np.ones(3, np.float32), FORMATS["bf16"])
