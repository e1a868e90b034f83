"""Models of solvers become witnesses only where they replay; what a solver leaves open is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcsmt.prove.engine.witnesses as shorten_module
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.formats import INTEGERS, Format, IntegerFormat, Specials
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.witnesses import (
    Cost,
    Replayed,
    _ranked,
    cost,
    integer_cost,
    narrowed,
    replayed,
    scaled_integer,
    shorten,
    shorten_where,
    simpler_integers,
    witness,
)
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.simulate.rows import run_words
from tests.oracles import integers
from tests.support.questions import PAIRS, found, unit

S4, U4 = INTEGERS["s4"], INTEGERS["u4"]
Q5 = IntegerFormat(name="q5", bits=5, fraction_bits=2)


@pytest.mark.parametrize("fmt", [S4, U4, Q5], ids=lambda fmt: fmt.name)
def test_only_words_are_tried_and_every_number_gets_to_one(fmt: IntegerFormat) -> None:
    for word in integers.words(fmt):
        reached, todo = set(), {word}
        while todo:
            one = todo.pop()
            reached.add(one)
            tried = set(simpler_integers(fmt, one))
            assert tried <= set(integers.words(fmt))
            todo |= {other for other in tried if integer_cost(fmt, other) < integer_cost(fmt, one)} - reached
        assert word == 0 or 1 in reached


def test_costs_are_in_the_order_of_simplicity() -> None:
    order = [0, 1, 0xF, 2, 4, 0x8, 3, 6, 5, 7]  # 0, 1, -1, 2, 4, -8, 3, 6, 5, 7
    costs = [integer_cost(S4, word) for word in order]
    assert costs == sorted(costs)
    assert integer_cost(S4, 0) < integer_cost(S4, 1)


@pytest.mark.parametrize("fmt", [S4, U4, Q5], ids=lambda fmt: fmt.name)
def test_scaled(fmt: IntegerFormat) -> None:
    every = {integers.count(fmt, word): word for word in integers.words(fmt)}
    for word in integers.words(fmt):
        for step in range(-6, 7):
            number = integers.count(fmt, word) * 2**step
            assert scaled_integer(fmt, word, step) == every.get(number), (word, step)


SHORTENED = ("products", "c last", "nan", "flush", "every")


@pytest.fixture(scope="module")
def witnesses() -> dict[str, tuple[Question, dict[str, int]]]:
    """Questions, each with a witness."""
    table = {}
    for name in SHORTENED:
        base, changes, domain = PAIRS[name]
        models = unit(base), unit(base).replace(**changes)
        question = difference(name, ("", models[0]), ("", models[1]), domain)
        table[name] = question, dict(found(question).values)
    return table


@pytest.mark.slow
@given(st.sampled_from(SHORTENED), st.integers(0, 1 << 32))
@settings(max_examples=10, deadline=None)
def test_shortening(witnesses: dict[str, tuple[Question, dict[str, int]]], name: str, seed: int) -> None:
    """From any witness to one that is not longer, still a witness, and stays as it is."""
    question, start = witnesses[name]
    goal, rng = question.goal, np.random.default_rng(seed)
    for _ in range(30):  # random bits, as long as it stays a witness
        key = str(rng.choice(list(question.formats)))
        longer = {**start, key: start[key] ^ 1 << int(rng.integers(question.formats[key].width))}
        start = longer if evaluate([goal], longer) == [1] else start
    result = shorten(goal, question.formats, start)
    assert evaluate([goal], result) == [1]
    assert cost(question.formats, result) <= cost(question.formats, start)
    assert set(result) == set(question.formats)
    assert shorten(goal, question.formats, result) == result


@pytest.mark.long
def test_block_scales_are_inputs_of_a_question() -> None:
    """Finite excludes NaN scales."""
    row = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(row, FusedDotAdd)
    unit = row.replace(k=32, n_fma=32)
    question = difference(
        "F = 35 against 34", ("35", unit), ("34", unit.replace(fraction_bits=34)), lanes=(2,)
    )
    verdict = found(question)
    names = [name for name in verdict.values if name[0] == "s"]
    assert names == ["sa0", "sa1", "sb0", "sb1"]
    assert all(not unit.input_formats[name].is_nan(verdict.values[name] & 0x7F) for name in names)
    columns = {name: np.array([word], np.uint64) for name, word in verdict.values.items()}
    a, b = (np.stack([columns[f"{side}{i}"] for i in range(32)], axis=-1) for side in "ab")
    scale_a, scale_b = (np.stack([columns[f"s{side}{i}"] for i in range(2)], axis=-1) for side in "ab")
    words = Operands(a, b, columns["c"], scale_a, scale_b)
    one, two = (int(run_words(s.model, words)[0]) for s in question.sides)
    assert one != two


@pytest.mark.long
def test_block_scales_of_a_short_witness_are_1() -> None:
    row = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(row, FusedDotAdd)
    unit = row.replace(k=32, n_fma=32)
    nearest = unit.replace(rounding="RNE")
    values = found(difference("rounding", ("RTZ", unit), ("RNE", nearest), lanes=(2,))).values
    for group in range(2):
        lanes = range(16 * group, 16 * (group + 1))
        if not any(values[f"{side}{lane}"] for side in "ab" for lane in lanes):
            for name in (f"sa{group}", f"sb{group}"):
                assert unit.input_formats[name].value(values[name] & 0x7F) == 1


def test_a_scale_that_cannot_be_1_is_shortened_too() -> None:
    """The nearest power of two stands for 1."""
    scale = Format(
        name="small", exponent_bits=2, fraction_bits=0, bias=9, specials=Specials.NONE, signed=False
    )
    scaled = unit().replace(scale_format=scale, scale_block=4)
    question = difference("scales", ("F = 23", scaled), ("F = 3", scaled.replace(fraction_bits=3)))
    verdict = found(question)
    assert (verdict.values["sa0"], verdict.values["sb0"]) == (3, 3)  # 2^-6


Change = tuple[Cost, Cost]
PARTS = st.tuples(*[st.integers(0, 1 << 20)] * 4)


@given(
    st.lists(st.tuples(PARTS, PARTS), min_size=1, max_size=8), st.lists(st.tuples(PARTS, PARTS), max_size=8)
)
def test_ranks_of_changes_compare_as_costs(one: list[Change], other: list[Change]) -> None:
    """A change's cost is a sum of differences, which may be negative in any part."""

    def parts(changes: list[Change]) -> tuple[int, ...]:
        return tuple(sum(new[i] - old[i] for new, old in changes) for i in range(4))

    def rank(changes: list[Change]) -> int:
        return sum(_ranked(new) - _ranked(old) for new, old in changes)

    assert (parts(one) < parts(other)) == (rank(one) < rank(other))
    assert (parts(one) < (0, 0, 0, 0)) == (rank(one) < 0)


