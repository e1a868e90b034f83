"""Terms on NumPy arrays against integers: all operations, wide words coming in and going out."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interpret.arrays import Program, storage
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes


def check_arrays(case: Case) -> None:
    """NumPy, wide words coming in and going out."""
    columns = {str(x.data): np.array(case.inputs[str(x.data)], storage(x.width)) for x in case.variables}
    found = Program(case.terms).run(columns, block=6)
    case.hold([[int(word) for word in column] for column in found], "NumPy")


def test_shapes() -> None:
    on_shapes(check_arrays)


def test_random_computations() -> None:
    on_random_cases(check_arrays, 40)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_arrays, steps)
