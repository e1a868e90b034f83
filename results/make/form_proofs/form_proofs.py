"""The equivalences that let the simulator of a unit run a faster graph than the model's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from form_proofs import (
    chain_form_proof,
    dot_form_proof,
    exact_form_proof,
    float_form_proof,
    group_form_proof,
    nan_words_proof,
    odd_form_proof,
)
from form_proofs.deduction import FormDerivation
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, Model
from tcsmt.prove.certificates.derivation import Proof
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.simulate.forms.chain_form import ChainForm, chain_form
from tcsmt.simulate.forms.dot_form import dot_form
from tcsmt.simulate.forms.exact_form import ExactForm, exact_form
from tcsmt.simulate.forms.float_form import float_form, last_addition_form
from tcsmt.simulate.forms.group_form import group_form
from tcsmt.simulate.forms.odd_form import OddForm, odd_form
from tcsmt.simulate.forms.proved_forms import (
    digests,
    digests_of_last,
    dot_block,
    fused_block,
    single_step,
)

__all__ = ["FormProof", "form_proofs"]


@dataclass(frozen=True)
class FormProof:
    """That one graph gives another's words. what: says it. digests: of both graphs. model: whose graph is
    proved about; None: that of an operation.

    ``derive_proof`` returns the derivation, and raises :class:`.ProofFailed` where the argument fails.
    """

    what: str
    digests: tuple[str, str]
    model: Model | None
    derive_proof: Callable[[], FormDerivation]

    def certificate(self, unit: str) -> tuple[Question, Proof]:
        """What a certificate states, and its proof. Raises :class:`.ProofFailed`."""
        goal, proof = self.derive_proof().certificate()
        sides = () if self.model is None else (ComparedModel(unit, self.model, self.model.trace),)
        formats = {} if self.model is None else self.model.input_formats
        return Question(title=f"{unit}: {self.what}", sides=sides, goal=goal, formats=formats), proof


def form_proofs(model: Model) -> Iterator[FormProof]:
    """Of a unit's fused sum, or of its groups, of a sum of products to which c is added, of the last addition
    of c, of IEEE operations, and of one link of a chain of them.
    """
    block, steps = fused_block(model), single_step(model)
    form = None if block is None else float_form(block)
    groups = None if block is None else group_form(block)
    last = last_addition_form(model) if isinstance(model, FusedDotAdd) else None
    one = dot_block(model) if isinstance(model, DotThenAdd) else None
    dot = None if one is None else dot_form(one)
    if block is not None and form is not None:
        sums = partial(float_form_proof.derive_proof, block, form)
        names = digests(block, form.result, form.guard)
        yield FormProof("a form in floating-point operations", names, block, sums)
    if block is not None and groups is not None:
        exact = partial(group_form_proof.derive_proof, block, groups)
        names = digests(block, groups.result, groups.guard)
        yield FormProof("exact sums of groups as integers of 16 bits", names, block, exact)
    if one is not None and dot is not None:
        before_c = partial(dot_form_proof.derive_proof, one, dot)
        yield FormProof("sums of products in binary32", digests(one, dot.result, dot.guard), one, before_c)
    if form is not None and last is not None:
        addition = partial(float_form_proof.derive_last_addition, last)
        yield FormProof("the last addition", digests_of_last(last), None, addition)
    if isinstance(model, IeeeDotAdd):
        yield from _of_operations(model)
    if steps is not None:
        links = partial(nan_words_proof.derive_proof, *steps)
        names = digests(steps[0], steps[1].trace.output)
        yield FormProof("an operation but for the words of NaNs", names, steps[0], links)


def _of_operations(model: IeeeDotAdd) -> Iterator[FormProof]:
    """Of a chain of multiply-adds, of exact sums, or of sums rounded to odd: no model is two of them."""
    derived: tuple[tuple[str, ChainForm | ExactForm | OddForm | None, Callable[..., FormDerivation]], ...] = (
        ("a chain of multiply-adds", chain_form(model), chain_form_proof.derive_proof),
        ("exact sums in binary64", exact_form(model), exact_form_proof.derive_proof),
        ("sums rounded to odd, by way of binary64", odd_form(model), odd_form_proof.derive_proof),
    )
    for what, form, derive_proof in derived:
        if form is not None:
            names = digests(model, form.result, form.guard)
            yield FormProof(what, names, model, partial(derive_proof, model, form))
