"""Chains of fused multiply-adds of binary32, as processors have them: another graph of the same words.

Where a unit reads or gives zeros for subnormal numbers, words are tested before and after each operation. A
unit may call a result subnormal by its value before rounding; then the smallest normal number is left to the
model, and so are NaNs, whose words follow rules. What a NaN is added to is a NaN: the last word is looked at.

Nothing here is trusted: a form is used where it is proved (:mod:`.proved_forms`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcsmt.language.terms import FALSE, Term, any_of, const
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import flush, fma_words, widen
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.ieee_dot_add import IeeeDotAdd
from tcsmt.matrix_units.models.ieee_parts import BlockPlace, Chains, FusedChain

_WIDE = FORMATS["f32"]


@dataclass(frozen=True)
class ChainStep:
    """One operation, ``addend`` plus a product, or another word.

    inputs: the words of a and b that are multiplied, and factors: these in binary32; none in an addition of
    two words.
    before: the words of earlier operations that it adds. unsure: whether its word says nothing.
    """

    word: Term
    inputs: tuple[Term, ...]
    factors: tuple[Term, ...]
    addend: Term
    before: tuple[Term, ...]
    unsure: Term


@dataclass(frozen=True)
class ChainForm:
    """The graph of a form: its operations, in the model's order. Where ``guard`` is 1, it says nothing."""

    steps: tuple[ChainStep, ...]
    result: Term
    guard: Term


def chain_form(model: Model) -> ChainForm | None:
    """Return the form of a model, or None where it is no chain of such operations, or one that processors
    have.
    """
    if (
        not isinstance(model, IeeeDotAdd)
        or model.is_native
        or not isinstance(model.sum, (FusedChain, Chains))
    ):
        return None
    formats = model.c_format, model.sum_format, model.d_format
    narrow = all(_WIDE.holds(fmt) for fmt in (model.a_format, model.b_format))
    usual = model.rounding.ties_to_even and model.overflow == "ieee" and model.product_exponent == 0
    if any(fmt != _WIDE for fmt in formats) or not (narrow and usual and model.passes_on):
        return None
    carrier = _FormSteps(model)
    result = model.sum.run(carrier)
    guard = any_of([is_nan(result), *(step.unsure for step in carrier.done)])
    return ChainForm(tuple(carrier.done), result, guard)


def is_nan(word: Term) -> Term:
    """Return whether a word of binary32 is a NaN."""
    return ~_size(word).ult(_WIDE.infinity_word + 1)


def _size(word: Term) -> Term:
    return word[_WIDE.sign_bit - 1 : 0]


@dataclass(frozen=True)
class _Product:
    """The words of a and of b, and what is multiplied."""

    inputs: tuple[Term, Term]
    factors: tuple[Term, Term]


class _FormSteps:
    """The schedule of a model on words of binary32."""

    def __init__(self, model: IeeeDotAdd) -> None:
        self.model, self.done = model, list[ChainStep]()
        self.zero = const(0, _WIDE.width)
        reading, words = model.reading, model.trace
        self.c = self._read(_WIDE, words.c, flushed=reading.flush_inputs or reading.flush_c)

    def _read(self, fmt: Format, word: Term, *, flushed: bool) -> Term:
        keep = not self.model.reading.flush_to_positive
        return widen(flush(word, fmt, keep_sign=keep) if flushed else word, fmt, _WIDE)

    def products(self) -> list[_Product]:
        """See :class:`.IeeeSteps`."""
        model, flushed = self.model, self.model.reading.flush_inputs
        formats = float_format(model.a_format), float_format(model.b_format)
        products = []
        for lane in model.order or range(model.k):
            inputs = model.trace.a[lane], model.trace.b[lane]
            a, b = (self._read(fmt, word, flushed=flushed) for fmt, word in zip(formats, inputs, strict=True))
            products.append(_Product(inputs, (a, b)))
        return products

    def start(self, x: Term | _Product, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        if isinstance(x, _Product):
            raise TypeError("a chain of multiply-adds begins with a word")
        return x

    def add(self, x: Term, y: Term | _Product, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        results = self.model.results
        word = native.add(x, y) if isinstance(y, Term) else fma_words(_WIDE, *y.factors, x)
        if results.flush_outputs:
            word = flush(word, _WIDE)
        # a result that rounds up to the smallest normal number may have been tiny before rounding: then the
        # unit flushes it, and the processor's word does not say so
        smallest = _size(word).eq(1 << _WIDE.fraction_bits)
        unsure = smallest if results.flush_outputs and results.tininess != "result" else FALSE
        if isinstance(y, Term):  # which word a NaN is, an addition leaves open
            unsure |= ~_size(x).ult(_WIDE.infinity_word) | ~_size(y).ult(_WIDE.infinity_word)
        earlier = {step.word for step in self.done}
        before = tuple(term for term in (x, y) if isinstance(term, Term) and term in earlier)
        inputs, factors = ((), ()) if isinstance(y, Term) else (y.inputs, y.factors)
        self.done.append(ChainStep(word, inputs, factors, x, before, unsure))
        return word

    def exact(self, products: Sequence[_Product], c: Term | None, place: BlockPlace) -> Term:
        """See :class:`.IeeeSteps`."""
        raise TypeError("an exact sum is no chain of multiply-adds")
