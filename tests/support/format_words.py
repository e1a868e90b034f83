"""Words of formats on which what is read, rounded and written is tried, and what peers make of them."""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format

Array = np.ndarray[Any, np.dtype[Any]]


DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "f32": np.float32,
        "f64": np.float64,
        "e5m2": ml_dtypes.float8_e5m2,
        "e4m3": ml_dtypes.float8_e4m3fn,
        "e3m2": ml_dtypes.float6_e3m2fn,
        "e2m3": ml_dtypes.float6_e2m3fn,
        "e2m1": ml_dtypes.float4_e2m1fn,
        "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
        "ue8m0": ml_dtypes.float8_e8m0fnu,
    }.items()
}


SMALL = [name for name, fmt in FORMATS.items() if fmt.width <= 16]


WITH_INFINITY = [name for name, fmt in FORMATS.items() if fmt.has_infinity]


FINITE_ONLY = [name for name, fmt in FORMATS.items() if not fmt.has_infinity]


ORACLE_NAME = {"ue8m0": "e8m0"}


def stored(fmt: Format) -> np.dtype[Any]:
    """The unsigned dtype of the format's storage."""
    size = next(size for size in (8, 16, 32, 64) if fmt.width <= size)
    return np.dtype(f"uint{size}")


def boundaries(fmt: Format) -> list[int]:
    """Words around every change of kind and binade edge at the ends of the range, both signs."""
    low = fmt.ignored_low_bits
    one = 1 << low
    normal = 1 << (fmt.fraction_bits + low)
    middle = (1 << (fmt.exponent_bits - 1)) * normal
    centres = [0, normal, 2 * normal, middle, fmt.largest_finite_word, fmt.infinity_word]
    words = {(c + d * one) % (1 << fmt.width) for c in centres for d in range(-2, 3)}
    ones = (1 << fmt.width) - 1
    words |= {word ^ (1 << fmt.sign_bit) for word in words} | {ones, ones >> 1}
    return sorted(words)


def sample(fmt: Format, count: int = 500) -> Array:
    """Every word of a narrow format; boundaries and random words of a wide one."""
    if fmt.width <= 16:
        return np.arange(1 << fmt.width, dtype=stored(fmt))
    rng = random.Random(fmt.name)
    words = boundaries(fmt) + [rng.getrandbits(fmt.width) for _ in range(count)]
    return np.array(words, dtype=stored(fmt))


def peer_values(fmt: Format, words: Array) -> Array:
    """The words' values as ml_dtypes or NumPy reads them, in float64 (exact)."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return words.view(DTYPES[fmt.name]).astype(np.float64)
