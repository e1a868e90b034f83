"""Terms as SMT-LIB text, read by Bitwuzla."""

from __future__ import annotations

import random

import pytest

from tcsmt.language.terms import all_of, const, expand, var, variables
from tcsmt.language.write import smtlib
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import fma_words
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes
from tests.support.scripts import SOLVERS, ask_bitwuzla


def check_text(case: Case) -> None:
    """At the inputs of some rows, the solver knows that there are no other values."""
    rows = list(case.rows())
    for row in random.Random(0).sample(range(len(rows)), 3):
        fixed = all_of(x.eq(rows[row][str(x.data)]) for x in case.variables)
        right = all_of(t.eq(column[row]) for t, column in zip(case.terms, case.values, strict=True))
        assert ask_bitwuzla(smtlib.script(fixed & ~right)) == "unsat", (case.name, rows[row])


def test_shapes() -> None:
    on_shapes(check_text)


def test_random_computations() -> None:
    on_random_cases(check_text, 12)


def test_a_variable_that_does_not_matter_to_a_macro_has_a_value() -> None:
    fmt = FORMATS["f32"]
    nan = fmt.nan_word or 0
    word = fma_words(fmt, var("x", 32), const(nan, 32), const(0, 32))
    assert variables([word]) and not variables(expand([word]))
    for ask in SOLVERS.values():
        assert ask(smtlib.script(word.eq(nan))) == "sat"


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_text, steps)
