"""The first questions: whatever is asked, the truth stays, and what stays explains every answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tcsmt.identification.units import first_questions
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.first_questions import Opening
from tcsmt.identification.units.hypotheses import TooMany
from tcsmt.identification.units.questions import Questions, ordinary_rows
from tcsmt.identification.units.vectors import mixed
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.models import FusedDotAdd
from tests.support.families import random_row

FAMILY = Family.of((FORMATS[name] for name in ("e2m1", "e2m1", "f16", "f16")), 1)


UNIT = FusedDotAdd.of(
    a_format="e2m1", b_format="e2m1", c_format="f16", d_format="f16", k=1, n_fma=1, fraction_bits=6,
    zero_exponent=None, rounding="RTZ",
)  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """An opening that has asked a unit, which it is not told, until it has no more questions."""

    opening: Opening
    truth: np.ndarray
    asked: list[tuple[Questions, int]]
    table: np.ndarray

    @classmethod
    def by(cls, seed: int) -> Answered:
        random, truth = np.random.default_rng(seed), FAMILY.row(UNIT)
        assert truth is not None
        said: list[str] = []
        opening = Opening(FAMILY, random, said.append)
        asked: list[tuple[Questions, int]] = []
        while (question := opening.question()) is not None:
            word = int(predictions(FAMILY, truth[None], question)[0, 0])
            opening.answer(question, word)
            asked.append((question, word))
        assert len(said) == len(asked) == len(opening.asked)
        return cls(opening, truth, asked, opening.table())


@pytest.fixture(scope="module")
def one() -> Answered:
    return Answered.by(1)


def holds(one: Answered) -> None:
    """The truth is among the rows of the table, all of which explain all answers."""
    assert one.asked and all(ordinary_rows(FAMILY, question)[0] for question, _ in one.asked)
    assert (one.table == one.truth).all(axis=1).any()
    assert len(np.unique(one.table, axis=0)) == len(one.table) < FAMILY.count / 100
    for question, word in one.asked:
        assert (predictions(FAMILY, one.table, question)[:, 0] == word).all()


def test_the_truth_stays(one: Answered) -> None:
    holds(one)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_the_truth_stays_whatever_is_asked(seed: int) -> None:
    holds(Answered.by(seed))


def test_nothing_is_excluded_without_a_reason(one: Answered) -> None:
    """Hypotheses that explain all answers are in the table, wherever in the family they are from."""
    table = {tuple(row) for row in one.table.tolist()}
    random = np.random.default_rng(0)
    near = FAMILY.one_column_apart(one.truth)
    rows = np.array([*near, *(random_row(FAMILY, random) for _ in range(100))])
    fits = np.ones(len(rows), bool)
    for question, word in one.asked:
        fits &= predictions(FAMILY, rows, question)[:, 0] == word
    assert fits.sum() >= 3
    assert all(tuple(row) in table for row in rows[fits].tolist())


def test_a_question_that_is_no_ordinary_sum(one: Answered) -> None:
    """It is kept for the end: infinities and subnormal words depend on columns that rows lack before."""
    random = np.random.default_rng(3)
    pool = mixed(FAMILY, random, 60, one.table[:50])
    rare = pool[~ordinary_rows(FAMILY, pool)]
    words = predictions(FAMILY, one.table[::20], rare)
    number = int(np.argmax([len(set(words[:, i].tolist())) for i in range(len(rare))]))
    word = int(predictions(FAMILY, one.truth[None], rare[[number]])[0, 0])
    count = len(one.opening.asked)
    one.opening.answer(rare[[number]], word)
    assert len(one.opening.asked) == count
    after = one.opening.table()
    one.opening.others.clear()
    assert len(after) < len(one.table) and (after == one.truth).all(axis=1).any()
    assert (predictions(FAMILY, after, rare[[number]])[:, 0] == word).all()


def test_too_many_for_a_table(one: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_questions, "LARGEST", 100)
    with pytest.raises(
        TooMany, match=f"hypotheses of blocks and roundings explain {len(one.asked)} ordinary"
    ):
        one.opening.table()


def test_answers_that_nothing_explains_leave_no_hypothesis() -> None:
    opening = Opening(FAMILY, np.random.default_rng(4), lambda text: None)
    question = opening.question()
    assert question is not None and not opening.few
    few = np.array([random_row(FAMILY, np.random.default_rng(n)) for n in range(30)])
    words = predictions(FAMILY, few, question)[:, 0]
    unseen = next(word for word in range(1, 1 << 15, 257) if word not in set(words.tolist()))
    opening.answer(question, unseen)
    while (again := opening.question()) is not None:
        opening.answer(again, unseen ^ 0x4000)
    assert opening.few and len(opening.table()) == 0
