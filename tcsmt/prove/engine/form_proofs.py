"""What is to be proved of a unit, so that its simulator may run on another graph than the model's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.matrix_units.models.float_form import float_form, last_addition_form
from tcsmt.matrix_units.models.proved_forms import digests, digests_of_last, fused_block, one_lane
from tcsmt.prove.engine import float_form_proof, nan_words_proof
from tcsmt.prove.engine.deduction import Obligation

__all__ = ["FormProof", "form_proofs"]


@dataclass(frozen=True)
class FormProof:
    """That one graph gives another's words: the digests of both, and what gives the lemmas.

    ``deduced`` raises :class:`.NotDeduced` where the argument does not go through.
    """

    digests: tuple[str, str]
    deduced: Callable[[], list[Obligation]]


def form_proofs(model: Model) -> Iterator[FormProof]:
    """Of a unit's fused sum, of the last addition of c, and of one link of a chain of IEEE operations."""
    block, steps = fused_block(model), one_lane(model)
    form = None if block is None else float_form(block)
    last = last_addition_form(model) if isinstance(model, FusedDotAdd) else None
    if block is not None and form is not None:
        lemmas = partial(float_form_proof.deduced, block, form)
        yield FormProof(digests(block, form.result, form.guard), lemmas)
    if form is not None and last is not None:
        yield FormProof(digests_of_last(last), partial(float_form_proof.deduced_last_addition, last))
    if steps is not None:
        lemmas = partial(nan_words_proof.deduced, *steps)
        yield FormProof(digests(steps[0], steps[1].trace.output), lemmas)
