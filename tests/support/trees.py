"""Sums of products by a tree, from the data that are printed: exact fractions, each rounded by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

#: Bits of the significand, and the smallest exponent, of IEEE 754's formats.
FORMATS = {"f16": (11, -14), "bf16": (8, -126), "f32": (24, -126), "f64": (53, -1022)}


def rounded(value: Fraction, name: str) -> Fraction:
    """To the nearest number of a format, ties to the even one; nothing overflows."""
    if not value:
        return value
    bits, least = FORMATS[name]
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    last = Fraction(2) ** (max(exponent, least) - bits + 1)
    return round(value / last) * last


def sum_by(tree: dict[str, Any], a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    """What the tree, as JSON, gives for an element, rounded to its last sum's format."""
    total: Fraction | None = None
    for step in tree["steps"]:
        for part in step:
            if isinstance(part, dict):
                value = rounded(sum_by(part, a, b), tree["sums"])
            else:
                value = Fraction(float(a[part])) * Fraction(float(b[part]))
                if tree["products"] != "exact":
                    value = rounded(rounded(value, tree["products"]), tree["sums"])
            total = rounded(value if total is None else total + value, tree["sums"])
    assert total is not None
    return total


def products_of(tree: dict[str, Any]) -> list[int]:
    """All products of a tree."""
    parts = [part for step in tree["steps"] for part in step]
    return [n for part in parts for n in (products_of(part) if isinstance(part, dict) else [part])]
