"""Exact sums of products in binary64, as processors have it: another graph of the same words.

Products are exact in binary32. Added to 1.5·2^52 units, a number of binary64 is the integer that counts the
units, in its last bits: so the terms become integers, on the grid of the smallest one's last place, and their
sum is exact. It becomes a number again by the same way, and is rounded once: to binary32, or to binary16 by
way of a binary32 number whose last bit says whether something was lost.

Each operand has two words beside it: one grows with its exponent, one falls, and a zero's are below all
others. The largest sums of the first say how large terms are, those of the second where the grid is; where
the one is too far above the other, the form says nothing.

Nothing here is trusted: a form is used where it is proved (:mod:`.proved_forms`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.language.terms import Term, any_of, const, total, umax
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import widen
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import BlockPlace, ExactSums, UnflushedOperands, UnflushedResults
from tcsmt.simulate.forms.product_grid import BIAS, FRACTION, WIDE, exact_products

_HALF, _DOUBLE = FORMATS["f16"], FORMATS["f64"]
#: Bits of a word beside an operand, what is added to exponents in it, and that of what is left to the model,
#: above every sum of others.
_WORD, _OFFSET, _SPECIAL = 16, 1 << 8, 1 << 14
#: Bits of a grid's words.
_GRID = 32
#: Bits of an integer beside 1.5·2^52; sums are smaller than half of what they hold.
INTEGER = 51


@dataclass(frozen=True)
class ExactNumbers:
    """The numbers that a form is made of.

    fraction_bits: of a product. bits: of a term on the grid, at most. spread: what a word of size and one of
    place may be together. limit: words of size are below; None: no product is too large for binary32. depth:
    words of place are below; None: no product is too small.
    """

    fraction_bits: int
    bits: int
    spread: int
    limit: int | None
    depth: int | None

    @classmethod
    def of(cls, formats: tuple[Format, Format], exponent: int, bits: int) -> ExactNumbers:
        """Return numbers of some formats. exponent: of the power of two that products are multiplied by."""
        fraction_bits = sum(fmt.fraction_bits for fmt in formats)
        spread, zero = 4 * (BIAS + _OFFSET) - fraction_bits + bits, 2 * (BIAS + _OFFSET)
        smallest = sum(fmt.e_min - fmt.fraction_bits for fmt in formats) + exponent
        largest = sum(fmt.e_max + 1 for fmt in formats) + exponent
        limit = None if largest <= WIDE.e_max else zero + BIAS
        depth = None if smallest >= WIDE.e_min else zero + BIAS + 2
        return cls(fraction_bits, bits, spread, limit, depth)

    @property
    def place(self) -> int:
        """Return a word of place and the exponent of the term's last place, together."""
        return 2 * (BIAS + 1 + _OFFSET) - self.fraction_bits

    def unsure(self, sizes: Term, places: Term) -> Term:
        """Return whether terms lie too far apart, or are too large or small. sizes, places: the largest
        words.
        """
        unsure = ~(sizes + places).ult(self.spread + 1)
        for word, limit in ((sizes, self.limit), (places, self.depth)):
            if limit is not None:
                unsure |= ~word.ult(limit)
        return unsure


@dataclass(frozen=True)
class LaneOfSum:
    """A product.

    inputs: the words of a and b. factors: in binary32. size, place: the sums of their words. product: exact.
    """

    inputs: tuple[Term, Term]
    factors: tuple[Term, Term]
    size: Term
    place: Term
    product: Term


@dataclass(frozen=True)
class AddendOfSum:
    """The addend of products. word: as it is given. single: in binary32. size, place: its words."""

    word: Term
    single: Term
    size: Term
    place: Term

    @classmethod
    def of(cls, n: ExactNumbers, word: Term, fmt: Format) -> AddendOfSum:
        """Return a word of binary32 or binary16."""
        field, empty = word[fmt.sign_bit - 1 : fmt.fraction_bits], word[fmt.sign_bit - 1 : 0].eq(0)
        normal = (field - 1).ult((1 << fmt.exponent_bits) - 2)
        size = field.zext(_GRID) + (2 * (_OFFSET + BIAS) - 1 - fmt.bias)
        size = normal.ite(size, const(_SPECIAL, _GRID))
        place = const(n.place + fmt.bias + fmt.fraction_bits, _GRID) - field.zext(_GRID)
        zero = const(0, _GRID)
        single = word if fmt == WIDE else native.from_half(word)
        return cls(word, single, empty.ite(zero, size), empty.ite(zero, place))


