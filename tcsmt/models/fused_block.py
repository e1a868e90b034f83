"""One block of a fused dot-add: from input words to a sum, and from the sum to a word.

Parameters are numbers, or terms. A unit's own are constants, which fold away, so that nothing of them is left
in its graph. Where they are variables (:mod:`tcsmt.identification.open_block`), one graph serves a family of
units. The order of the stages is stated here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.ieee import RoundedSum, Zeros
from tcsmt.arithmetic.rounding import Rounding
from tcsmt.models.stages import Kind, Value
from tcsmt.terms import TRUE, Term

__all__ = ["BlockSum", "LastAddition", "ResultParameters", "SumParameters", "block_result", "block_sum"]

#: Told of every stage: its kind, value and term, and the lane or group that it is of.
Seen = Callable[[Kind, Value, Term, int | None], None]

NOTHING_LESS = Exponent.constant(0)


@dataclass(frozen=True, kw_only=True)
class SumParameters:
    """What decides the sum of a block; :class:`.FusedDotAdd` says what most of them mean.

    a_format, b_format, c_format: c is the result of the block before, where there is one.
    c_after: whether the products are summed before c is aligned with their sum.
    normalised_each: whether every addition is normalised (c first, then lanes in order).
    fraction_bits, coarser: F is ``fraction_bits`` less ``coarser``, from 0 to ``fraction_bits``.
    carry_bits: as a number of a known range; None: enough.
    zero_exponent, zero_given: zeros enter the maximum with ``zero_exponent`` where ``zero_given`` is 1, and
        with the exponent of their fields where it is 0, or where ``zero_exponent`` is None.
    flush: whether subnormal inputs are read as zeros.
    """

    a_format: Format
    b_format: Format
    c_format: Format
    normalised_products: bool
    normalised_each: bool
    c_after: bool
    fraction_bits: int
    coarser: Exponent = NOTHING_LESS
    alignment: Rounding
    alignment_sticky: bool = False
    carry_bits: Exponent | None
    zero_exponent: Exponent | None
    zero_given: Term = TRUE
    flush: Term
    group: int = 1


@dataclass(frozen=True, kw_only=True)
class ResultParameters:
    """What decides the word that a sum becomes; :class:`.FusedDotAdd` says what they mean.

    fraction_bits: at which the result is rounded; None: the format's last.
    """

    format: Format
    rounding: Rounding
    fraction_bits: int | None
    overflow: str
    flush: Term
    negative_zero: Term
    nan_word: int


@dataclass(frozen=True, kw_only=True)
class LastAddition:
    """What decides the word where c is added after all blocks, by an IEEE addition.

    flush_input: whether a subnormal c is read as zero. flush_output: whether a subnormal result is zero.
    """

    c_format: Format
    d_format: Format
    rounding: Rounding
    flush_input: Term
    flush_output: bool
    zeros: Zeros
    nan_word: int

    def sum(self, word: Term, c: Term) -> RoundedSum:
        """The last block's word plus c."""
        return RoundedSum(
            terms=(dp.decode(self.d_format, word), dp.decode(self.c_format, c, flush=self.flush_input)),
            format=self.d_format,
            rounding=self.rounding,
            flush=self.flush_output,
            nan_word=self.nan_word,
            zeros=self.zeros,
        )


@dataclass(frozen=True)
class BlockSum:
    """What a block's result is made of: the sum, infinities and NaNs, and whether all is negative zeros."""

    value: SignMagnitude
    infinite: Term
    infinity_sign: Term
    nan: Term
    all_negative_zero: Term


def block_sum(
    p: SumParameters, a: Sequence[Term], b: Sequence[Term], c: Term, scales: Sequence[Number], seen: Seen
) -> BlockSum:
    """The sum of c and the products of the words in a and b, in lane order.

    scales: of each group of lanes; empty where there are none.
    """
    products = []
    for x, y in zip(a, b, strict=True):
        product = dp.multiply(
            dp.decode(p.a_format, x, flush=p.flush), dp.decode(p.b_format, y, flush=p.flush)
        )
        products.append(dp.normalise_number(product) if p.normalised_products else product)
    addend = dp.decode(p.c_format, c, flush=p.flush)
    for lane, product in enumerate(products):
        seen(Kind.PRODUCT, product, product.significand, lane)
    if p.group > 1:
        products = [dp.exact_total(products[i : i + p.group]) for i in range(0, len(products), p.group)]
        for number, product in enumerate(products):
            seen(Kind.GROUP_SUM, product, product.significand, number)
    if scales:
        products = [dp.multiply(x, scale) for x, scale in zip(products, scales, strict=True)]
        kind = Kind.SCALED_PRODUCT if p.group == 1 else Kind.SCALED_GROUP
        for number, product in enumerate(products):
            seen(kind, product, product.significand, number)
    terms = [*products, addend]
    # two integer bits hold a product; a scaled sum of a group may need more
    integer_bits = max(2, *(t.integer_bits for t in terms)) if scales else 2
    if p.normalised_each:
        fixed = _sum_one_by_one(p, terms)
    elif p.c_after:
        fixed = _sum_then_c(p, products, addend)
    else:
        top = _largest(p, terms)
        seen(Kind.LARGEST_EXPONENT, top, top.term, None)
        aligned = [_aligned(p, t, top) for t in terms]
        *others, last = aligned
        for number, one in enumerate(others):
            seen(Kind.ALIGNED_PRODUCT, one, one.word, number)
        seen(Kind.ALIGNED_C, last, last.word, None)
        fixed = _sum(p, aligned, len(products), integer_bits)
    seen(Kind.SUM, fixed, fixed.word, None)
    return BlockSum(dp.sign_and_magnitude(fixed), *dp.special_cases(terms), dp.all_negative_zero(terms))


