"""Words of tiny formats as fractions, and terms on rows of them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.formats import Format
from tests.oracles import terms

Array = np.ndarray[Any, np.dtype[Any]]


def finite(fmt: Format, word: int) -> Fraction | None:
    """The value of a word; None for infinities and NaNs."""
    return None if fmt.is_nan(word) or fmt.is_infinite(word) else fmt.value(word)


def exponent(fmt: Format, x: Fraction) -> int:
    """Where a number's leading bit is; of smaller ones, and of zero, the smallest normal exponent."""
    power = fmt.e_min
    while abs(x) >= Fraction(2) ** (power + 1):
        power += 1
    return power


def lies(domain: Any, fmt: Format, word: int, bits: int) -> bool:
    """Whether a word is zero, or a normal number in the domain's range with so many leading bits at most."""
    x = finite(fmt, word)
    if x is None or (domain.positive and fmt.fields(word)[0]):
        return False
    if not x:
        return True
    power = exponent(fmt, x)
    normal = abs(x) >= Fraction(2) ** fmt.e_min
    whole = (x / Fraction(2) ** (power - bits + 1)).denominator == 1
    return normal and domain.low <= power <= domain.high and whole


def words(term: Term, columns: Mapping[str, Array]) -> Array:
    """A term's word for each row."""
    rows = len(next(iter(columns.values())))
    return np.broadcast_to(terms.values([term], columns)[0], rows)


def truth(goal: Term, columns: Mapping[str, Array]) -> Array:
    """Where a goal is 1."""
    return words(goal, columns).astype(bool)


def counted(word: Term, low: int, columns: Mapping[str, Array]) -> list[Fraction]:
    """A two's complement word in units of 2^low, for each row."""
    width = word.width
    return [
        Fraction(w - (w >> (width - 1) << width)) * Fraction(2) ** low for w in words(word, columns).tolist()
    ]
