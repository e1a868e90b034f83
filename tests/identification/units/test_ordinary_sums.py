"""What a first answer can be, before a hypothesis is complete; and rows as numbers, in their order."""

from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.block_routes import lanes_used, signature
from tcsmt.identification.units.evaluate import SplitRows, predictions
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.ordinary_sums import Grid, outcomes
from tcsmt.identification.units.questions import Questions, ordinary_rows, zero_words
from tcsmt.identification.units.vectors import ordinary
from tcsmt.matrix_units.arithmetic.formats import format_named
from tests.support.families import random_row

FAMILY = Family.of(map(format_named, ("e2m1", "e3m2", "f16", "f16")), 4)


def test_every_row_of_every_structure():
    grid = Grid(FAMILY)
    for number in range(0, len(FAMILY.structures), 3):
        numbers, table = grid.every(number), FAMILY.first(number)
        assert (grid.table(numbers, number) == table).all()
        few = slice(7, None, 997)
        whole = grid.with_last_rounding(numbers[few])
        if FAMILY.structures[number].order == "last":
            assert (grid.table(whole, number) == FAMILY.with_last_rounding(table[few])).all()
        assert (grid.digit(whole, 11) == np.tile(np.arange(len(FAMILY.roundings)), len(numbers[few]))).all()


def test_columns_for_the_evaluator():
    grid = Grid(FAMILY)
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
