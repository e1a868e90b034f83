"""Sums of two words, rounded to odd, by way of binary64: another graph of the same words.

Products are exact in binary32, and where two numbers of binary32 do not lie too far apart, their sum is exact
in binary64. There, the bits that binary32 lacks are cut off, and the last of the others is set if one of them
was 1: that is rounding to odd, and a conversion loses nothing any more. Subnormal numbers, which such units
read and give as zeros, are left to the model, and so are NaNs and infinities.

Nothing here is trusted: a form is used where it is proved (:mod:`.proved_forms`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.language.terms import Term, any_of, const, umax
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import (
    BlockPlace,
    FlushedOperands,
    FlushedResults,
    RoundedProducts,
    Trees,
)
from tcsmt.simulate.forms.exact_form import ExactNumbers, LaneOfSum, lanes_of_sums, odd_last_bit
from tcsmt.simulate.forms.product_grid import FRACTION, WIDE, exact_products

#: How far apart exponents may be: 24 bits of each word, the farther ones last, are in binary64's 53.
_APART = FORMATS["f64"].precision - WIDE.precision


@dataclass(frozen=True)
class OddStep:
    """A sum of two words of binary32, rounded to odd.

    lanes: whose products the words are, and sizes, places: the largest words of these; none where they are no
    products. whole: the sum in binary64. word: the result. unsure: whether it says nothing.
    """

    lanes: tuple[LaneOfSum, ...]
    sizes: Term | None
    places: Term | None
    words: tuple[Term, Term]
    whole: Term
    word: Term
    unsure: Term


@dataclass(frozen=True)
class OddForm:
    """The graph of a form: its sums, in the model's order. Where ``guard`` is 1, it says nothing."""

    numbers: ExactNumbers
    steps: tuple[OddStep, ...]
    result: Term
    guard: Term


def odd_form(model: Model) -> OddForm | None:
    """Return the form of a model, or None where it has no such sums, of two products and of words."""
    if not isinstance(model, IeeeDotAdd) or not isinstance(model.sum, Trees) or model.block != 2:
        return None
    products = model.sum.products
    flushed = isinstance(model.reading, FlushedOperands) and isinstance(model.results, FlushedResults)
    if not isinstance(products, RoundedProducts) or not flushed:
        return None
    formats = model.c_format, products.product_format, model.sum_format, model.d_format
    exact = exact_products(float_format(model.a_format), float_format(model.b_format))
    plain = model.overflow == "ieee" and not model.product_exponent and not model.reading.flush_to_positive
    if any(fmt != WIDE for fmt in formats) or not (exact and plain and model.rounding.to_odd):
        return None
    carrier = _FormSteps(model)
    result = model.sum.run(carrier)
    return OddForm(carrier.numbers, tuple(carrier.done), result, any_of(step.unsure for step in carrier.done))


def is_usual(word: Term) -> Term:
    """Return whether a word of binary32 is zero, or a normal number."""
    size, smallest = word[WIDE.sign_bit - 1 : 0], 1 << FRACTION
    return size.eq(0) | (size - smallest).ult(WIDE.infinity_word - smallest)


def are_near(x: Term, y: Term) -> Term:
    """Return whether two normal numbers of binary32 lie so near that binary64 has their sum; one may be
    zero.
    """
    one, other = (word[WIDE.sign_bit - 1 : 0].zext(WIDE.width) for word in (x, y))
    # sizes are compared as integers, fraction and all: one exponent is 2^23 of these steps
    most = _APART << FRACTION
    return one.eq(0) | other.eq(0) | (one - other + most).ult(2 * most + 1)


class _FormSteps:
    """The schedule of a model on words of binary32."""

    def __init__(self, model: IeeeDotAdd) -> None:
        self.done = list[OddStep]()
        self.c, self.zero = model.trace.c, const(0, WIDE.width)
        formats = float_format(model.a_format), float_format(model.b_format)
        bits = _APART + sum(fmt.fraction_bits for fmt in formats)
        self.numbers = ExactNumbers.of(formats, 0, bits)
        self._lanes = {lane.product: lane for lane in lanes_of_sums(model, formats)}

    def products(self) -> list[LaneOfSum]:
        """See :class:`.IeeeSteps`."""
        return [*self._lanes.values()]

    def start(self, x: Term | LaneOfSum, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        return x.product if isinstance(x, LaneOfSum) else x

    def add(self, x: Term, y: Term | LaneOfSum, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        if isinstance(y, LaneOfSum):
            raise TypeError("a tree begins with its products")
        lanes = tuple(self._lanes[word] for word in (x, y) if word in self._lanes)
        exact = native.add_double(native.to_double(x), native.to_double(y))
        word = native.to_single(odd_last_bit(exact))
        unsure, sizes, places = ~is_usual(word), None, None
        if lanes:
            sizes, places = umax(*(lane.size for lane in lanes)), umax(*(lane.place for lane in lanes))
            unsure |= self.numbers.unsure(sizes, places)
        else:
            unsure |= ~(is_usual(x) & is_usual(y) & are_near(x, y))
        self.done.append(OddStep(lanes, sizes, places, (x, y), exact, word, unsure))
        return word

    def exact(self, products: Sequence[LaneOfSum], c: Term | None, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        raise TypeError("an exact sum of several terms is rounded to nearest")
