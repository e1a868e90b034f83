"""Domains with each part in every state, and small formats."""

from __future__ import annotations

from itertools import product

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.prove.statements.domain import Domain

__all__ = ["DOMAINS", "NAMED", "TINY"]

TINY = Format(name="tiny", exponent_bits=3, fraction_bits=2, bias=3)
NAMED = [FORMATS[name] for name in ("e5m2", "e4m3", "e2m1", "e3m2")]


DOMAINS = [
    Domain(
        finite=finite, positive=positive, subnormals=subnormals, c_zero=c_zero,
        exponents=exponents, c_free=free, bits=bits,
    )
    for finite, positive, subnormals, c_zero, (exponents, free), bits in product(
        (True, False), (True, False), (True, False), (True, False),
        ((None, False), ((0, 0), False), ((-2, 1), True), ((-99, 99), False), ((90, 99), False)),
        (None, (1, 2), (9, 1)),
    )
]  # fmt: skip
