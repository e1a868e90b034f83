"""Shortening: from a witness to one that people can read, which is still a witness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcsmt.prove.engine.shorten as shorten_module
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.prove.engine.shorten import Cost, _ranked, cost, shorten, shorten_where
from tcsmt.prove.statements.question import Question, difference
from tcsmt.simulate.rows import run_words
from tests.support.questions import PAIRS, found, unit

SHORTENED = ("products", "c last", "nan", "flush", "every")


@pytest.fixture(scope="module")
def witnesses() -> dict[str, tuple[Question, dict[str, int]]]:
    """Questions, each with a witness."""
    table = {}
    for name in SHORTENED:
        base, changes, domain = PAIRS[name]
        models = unit(base), unit(base).varied(**changes)
        question = difference(name, ("", models[0]), ("", models[1]), domain)
        table[name] = question, dict(found(question).values)
    return table


@pytest.mark.slow
@given(st.sampled_from(SHORTENED), st.integers(0, 1 << 32))
@settings(max_examples=10, deadline=None)
def test_shortening(witnesses: dict[str, tuple[Question, dict[str, int]]], name: str, seed: int) -> None:
    """From any witness to one that is not longer, still a witness, and stays as it is."""
    question, start = witnesses[name]
    goal, rng = question.goal, np.random.default_rng(seed)
    for _ in range(30):  # random bits, as long as it stays a witness
        key = str(rng.choice(list(question.formats)))
        longer = {**start, key: start[key] ^ 1 << int(rng.integers(question.formats[key].width))}
        start = longer if evaluate([goal], longer) == [1] else start
    result = shorten(goal, question.formats, start)
    assert evaluate([goal], result) == [1]
    assert cost(question.formats, result) <= cost(question.formats, start)
    assert set(result) == set(question.formats)
    assert shorten(goal, question.formats, result) == result


@pytest.mark.long
def test_block_scales_are_inputs_of_a_question() -> None:
    """Finite excludes NaN scales."""
    row = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(row, FusedDotAdd)
    unit = row.varied(k=32, n_fma=32)
    question = difference(
        "F = 35 against 34", ("35", unit), ("34", unit.varied(fraction_bits=34)), lanes=(2,)
    )
    verdict = found(question)
    names = [name for name in verdict.values if name[0] == "s"]
    assert names == ["sa0", "sa1", "sb0", "sb1"]
    assert all(not unit.input_formats[name].is_nan(verdict.values[name] & 0x7F) for name in names)
    columns = {name: np.array([word], np.uint64) for name, word in verdict.values.items()}
    a, b = (np.stack([columns[f"{side}{i}"] for i in range(32)], axis=-1) for side in "ab")
    scale_a, scale_b = (np.stack([columns[f"s{side}{i}"] for i in range(2)], axis=-1) for side in "ab")
    words = Operands(a, b, columns["c"], scale_a, scale_b)
    one, two = (int(run_words(s.model, words)[0]) for s in question.sides)
    assert one != two


@pytest.mark.long
def test_block_scales_of_a_short_witness_are_1() -> None:
    row = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(row, FusedDotAdd)
    unit = row.varied(k=32, n_fma=32)
    nearest = unit.varied(rounding="RNE")
    values = found(difference("rounding", ("RTZ", unit), ("RNE", nearest), lanes=(2,))).values
    for group in range(2):
        lanes = range(16 * group, 16 * (group + 1))
        if not any(values[f"{side}{lane}"] for side in "ab" for lane in lanes):
            for name in (f"sa{group}", f"sb{group}"):
                assert unit.input_formats[name].value(values[name] & 0x7F) == 1


def test_a_scale_that_cannot_be_1_is_shortened_too() -> None:
    """The nearest power of two stands for 1."""
    scale = Format(
        name="small", exponent_bits=2, fraction_bits=0, bias=9, specials=Specials.NONE, signed=False
    )
    scaled = unit().varied(scale_format=scale, scale_block=4)
    question = difference("scales", ("F = 23", scaled), ("F = 3", scaled.varied(fraction_bits=3)))
    verdict = found(question)
    assert (verdict.values["sa0"], verdict.values["sb0"]) == (3, 3)  # 2^-6


Change = tuple[Cost, Cost]
PARTS = st.tuples(*[st.integers(0, 1 << 20)] * 4)


@given(
    st.lists(st.tuples(PARTS, PARTS), min_size=1, max_size=8), st.lists(st.tuples(PARTS, PARTS), max_size=8)
)
def test_ranks_of_changes_compare_as_costs(one: list[Change], other: list[Change]) -> None:
    """A change's cost is a sum of differences, which may be negative in any part."""

    def parts(changes: list[Change]) -> tuple[int, ...]:
        return tuple(sum(new[i] - old[i] for new, old in changes) for i in range(4))

    def rank(changes: list[Change]) -> int:
        return sum(_ranked(new) - _ranked(old) for new, old in changes)

    assert (parts(one) < parts(other)) == (rank(one) < rank(other))
    assert (parts(one) < (0, 0, 0, 0)) == (rank(one) < 0)


def test_the_simplest_candidate_is_taken_however_many_are_evaluated_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    formats = unit().input_formats
    start = {name: (1 << fmt.width) // 3 for name, fmt in formats.items()}
    tried, found = [], []

    def holds(tries: Sequence[Mapping[str, int]]) -> list[bool]:
        tried.append(len(tries))
        return [sum(values.values()) % 5 == 2 for values in tries]

    for batch in (1 << 20, 7, 1):
        monkeypatch.setattr(shorten_module, "_BATCH", batch)
        found.append(shorten_where(holds, formats, start))
        assert max(tried) <= batch
        tried.clear()
    assert found[0] == found[1] == found[2] != start
    assert holds(found[:1]) == [True]
