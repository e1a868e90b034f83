"""Terms on Python integers: every operation, the simplifications of constructors, constants folded."""

from __future__ import annotations

import pytest

from tests.support.interpretations import MANY, on_many_random_cases, on_random_cases, on_shapes
from tests.support.interpreters import check_integers


def test_shapes() -> None:
    on_shapes(check_integers)


def test_random_computations() -> None:
    on_random_cases(check_integers, 60)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_integers, steps)
