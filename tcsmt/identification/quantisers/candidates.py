"""Blocks on which quantisers are likely to differ: small integers first, as people read them best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned

Array = np.ndarray[Any, np.dtype[Any]]
#: Largest integers of blocks of one number, of two, and of two with a larger one elsewhere in the tensor.
_ONE, _TWO, _THREE = 512, 400, 48
#: Where significands have ends beside which rules of scales differ, and which words next to them count.
_ENDS = (1.0, 1.25, 1.5, 1.75, 1.875, 1.9375, 1.96875, 2.0)
_NEAR = (-2, -1, 0, 1, 2, 5)
#: Parts of the largest number of a block: near the middles of elements' numbers.
_PARTS = tuple(eighth / 48 for eighth in range(1, 49)) + (2.0**-9, 2.0**-10, 2.0**-16)


def blocks_of(fmt: Format, *, finite: bool, given: bool) -> Iterator[tuple[Array, Array]]:
    """Yield arrays of blocks, words (blocks, numbers), and of what is given beside them, words of binary32.

    Finite ones come first. finite: no others. given: something is; else it is 0.
    """
    dtype = dtype_of(fmt)
    large, small = (side.ravel() for side in np.mgrid[1 : _TWO + 1, 1 : _TWO + 1])
    kept = small <= large
    large, small, none = large[kept], small[kept], np.zeros(kept.sum())
    yield _whole(np.arange(1, _ONE + 1)[:, None], np.zeros(_ONE), dtype)
    if given:
        yield _whole(small[:, None], large, dtype)
    if given:
        top, first, second = (side.ravel() for side in np.mgrid[(slice(1, _THREE + 1),) * 3])
        kept = (second <= first) & (first <= top)
        yield _whole(np.stack([first[kept], second[kept]], 1), top[kept], dtype)
    yield _whole(np.stack([large, small], 1), none, dtype)
    special = _special(fmt)
    yield special[:, None], np.zeros(len(special), np.uint32)
    if given:
        tops = special[:: max(1, len(special) // 200)].view(dtype).astype(np.float32).view(np.uint32)
        yield np.tile(special, len(tops))[:, None], np.repeat(tops, len(special))
    with np.errstate(all="ignore"):
        parts = np.outer(special.view(dtype).astype(np.float64), _PARTS).astype(dtype).view(unsigned(fmt))
    pairs = np.stack([np.repeat(special, len(_PARTS)), parts.ravel()], 1)
    for sign in (0, 1 << fmt.sign_bit):
        yield pairs ^ np.array([0, sign], pairs.dtype), np.zeros(len(pairs), np.uint32)
    if not finite:
        yield from _not_finite(fmt, given=given)


def _whole(numbers: Array, given: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    words = np.ascontiguousarray(numbers.astype(np.float32).astype(dtype)).view(f"u{dtype.itemsize}")
    return words, given.astype(np.float32).view(np.uint32)


def _special(fmt: Format) -> Array:
    """Return words next to the ends of significands, at every exponent, subnormal numbers and zero."""
    one = 1 << fmt.fraction_bits
    found = {0, 1, 2, 3}
    for end in _ENDS:
        for near in _NEAR:
            place = round((end - 1) * one) + near
            found |= {(field << fmt.fraction_bits) + place for field in range(1 << fmt.exponent_bits)}
    words = (word for word in found if 0 <= word <= fmt.largest_finite_word)
    return np.array(sorted(words, key=lambda word: (_from_one(fmt, word), word)), unsigned(fmt))


def _from_one(fmt: Format, word: int) -> int:
    """Return how far a number's exponent is from that of 1: people read such numbers best."""
    return abs((word >> fmt.fraction_bits) - fmt.bias)


def _not_finite(fmt: Format, *, given: bool) -> Iterator[tuple[Array, Array]]:
    one, half = ((fmt.bias << fmt.fraction_bits) - (less << fmt.fraction_bits) for less in (0, 1))
    words = [fmt.infinity_word, fmt.nan_word or 0, one, half, 0]
    for length in (1, 2, 3):
        blocks = np.stack(np.meshgrid(*[words] * length, indexing="ij"), -1).reshape(-1, length)
        for top in (0, 0x3F800000, 0x7F800000, 0x7FC00000) if given else (0,):
            yield blocks.astype(unsigned(fmt)), np.full(len(blocks), top, np.uint32)
