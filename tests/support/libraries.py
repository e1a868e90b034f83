"""Fake libraries: functions that multiply matrices in known ways, for ``kernel tree`` to find out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tcsmt

Array = np.ndarray[Any, np.dtype[Any]]
Multiply = Callable[[Any, Any], Any]


def products(a: Any, b: Any, dtype: Any = np.float32) -> Array:
    """Each product, rounded to a dtype: (M, N, K)."""
    with np.errstate(all="ignore"):
        found: Array = a[:, None, :].astype(dtype) * b.T[None].astype(dtype)
    return found


def chain(terms: Array, dtype: Any = np.float32) -> Array:
    """Sums from the first term to the last, each rounded to a dtype."""
    with np.errstate(all="ignore"):
        total = terms[..., 0].astype(dtype)
        for number in range(1, terms.shape[-1]):
            total = (total + terms[..., number].astype(dtype)).astype(dtype)
    return total


def single(a: Any, b: Any) -> Any:
    """Products and sums in binary32."""
    return chain(products(a, b))


def backwards(a: Any, b: Any) -> Any:
    """From the last product to the first."""
    return chain(products(a, b)[..., ::-1])


def double(a: Any, b: Any) -> Any:
    """Products and sums in binary64."""
    return chain(products(a, b, np.float64), np.float64).astype(np.float32)


def double_sums(a: Any, b: Any) -> Any:
    """Products in binary32, sums in binary64."""
    return chain(products(a, b), np.float64).astype(np.float32)


def fused(a: Any, b: Any) -> Any:
    """Fused multiply-adds in binary32."""
    return tcsmt.gemm(a, b, unit="ieee/fma.f32")


def blocks_of_double(a: Any, b: Any) -> Any:
    """Blocks of four products in binary64, whose sums are added in binary32."""
    exact = products(a, b, np.float64)
    starts = range(0, exact.shape[-1], 4)
    parts = [chain(exact[..., start : start + 4], np.float64).astype(np.float32) for start in starts]
    return chain(np.stack(parts, axis=-1))


def vector_and_rest(a: Any, b: Any) -> Any:
    """As an ``sdot`` does: four lanes of fused multiply-adds in binary32, the rest in binary64."""
    whole = a.shape[1] // 8 * 8
    lanes = [tcsmt.gemm(a[:, lane:whole:4], b[lane:whole:4], unit="ieee/fma.f32") for lane in range(4)]
    with np.errstate(all="ignore"):
        vector = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        rest = chain(products(a[:, whole:], b[whole:]), np.float64)
        return (rest + vector.astype(np.float64)).astype(np.float32)


def last_column_backwards(a: Any, b: Any) -> Any:
    """A block that is summed in another order."""
    found = single(a, b)
    found[:, -1] = backwards(a, b)[:, -1]
    return found


def last_row_double(a: Any, b: Any) -> Any:
    """A block that is summed in another format."""
    found = single(a, b)
    found[-1] = double(a, b)[-1]
    return found


def by_sign(a: Any, b: Any) -> Any:
    """An order that depends on the sign of the row's first number."""
    return np.where(a[:, :1] < 0, backwards(a, b), single(a, b))


def by_a_large_significand(a: Any, b: Any) -> Any:
    """An order that depends on data that no question has: the row's first significand is 1.5 or more."""
    return np.where(np.abs(np.frexp(a[:, :1])[0]) >= 0.75, backwards(a, b), single(a, b))


def smallest_first(a: Any, b: Any) -> Any:
    """Sorted by size."""
    terms = products(a, b)
    order = np.argsort(np.abs(terms), axis=-1, kind="stable")
    return chain(np.take_along_axis(terms, order, -1))


def largest_first(a: Any, b: Any) -> Any:
    """Sorted by size, the largest first."""
    terms = products(a, b)
    order = np.argsort(-np.abs(terms), axis=-1, kind="stable")
    return chain(np.take_along_axis(terms, order, -1))


def rarely_wrong(a: Any, b: Any) -> Any:
    """The last bit of one result in 512 is wrong: always the same ones."""
    words = single(a, b).view(np.uint32)
    with np.errstate(over="ignore"):
        wrong = (words * np.uint32(2654435761)) >> np.uint32(23) == 7
    return (words ^ wrong.astype(np.uint32)).view(np.float32)


class OnceInAWhile:
    """One call in 300 has a wrong bit."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, a: Any, b: Any) -> Any:
        self.calls += 1
        found = single(a, b)
        found.view(np.uint32)[0, 0] ^= self.calls % 300 == 0
        return found


class AnyOrder:
    """As with atomic additions: another order in each call."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, a: Any, b: Any) -> Any:
        return chain(products(a, b)[..., self.rng.permutation(a.shape[1])])


def wide(a: Any, b: Any) -> Any:
    """Sums of 37 bits, 13 more than binary32 has, which are rounded at the end."""
    terms = products(a, b, np.float64)
    total = terms[..., 0]
    for number in range(1, terms.shape[-1]):
        with np.errstate(all="ignore"):
            total = total + terms[..., number]
            fraction, exponent = np.frexp(total)
            total = np.ldexp(np.rint(np.ldexp(fraction, 37)), exponent - 37)
    return total.astype(np.float32)


def truncated(a: Any, b: Any) -> Any:
    """Sums in binary32, rounded toward zero."""
    terms = products(a, b).astype(np.float64)
    total = terms[..., 0]
    for number in range(1, terms.shape[-1]):
        words = (total + terms[..., number]).view(np.int64)
        total = (words & ~np.int64((1 << 29) - 1)).view(np.float64)
    return total.astype(np.float32)


def exact(a: Any, b: Any) -> Any:
    """Exact sums, rounded once."""
    sums = [[math.fsum(terms) for terms in row] for row in products(a, b, np.float64)]
    return np.array(sums).astype(np.float32)


def each_row_its_own(a: Any, b: Any) -> Any:
    """Every row of D is summed in an order of its own."""
    terms, rng = products(a, b), np.random.default_rng(0)
    return np.stack([chain(row[:, rng.permutation(row.shape[-1])]) for row in terms])
