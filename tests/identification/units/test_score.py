"""How well a question splits: entropies in closed form."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.identification.units.score import best_of, entropy


@pytest.mark.parametrize(
    ("words", "bits"),
    [
        ([5], 0), ([5, 5, 5], 0), ([0, 1], 1), ([0, 1, 2, 3], 2), ([0, 0, 0, 1], 2 - 0.75 * log2(3)),
        ([0, 0, 1, 2], 1.5),
    ],
)  # fmt: skip
def test_bits_of_information(words: list[int], bits: float) -> None:
    assert entropy(np.array(words)) == pytest.approx(bits)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_of_any_words(words: list[int]) -> None:
    """At most the bits of as many different words; 0 where all are one; whatever their order."""
    found = entropy(np.array(words))
    assert found == pytest.approx(entropy(np.array(sorted(words))))
    assert -1e-9 <= found <= log2(len(set(words))) + 1e-9
    assert (found == 0) == (len(set(words)) == 1)


def test_the_best_column_has_the_largest_entropy() -> None:
    words = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 2, 0], [1, 1, 3, 0]])
    assert best_of(words) == 2
    assert best_of(words[:, :2]) == 1
    assert best_of(words[:, [0, 3]]) is None
