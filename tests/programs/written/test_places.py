"""Parts of K, by sets of indices written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.programs.written.places import one_part, parts_of
from tcsmt.programs.written.tokens import Tokens, Wrong

NAMES = {"K": np.arange(10), "P": np.array([3, 4, 9])}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("K", [[*range(10)]]),
        ("P", [[3, 4, 9]]),
        ("P[1:]", [[4, 9]]),
        ("K[2 0, 7]", [[2, 0, 7]]),
        ("blocks(K, 4)", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        ("blocks(K, 4, rest=first)", [[0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]),
        ("split(K, 2, step=4)", [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9]]),
        ("deal(K, 2, step=2)", [[0, 1, 4, 5, 8, 9], [2, 3, 6, 7]]),
        ("cuts(K, 0, 3, 9)", [[0, 1, 2], [3, 4, 5, 6, 7, 8], [9]]),
        ("permuted(K, 1 0 2)", [[1, 0, 2, 4, 3, 5, 7, 6, 8, 9]]),
        ("blocks(K[5:], 3)", [[5, 6, 7], [8, 9]]),
    ],
)
def test_parts(text: str, parts: list[list[int]]) -> None:
    tokens = Tokens.of(text)
    assert [part.tolist() for part in parts_of(tokens, NAMES)] == parts and not tokens.found


def test_several_parts_are_not_one() -> None:
    with pytest.raises(Wrong, match="one part"):
        one_part(Tokens.of("blocks(K, 4)"), NAMES)
