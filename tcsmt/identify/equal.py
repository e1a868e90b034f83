"""Hypotheses that are the same unit by a range argument, so that no solver need be asked.

Each rule states what it needs; ``tests/test_identify.py`` has solvers prove instances of them.
"""

from __future__ import annotations

import numpy as np

from tcsmt.identify.family import Family, Table

__all__ = ["canonical"]


def least_exponent(family: Family, products: str, blocks: int) -> int:
    """The smallest exponent that a non-zero term can have before the alignment."""
    a, b, c, d = family.formats
    product = a.e_min + b.e_min
    if products == "normalised":
        product -= a.fraction_bits + b.fraction_bits
    return min(product, c.e_min, d.e_min) if blocks > 1 else min(product, c.e_min)


def canonical(family: Family, table: Table) -> Table:
    """Rows with every value that cannot matter replaced by one that stands for all of them.

    zero_exponent: at or below the smallest exponent of a non-zero term it never is the maximum,
    unless every term is zero, and then the sum is zero on every grid. (Not with normalisation after
    every addition, where a partial sum can have a smaller exponent than any term.)

    overflow, where c is aligned with the products and truncated: let products be below 2^P. Where the
    largest exponent is P + F or more, every product is below the last place and truncated to nothing,
    so that the sum is c, which is finite and stays so (rounded toward zero, or to all bits of its own
    format). Below that, the sum is less than 2^(P + F + 8), with all carries of 128 terms. So no
    finite sum overflows if P + F + 8 is at most D's largest exponent.
    """
    found = table.copy()
    lowest = {}
    for number in np.unique(table[:, 0]):
        one = family.structures[int(number)]
        if one.order == "every":
            continue
        least = least_exponent(family, one.products, len(one.blocks) + (one.order == "last"))
        lowest[int(number)] = sum(z is not None and z <= least for z in family.zero_exponents)
    a, b, c, d = family.formats
    product = a.e_max + b.e_max + 2
    rounds_c = family.c_format != d
    for row in found:
        below = lowest.get(int(row[0]), 0)
        if row[6] < below:
            row[6] = 0
        bits = family.bits[row[1]]
        rounding = family.roundings[row[4]]
        whole = family.kept[row[5]] == d.fraction_bits and not rounds_c
        toward = rounding == "RTZ" and c.e_max <= d.e_max
        if (
            family.structures[int(row[0])].order == "aligned"
            and family.alignments[row[2]] == "RTZ"
            and (toward or whole)
            and product + bits + 8 <= d.e_max
        ):
            row[8] = 0
    return found
