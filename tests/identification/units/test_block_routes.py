"""Blocks that a question leaves out, or that are computed together, change no answer."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.block_routes import lanes_used, signature, used_routes
from tcsmt.identification.units.evaluate import SplitRows, predictions
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.first_questions import outcomes
from tcsmt.identification.units.questions import zero_words
from tcsmt.identification.units.vectors import ordinary
from tcsmt.matrix_units.arithmetic.formats import format_named
from tests.support.families import random_row

FORMATS = [("e4m3 e5m2 f16 f32", 8, 40), pytest.param("f16 f16 f32 f32", 16, 200, marks=pytest.mark.long)]


@pytest.mark.slow
@pytest.mark.parametrize(("formats", "k", "count"), FORMATS)
def test_many_rows_and_questions_at_once_fit_what_each_row_answers(formats, k, count):
    """The answer, from all blocks and lanes of a row alone, is among those that a pair is thought to have."""
    family = Family.of(map(format_named, formats.split()), k)
    random = np.random.default_rng(k)
    questions = ordinary(family, random, 8)
    rows = np.array([random_row(family, random) for _ in range(count)])
    words = np.concatenate([predictions(family, row[None], questions) for row in rows])
    bare = rows.copy()
    bare[:, 6:11] = 0
    row, asked = np.array(list(product(range(len(rows)), range(len(questions))))).T
    routes = list(zip(rows[row, 0].tolist(), asked.tolist(), strict=True))
    found = outcomes(family, SplitRows.of(bare), row, questions, routes, np.arange(len(row)), rounded=True)
    wrong = 0
    for pair, (one, question) in enumerate(zip(row, asked, strict=True)):
        answer = int(words[one, question])
        assert found.fitting(answer)[pair]
        wrong += not found.fitting(answer ^ 1 << (family.d_format.sign_bit - 1))[pair]
    certain = found.certain() & ~zero_words(family.d_format, words[row, asked])
    only = np.isin(np.arange(len(row)), found.last, invert=True) & certain
    assert (found.words[found.word[only]] == words[row[only], asked[only]]).all()
    assert only.sum() > len(row) // 8 and wrong > len(row) // 4


def test_structures_of_one_signature_take_one_course():
    family = Family.of(map(format_named, ("f16", "f16", "f32", "f32")), 16)
    question = ordinary(family, np.random.default_rng(2), 4, (0,))[[0]]
    used, c = lanes_used(question)[0], bool(question.c[0])
    seen: dict[Any, Any] = {}
    for one in family.structures:
        if one.order != "every":  # a block with all of its lanes has as many zeros as it has
            routes = used_routes(family, [one], [0], question)
            blocks = [(routes.kinds[routes.kind[n]], *routes.words[routes.kind[n]][routes.place[n]])
                      for n in routes.turns[:, 0]]  # fmt: skip
            own = seen.setdefault(signature(one, used, c=c), blocks)
            assert own == blocks
    assert 1 < len(seen) < len(family.structures) // 4
