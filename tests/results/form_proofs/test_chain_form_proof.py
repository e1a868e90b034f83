"""Chains of a processor's multiply-adds are proved, and what is not the model's graph is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from form_proofs.chain_form_proof import derive_proof
from form_proofs.deduction import ProofFailed

from tcsmt.language.terms import FALSE, Term, any_of, substitute
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import fma_words
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.forms.chain_form import ChainForm, ChainStep, chain_form, is_nan
from tests.support.answers import answer
from tests.support.sampling import mostly_long

UNIT, WIDE = "x86/tdpbf16ps", FORMATS["f32"]


@cache
def form_of(name: str, k: int | None = None) -> tuple[IeeeDotAdd, ChainForm]:
    """The model of a unit, or one alike of so many lanes, and its form."""
    model = row_named(name).model
    assert isinstance(model, IeeeDotAdd)
    if k is not None:
        model = model.replace(k=k)
    form = chain_form(model)
    assert form is not None
    return model, form


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "k"), [(UNIT, 4), ("x86/tdpfp16ps", 4), ("arm/bfmlalb", 1), ("arm/fmlal", 1)]
)
def test_is_proved(name: str, k: int) -> None:
    lemmas = derive_proof(*form_of(name, k)).lemmas
    assert all(answer(goal, SolvingOptions(timeout=600)) == "unsat" for goal in lemmas)


@pytest.mark.slow
def test_no_lemma_has_a_solution() -> None:
    """All but the addition of a product and that of c are refuted at once: in few steps of the solver."""
    few = SolvingOptions(steps=200_000)
    answers = [answer(goal, few) for goal in derive_proof(*form_of(UNIT, k=4)).lemmas]
    assert "sat" not in answers and answers.count("unknown") <= 2


@cache
def usual() -> frozenset[Term]:
    """The lemmas about the form as it is, which hold."""
    return frozenset(derive_proof(*form_of(UNIT, k=4)).lemmas)


def again(form: ChainForm, change: Callable[[int, ChainStep], ChainStep]) -> ChainForm:
    """A form whose operations are changed, each with those before it."""
    steps: list[ChainStep] = []
    words: dict[Term, Term] = {}
    for number, old in enumerate(form.steps):
        word, addend, unsure, *rest = substitute([old.word, old.addend, old.unsure, *old.before], words)
        step = change(number, replace(old, word=word, addend=addend, unsure=unsure, before=tuple(rest)))
        words[old.word] = step.word
        steps.append(step)
    result = steps[-1].word
    guard = any_of([is_nan(result), *(step.unsure for step in steps)])
    return ChainForm(tuple(steps), result, guard)


def at(
    place: int, **changes: Callable[[ChainStep], Term | tuple[Term, ...]]
) -> Callable[[ChainForm], ChainForm]:
    """A form that differs in one operation."""

    def change(number: int, step: ChainStep) -> ChainStep:
        own = {name: value(step) for name, value in changes.items() if number == place}
        return replace(step, **own)

    return lambda form: again(form, change)


def everywhere(word: Callable[[ChainStep], Term]) -> Callable[[ChainForm], ChainForm]:
    """A form of which every multiply-add is another one."""
    return lambda form: again(form, lambda _, step: replace(step, word=word(step)) if step.inputs else step)


def exact(step: ChainStep) -> Term:
    """A multiply-add whose subnormal results stay."""
    return fma_words(WIDE, step.factors[0], step.factors[1], step.addend)


#: A fault in each stage. Of four lanes and two chains, the operations are four multiply-adds, the chains'
#: sum, and that with c.
FAULTS: dict[str, Callable[[ChainForm], ChainForm]] = {
    "subnormal results stay": everywhere(exact),
    "a product is rounded": everywhere(lambda step: native.add(native.multiply(*step.factors), step.addend)),
    "a factor is another number": everywhere(
        lambda step: fma_words(WIDE, step.factors[0] ^ (1 << 16), step.factors[1], step.addend)
    ),
    "a product has the other sign": everywhere(
        lambda step: fma_words(WIDE, step.factors[0] ^ (1 << 31), step.factors[1], step.addend)
    ),
    "a result is one more": everywhere(lambda step: step.word + 1),
    "one lane's result is one more": at(3, word=lambda step: step.word + 1),
    "a product is another lane's": lambda form: at(2, word=lambda _: form.steps[3].word)(form),
    "the chains' sum is one chain": at(4, word=lambda step: step.before[0]),
    "c is not added": at(5, word=lambda step: step.before[0]),
    "c has the other sign": at(5, word=lambda step: native.add(step.addend ^ (1 << 31), step.before[0])),
    "the smallest normal number is one": at(1, unsure=lambda _: FALSE),
    "a sum of infinities is a number": at(4, unsure=lambda _: FALSE),
}


#: It takes a solver a minute to find the one number that shows it.
SMALLEST = "the smallest normal number is one"


@pytest.mark.slow
@pytest.mark.parametrize("fault", mostly_long(FAULTS, [fault for fault in FAULTS if fault != SMALLEST]))
def test_a_fault_is_refused(fault: str) -> None:
    """The argument stops, or a lemma has a solution."""
    model, form = form_of(UNIT, k=4)
    faulty = FAULTS[fault](form)
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    try:
        lemmas = derive_proof(model, faulty).lemmas
    except ProofFailed:
        return
    assert any(answer(goal) == "sat" for goal in lemmas if goal not in usual())


@pytest.mark.slow
def test_a_guard_that_looks_away_is_refused() -> None:
    model, form = form_of(UNIT, k=4)
    steps = tuple(replace(step, unsure=FALSE) for step in form.steps)
    for faulty in (
        replace(form, guard=FALSE),
        replace(form, guard=is_nan(form.result)),
        ChainForm(steps, form.result, FALSE),
    ):
        lemmas = derive_proof(model, faulty).lemmas
        assert any(answer(goal) == "sat" for goal in lemmas)


@pytest.mark.slow
def test_another_model_is_refused() -> None:
    model, form = form_of(UNIT, k=4)
    for changes in (
        {"flush_outputs": False, "tininess": "result"},
        {"order": (1, 0, 3, 2)},
        {"rounding": "RTZ"},
    ):
        other = model.replace(**changes)
        try:
            lemmas = derive_proof(other, form).lemmas
        except ProofFailed:
            continue
        assert any(answer(goal) == "sat" for goal in lemmas)
