"""Batches of inputs, against lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.simulate.batches import Batch

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Marked(Batch):
    """With an array and a text of its own."""

    marks: Array
    text: str = "kept"


def numbered(numbers: Any) -> Marked:
    """Rows that are known by their numbers."""
    column = np.asarray(numbers, dtype=np.int64)
    return Marked(column[:, None] + [0, 1], -column[:, None], column, column * 7)


def numbers(rows: Marked) -> list[int]:
    """The numbers of rows whose arrays belong together."""
    column = rows.c
    assert (rows.a == column[:, None] + [0, 1]).all() and (rows.b == -column[:, None]).all()
    assert (rows.marks == column * 7).all() and rows.text == "kept"
    return list(map(int, column))


@pytest.mark.slow
@given(st.lists(st.integers(0, 99), min_size=1), st.lists(st.integers(0, 99), min_size=1), st.data())
def test_rows_are_taken_and_joined_whole(left: list[int], right: list[int], data: st.DataObject) -> None:
    both = Batch.joined([numbered(left), numbered(right)])
    assert numbers(both) == left + right and len(both) == len(left + right)
    places = data.draw(st.lists(st.integers(0, len(both) - 1)))
    assert numbers(both[np.array(places, dtype=np.int64)]) == [(left + right)[place] for place in places]
    assert numbers(both[1:]) == (left + right)[1:]
    assert numbers(Batch.joined([both, both[:0], both[[0]]])) == left + right + left[:1]
