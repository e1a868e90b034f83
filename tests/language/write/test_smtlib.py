"""Terms as SMT-LIB text, read by Bitwuzla."""

from __future__ import annotations

import pytest

from tcsmt.language.terms import const, expand, var, variables
from tcsmt.language.write import smtlib
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import fma_words
from tests.support.interpretations import MANY, on_many_random_cases, on_random_cases, on_shapes
from tests.support.interpreters import check_script
from tests.support.scripts import SOLVERS


def test_shapes() -> None:
    on_shapes(check_script)


def test_random_computations() -> None:
    on_random_cases(check_script, 12)


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
    on_many_random_cases(check_script, steps)
