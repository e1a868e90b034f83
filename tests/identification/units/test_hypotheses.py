"""Hypotheses of several kinds that are left: rows of a table each, taken and asked together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.hypotheses import HypothesisSet
from tcsmt.identification.units.questions import Questions


@dataclass(frozen=True)
class Some:
    """A kind whose rows answer with their sum and the question's c; the last column cannot matter."""

    name: str

    def predictions(self, table: Any, questions: Questions) -> Any:
        return table[:, :-1].sum(axis=1)[:, None].astype(np.uint64) + questions.c[None, :]

    def canonical(self, table: Any) -> Any:
        changed = table.copy()
        changed[:, -1] = 0
        return changed

    def mixed(self, random: Any, count: int, table: Any) -> Questions:
        return asked(*[len(self.name) * 1000 + len(table)] * count)


def asked(*c: int) -> Questions:
    return Questions(
        np.zeros((len(c), 1), np.uint64), np.zeros((len(c), 1), np.uint64), np.array(c, np.uint64)
    )


ONE, TWO, NONE = Some("x"), Some("yy"), Some("none")
ROWS = np.array([[1, 2, 0], [1, 2, 5], [3, 3, 0]], np.int16), np.array([[9, 1], [8, 1]], np.int16)
LEFT = HypothesisSet(((ONE, ROWS[0]), (NONE, np.zeros((0, 4), np.int16)), (TWO, ROWS[1])))


def listed(left: HypothesisSet) -> list[tuple[str, list[int]]]:
    return [(kind.name, row.tolist()) for kind, row in left]  # type: ignore[attr-defined]


WHOLE = [("x", [1, 2, 0]), ("x", [1, 2, 5]), ("x", [3, 3, 0]), ("yy", [9, 1]), ("yy", [8, 1])]


def test_rows_in_order() -> None:
    assert len(LEFT) == 5 and listed(LEFT) == WHOLE
    assert LEFT.of(TWO).tolist() == ROWS[1].tolist()
    assert LEFT.of(NONE).shape == (0, 4)
    assert len(HypothesisSet()) == 0 and listed(HypothesisSet()) == []
    with pytest.raises(ValueError, match="at least one array"):
        LEFT.of(Some("another"))


@pytest.mark.parametrize("numbers", [[0, 2, 4], [3], [], [1, 2, 3], [0, 1, 2, 3, 4]])
def test_some_are_taken(numbers: list[int]) -> None:
    """By numbers or by a mask, each from its own kind."""
    mask = np.isin(np.arange(5), numbers)
    for rows in (np.array(numbers, np.int64), mask):
        taken = LEFT.taken(rows)
        assert listed(taken) == [WHOLE[number] for number in numbers]
        assert [kind for kind, _ in taken.parts] == [ONE, NONE, TWO]


def test_answers_of_all() -> None:
    assert LEFT.predictions(asked(0, 100)).tolist() == [[3, 103], [3, 103], [6, 106], [9, 109], [8, 108]]
    nothing = LEFT.taken(np.zeros(5, bool)).predictions(asked(1, 2, 3))
    assert nothing.shape == (0, 3) and nothing.dtype == np.uint64


def test_one_for_what_cannot_matter() -> None:
    assert listed(LEFT.distinct()) == [("x", [1, 2, 0]), ("x", [3, 3, 0]), ("yy", [8, 0]), ("yy", [9, 0])]


@pytest.mark.parametrize(("count", "each"), [(6, 3), (5, 3), (1, 1)])
def test_each_kind_that_is_left_makes_questions(count: int, each: int) -> None:
    found = LEFT.mixed(np.random.default_rng(0), count).c.tolist()
    assert found == [1003] * each + [2002] * each
    alone = LEFT.taken(np.array([0])).mixed(np.random.default_rng(0), count).c.tolist()
    assert alone == [1001] * count
