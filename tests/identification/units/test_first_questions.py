"""The first questions: whatever is asked, the truth stays, and what stays explains every answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units import first_questions
from tcsmt.identification.units.block_routes import lanes_used, signature
from tcsmt.identification.units.evaluate import SplitRows, predictions
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.first_questions import Grid, Opening, outcomes
from tcsmt.identification.units.hypotheses import TooMany
from tcsmt.identification.units.questions import Questions, ordinary_rows, zero_words
from tcsmt.identification.units.vectors import mixed, ordinary
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
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


ORDINARY = Family.of(map(format_named, ("e2m1", "e3m2", "f16", "f16")), 4)


def test_every_row_of_every_structure():
    grid = Grid(ORDINARY)
    for number in range(0, len(ORDINARY.structures), 3):
        numbers, table = grid.every(number), ORDINARY.first(number)
        assert (grid.table(numbers, number) == table).all()
        few = slice(7, None, 997)
        whole = grid.with_last_rounding(numbers[few])
        if ORDINARY.structures[number].order == "last":
            assert (grid.table(whole, number) == ORDINARY.with_last_rounding(table[few])).all()
        assert (grid.digit(whole, 11) == np.tile(np.arange(len(ORDINARY.roundings)), len(numbers[few]))).all()


def test_columns_for_the_evaluator():
    grid = Grid(ORDINARY)
    numbers = np.random.default_rng(4).permutation(grid.with_last_rounding(grid.every(2)))[:500]
    rows, table = grid.rows(numbers), grid.table(numbers, 2)
    assert (rows.fronts[rows.front] == table[:, [1, 2, 3, 6, 7]]).all()
    assert (rows.backs[rows.back] == table[:, [4, 5, 8, 9, 10]]).all()
    assert (rows.last == table[:, 11]).all()
    for column in (1, 2, 3, 4, 5, 11):
        assert (grid.digit(numbers, column) == table[:, column]).all()
        assert len(np.unique(table[:, column])) > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formats", "k"),
    [
        ("e2m1 e3m2 f16 f16", 2),
        pytest.param("e2m1 e3m2 f16 f16", 4, marks=pytest.mark.long),
        pytest.param("f16 f16 f32 f32", 4, marks=pytest.mark.long),
        pytest.param("e4m3 e4m3 f16 f16", 8, marks=pytest.mark.long),
        pytest.param("e2m1 e3m2 f16 f16", 8, marks=pytest.mark.long),
        pytest.param("f16 f16 f16 f32", 4, marks=pytest.mark.long),
    ],
)
def test_first_answers_never_exclude_the_truth(formats, k):
    family = Family.of(map(format_named, formats.split()), k)
    random = np.random.default_rng(6)
    questions = Questions.joined([ordinary(family, random, 8, lanes) for lanes in ((0,), ())])
    assert ordinary_rows(family, questions).all()
    for _ in range(5):
        row = random_row(family, random)
        bare = row.copy()
        bare[6:11] = 0
        answers = predictions(family, row[None], questions)[0]
        for place in range(len(questions)):
            for rounded in (False, True):
                pair = [(int(row[0]), place)], np.zeros(1, int)
                found = outcomes(
                    family, SplitRows.of(bare[None]), slice(None), questions, *pair, rounded=rounded
                )
                assert found.fitting(int(answers[place])).all()
            if found.certain()[0] and not zero_words(family.d_format, answers[[place]])[0]:
                others = family.grown(bare[None])[0]
                others = others[random.permutation(len(others))[:8]]
                assert (predictions(family, others, questions[[place]])[:, 0] == answers[place]).all()


@pytest.mark.long
def test_structures_of_one_signature_answer_alike():
    """What lets the opening keep one table for several structures."""
    family = Family.of(map(format_named, ("f16", "f16", "f32", "f32")), 8)
    random = np.random.default_rng(8)
    merged = 0
    for place in range(4):
        question = ordinary(family, random, 4, (0,) if place % 2 else ())[[0]]
        seen: dict[Any, list[int]] = {}
        for number, one in enumerate(family.structures):
            seen.setdefault(signature(one, lanes_used(question)[0], c=bool(question.c[0])), []).append(number)
        merged += len(seen) < len(family.structures)
        for numbers in seen.values():
            first = family.first(numbers[-1])
            rows = first[random.permutation(len(first))[:20]]
            words = []
            for number in numbers:
                rows[:, 0] = number
                least = min(len(family.carries(family.structures[n])) for n in numbers)
                words.append(predictions(family, rows[rows[:, 3] < least], question))
            assert all((one == words[0]).all() for one in words)
    assert merged >= 2
