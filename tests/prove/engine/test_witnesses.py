"""Models of solvers become witnesses only where they replay; what a solver leaves open is filled in."""

from collections.abc import Mapping

import numpy as np
import pytest

from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.witnesses import Replayed, narrowed, replayed, witness
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tcsmt.simulate.rows import run_words


@pytest.fixture
def question() -> Question:
    """Two Voltas, of which one has no carry bits: they differ where four large products meet."""
    unit = row_named("volta").model
    return difference("", ("volta", unit), ("fewer", unit.varied(carry_bits=0)), Domain())


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
