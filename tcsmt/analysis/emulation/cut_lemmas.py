"""Lemmas about a cut of numbers into digits, proved for every number of the format at once.

Each lemma is about one number x and the largest exponent of its row, both free: of binary64, all 2^64 words
and all exponents that are no smaller than the word's. In units of the last digit, X = x·2^(total - E):

* a digit is no larger than :attr:`.Slicing.largest`;
* X is off from the digits' sum by less than 1 (to nearest: by 1/2 at most);
* the digits have X's sign, and their sum is no larger than X in magnitude (toward zero), or none counts more
  than 2|X|, and all together no more than 4|X| (to nearest);
* where X is a multiple of the n-th digit's unit, the first n digits are X, and the others zero.

To nearest, the second and the last are too much for one query. R_p is |X| rounded to a multiple of the p-th
digit's unit, in this unit. Each digit is R_p - R_(p-1)·2^bits, with X's sign, so that the first n digits add
up to R_n: the differences cancel. What is left is about R_p alone: R_count is off by half of its unit at
most; and where X is a multiple of the n-th digit's unit, R_n is |X|, and R_p = R_(p-1)·2^bits for all later
ones.

A number more than ``total + 2`` binary places below the largest one has digits of zero; for the others, X is
an integer once it is multiplied by 2^fine, which the lemmas are about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from tcsmt.analysis.bounds.fused_loss import need
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.error import magnitude
from tcsmt.language.terms import Term, any_of, const, total, var
from tcsmt.matrix_units.arithmetic.datapath import Number, decode
from tcsmt.programs.steps.slicing import Slicing


@dataclass(frozen=True)
class CutConstants:
    """What a cut keeps of numbers x that are not zero, of a row whose largest number is m.

    left: |x - Σ digits| at most, relative to |x|. sizes: how much the p-th digit counts at most, likewise.
    whole: all digits together, by magnitude. of_largest: the same cut, all relative to |m|.
    """

    left: Fraction
    sizes: tuple[Fraction, ...]
    whole: Fraction
    of_largest: CutConstants | None = None


def cut_constants(slicing: Slicing, apart: int, bits: int) -> CutConstants:
    """By arithmetic from the lemmas. apart: the largest difference of exponents in a row. bits: of a number.

    2^E is at most 2^(apart + above) times a number, and 2^above times the largest one.
    """
    # x is a multiple of 2^(its exponent - bits + 1), the last digit's unit is 2^(E - total)
    exact = slicing.total >= bits - 1 + slicing.above + apart
    beside = _relative(slicing, Fraction(1 << (apart + slicing.above)))
    largest = _relative(slicing, Fraction(1 << slicing.above))
    if exact:
        beside, largest = (
            CutConstants(Fraction(0), constants.sizes, constants.whole) for constants in (beside, largest)
        )
    return CutConstants(beside.left, beside.sizes, beside.whole, largest)


def _relative(slicing: Slicing, reach: Fraction) -> CutConstants:
    """reach: 2^E at most, in units of what all is relative to, which is no smaller than x."""
    most = 2 if slicing.nearest else 1
    sizes = tuple(
        min(Fraction(most), slicing.largest * reach / 2 ** (slicing.bits * (place + 1)))
        for place in range(slicing.count)
    )
    relative = reach / 2**slicing.total / (2 if slicing.nearest else 1)
    # a number that is lost altogether loses itself
    return CutConstants(
        min(relative, Fraction(1)), sizes, min(Fraction(most * most), sum(sizes, Fraction(0)))
    )


def prove(chain: StepwiseProof, slicing: Slicing) -> None:
    """Prove all lemmas. Raises :class:`.Unbounded` where one is not proved."""
    for what, goal in goals(slicing):
        need(chain, what, goal)


def goals(slicing: Slicing) -> Iterator[tuple[str, Term]]:
    """Yield the lemmas: what each says, and the goal that has no model where it holds."""
    number = _Number(slicing)
    name = f"every {slicing.wide.name} number"
    last = "half of the last digit's unit at most" if slicing.nearest else "less than the last digit's unit"
    yield f"{name}: no digit is larger than {slicing.largest}", number.given & number.too_large
    yield (
        f"{name} far below its row's largest has digits of zero",
        number.given & number.far & number.any_digit(0),
    )
    if slicing.nearest:
        for place in range(1, slicing.count + 1):
            yield (
                f"{name}: digit {place} is what rounding to its place adds",
                number.near & number.not_added(place),
            )
        yield f"{name} rounded to the last place is off by {last}", number.near & number.rounded_off
    else:
        yield f"{name} is its digits but for {last}", number.near & number.off
    what = (
        "no digit counts more than twice it, all no more than four times"
        if slicing.nearest
        else ("its digits have its sign and are no more than it")
    )
    yield f"{name}: {what}", number.near & number.outsized
    for count in range(1, slicing.count + 1):
        if slicing.nearest:
            what = f"{name} that {count} digits hold is not rounded after them"
            yield what, number.near & number.held_by(count) & number.rounded_after(count)
        else:
            what = f"{name} that {count} digits hold is these alone"
            yield what, number.near & number.held_by(count) & number.wrong_of(count)


@dataclass(frozen=True)
class _Number:
    slicing: Slicing

    @cached_property
    def word(self) -> Term:
        return var("x", self.slicing.wide.width)

    @cached_property
    def top(self) -> Term:
        return var("largest exponent", self.slicing.exponent_bits)

    @cached_property
    def x(self) -> Number:
        return decode(self.slicing.wide, self.word)

    @cached_property
    def digits(self) -> tuple[Term, ...]:
        return self.slicing.digits(self.word, self.top)

    @property
    def given(self) -> Term:
        """A finite number, and the exponent of one that is no smaller."""
        wide = self.slicing.wide
        row = self.top.ule(wide.e_max - wide.e_min)
        return self.slicing.finite(self.word) & self.x.exponent.term.ule(self.top) & row

    @property
    def distance(self) -> Term:
        width = max(self.top.width, (self.slicing.total + 2).bit_length()) + 1
        return (self.top - self.x.exponent.term).zext(width)

    @property
    def far(self) -> Term:
        return ~self.distance.ule(self.slicing.total + 2)

    @property
    def near(self) -> Term:
        return self.given & ~self.far

    @property
    def fine(self) -> int:
        return self.slicing.wide.fraction_bits + self.slicing.above + 2

    @property
    def width(self) -> int:
        return max(self.slicing.total + self.fine + 5, self.distance.width)

    @cached_property
    def size(self) -> Term:
        """|X|·2^fine, where the number is near."""
        place = const(self.slicing.total + 2, self.width) - self.distance.zext(self.width)
        return self.x.significand.zext(self.width) << place

    @property
    def exact(self) -> Term:
        """X·2^fine."""
        return self.x.sign.ite(-self.size, self.size)

    def sum_of(self, digits: Sequence[Term]) -> Term:
        """Return the first digits' sum, times 2^fine."""
        places = [self.slicing.bits * (self.slicing.count - place) for place in range(1, len(digits) + 1)]
        return total(
            const(0, self.width),
            *(d.sext(self.width) << (p + self.fine) for d, p in zip(digits, places, strict=True)),
        )

    def any_digit(self, first: int) -> Term:
        return any_of(digit.ne(0) for digit in self.digits[first:])

    @property
    def too_large(self) -> Term:
        most = self.slicing.largest
        return any_of(digit.slt(-most) | ~digit.sle(most) for digit in self.digits)

    @property
    def off(self) -> Term:
        return ~magnitude(self.sum_of(self.digits) - self.exact).ult(1 << self.fine)

    def below(self, count: int) -> int:
        """Return the place in ``size`` of the unit of a digit."""
        return self.slicing.bits * (self.slicing.count - count) + self.fine

    def rounded(self, count: int) -> Term:
        """|X| to nearest even in units of a digit; 0 before the first."""
        if not count:
            return const(0, self.width)
        last = self.below(count)
        up = self.size[last - 1] & (self.size[last - 2 : 0].ne(0) | self.size[last])
        return (self.size >> last) + up.zext(self.width)

    def added(self, place: int) -> Term:
        """By how much rounding to a digit's place changes what the digits before it are."""
        return self.rounded(place) - (self.rounded(place - 1) << self.slicing.bits)

    def not_added(self, place: int) -> Term:
        size = self.added(place)
        return self.digits[place - 1].sext(self.width).ne(self.x.sign.ite(-size, size))

    @property
    def rounded_off(self) -> Term:
        loss = magnitude((self.rounded(self.slicing.count) << self.fine) - self.size)
        return ~loss.ule(1 << (self.fine - 1))

    def rounded_after(self, count: int) -> Term:
        """The n-th rounding is not the number, or a later one changes it."""
        later = range(count + 1, self.slicing.count + 1)
        wrong = (self.rounded(count) << self.below(count)).ne(self.size)
        return wrong | any_of(self.added(place).ne(0) for place in later)

    @property
    def outsized(self) -> Term:
        sizes = [self.sum_of(self._alone(place)) for place in range(len(self.digits))]
        sizes = [magnitude(size) for size in sizes]
        if self.slicing.nearest:
            return any_of(
                [*(~size.ule(self.size << 1) for size in sizes), ~total(*sizes).ule(self.size << 2)]
            )
        other = [digit.ne(0) & digit[digit.width - 1].ne(self.x.sign) for digit in self.digits]
        return any_of([*other, ~magnitude(self.sum_of(self.digits)).ule(self.size)])

    def _alone(self, place: int) -> list[Term]:
        zero = const(0, self.digits[0].width)
        return [digit if p == place else zero for p, digit in enumerate(self.digits)]

    def held_by(self, count: int) -> Term:
        """The last bits of X, those below a digit, are zero."""
        return self.size[self.below(count) - 1 : 0].eq(0)

    def wrong_of(self, count: int) -> Term:
        """The first digits are not X, or others are not zero."""
        return self.sum_of(self.digits[:count]).ne(self.exact) | self.any_digit(count)
