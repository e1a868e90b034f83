"""Macros: a machine's instruction and the definition that solvers are given are the same function."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.macros import leading_zeros
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import expand, var


@pytest.mark.parametrize("width", [1, 2, 3, 6, 8, 11])
def test_leading_zeros_of_every_word(width: int) -> None:
    """As Python's integers say; a word of zeros stays, whatever the count is then."""
    shifted, zeros = leading_zeros(var("x", width))
    words = np.arange(1 << width)
    moved, counts = Program(expand([shifted, zeros])).run({"x": words})
    for x in range(1 << width):
        native = evaluate([shifted, zeros], {"x": x})
        assert native == [int(moved[x]), int(counts[x])]
        expected = width - x.bit_length()
        assert native == [x << expected, expected] if x else native[0] == 0
