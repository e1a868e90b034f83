"""Constants of parts of significands and of their products: counted over every significand there is.

A unit may multiply some bits of each significand alone (:class:`.FusedStep`). A part has the word's sign, so
parts of one product add up to no more than the product, if no bit is taken twice; that is counted, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.steps import Part
from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.datapath import chosen_bits, decode
from tcsmt.matrix_units.arithmetic.formats import Format

Array = np.ndarray[Any, np.dtype[Any]]
#: Significands of so many bits are counted, and pairs of them: numbers in the counts stay below 2^63.
_MOST_BITS = 11


@dataclass(frozen=True)
class PartKept:
    """A part of a word, relative to the word: its size, and 2 to the power of its exponent, at most."""

    size: Fraction
    exponent: Fraction


@lru_cache(maxsize=64)
def part_kept(fmt: Format, bits: int, part: Part) -> PartKept:
    """Return the constants of a part of normal words with so many significant bits.

    Raises :class:`.Unbounded` for significands of too many bits.
    """
    whole, taken = _counted(fmt, bits, part)
    leading = 1 << (fmt.precision - 1)  # the significand 1
    return PartKept(_largest(taken, whole), Fraction(leading, int(whole.min())) / 2 ** part[0])


@lru_cache(maxsize=64)
def left_out(fmt: Format, bits: tuple[int, int], pairs: tuple[tuple[Part, Part], ...]) -> Fraction:
    """Return how much of the product of two words is left out, where some pairs of parts are multiplied and
    added.

    Relative to the product, at most. bits: significant bits of the one's words and the other's. Raises
    :class:`.Unbounded` where the parts of some product are more than the product.
    """
    # any part gives the significands themselves, too
    left, right = (_counted(fmt, each, (0, 1))[0] for each in bits)
    whole = left[:, None] * right[None, :]
    rest = whole.copy()
    for first, second in pairs:
        (_, x), (_, y) = _counted(fmt, bits[0], first), _counted(fmt, bits[1], second)
        rest -= x[:, None] * y[None, :]
    if rest.min() < 0:
        raise Unbounded("parts of significands are multiplied more than once")
    return _largest(rest.ravel(), whole.ravel())


def _counted(fmt: Format, bits: int, part: Part) -> tuple[Array, Array]:
    """All significands of so many bits, and the part of each, in units of the last place of the format.

    They are what the datapath makes of words: no exponent takes part in that.
    """
    if fmt.precision > _MOST_BITS:
        raise Unbounded(f"parts of significands of {fmt.precision} bits: at most {_MOST_BITS} are counted")
    bits = min(bits, fmt.precision)
    step = 1 << (fmt.precision - bits)
    fractions = np.arange(0, 1 << fmt.fraction_bits, step, dtype=np.uint64)
    words = fractions | np.uint64(1) << np.uint64(fmt.fraction_bits)  # the smallest normal number's binade
    number = decode(fmt, var("x", fmt.width))
    chosen = chosen_bits(number, *part)
    inputs = {"x": words << np.uint64(fmt.ignored_low_bits)}
    whole, taken = (x.astype(np.int64) for x in Program([number.significand, chosen.significand]).run(inputs))
    # the part's last place, seen from the last one of the format
    place = fmt.fraction_bits - part[0] - (part[1] - 1)
    if place < 0 and (taken & ((1 << -place) - 1)).any():
        raise Unbounded("a part has bits below the last one of its format")
    return whole, taken << place if place >= 0 else taken >> -place


def _largest(part: Array, whole: Array) -> Fraction:
    """Return the largest ratio of integers, exactly."""
    place = int(np.argmax(part / whole))
    best = Fraction(int(part[place]), int(whole[place]))
    # binary64 may have chosen one of two that are nearly the same
    while (above := np.flatnonzero(part * best.denominator > best.numerator * whole)).size:
        best = Fraction(int(part[above[0]]), int(whole[above[0]]))
    return best