def block_result(p: ResultParameters, x: BlockSum) -> Term:
    """The word of a block's sum, rounded once."""
    magnitude = dp.round_to(
        p.format, x.value, p.rounding, fraction_bits=p.fraction_bits, overflow=p.overflow, flush=p.flush
    )
    sign = x.value.sign
    sign = p.negative_zero.ite(sign | x.all_negative_zero, sign & magnitude.ne(0))
    return dp.encode(p.format, sign, magnitude, x.infinite, x.infinity_sign, x.nan, p.nan_word)


def _largest(p: SumParameters, terms: Sequence[Number]) -> Exponent:
    """The maximum exponent, with ``zero_exponent`` for zero terms.

    Alignment shifts a zero term by whatever its fields say: it stays zero.
    """
    # counted from a base that leaves room for any zero_exponent in use, so that models which
    # differ in it are the same graph from here on
    base = min(t.exponent.low for t in terms) - 16
    return dp.largest([_entering(p, t) for t in terms], base)


def _entering(p: SumParameters, x: Number) -> Exponent:
    if p.zero_exponent is None:
        return x.exponent
    return x.exponent.or_where(x.zero & p.zero_given, p.zero_exponent)


def _aligned(p: SumParameters, x: Number, top: Exponent) -> Fixed:
    """On the grid of F fraction bits below ``top``: of ``fraction_bits`` below ``top + coarser``."""
    return dp.align(x, top + p.coarser, p.fraction_bits, p.alignment, sticky=p.alignment_sticky)


def _sum(p: SumParameters, aligned: Sequence[Fixed], products: int, integer_bits: int = 2) -> Fixed:
    """The sum of aligned terms, in a register of ``carry_bits`` where they are given."""
    whole = 1 + integer_bits + p.fraction_bits + p.alignment_sticky
    enough = products.bit_length()
    if p.carry_bits is None:
        return dp.accumulate(aligned, whole + enough)
    # one bit more than any sum needs, so that "enough" is a theorem and not a definition
    spare = max(p.carry_bits.high, enough + 1)
    lacking = Exponent(Exponent.constant(spare).minus(p.carry_bits), 0, spare - p.carry_bits.low)
    return dp.accumulate(aligned, whole + spare, lacking + p.coarser)


def _sum_then_c(p: SumParameters, products: Sequence[Number], c: Number) -> Fixed:
    """Products summed exactly on their own grid; that sum and c aligned once more."""
    own = _largest(p, products)
    aligned = [_aligned(p, x, own) for x in products]
    enough = len(products).bit_length()
    total = dp.as_number(dp.accumulate(aligned, 3 + aligned[0].fraction_bits + enough))
    top = dp.largest([own, _entering(p, c)], own.low)
    return _sum(p, [_aligned(p, x, top) for x in (total, c)], len(products))


def _sum_one_by_one(p: SumParameters, terms: Sequence[Number]) -> Fixed:
    """c, then each product: two-operand sums, normalised and truncated to F bits each time."""
    bits = p.fraction_bits
    partial = terms[-1]
    for term in terms[:-1]:
        top = _largest(p, [partial, term])
        pair = [_aligned(p, partial, top), _aligned(p, term, top)]
        whole = dp.normalise_number(dp.sign_and_magnitude(dp.accumulate(pair, 5 + bits)).number)
        width = whole.significand.width
        kept = whole.significand[width - 1 : width - 1 - bits]
        beyond = p.coarser.within(0, p.coarser.high).zext(kept.width)
        partial = replace(whole, significand=(kept >> beyond) << beyond, fraction_bits=bits)
    return dp.as_fixed(partial)
