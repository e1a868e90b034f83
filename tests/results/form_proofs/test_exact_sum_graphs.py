"""The nodes of an exact sum in a model's graph are those of the model."""

from __future__ import annotations

import random

import pytest
from form_proofs.deduction import ProofFailed
from form_proofs.exact_sum_graphs import SumGraphs, short, within

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum
from tcsmt.support.invariants import checked_cast
from tests.support.exact_forms import FIRST, LAST, first, form_of


def graphs_of(name: str) -> SumGraphs:
    """A unit's first sum in both graphs."""
    model, form = form_of(name)
    operation = checked_cast(model.trace.stages[0].operation, RoundedSum)
    return SumGraphs(form.numbers, first(form), operation)


@pytest.mark.parametrize("name", [LAST, FIRST])
def test_what_is_rounded_is_the_models_node(name: str) -> None:
    graphs = graphs_of(name)
    exact = graphs.operation.sum
    again = dp.condense(graphs.rounded, graphs.operation.format.fraction_bits + 3)
    assert (again.sign, again.magnitude, again.lsb) == (exact.sign, exact.magnitude, exact.lsb)


@pytest.mark.parametrize("name", [LAST, FIRST])
def test_what_is_said_of_sums_holds_of_words(name: str) -> None:
    """Of words near each other, on which the guard is 0."""
    model, form = form_of(name)
    graphs, count = graphs_of(name), len(graphs_of(name).terms)
    says = [fact for x in graphs.terms for fact in (*x.known(graphs.numbers), x.in_single)]
    for facts in (
        graphs.same_size, graphs.in_place, graphs.placed, graphs.summed, graphs.of_negative_terms
    ):  # fmt: skip
        says += [facts(n) for n in range(1, count + 1)]
    rng = random.Random(3)
    for _ in range(50):
        values = {
            word: fmt.word(rng.choice((1, -1)) * rng.randint(0, 7))
            for word, fmt in model.input_formats.items()
        }
        guard, *holds = evaluate([form.guard, *says], values)
        assert guard == 0 and all(holds)


def test_a_sum_of_other_terms_is_refused() -> None:
    _, form = form_of(LAST)
    other = graphs_of(FIRST)
    with pytest.raises(ProofFailed, match="a sum of 3 terms"):
        _ = SumGraphs(form.numbers, first(form), other.operation).terms


def test_words_in_twos_complement() -> None:
    for value, inside in ((0, 1), (5, 1), (-5, 1), (6, 0), (-6, 0), (-128, 0)):
        assert within(const(value, 8), 5).value == inside
    assert short(graphs_of(LAST).terms[0].size).width == 16
