"""Hypotheses that are the same unit by a range argument, so that no solver need be asked.

Each rule states what it needs; ``tests/identification/units/test_equal.py`` has solvers prove instances of
them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tcsmt.identification.units.family import Family, Structure, Table


def canonical(family: Family, table: Table) -> Table:
    """Rows with every value that cannot matter replaced by one that stands for all of them.

    Tables are int16 (rows, 12).
    """
    result = table.copy()
    for row in result:
        structure = family.structures[int(row[0])]
        if _enough_carries(family, structure, row):
            row[3] = 0
        if _below_all(family, structure, row):
            row[6] = 0
        if _never_overflows(family, structure, row):
            row[8] = 0
        if _no_negative_zero(family, structure, row):
            row[10] = 0
        if structure.order == "summed" and _exact_products(family, structure, row):
            row[0] = family.structures.index(replace(structure, order="aligned"))
    return result


def _enough_carries(family: Family, structure: Structure, row: Table) -> bool:
    """The register holds every sum: n products and c at the largest exponent, each rounded up."""
    carry = family.carries(structure)[row[3]]
    if carry is None:
        return True
    a, b = family.a_format, family.b_format
    product = Fraction(2)
    if structure.products == "unnormalised":
        product = (2 - Fraction(1, 1 << a.fraction_bits)) * (2 - Fraction(1, 1 << b.fraction_bits))
    unit = Fraction(1, 1 << family.bits[row[1]])
    return bool(structure.n_fma * (product + unit) + 2 + unit < 1 << (2 + carry))


def _last_product(family: Family) -> int:
    """Exponent of the number of which every product is a multiple."""
    a, b = family.a_format, family.b_format
    return a.e_min + b.e_min - a.fraction_bits - b.fraction_bits


def _largest_zero(family: Family, row: Table) -> int:
    """Return the largest exponent with which a zero enters a maximum."""
    zero = family.zero_exponents[row[6]]
    a, b, c, d = family.formats
    return max(a.e_max + b.e_min, a.e_min + b.e_max, c.e_min, d.e_min) if zero is None else zero


def _below_all(family: Family, structure: Structure, row: Table) -> bool:
    """A zero's exponent decides the grid only where no bit is lost on it.

    Either no non-zero term has a smaller exponent: then it is the maximum only of zeros. Or a grid of
    F bits below it holds every term's last place: then a sum on it is the exact one, as on any finer
    grid; where c comes last, what a block hands on is a multiple of what products are multiples of.
    (Not with normalisation after every addition, nor where carries are lost.)
    """
    if structure.order == "every":
        return False
    a, b, c, d = family.formats
    smallest = last = _last_product(family)
    if structure.products == "unnormalised":
        smallest = a.e_min + b.e_min
    handed = (d,) if len(structure.blocks) > 1 else ()
    for fmt in handed if structure.order == "last" else (c, *handed):
        smallest = min(smallest, fmt.e_min)
        last = min(last, fmt.e_min - fmt.fraction_bits) if structure.order != "last" else last
    zero = family.zero_exponents[row[6]]
    if zero is not None and zero <= smallest:
        return True
    return bool(row[3] == 0 and _largest_zero(family, row) - family.bits[row[1]] <= last)


def _exact_products(family: Family, structure: Structure, row: Table) -> bool:
    """No product loses a bit beside the largest term, so that their sum is exact wherever it is taken."""
    a, b, c, d = family.formats
    largest = max(a.e_max + b.e_max, c.e_max, d.e_max, _largest_zero(family, row))
    if structure.products == "normalised":
        largest += 1
    return bool(row[3] == 0 and largest - family.bits[row[1]] <= _last_product(family))


def _no_negative_zero(family: Family, structure: Structure, row: Table) -> bool:
    """No zero result has a minus sign, where c comes last.

    The blocks start from +0, and what they sum is a multiple of what products are multiples of, so
    that it never rounds to zero. The last addition is IEEE's: two equal formats, where no sum
    underflows, and a rounding that makes +0 of an exact zero.
    """
    d = family.d_format
    keeps_all_bits = family.round_bits[row[5]] == d.fraction_bits and not row[9]
    plus = not family.roundings[row[11]].floors
    never = _last_product(family) >= d.e_min - d.fraction_bits
    return structure.order == "last" and family.c_format == d and keeps_all_bits and plus and never


def _never_overflows(family: Family, structure: Structure, row: Table) -> bool:
    """No finite sum of a block overflows.

    Where c comes last: a block's sum is below its terms' number times the largest of them, doubled
    where they are rounded up, and doubled by the last rounding.

    Where c is aligned with the products and truncated: let products be below 2^P. Where the largest
    exponent is P + F or more, every product is below the last place and truncated to nothing, so that
    the sum is c, which is finite and stays so (rounded toward zero, or to all bits of its own format).
    Below that, the sum is less than 2^(P + F + 8), with all carries of 127 terms and c.
    """
    a, b, c, d = family.formats
    product, bits = a.e_max + b.e_max + 2, family.bits[row[1]]
    if structure.order == "last":
        return product + len(structure.blocks) * ((structure.n_fma + 1).bit_length() + 2) <= d.e_max
    keeps_all_bits = family.round_bits[row[5]] == d.fraction_bits and c == d
    toward = family.roundings[row[4]].truncates and c.e_max <= d.e_max
    aligned = family.alignments[row[2]]
    truncated = structure.order == "aligned" and aligned.rounding.truncates and not aligned.sticky
    return (
        truncated and (toward or keeps_all_bits) and structure.n_fma < 128 and product + bits + 8 <= d.e_max
    )