@dataclass(frozen=True)
class ExactStep:
    """An exact sum, rounded once.

    sizes, places: the largest words. aligned: the terms, added to 1.5·2^52 units. whole: the sum of these, of
    which the last bits count. number: of binary64. signs: a sign bit where all terms have it. unsure: whether
    the word says nothing.
    """

    lanes: tuple[LaneOfSum, ...]
    c: AddendOfSum | None
    sizes: Term
    places: Term
    aligned: tuple[Term, ...]
    whole: Term
    number: Term
    signs: Term
    word: Term
    unsure: Term


@dataclass(frozen=True)
class WordStep:
    """An addition of two words, or a word as it is (``other`` is None). format: of all words."""

    format: Format
    word: Term
    one: Term
    other: Term | None

    @property
    def words(self) -> list[Term]:
        """Return what it is made of."""
        return [self.one] if self.other is None else [self.one, self.other]

    @property
    def unsure(self) -> Term:
        """Return whether the word says nothing: which one a NaN is, an addition leaves open."""
        return any_of(~is_finite(word, self.format) for word in self.words)


@dataclass(frozen=True)
class ExactForm:
    """The graph of a form: its steps, in the model's order. Where ``guard`` is 1, it says nothing."""

    numbers: ExactNumbers
    steps: tuple[ExactStep | WordStep, ...]
    result: Term
    guard: Term


def exact_form(model: Model) -> ExactForm | None:
    """Return the form of a model, or None where it has no exact sums, or others than binary64 holds."""
    if not isinstance(model, IeeeDotAdd) or not isinstance(model.sum, ExactSums):
        return None
    a, b = float_format(model.a_format), float_format(model.b_format)
    words = model.c_format, model.sum_format, model.d_format
    unflushed = isinstance(model.reading, UnflushedOperands) and isinstance(model.results, UnflushedResults)
    usual = model.rounding.ties_to_even and model.d_rounding.ties_to_even and unflushed
    same = len(set(words)) == 1 and (words[0] == WIDE or (words[0] == _HALF and model.sum.c_first))
    if not same or not usual or not exact_products(a, b):
        return None
    carrier = _FormSteps(model, (a, b))
    result = model.sum.run(carrier)
    if not (model.passes_on and model.sum_format == model.d_format):
        carrier.done.append(WordStep(model.d_format, result, result, None))
    guard = any_of(step.unsure for step in carrier.done)
    return ExactForm(carrier.numbers, tuple(carrier.done), result, guard)


def lanes_of_sums(model: IeeeDotAdd, formats: tuple[Format, Format]) -> list[LaneOfSum]:
    """Return the products of a model, in the order in which it sums them. formats: of both factors."""
    lanes, words = model.order or range(model.k), model.trace
    return [_lane(model.product_exponent, formats, (words.a[lane], words.b[lane])) for lane in lanes]


def _lane(exponent: int, formats: tuple[Format, Format], inputs: tuple[Term, Term]) -> LaneOfSum:
    a, b = (widen(word, fmt, WIDE) for word, fmt in zip(inputs, formats, strict=True))
    if exponent:
        a = native.multiply(a, const(WIDE.word(Fraction(2) ** exponent), WIDE.width))
    sides = list(zip(formats, inputs, (a, b), strict=True))
    size = total(*(_size(*side) for side in sides))
    place = total(*(_place(*side) for side in sides))
    return LaneOfSum(inputs, (a, b), size, place, native.multiply(a, b))


def is_finite(word: Term, fmt: Format) -> Term:
    """Return whether a word of binary32 or binary16 is neither a NaN nor an infinity."""
    return word[fmt.sign_bit - 1 : 0].ult(fmt.infinity_word)