def test_the_simplest_candidate_is_taken_however_many_are_evaluated_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    formats = unit().input_formats
    start = {name: (1 << fmt.width) // 3 for name, fmt in formats.items()}
    tried, found = [], []

    def holds(tries: Sequence[Mapping[str, int]]) -> list[bool]:
        tried.append(len(tries))
        return [sum(values.values()) % 5 == 2 for values in tries]

    for batch in (1 << 20, 7, 1):
        monkeypatch.setattr(shorten_module, "_BATCH", batch)
        found.append(shorten_where(holds, formats, start))
        assert max(tried) <= batch
        tried.clear()
    assert found[0] == found[1] == found[2] != start
    assert holds(found[:1]) == [True]


@pytest.fixture
def question() -> Question:
    """Two Voltas, of which one has no carry bits: they differ where four large products meet."""
    unit = row_named("volta").model
    return difference("", ("volta", unit), ("fewer", unit.replace(carry_bits=0)), Domain())


ONE, TWO, LARGE = 0x3C00, 0x3FFF, 0x3FFFFFFF


def test_a_model_that_does_not_replay_is_no_witness(question: Question) -> None:
    assert replayed(question, Answer("sat", "a liar")) is None
    assert replayed(question, Answer("sat", "a liar", values={"a0": ONE, "b0": ONE})) is None


def test_no_model_is_no_witness_wherever_it_was_looked_for(question: Question) -> None:
    widths = {name: fmt.width for name, fmt in question.formats.items()}
    given = {var(name, widths[name]): const(word, widths[name]) for name, word in WORDS.items()}
    assert replayed(question, Answer("sat", "s"), given) is not None
    assert replayed(question, Answer("unknown", "s"), given) is None


LANES = [[f"{side}{lane}" for lane in range(4)] for side in "ab"]
#: Four products and c, each just below 2.
WORDS = {f"a{lane}": TWO for lane in range(4)} | {f"b{lane}": ONE for lane in range(4)} | {"c": LARGE}


def test_inputs_replaced_by_terms_are_filled_in(question: Question) -> None:
    widths = {name: fmt.width for name, fmt in question.formats.items()}
    ones: dict[Term, Term] = {var(f"b{i}", widths[f"b{i}"]): const(ONE, 16) for i in range(4)}
    alike: dict[Term, Term] = {var(f"a{i}", widths[f"a{i}"]): var("a0", 16) for i in range(1, 4)}
    found = replayed(question, Answer("sat", "s", values={"a0": TWO, "c": LARGE}), ones | alike)
    assert found is not None
    assert found.values == WORDS


def test_the_first_answer_that_replays_is_the_witness(question: Question) -> None:
    answers = iter([Answer("unknown", "s"), Answer("sat", "a liar"), Answer("sat", "s", "1", values=WORDS)])
    tries: list[Mapping[Term, Term]] = [{}, {}, {}, {}]
    found = narrowed(question, tries, lambda goal: next(answers))
    assert found == Replayed(WORDS, Answer("sat", "s", "1", values=WORDS))
    assert next(answers, None) is None
    shown = witness(question, found, 2.5)
    a, b = (np.array([[shown.values[name] for name in names]]) for names in LANES)
    words = Operands(a, b, np.array([shown.values["c"]]))
    assert (shown.solver, shown.version, shown.seconds) == ("s", "1", 2.5)
    one, two = (run_words(side.model, words) for side in question.sides)
    assert one != two


def test_nothing_is_asked_where_the_goal_is_false(question: Question) -> None:
    def never(goal: Term) -> Answer:
        raise AssertionError("asked")

    zeros: dict[Term, Term] = {
        var(name, fmt.width): const(0, fmt.width) for name, fmt in question.formats.items()
    }
    assert narrowed(question, [zeros], never) is None
