"""Elimination: survivors by definition, entropies in closed form, the fewest sets by search."""

from __future__ import annotations

from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.support import elimination
from tcsmt.support.elimination import (
    best_split,
    bit_sets,
    cover,
    decisive_first,
    entropies,
    numbered,
    separating,
    surviving,
)

#: Words of some hypotheses on some inputs, few of them so that many are alike.
WORDS = st.integers(1, 12).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, 2), min_size=rows, max_size=rows), max_size=9)
)


def answers(columns: list[list[int]], rows: int = 0) -> np.ndarray:
    """Of shape (hypotheses, inputs)."""
    return np.array(columns, np.uint64).reshape(len(columns), -1 if columns else rows).T


# --- survivors ----------------------------------------------------------------------------------


@given(WORDS, st.data())
def test_survivors_give_every_answer(columns: list[list[int]], data: st.DataObject) -> None:
    """And no hypothesis is asked about an input after it has missed one of an earlier portion."""
    words = answers(columns, 3)
    right = words[data.draw(st.integers(0, len(words) - 1))].copy()
    if len(right) and data.draw(st.booleans()):
        right[data.draw(st.integers(0, len(right) - 1))] += 7
    asked = []

    def of(table: np.ndarray, some: slice) -> np.ndarray:
        asked.append((len(table), some))
        return words[table[:, 0]][:, some]

    left = surviving(np.arange(len(words))[:, None], right, of)
    assert left[:, 0].tolist() == [n for n, row in enumerate(words) if (row == right).all()]
    for count, some in asked:
        assert count == sum(bool((row[: some.start] == right[: some.start]).all()) for row in words)


def test_portions_grow_and_few_answers_are_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "_AT_ONCE", 60)
    sizes, told = [], []

    def of(table: np.ndarray, some: slice) -> np.ndarray:
        sizes.append(len(range(100)[some]))
        return np.zeros((len(table), sizes[-1]))

    left = surviving(np.arange(3), np.zeros(100), of, lambda done, left: told.append((done, left)))
    assert left.tolist() == [0, 1, 2]
    assert sizes == [1, 4, 20, 20, 20, 20, 15]
    assert told[0] == (1, 3) and told[-1] == (100, 3)


# --- inputs that split --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "bits"),
    [
        ([5], 0), ([5, 5, 5], 0), ([0, 1], 1), ([0, 1, 2, 3], 2), ([0, 0, 0, 1], 2 - 0.75 * log2(3)),
        ([0, 0, 1, 2], 1.5),
    ],
)  # fmt: skip
def test_bits_of_information(words: list[int], bits: float) -> None:
    assert entropies(np.array([words]).T) == pytest.approx([bits])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_of_any_words(words: list[int]) -> None:
    """At most the bits of as many different words; 0 where all are one; whatever their order."""
    found, sorted_ = entropies(np.array([words, sorted(words)]).T)
    assert found == pytest.approx(sorted_)
    assert -1e-9 <= found <= log2(len(set(words))) + 1e-9
    assert (found == 0) == (len(set(words)) == 1)


def test_the_best_input_has_the_largest_entropy() -> None:
    words = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 2, 0], [1, 1, 3, 0]])
    assert best_split(words) == 2
    assert best_split(words[:, :2]) == 1
    assert best_split(words[:, [0, 3]]) is None


def test_words_are_numbered_in_their_order() -> None:
    words = np.array([[7, 1 << 63], [0, 7]], np.uint64)
    assert numbered(words).tolist() == [[1, 2], [0, 1]]


@given(WORDS, st.integers(0, 9))
def test_inputs_separate_all_that_can_be_separated(columns: list[list[int]], known: int) -> None:
    """Each the first of those that make the most classes, held against counting sets of tuples."""
    words = answers(columns, 3)
    before, more = words[:, :known], words[:, known:]
    chosen = [*separating(more, before)]
    labels = [tuple(row) for row in before.tolist()]
    for number in chosen:
        counts = [len({*zip(labels, column, strict=True)}) for column in more.T.tolist()]
        assert counts[number] == max(counts) > len({*labels})
        assert number == counts.index(max(counts))
        labels = [(*own, word) for own, word in zip(labels, more[:, number].tolist(), strict=True)]
    assert len({*labels}) == len({tuple(row) for row in words.tolist()})


# --- the fewest inputs that decide --------------------------------------------------------------


def test_sets_have_a_bit_for_each_member() -> None:
    members = np.zeros((2, 11), bool)
    members[0, [0, 10]] = True
    assert bit_sets(members) == [1 | 1 << 10, 0]


def union(sets: list[int], chosen: list[int]) -> int:
    whole = 0
    for number in chosen:
        whole |= sets[number]
    return whole


@pytest.mark.slow
@given(st.lists(st.integers(0, (1 << 8) - 1), max_size=10))
@settings(max_examples=150, deadline=None)
def test_covers_are_the_smallest(sets: list[int]) -> None:
    whole = union(sets, [*range(len(sets))])
    found = cover(sets)
    assert union(sets, found.chosen) == whole
    assert found.exact
    for size in range(len(found.chosen)):
        assert all(union(sets, [*few]) != whole for few in combinations(range(len(sets)), size))


@given(st.lists(st.integers(0, (1 << 8) - 1), max_size=10))
@settings(deadline=None)
def test_what_decides_most_comes_first(sets: list[int]) -> None:
    chosen = cover(sets).chosen
    order = decisive_first(sets, chosen)
    assert sorted(order) == chosen
    for place, number in enumerate(order):
        before = union(sets, order[:place])
        gains = [(sets[other] & ~before).bit_count() for other in chosen]
        assert (sets[number] & ~before).bit_count() == max(gains)


def test_of_very_many_sets_the_choice_is_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [0b0011, 0b0101, 0b0110, 0b1000, 0b1001, 0b0111]
    assert cover(sets).exact
    monkeypatch.setattr(elimination, "_MOST", 5)
    found = cover(sets)
    assert not found.exact
    assert found.chosen == [3, 5]  # the largest first, then the first that holds what is left
