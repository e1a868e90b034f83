"""Functions that instructions approximate, to the nearest number: what stands for an approximation whose
words no document defines, where a choice says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, leading_exponent
from tcsmt.matrix_units.arithmetic.words import from_words, unsigned
from tcsmt.programs.steps import outside

Array = np.ndarray[Any, np.dtype[Any]]
_F64 = FORMATS["f64"]
#: More than NumPy's exp2 in binary64 is off, relative to the result: libraries promise 4 units of 2^-53.
_DOUBT = 2.0**-48
_DIGITS = 60
_FURTHEST = 4096


def exponential(fmt: Format, words: Array, nans: NanWords) -> Array:
    """Return 2^x to the nearest number, ties to even, of words of any shape; binary32 or narrower.

    Where what binary64 gives is too close to the middle of two numbers, more digits settle it.
    """
    x = from_words(_F64, outside.converted(words, fmt, _F64))
    with np.errstate(all="ignore"):
        value = np.exp2(x)
        low, result, high = (
            outside.converted((value * (1 + doubt)).view(unsigned(_F64)), _F64, fmt, nans=nans)
            for doubt in (-_DOUBT, 0, _DOUBT)
        )
    for place in np.argwhere((low != high) & np.isfinite(x)):
        at = tuple(place)
        result[at] = fmt.nearest_word(_power(Fraction(float(x[at]))))
    return result


def _power(x: Fraction) -> Fraction:
    """Return 2^x, of which an integer's is exact: no other one is the middle of two numbers."""
    whole = x.numerator // x.denominator
    rest = x - whole
    with localcontext() as context:
        context.prec = _DIGITS
        near = (Decimal(rest.numerator) / Decimal(rest.denominator) * Decimal(2).ln()).exp()
        return Fraction(near) * Fraction(2) ** whole


def exact_exponential(x: Fraction) -> Fraction | None:
    """Return 2^x to sixty digits; None beyond 2^±4096, where no format has numbers."""
    return _power(x) if abs(x) <= _FURTHEST else None


#: By the beginning of an instruction's name: of a format, words and the rule for NaNs.
FUNCTIONS: Mapping[str, Callable[[Format, Array, NanWords], Array]] = {"ex2": exponential}
#: The same of an exact number.
EXACT: Mapping[str, Callable[[Fraction], Fraction | None]] = {"ex2": exact_exponential}


def exact_power_of_two(x: Fraction, shift: int, *, up: bool) -> Fraction:
    """Return the power of two of UE8M0 next to |x|, not above it (up: not below it), times 2^shift."""
    least = -FORMATS["ue8m0"].bias
    place = leading_exponent(abs(x)) if x else least
    if up and x and abs(x) != Fraction(2) ** place:
        place += 1
    return Fraction(2) ** min(max(max(place, least) + shift, least), -least)
