"""Terms on NumPy arrays against integers: all operations, wide words coming in and going out."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.macros import leading_zeros
from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.terms import var
from tests.support.interpretations import MANY, on_many_random_cases, on_random_cases, on_shapes
from tests.support.interpreters import check_arrays


def test_shapes() -> None:
    on_shapes(check_arrays)


def test_random_computations() -> None:
    on_random_cases(check_arrays, 40)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_arrays, steps)


@pytest.mark.parametrize("width", [*range(1, 12), 24, 31, 32, 33, 48, 52, 53, 54, 55, 63, 64, 65, 90])
def test_leading_zeros(width: int) -> None:
    """Of every power of two and what lies beside it, of 0, and of words that binary64 would round up."""
    ones = (1 << width) - 1
    words = {
        0,
        ones,
        *(w & ones for n in range(width) for w in (1 << n, (1 << n) - 1, 1 << n | 1, ones >> n)),
    }
    random = np.random.default_rng(width)
    words |= {int.from_bytes(random.bytes(12)) & ones >> int(random.integers(width)) for _ in range(40)}
    column = np.array(sorted(words), storage(width))
    shifted, zeros = Program(leading_zeros(var("word", width))).run({"word": column}, block=50)
    for word, high, count in zip(sorted(words), shifted.tolist(), zeros.tolist(), strict=True):
        assert high == word << (width - word.bit_length())
        # the definition says all ones for 0
        assert count == (width - word.bit_length() if word else (1 << max(1, (width - 1).bit_length())) - 1)
