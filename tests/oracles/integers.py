"""Dot products of integers in Python's integers: the reference for models and domains of integer words.

Nothing here computes with the package under test: a model and a format are read as data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

__all__ = ["count", "inside", "result", "words"]


def count(fmt: Any, word: int) -> int:
    """The number of a word, in units of the last bit: two's complement where the format is signed."""
    assert 0 <= word < 2**fmt.bits
    return word - 2**fmt.bits if fmt.signed and word >= 2 ** (fmt.bits - 1) else word


def words(fmt: Any) -> range:
    """Every word of a format."""
    return range(2**fmt.bits)


def result(model: Any, given: dict[str, int]) -> int:
    """The word of d: the exact sum of each block's products and c, put in range, and so on to the last."""
    a, b, d = model.a_format, model.b_format, model.d_format
    total = Fraction(count(model.c_format, given["c"]), 2**model.c_format.fraction_bits)
    size = model.n_fma or model.k
    for lane in range(model.k):
        x, y = count(a, given[f"a{lane}"]), count(b, given[f"b{lane}"])
        total += Fraction(x * y, 2 ** (a.fraction_bits + b.fraction_bits))
        if (lane + 1) % size == 0:
            units = total * 2**d.fraction_bits
            assert units.denominator == 1
            total = Fraction(_in_range(int(units), d, model.overflow), 2**d.fraction_bits)
    return int(total * 2**d.fraction_bits) % 2**d.bits


def _in_range(units: int, fmt: Any, overflow: str) -> int:
    least = -(2 ** (fmt.bits - 1)) if fmt.signed else 0
    most = least + 2**fmt.bits - 1
    if overflow == "saturate":
        return max(least, min(most, units))
    assert overflow == "wrap"
    while units > most:
        units -= 2**fmt.bits * (1 + (units - most - 1) // 2**fmt.bits)
    while units < least:
        units += 2**fmt.bits * (1 + (least - units - 1) // 2**fmt.bits)
    return units


def inside(domain: Any, fmt: Any, name: str, word: int) -> bool:
    """Whether a word of the input ``name`` lies in a domain, as :class:`.Domain` says in words."""
    value = Fraction(count(fmt, word), 2**fmt.fraction_bits)
    if (domain.c_zero and name == "c" and value) or (domain.positive and value < 0):
        return False
    if domain.exponents is None or (name == "c" and domain.c_free) or not value:
        return True
    low, high = domain.exponents
    return Fraction(2) ** low <= abs(value) < Fraction(2) ** (high + 1)
