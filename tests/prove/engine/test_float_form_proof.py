"""Forms in floating-point operations are proved, and what is not the model's graph is not."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache

import pytest

from tcsmt.language.terms import Term, const, substitute, total, umax
from tcsmt.matrix_units.arithmetic import native
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.float_form import FloatForm, float_form
from tcsmt.matrix_units.models.proved_forms import PROVED, one_lane, proved_form
from tcsmt.prove.engine import nan_words_proof
from tcsmt.prove.engine.deduction import NotDeduced, Obligation
from tcsmt.prove.engine.float_form_proof import deduced
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent
from tests.support.sampling import mostly_long

F16, E4M3 = "hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
BF16 = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"


def form_of(name: str, k: int | None = None) -> tuple[Model, FloatForm]:
    """A unit's model, or one alike of so many lanes, and its form."""
    model = row_named(name).model
    if k is not None:
        model = model.varied(k=k, n_fma=k)
    form = float_form(model)
    assert form is not None
    return model, form


@cache
def refuted(goal: Term) -> bool:
    """Whether a solver refutes a goal; most of a faulty form's are those of the right one."""
    return Solving(SolvingOptions(timeout=60)).ask(goal).answer == "unsat"


def open_lemmas(lemmas: list[Obligation]) -> list[str]:
    """What solvers do not refute."""
    return [lemma.what for lemma in lemmas if not refuted(lemma.goal)]


@pytest.mark.parametrize("name", mostly_long([E4M3, BF16, F16], [E4M3]))
def test_is_proved(name: str) -> None:
    model, form = form_of(name, k=4)
    assert not open_lemmas(deduced(model, form))


def with_node(form: FloatForm, old: Term, new: Term) -> FloatForm:
    """The form with a node replaced in its whole graph."""

    def changed(value: object) -> object:
        if isinstance(value, Term):
            return substitute([value], {old: new})[0]
        if isinstance(value, tuple):
            return tuple(changed(item) for item in value)
        if hasattr(value, "__dataclass_fields__"):
            return replace(value, **{f.name: changed(getattr(value, f.name)) for f in fields(value)})
        return value

    result = changed(form)
    assert isinstance(result, FloatForm)
    return result


def exponents(form: FloatForm) -> list[Term]:
    """The exponent words of all lanes."""
    return [lane.exponent for lane in form.lanes]


#: A fault in each stage: the node, and what is there instead.
FAULTS: dict[str, Callable[[FloatForm], tuple[Term, Term]]] = {
    "a factor is another number": lambda form: (form.lanes[0].factors[0], form.lanes[0].factors[0] ^ 1),
    "one lane's factor alone": lambda form: (form.lanes[3].factors[1], form.lanes[3].factors[1] ^ 1 << 31),
    "a product is not exact": lambda form: (form.lanes[0].product, form.lanes[0].product | 1),
    "an exponent is one more": lambda form: (form.lanes[0].exponent, form.lanes[0].exponent + 1),
    "a lane is not in the largest exponent": lambda form: (
        form.largest_product, umax(*exponents(form)[1:])
    ),
    "c is not in the largest exponent": lambda form: (
        form.top, umax(form.largest_product.zext(32), const(form.least, 32))
    ),
    "the grid is twice as fine": lambda form: (form.scale, form.scale + (1 << 23)),
    "an aligned term is one more": lambda form: (form.lanes[0].aligned, form.lanes[0].aligned + 1),
    "c is one more": lambda form: (form.aligned_c, form.aligned_c + 1),
    "a lane is not in the sum": lambda form: (
        form.totals[0], total(*(lane.aligned for lane in form.lanes[1:]))
    ),
    "the sum is one less": lambda form: (form.sum, form.sum - 1),
    "the result is rounded to nearest": lambda form: (
        form.counted, native.multiply(native.from_integer(form.sum), (form.top - 13) << 23)
    ),
    "the result is one more": lambda form: (form.counted, form.counted + 1),
    "c alone is not cut": lambda form: (form.c_alone, form.c_alone ^ 1),
}  # fmt: skip


def refused(model: Model, form: FloatForm) -> bool:
    """Whether the argument stops, or a lemma has a solution."""
    try:
        return not all(refuted(lemma.goal) for lemma in deduced(model, form))
    except NotDeduced:
        return True


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_in_a_stage_is_refused(fault: str) -> None:
    model, form = form_of(E4M3, k=4)
    faulty = with_node(form, *FAULTS[fault](form))
    assert (faulty.result, faulty.guard) != (form.result, form.guard)
    assert refused(model, faulty)


def test_a_guard_that_looks_away_is_refused() -> None:
    model, form = form_of(E4M3, k=4)
    assert refused(model, replace(form, guard=const(0, 1)))
    assert refused(model, replace(form, guard=~form.top.ult(256), limit=256))  # c may be a NaN


@pytest.mark.long
def test_a_sum_that_overflows_is_refused() -> None:
    model, form = form_of(F16, k=16)
    assert form.overflow is not None
    assert refused(model, replace(form, guard=~form.top.ult(form.limit)))


@pytest.mark.long
def test_products_too_small_for_binary32_need_the_floor() -> None:
    model, form = form_of(BF16, k=4)
    assert refused(model, replace(form, guard=~form.top.ult(form.limit)))
    assert refused(model, replace(form, floor=form.floor - 8))


def test_another_model_is_refused() -> None:
    """Of other fraction bits, or other lanes."""
    model, form = form_of(E4M3, k=4)
    for changes in ({"fraction_bits": 14}, {"round_fraction_bits": 12}, {"zero_exponent": None}):
        assert refused(model.varied(**changes), form)
    assert proved_form(model.varied(fraction_bits=14)) is None


@pytest.mark.long
@pytest.mark.parametrize("name", [entry["unit"] for entry in tomllib.loads(PROVED.read_text())["forms"]])
def test_what_is_kept_is_proved_again(name: str) -> None:
    """By a solver, and by a refutation of the clauses that is checked."""
    steps = one_lane(row_named(name).model)
    lemmas = deduced(*form_of(name)) if steps is None else nan_words_proof.deduced(*steps)
    solving = Solving(SolvingOptions(timeout=300, confirm=True))
    for lemma in lemmas:
        answer = solving.ask(lemma.goal)
        assert isinstance(solving.proof(lemma.what, lemma.goal, answer, answer.seconds), Equivalent), (
            lemma.what
        )