class _FormSteps:
    """The schedule of a model on words of its results' format."""

    def __init__(self, model: IeeeDotAdd, formats: tuple[Format, Format]) -> None:
        assert isinstance(model.sum, ExactSums)
        self.model, self.formats, self.done = model, formats, list[ExactStep | WordStep]()
        self.format = model.d_format
        self.c, self.zero = model.trace.c, const(0, self.format.width)
        self.signed_zeros = model.sum.negative_zero
        others = model.block + model.sum.c_first - 1
        bits = INTEGER - 1 - others.bit_length()
        self.numbers = ExactNumbers.of(formats, model.product_exponent, bits)

    def products(self) -> list[LaneOfSum]:
        """See :class:`.IeeeSteps`."""
        return lanes_of_sums(self.model, self.formats)

    def start(self, x: Term | LaneOfSum, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        raise TypeError("a sum that is exact has no other beginning")

    def add(self, x: Term, y: Term | LaneOfSum, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        if isinstance(y, LaneOfSum):
            raise TypeError("products are in exact sums")
        word = native.add(x, y)
        self.done.append(WordStep(self.format, word, x, y))
        return word

    def exact(self, products: Sequence[LaneOfSum], c: Term | None, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        n = self.numbers
        sizes = umax(*(lane.size for lane in products)).zext(_GRID)
        places = umax(*(lane.place for lane in products)).zext(_GRID)
        terms = [lane.product for lane in products]
        addend = None
        if c is not None:
            addend = AddendOfSum.of(n, c, self.format)
            sizes, places = umax(sizes, addend.size), umax(places, addend.place)
            terms.append(addend.single)
        # 2^52 units
        field = const(_DOUBLE.bias + _DOUBLE.fraction_bits + n.place, _GRID) - places
        field = field[_DOUBLE.exponent_bits - 1 : 0].zext(_DOUBLE.width) << _DOUBLE.fraction_bits
        unit, half = field + (1 << INTEGER), 1 << (INTEGER - 1)
        aligned = tuple(native.add_double(native.to_double(term), unit) for term in terms)
        total_word = total(*aligned)
        count = (total_word + half) & const((1 << INTEGER) - 1, _DOUBLE.width)
        number = native.add_double(field + half + count, unit ^ (1 << _DOUBLE.sign_bit))
        word = native.to_single(number if self.format == WIDE else odd_last_bit(number))
        if self.format != WIDE:  # rounded once: what binary32 has lost, its last bit says
            word = native.to_half(word)
        signs = const(0, WIDE.width)
        if self.signed_zeros:  # of negative zeros the sum is one; of other negative terms it is negative, too
            signs = _common_bits(terms) & (1 << WIDE.sign_bit)
            word |= signs[WIDE.width - 1 : WIDE.width - word.width]
        unsure = n.unsure(sizes, places)
        if self.model.overflow != "ieee":  # a sum that is too large is no infinity
            unsure |= ~is_finite(word, self.format)
        step = ExactStep(
            tuple(products), addend, sizes, places, aligned, total_word, number, signs, word, unsure,
        )  # fmt: skip
        self.done.append(step)
        return word


def odd_last_bit(number: Term) -> Term:
    """Return a binary64 number without the bits that binary32 lacks; its last is 1 if one of them was."""
    lost = const((1 << (_DOUBLE.fraction_bits - FRACTION)) - 1, number.width)
    return (number | (number & lost) + lost) & ~lost


def _common_bits(words: Sequence[Term]) -> Term:
    """Return the bits that all words have."""
    result = words[0]
    for word in words[1:]:
        result &= word
    return result


def _field(factor: Term) -> Term:
    return factor[WIDE.sign_bit - 1 : FRACTION].zext(_WORD)


def _size(fmt: Format, word: Term, factor: Term) -> Term:
    """Return a word that grows with an operand's exponent; 0 of a zero, and more than any sum of others of
    what is no number, or below binary32's smallest normal one.
    """
    number = dp.decode(fmt, word)
    special = number.nan | number.infinite
    if fmt.e_min - fmt.fraction_bits < WIDE.e_min:
        special |= _field(factor).eq(0) & ~number.zero
    usual = number.zero.ite(const(0, _WORD), _field(factor) + _OFFSET)
    return special.ite(const(_SPECIAL, _WORD), usual)


def _place(fmt: Format, word: Term, factor: Term) -> Term:
    """Return a word that falls as an operand's exponent grows; 0 of a zero."""
    falling = const(2 * BIAS + 1 + _OFFSET, _WORD) - _field(factor)
    return dp.decode(fmt, word).zero.ite(const(0, _WORD), falling)
