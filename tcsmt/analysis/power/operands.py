"""Operands of tests by name and seed, those that people draw and those that tell kernels apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import converted, floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import from_words, unsigned
from tcsmt.support.errors import choose

Array = np.ndarray[Any, np.dtype[Any]]


def _mixed(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Magnitudes over 2^±6, so that small terms lie far below large ones."""
    return rng.standard_normal(shape) * np.exp2(rng.integers(-6, 7, shape))


def _few(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Small integers, of which every partial sum is exact: what is left out shows as a whole number."""
    return rng.integers(-3, 4, shape).astype(float)


def _structured(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Numbers of their place: no two rows, columns or k are alike, and none is small."""
    rows, columns = np.indices(shape)
    return 1 + ((7 * rows + 3 * columns) % 13) / 8 + (rows * columns % 5) / 4


def _cancelling(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Large numbers in pairs of opposite sign beside small ones: what rounds partial sums loses the rest."""
    x = rng.standard_normal(shape)
    along = x.shape[1] if x.shape[0] <= x.shape[1] else 0
    x[0] = np.where(np.arange(shape[1]) % 2, -96.0, 96.0) if along else x[0]
    return x


def _special(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Normal numbers, with a NaN in the first row."""
    x = rng.standard_normal(shape)
    x[0, 0] = np.nan
    return x


#: By name: what is drawn, before it is rounded to the operands' format.
GENERATORS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "symmetric": lambda rng, shape: rng.uniform(-1, 1, shape),
    "ones": lambda rng, shape: np.ones(shape),
    "few": _few,
    "structured": _structured,
    "mixed": _mixed,
    "cancelling": _cancelling,
    "nan": _special,
}


def drawn(name: str, formats: tuple[Format, Format], shape: tuple[int, int, int], seed: int) -> list[Array]:
    """Return A (M, K) and B (K, N) of a generator, of their formats' dtypes.

    shape: M, N and K. A subnormal number stands in the last row and column of ``mixed``. Raises
    :class:`.UnknownName`.
    """
    make = GENERATORS[choose("generator", name, GENERATORS)]
    (m, n, k), rng = shape, np.random.default_rng(seed)
    a, b = make(rng, (m, k)), make(rng, (k, n)) if name != "nan" else rng.standard_normal((k, n))
    if name == "mixed":
        smallest = [float(2.0 ** (fmt.e_min - 1)) for fmt in formats]
        a[-1], b[:, -1] = smallest[0], rng.standard_normal(k)
    return [rounded(fmt, x) for fmt, x in zip(formats, (a, b), strict=True)]


def rounded(fmt: Format, values: Array) -> Array:
    """Return numbers in a format's dtype, to nearest even; beyond its end, its last number."""
    x = np.ascontiguousarray(values, np.float64)
    end = float(fmt.largest_finite)
    x = np.where(np.isnan(x), x, np.clip(x, -end if fmt.signed else 0.0, end))
    words = converted(x.view(np.uint64), FORMATS["f64"], fmt, ROUNDINGS["RNE"]).words
    return from_words(fmt, words.astype(unsigned(fmt)))


def values_in(fmt: Format, values: Array) -> Array:
    """Return numbers rounded to a format, in float64; beyond its end as IEEE 754 says."""
    x = np.ascontiguousarray(values, np.float64)
    words = converted(x.view(np.uint64), FORMATS["f64"], fmt, ROUNDINGS["RNE"]).words
    return floats(fmt, words)
