"""That a chain of a processor's multiply-adds gives a model's words: operation by operation.

The last word is no NaN, so no earlier one is; from the first operation on, both graphs have the same word.
What is added to a word is the same exact product, of narrow factors and of the same numbers in binary32.
It is proved of one product, added to any word; what holds of it holds of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from form_proofs.deduction import FormDerivation, Implication, ProofFailed
from tcsmt.language.terms import Term, all_of, const, substitute, var, variables
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum, exact_product
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.chain_form import ChainForm, ChainStep, is_nan
from tcsmt.support.invariants import checked_cast

__all__ = ["derive_proof"]

_WIDE = FORMATS["f32"]
#: Bits in which exponents of both graphs are compared.
_ROOM = 16


def derive_proof(model: IeeeDotAdd, form: ChainForm) -> FormDerivation:
    """That a form gives the model's words wherever its guard is 0.

    Raises :class:`.ProofFailed` where the argument does not go through.
    """
    stages, steps = model.trace.stages, form.steps
    if len(stages) != len(steps) or stages[-1].term is not model.trace.output:
        raise ProofFailed(f"{len(stages)} operations, {len(steps)} in the form")
    proof, words = FormDerivation((~form.guard,)), [step.word for step in steps]
    proof.lemma("the result is no NaN", ~is_nan(form.result), [~form.guard], cuts=words)
    for step in reversed(steps):
        proof.lemma("an operation says something", ~step.unsure, [~form.guard], cuts=words)
        for word in step.before:
            facts = [~is_nan(step.word), ~step.unsure]
            proof.lemma("what is added is no NaN", ~is_nan(word), facts, cuts=step.before)
    theirs = dict(zip(words, (stage.term for stage in stages), strict=True))
    operations = [checked_cast(stage.operation, RoundedSum) for stage in stages]
    general = _General.of(steps, operations)
    theorem = general.theorem(proof)
    for step, stage, operation in zip(steps, stages, operations, strict=True):
        same, equal = stage.term.eq(step.word), {theirs[word]: word for word in step.before}
        premises = [~is_nan(step.word), ~step.unsure]
        if step.addend not in step.before:
            equal |= _read_alike(proof, operation.terms[0], step.addend)
        if step.inputs:
            (nan,) = substitute([_nan_word(operation)], equal)
            values = general.values(step, nan)
            proof.apply(theorem, values)
            premises = substitute([general.same], values)
        proof.lemma("an operation", same, premises, equal=equal, cuts=step.before)
    proof.theorem(form.result.eq(model.trace.output))
    return proof


def _nan_word(operation: RoundedSum) -> Term:
    word = _WIDE.nan_word if operation.nan_word is None else operation.nan_word
    return const(word or 0, _WIDE.width) if not isinstance(word, Term) else word


@dataclass(frozen=True)
class _General:
    """A product of two words that is added to any third one, in both graphs.

    inputs: the words of the factors. addend, nan: variables; the second is the word of a NaN. own: the form's
    product. theirs: the model's. sums: of the addend and each of them, before rounding. word, unsure: of the
    form. same: that both words are the same.
    """

    inputs: tuple[Term, ...]
    addend: Term
    nan: Term
    own: Number
    theirs: Number
    sums: tuple[SignMagnitude, SignMagnitude]
    word: Term
    unsure: Term
    same: Term

    @classmethod
    def of(cls, steps: Sequence[ChainStep], operations: Sequence[RoundedSum]) -> _General:
        """Of a form's first product that is added to a word that is not known."""
        pairs = zip(steps, operations, strict=True)
        products = [pair for pair in pairs if pair[0].inputs and pair[0].addend.value is None]
        if not products:
            raise ProofFailed("no product is added to a word")
        step, operation = products[0]
        addend, nan = var("the addend", _WIDE.width), var("a NaN", _WIDE.width)
        word, unsure = substitute([step.word, step.unsure], {step.addend: addend})
        number, theirs = dp.decode(_WIDE, addend), operation.terms[1]
        expected = replace(operation, terms=(number, theirs), nan_word=nan)
        own = exact_product(*(dp.decode(_WIDE, factor) for factor in step.factors))
        sums = replace(expected, terms=(own, number)).sum, expected.sum
        return cls(step.inputs, addend, nan, own, theirs, sums, word, unsure, expected.word().eq(word))

    def values(self, step: ChainStep, nan: Term) -> dict[Term, Term]:
        """The variables, as another operation has them."""
        return dict(zip(self.inputs, step.inputs, strict=True)) | {self.addend: step.addend, self.nan: nan}

    def theorem(self, whole: FormDerivation) -> Implication:
        """Both words are the same, unless the form's is a NaN or says nothing."""
        hypotheses = (~is_nan(self.word), ~self.unsure)
        proof = FormDerivation(hypotheses, whole.lemmas)
        own, theirs = self.own, self.theirs
        flags = [getattr(own, name).eq(getattr(theirs, name)) for name in ("zero", "infinite", "nan")]
        alike = all_of([*flags, theirs.nan | own.sign.eq(theirs.sign)])  # (a NaN's sign is of no account)
        proof.lemma("a product's sign, and whether it is a number", alike)
        cases = (~theirs.nan & ~theirs.infinite, theirs.nan | theirs.infinite)

        def within(case: FormDerivation, number: int) -> None:
            facts, cuts = [*hypotheses, alike, cases[number]], [own.significand, theirs.significand]
            if number == 0:
                facts += self._same_sum(case, [alike, cases[0], *self._same_product(case, cases[0])])
                cuts = [term for whole in self.sums for term in (whole.sign, whole.magnitude)]
                cuts += [whole.lsb.term for whole in self.sums]
            case.lemma("a product is added", self.same, facts, cuts=cuts)

        proof.lemma("a product is a number, or none", cases[0] | cases[1])
        proof.by_cases(cases, self.same, within)
        return proof.theorem(self.same)

    @property
    def _padded(self) -> Term:
        """The model's significand with as many fraction bits as the form's."""
        grown = self.own.fraction_bits - self.theirs.fraction_bits
        return self.theirs.significand.concat(const(0, grown))

    def _same_sum(self, proof: FormDerivation, product: Sequence[Term]) -> list[Term]:
        """A fact: as far as rounding looks at them, both sums are the same; of the longer one, the bits that
        the other lacks are as one bit. product: facts about both products, which are numbers.
        """
        own, theirs = self.sums
        grown = own.magnitude.width - theirs.magnitude.width
        if grown < 1 or own.lsb.high - own.lsb.low >= 1 << (_ROOM - 1):
            raise ProofFailed("a sum is not longer than the model's")
        lost = own.magnitude[grown - 1 : 0].ne(0)
        short = own.magnitude[own.magnitude.width - 1 : grown]
        counted = [x.lsb.term.zext(_ROOM) + x.lsb.low for x in (own, theirs)]
        # where bits are cut off, the leading one lies far above: no sum of two is short then
        leading = short[short.width - 1 : _WIDE.precision + 3].ne(0)
        same = all_of([
            theirs.magnitude.eq(short | lost.zext(short.width)),
            theirs.sign.eq(own.sign),
            ~lost | leading,
            own.magnitude.eq(0) | counted[1].eq(counted[0] + grown),
            *(x.lsb.term.ule(x.lsb.high - x.lsb.low) for x in (own, theirs)),
        ])  # fmt: skip
        number, term = self.own, self.theirs
        cuts = [number.significand, term.significand, number.exponent.term, term.exponent.term]
        proof.lemma("a sum", same, product, equal={number.significand: self._padded}, cuts=cuts)
        return [same]

    def _same_product(self, proof: FormDerivation, finite: Term) -> list[Term]:
        """Facts: both graphs have the same product, of a known size."""
        own, theirs, last = self.own, self.theirs, self.theirs.significand.width - 1
        counted = [x.exponent.term.zext(_ROOM) + x.exponent.low for x in (own, theirs)]
        significand = own.significand.eq(self._padded)
        exponent = theirs.zero | counted[0].eq(counted[1])
        zero = theirs.zero.eq(theirs.significand.eq(0))
        normal = theirs.zero | theirs.significand[last] | theirs.significand[last - 1]
        reach = all_of(x.exponent.term.ule(x.exponent.high - x.exponent.low) for x in (own, theirs))
        equal = self._factors(proof, finite)
        factors = [_short(factor) for factor in theirs.significand.args]
        proof.lemma("a product's significand", significand, equal=equal, cuts=factors)
        proof.lemma("a product's exponent", exponent, [finite])
        proof.lemma("a product of zero", zero & normal, [finite])
        proof.lemma("a product's exponent is in range", reach)
        return [significand, exponent, zero & normal, reach]

    def _factors(self, proof: FormDerivation, finite: Term) -> dict[Term, Term]:
        """Facts: both graphs have the same normalised factors. Returns what is equal to what."""
        equal = {}
        for own in self.own.significand.args:
            inputs = set(variables([own]))
            alike = [_short(x) for x in self.theirs.significand.args if set(variables([x])) == inputs]
            if len(alike) != 1:
                raise ProofFailed("a product is of other words")
            (theirs,) = alike
            equal[own] = theirs.zext(own.width) << (_short(own).width - theirs.width)
            proof.lemma("a factor", own.eq(equal[own]), [finite])
        return equal


def _short(word: Term) -> Term:
    """A word before it was extended by zeros."""
    return word.args[0] if word.op == "zext" else word


def _read_alike(proof: FormDerivation, number: Number, addend: Term) -> dict[Term, Term]:
    """Facts: what the model reads c as is what the form's word says. Returns what is equal to what."""
    own = dp.decode(_WIDE, addend)
    names = ("sign", "significand", "zero", "infinite", "nan")
    equal = {getattr(number, name): getattr(own, name) for name in names}
    equal[number.exponent.term] = own.exponent.term
    equal = {node: other for node, other in equal.items() if node is not other}
    for node, other in equal.items():
        proof.lemma("what is read", node.eq(other))
    return equal
