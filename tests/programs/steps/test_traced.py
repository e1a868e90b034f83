"""Errors of values that are added and multiplied: how often each counts in the result."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.models import Kind
from tcsmt.programs.steps.traced import ONE, Product, TracedStep, TracedWord, stage_of, sum_of, weighed

F16 = FORMATS["f16"]
halves = st.integers(-64, 64).map(lambda count: Fraction(count, 8))


def word(value: Fraction, exact: Fraction | None, step: int | None = 0) -> TracedWord:
    return TracedWord(F16, F16.word(value), exact, step=step)


def step(lost: Fraction) -> TracedStep:
    return TracedStep(stage_of(None, Kind.COMPUTED, 1, F16, 0), "outside", F16, 0, lost)


@given(st.lists(st.tuples(halves, st.lists(st.tuples(halves, halves), min_size=1, max_size=4)), max_size=3))
@settings(max_examples=50, deadline=None)
def test_errors_of_factors_are_the_error_of_a_sum_of_products(
    terms: list[tuple[Fraction, list[tuple[Fraction, Fraction]]]],
) -> None:
    products: list[Product] = [
        (factor, tuple(word(value, exact) for value, exact in factors)) for factor, factors in terms
    ]
    value, exact, parts = sum_of(products)
    assert value is not None and exact is not None
    assert exact - value == sum(((x.exact or 0) - (x.value or 0)) * factor for x, factor in parts)


def test_what_is_not_finite_is_unknown_and_inputs_have_no_error() -> None:
    infinite = TracedWord(F16, F16.infinity_word, None)
    value, exact, parts = sum_of([(ONE, (infinite, word(ONE, ONE, None)))])
    assert (value, exact, parts) == (None, None, ())


def test_a_value_that_is_used_twice_counts_twice() -> None:
    """x + 3(x - 2y): the losses of x count 4 times, those of y -6 times, and those of no use nothing."""
    x, y = (TracedWord(F16, 0, Fraction(0), step=number) for number in (0, 1))
    inner = TracedWord(F16, 0, Fraction(0), ((x, ONE), (y, Fraction(-2))), 2)
    outer = TracedWord(F16, 0, Fraction(0), ((x, ONE), (inner, Fraction(3))), 4)
    steps = [step(Fraction(number)) for number in range(5)]
    assert [one.weight for one in weighed(steps, outer)] == [4, -6, 3, 0, 1]
    assert [one.share for one in weighed(steps, outer)] == [0, -6, 6, 0, 4]
