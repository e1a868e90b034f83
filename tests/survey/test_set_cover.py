"""Covers: the fewest sets that hold every element."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.survey.set_cover import cover


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
