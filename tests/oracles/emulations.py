"""Emulations of binary64 in fractions: the reference for arrays, terms and bounds.

Nothing here computes with the package under test: an emulation, a cut and a format are read as data.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

__all__ = ["digits", "dot", "exponent", "nearest"]


def exponent(wide: Any, x: Fraction) -> int:
    """Of a number's word: that of its leading bit, and no smaller than the format's smallest one."""
    size, found = abs(x), wide.e_min
    while size >= Fraction(2) ** (found + 1):
        found += 1
    return int(found)


def nearest(wide: Any, x: Fraction) -> Fraction:
    """A number rounded to nearest even, as if the format had no end."""
    unit = Fraction(2) ** (exponent(wide, x) - wide.fraction_bits)
    return round(x / unit) * unit


def digits(cut: Any, row: Sequence[Fraction]) -> tuple[list[list[int]], int]:
    """The digits of each number, and the row's exponent E."""
    to_nearest = cut.rounding.name == "RNE"
    top = max(exponent(cut.wide, x) for x in row) + (2 if to_nearest else 1)
    found = []
    for x in row:
        before, own = 0, []
        for place in range(1, cut.count + 1):
            scaled = x / Fraction(2) ** top * 2 ** (cut.bits * place)
            whole = round(scaled) if to_nearest else int(scaled)
            own.append(whole - before * 2**cut.bits)
            before = whole
        found.append(own)
    return found, top


def dot(emulation: Any, a: Sequence[Fraction], b: Sequence[Fraction], c: Fraction) -> Fraction:
    """c + Σ a·b by an emulation whose unit sums exactly."""
    cut = emulation.slicing(len(a))
    (left, high), (right, higher) = digits(cut, a), digits(cut, b)
    wide, top = emulation.wide, high + higher
    if hasattr(emulation, "products"):
        total, length = Fraction(0), emulation.every or len(a)
        for i, j in emulation.products:
            for start in range(0, len(a), length):
                lanes = range(start, min(start + length, len(a)))
                part = sum(left[lane][i] * right[lane][j] for lane in lanes)
                total = nearest(wide, total + Fraction(part) / 2 ** (cut.bits * (i + j + 2)))
        scaled = total * Fraction(2) ** top
    else:
        product = 1
        for modulus in emulation.moduli:
            product *= modulus
        whole = sum(x[0] * y[0] for x, y in zip(left, right, strict=True))
        while 2 * whole >= product + product % 2:
            whole -= product
        while 2 * whole < -product + product % 2:
            whole += product
        scaled = Fraction(whole) * Fraction(2) ** (top - 2 * cut.bits)
    return nearest(wide, nearest(wide, scaled) + c)
