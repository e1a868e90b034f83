"""Covers: the fewest sets that hold every element."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.support import set_cover
from tcsmt.support.set_cover import cover


@pytest.mark.slow
@given(st.lists(st.integers(0, (1 << 8) - 1), max_size=10))
@settings(max_examples=150, deadline=None)
def test_covers_are_the_smallest(sets: list[int]) -> None:
    whole = 0
    for one in sets:
        whole |= one
    found = cover(sets)
    union = 0
    for number in found.chosen:
        union |= sets[number]
    assert union == whole
    assert found.exact
    for size in range(len(found.chosen)):
        for few in combinations(sets, size):
            together = 0
            for one in few:
                together |= one
            assert together != whole


def test_of_very_many_sets_the_choice_is_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [0b0011, 0b0101, 0b0110, 0b1000, 0b1001, 0b0111]
    assert cover(sets).exact
    monkeypatch.setattr(set_cover, "_MOST", 5)
    found = cover(sets)
    assert not found.exact
    assert found.chosen == [3, 5]  # the largest first, then the first that holds what is left
