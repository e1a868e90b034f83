"""Products in binary32 on the grid of the largest one, as forms in floating-point operations have them.

Operands are converted to binary32, where their products are exact. Each operand has an *exponent word* beside
it, such that the sum of two of them is the product's exponent, counted as binary32 does; with a zero it is
below every other product's, and with a NaN or an infinity above. The largest of these sums is the grid.
Multiplied by 2^(F - grid), what a product keeps is its integer part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.language.terms import Term, const, total
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.ieee import widen

WIDE = FORMATS["f32"]
WIDTH, FRACTION, BIAS = WIDE.width, WIDE.fraction_bits, WIDE.bias
#: Bits of an exponent word, and that of a NaN or an infinity, above every sum of others.
EXPONENT_WORD, _SPECIAL = 16, 1 << 14
#: How much more exponents are where some would be negative otherwise; where there are scales.
_OTHER_BIAS, _SCALED_BIAS = 1 << 10, 1 << 11


@dataclass(frozen=True)
class LaneOfForm:
    """One product: both factors in binary32, the sum of their exponent words and its scales', the product, by
    what it is multiplied to be on the grid, and what is summed.
    """

    factors: tuple[Term, Term]
    exponent: Term
    product: Term
    scale: Term
    aligned: Term


@dataclass(frozen=True)
class ProductGrid:
    """Products on one grid.

    lanes: in order. largest_product: the largest of their exponent words. top: the grid, at least ``floor``.
    scale: 2^(F - grid). bias: exponents are counted from it, plus binary32's own. least: of the exponents of
    products that are not zero. floor, limit: grids up to the one, if it is more than ``least``, and from the
    other on are left to the model.
    """

    lanes: tuple[LaneOfForm, ...]
    largest_product: Term
    top: Term
    scale: Term
    bias: int
    least: int
    floor: int
    limit: int

    @property
    def counts(self) -> Term:
        """Return whether some product is not zero."""
        return ~self.largest_product.ult(self.least)

    @property
    def unsure(self) -> Term:
        """Return whether the grid is left to the model."""
        unsure = ~self.top.ult(self.limit)
        return unsure | self.counts & self.top.ule(self.floor) if self.floor > self.least else unsure


@dataclass(frozen=True)
class GridNumbers:
    """The numbers that a grid is made of; :class:`ProductGrid` says what some of them are.

    fraction_bits: F. formats, offsets: of a and b; how much more their exponent words are than their
    exponents' fields.
    """

    fraction_bits: int
    formats: tuple[Format, Format]
    offsets: tuple[int, int]
    bias: int
    least: int
    floor: int

    @classmethod
    def of(
        cls, a: Format, b: Format, fraction_bits: int, *, scale: Format | None, zero_exponent: int | None
    ) -> GridNumbers | None:
        """Return the numbers of formats whose products are exact; None where an exponent does not fit.

        scale: the format of scales that products are multiplied by. zero_exponent: that with which a zero
        takes part in the maximum.
        """
        normal = _normal_products(a, b)
        if scale is not None:
            bias, scales, most_scales = _SCALED_BIAS, 2 * scale.bias, 2 * (scale.e_max + scale.bias)
        else:
            bias, scales, most_scales = 0 if normal else _OTHER_BIAS, 0, 0
        total = BIAS - a.bias - b.bias + bias - scales
        offsets, least = (total // 2, total - total // 2), 2 + total
        # on a larger grid, nothing is left of a product that is too small for binary32
        floor = least if normal else bias + fraction_bits + 4
        if zero_exponent is not None:  # and no zero is the largest
            floor = max(floor, zero_exponent + BIAS + bias + 1)
        if scale is not None:
            floor = max(floor, bias + fraction_bits + 1)
        # a zero's exponent word is 0: with any other, it is below the least of a product
        apart = all(
            0 < offset < least - fmt.e_max - fmt.bias - most_scales
            for fmt, offset in zip((a, b), offsets, strict=True)
        )
        if not apart or floor <= bias + fraction_bits or (scale is not None and not normal):
            return None
        return cls(fraction_bits, (a, b), offsets, bias, least, floor)

    @property
    def largest_aligned(self) -> int:
        """Return what is left of a product, at most."""
        a, b = self.formats
        places = self.fraction_bits - a.fraction_bits - b.fraction_bits
        product = ((2 << a.fraction_bits) - 1) * ((2 << b.fraction_bits) - 1)
        return product << places if places >= 0 else product >> -places

    def exponent(self, pair: Sequence[Term], scales: Sequence[Term] = ()) -> Term:
        """Return the exponent word of a product. pair: words of the formats. scales: their exponent words."""
        return total(*map(exponent_word, self.formats, pair, self.offsets), *scales)

    def scale(self, top: Term) -> Term:
        """Return 2^(F - grid)."""
        return (const(2 * BIAS + self.fraction_bits + self.bias, WIDTH) - top) << FRACTION

    def lane(self, pair: Sequence[Term], exponent: Term, scale: Term) -> LaneOfForm:
        """Return a product of words of the formats."""
        x, y = (widen(word, fmt, WIDE) for word, fmt in zip(pair, self.formats, strict=True))
        product = native.multiply(x, y)
        return LaneOfForm((x, y), exponent, product, scale, on_grid(product, scale))


def exact_products(a: Format, b: Format) -> bool:
    """Return whether every product of two numbers is one of binary32, if that had more exponents."""
    return a.signed and b.signed and a.precision + b.precision <= WIDE.precision


def _normal_products(a: Format, b: Format) -> bool:
    """Return whether no exact product is too small or too large for binary32."""
    smallest = sum(fmt.e_min - fmt.fraction_bits for fmt in (a, b))
    largest = sum(fmt.e_max + 1 for fmt in (a, b))
    return smallest >= WIDE.e_min and largest <= WIDE.e_max


def on_grid(number: Term, scale: Term) -> Term:
    """Return what is left of a number of binary32 in units of the grid."""
    return native.to_integer(native.multiply(number, scale))


def exponent_word(fmt: Format, word: Term, offset: int) -> Term:
    """Return a word's exponent field plus an offset; 0 of a zero, more than any other of no number."""
    number = dp.decode(fmt, word)
    counted = number.exponent.within(1 - offset - fmt.bias, fmt.e_max + 1)
    usual = number.zero.ite(const(0, EXPONENT_WORD), to_width(counted, EXPONENT_WORD) + 1)
    return (number.nan | number.infinite).ite(const(_SPECIAL, EXPONENT_WORD), usual)


def to_width(word: Term, width: int) -> Term:
    """Return a word extended by zeros, or its low bits."""
    return word.zext(max(width, word.width))[width - 1 : 0]
