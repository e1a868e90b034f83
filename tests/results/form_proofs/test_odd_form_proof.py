"""Sums rounded to odd by way of binary64 are proved, and what is not the model's graph is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import pytest
from form_proofs.odd_form_proof import derive_proof

from tcsmt.language.terms import Term, any_of, umax, var
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.forms.odd_form import OddForm, OddStep, are_near, is_usual
from tcsmt.support.invariants import not_none
from tests.support import answers
from tests.support.odd_forms import form_of
from tests.support.term_fields import with_node

UNIT, OTHER = "arm/bfdot.ebf0", "arm/bfmmla.ebf0"
#: Of a form, a node, and what is there instead.
Fault: TypeAlias = Callable[[OddForm], tuple[Term, Term]]


@cache
def usual() -> frozenset[Term]:
    """The lemmas of the right form."""
    return frozenset(derive_proof(*form_of(UNIT)).lemmas)


def refused(form: OddForm, model: IeeeDotAdd | None = None) -> bool:
    """Whether it is not proved to be the unit's, or another model's; what the right form asks comes last."""
    return answers.refused(lambda: derive_proof(model or form_of(UNIT)[0], form), usual())


@pytest.mark.long
@pytest.mark.parametrize("name", [UNIT, OTHER])
def test_is_proved(name: str) -> None:
    lemmas = derive_proof(*form_of(name)).lemmas
    assert [lemma.what for goal, lemma in lemmas.items() if not answers.refuted(goal)] == []


@pytest.mark.slow
def test_no_lemma_has_a_solution() -> None:
    """All but the additions are refuted at once: in few steps of the solver."""
    found = [answers.answer(goal, SolvingOptions(steps=200_000)) for goal in usual()]
    assert "sat" not in found and found.count("unknown") <= 2


#: A fault in each stage.
FAULTS: dict[str, Fault] = {
    "a factor is another number": lambda form: _of_lane(
        form, lambda lane: lane.factors[0], lambda x: x ^ 1 << 20
    ),
    "a product is not exact": lambda form: _of_lane(form, lambda lane: lane.product, lambda x: x | 1),
    "a word of size is one less": lambda form: _of_lane(form, lambda lane: lane.size, lambda x: x - 1),
    "a word of place is one less": lambda form: _of_lane(form, lambda lane: lane.place, lambda x: x - 1),
    "a lane is not in the largest word of size": lambda form: (
        not_none(form.steps[0].sizes), umax(form.steps[0].lanes[0].size)
    ),
    "a sum is the next number": lambda form: (form.steps[0].whole, form.steps[0].whole + 1),
    "what is lost is forgotten": lambda form: (form.steps[0].word, native.to_single(form.steps[0].whole)),
    "the result is one more": lambda form: (form.result, form.result + 1),
}  # fmt: skip


def _of_lane(form: OddForm, part: Callable[..., Term], other: Callable[[Term], Term]) -> tuple[Term, Term]:
    node = part(form.steps[0].lanes[1])
    return node, other(node)


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_is_refused(fault: str) -> None:
    _, form = form_of(UNIT)
    faulty = with_node(form, *FAULTS[fault](form))
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    assert refused(faulty)


def with_guard(*unsure: Callable[[OddStep], Term]) -> OddForm:
    """A form that leaves to the model what is said of each of its steps."""
    _, form = form_of(UNIT)
    steps = [replace(step, unsure=own(step)) for step, own in zip(form.steps, unsure, strict=True)]
    return replace(form, steps=tuple(steps), guard=any_of(step.unsure for step in steps))


def own(step: OddStep) -> Term:
    """As the form has it."""
    return step.unsure


@pytest.mark.parametrize(
    "unsure",
    [
        (lambda step: ~is_usual(step.word), own),
        (own, lambda step: ~is_usual(step.word)),
        (own, lambda step: ~(is_usual(step.words[0]) & is_usual(step.words[1]) & is_usual(step.word))),
        (own, lambda step: ~(are_near(*step.words) & is_usual(step.words[0]) & is_usual(step.word))),
        (own, lambda step: ~(are_near(*step.words) & is_usual(step.words[0]) & is_usual(step.words[1]))),
    ],
    ids=["any products", "any words", "words far apart", "a subnormal word", "a subnormal sum"],
)  # fmt: skip
def test_a_guard_that_looks_away_is_refused(unsure: tuple[Callable[[OddStep], Term], ...]) -> None:
    assert refused(with_guard(*unsure))


def test_products_that_lie_farther_apart_are_refused() -> None:
    """By two places: what is kept of the farther one has room for one more."""
    _, form = form_of(UNIT)
    numbers = replace(form.numbers, spread=form.numbers.spread + 2)

    def unsure(step: OddStep) -> Term:
        return ~is_usual(step.word) | numbers.unsure(not_none(step.sizes), not_none(step.places))

    assert refused(replace(with_guard(unsure, own), numbers=numbers))


@pytest.mark.slow_cases("['word 0']")
@pytest.mark.parametrize("names", [["word 0"], ["cut 0"], ["word 0", "cut 0"]], ids=str)
def test_a_form_of_words_that_the_proof_leaves_free_is_refused(names: list[str]) -> None:
    """It gives the right result where the first word that is added is one of these."""
    _, form = form_of(UNIT)
    first, step = form.steps
    known = any_of(var(name, 32).eq(step.words[0]) for name in names)
    word = known.ite(step.word, step.word ^ 1)
    step = replace(step, word=word, unsure=step.unsure | ~is_usual(word))
    guard = any_of([first.unsure, step.unsure])
    assert refused(replace(form, steps=(first, step), result=word, guard=guard))


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"rounding": "RNE"},
            {"rounding": "RTZ"},
            {"order": (1, 0)},
            {"flush_outputs": False, "tininess": "result"},
        ),
        *({"a_format": "f16"}, {"k": 4}, {"method": "sequential", "n_fma": None}),
    ],
    ids=str,
)
def test_another_model_is_refused(changes: dict[str, object]) -> None:
    model, form = form_of(UNIT)
    assert refused(form, model.replace(**changes))
