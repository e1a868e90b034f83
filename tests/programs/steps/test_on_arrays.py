"""The reading on arrays: each step, and chains on rows and on matrices, by units run one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.steps.on_arrays import ArrayRules, along, no_chain, of_matrices, of_rows, split_words
from tcsmt.programs.steps.program import ProductRun
from tcsmt.programs.steps.split import Split
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import InternalError

F16, F32 = FORMATS["f16"], FORMATS["f32"]
NEAREST = ROUNDINGS["RNE"]
UNIT = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def chain(
    unit: Model, operands: Sequence[Any], runs: Sequence[ProductRun], c: np.ndarray | None
) -> np.ndarray:
    return np.full((2, 3), len(runs[0].indices) + (0 if c is None else 100), np.uint32)


def test_steps() -> None:
    rules = ArrayRules((2, 3), chain, QUIET)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = values.view(np.uint32)
    runs = [ProductRun(np.arange(4))]
    assert (rules.chain(None, unit=UNIT, runs=runs) == 4).all()
    assert (rules.chain(x, unit=UNIT, runs=runs) == 104).all()
    assert (rules.constant(fmt=F16, word=5) == 5).all() and rules.constant(fmt=F16, word=5).dtype == np.uint16
    bias = np.array([1, 2, 3], np.float32)
    total = rules.add(x, bias.view(np.uint32), fmt=F32, shift=0, rounding=NEAREST)
    assert (total.view(np.float32) == values + bias).all()
    total = rules.add(x, bias.view(np.uint32), fmt=F32, shift=3, rounding=NEAREST)
    assert (total.view(np.float32) == values / 8 + bias).all()
    tiny = np.full((2, 3), 2.0**-40, np.float32).view(np.uint32)
    up, down = (
        rules.add(tiny, x, fmt=F32, shift=1, rounding=ROUNDINGS[name]).view(np.float32)
        for name in ("RTP", "RTZ")
    )
    assert (up[x != 0] > values[x != 0]).all() and (down[x != 0] == values[x != 0]).all()
    counts = rules.add(x, x, fmt=INTEGERS["u32"], shift=0, rounding=NEAREST)
    assert (counts == x + x).all()
    assert (rules.negate(x, fmt=F32).view(np.float32) == -values).all()
    found = rules.multiply_add(x, x, x, fmt=F32).view(np.float32)
    assert (found == values * values + values).all()
    half = rules.convert(x, source=F32, target=F16, rounding=NEAREST, saturate=False)
    assert (half.view(np.float16) == values).all()
    random = np.zeros((2, 3), np.uint32)
    assert (rules.convert_randomly(x, random, source=F32, target=F16, bits=4, saturate=False) == half).all()
    with pytest.raises(InternalError):
        no_chain(UNIT, (), runs, None)


def test_words_of_a_split_are_those_of_its_terms() -> None:
    split = Split(format=F16, words=2)
    numbers = np.array([[0x3F800001, 0xC0490FDB], [0x7F800000, 0x33800000]], np.uint32)
    found = split_words(split, numbers)
    terms = split.apply(var("x", 32))
    for place in np.ndindex(2, 2):
        wanted = list(evaluate(list(terms), {"x": int(numbers[place])}))
        assert [int(word[place]) for word in found] == wanted


def test_what_runs_take_is_filled_up_but_for_a_single_run() -> None:
    words = np.arange(1, 13, dtype=np.uint16).reshape(2, 6)
    runs = [ProductRun(np.array([0, 1]), (0, 1)), ProductRun(np.array([5, 3]), (1, 0))]
    assert along([words, words + 100], runs, 0, 1, 3).tolist() == [
        [1, 2, 0, 106, 104, 0], [7, 8, 0, 112, 110, 0],
    ]  # fmt: skip
    assert along([words, words + 100], runs, 1, 1, 3).tolist()[0] == [101, 102, 0, 6, 4, 0]
    assert along(words.T, [ProductRun(np.array([2, 4]))], 0, 0, 3).tolist() == [[3, 9], [5, 11]]
    assert np.shares_memory(along(words, [ProductRun(np.arange(2, 5))], 0, 1, 4), words)


def test_chains_on_rows_and_on_matrices_are_instructions_one_after_the_other() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((3, 9)).astype(np.float16).view(np.uint16) for _ in "ab")
    runs = [ProductRun(np.array([8, 0, 1, 2, 7])), ProductRun(np.array([3, 4]))]
    c = rng.standard_normal(3).astype(np.float32).view(np.uint32)
    wanted = c
    for indices in ([8, 0, 1, 2], [7], [3, 4]):
        x, y = (np.pad(side[:, indices], ((0, 0), (0, 4 - len(indices)))) for side in (a, b))
        wanted = run_words(UNIT, Operands(x, y, wanted))
    assert (of_rows(UNIT, (a, b), runs, c) == wanted).all()
    start = np.ascontiguousarray(np.broadcast_to(c[:, None], (3, 3)))
    assert (np.diagonal(of_matrices(UNIT, (a, b.T), runs, start)) == wanted).all()
    zero = np.zeros(3, np.uint32)
    assert (of_rows(UNIT, (a, b), runs, None) == of_rows(UNIT, (a, b), runs, zero)).all()
