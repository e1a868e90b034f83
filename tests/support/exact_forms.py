"""Forms of exact sums, with faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from form_proofs.exact_form_proof import derive_proof

from tcsmt.language.terms import Term
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.exact_form import ExactForm, ExactStep, exact_form
from tests.support import answers
from tests.support.term_fields import with_node

__all__ = ["FIRST", "HALF", "LAST", "Fault", "first", "form_of", "refused", "with_fault"]

#: With c added after the sum, and in it, of binary32 and of binary16.
LAST, FIRST, HALF = "arm/fmopa.f32.f16.f16", "arm/fdot.f32.e4m3.e4m3", "arm/fdot.f16.e4m3.e4m3"
#: Of a step, a node, and what is there instead.
Fault: TypeAlias = Callable[[ExactStep], tuple[Term, Term]]


@cache
def form_of(name: str) -> tuple[IeeeDotAdd, ExactForm]:
    """A unit's model, with two products in a sum that c is in, and its form."""
    model = row_named(name).model
    if name == FIRST:
        model = model.replace(k=2)
    assert isinstance(model, IeeeDotAdd)
    form = exact_form(model)
    assert form is not None
    return model, form


def first(form: ExactForm) -> ExactStep:
    """A form's first sum."""
    step = form.steps[0]
    assert isinstance(step, ExactStep)
    return step


@cache
def _usual(name: str) -> frozenset[Term]:
    """The lemmas of a right form."""
    return frozenset(derive_proof(*form_of(name)).lemmas)


def refused(name: str, form: ExactForm, model: IeeeDotAdd | None = None) -> bool:
    """Whether it is not proved to be a unit's, or another model's; the lemmas that the right form has are
    asked last.
    """
    own = model or form_of(name)[0]
    return answers.refused(lambda: derive_proof(own, form), _usual(name))


def with_fault(name: str, fault: Fault) -> ExactForm:
    """A unit's form with a fault in its first sum."""
    _, form = form_of(name)
    faulty = with_node(form, *fault(first(form)))
    assert isinstance(faulty, ExactForm)
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    return faulty
