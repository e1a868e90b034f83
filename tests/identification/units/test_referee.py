"""``audit`` and ``identify`` on tiny units: whatever they call equal, on all inputs, by the referee's oracle.

``pytest -m long tests/identification/units/test_referee.py`` takes about 20 minutes on one core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.equal import (
    _below_all,
    _enough_carries,
    _exact_products,
    _never_overflows,
    _no_negative_zero,
    canonical,
)
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import COLUMNS, Alignment, Family
from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Task
from tcsmt.surveys.units.audit import audit_of, closing, gaps, listed
from tcsmt.surveys.units.model_pairs import verdicts_in
from tests.oracles import exact, tiny

pytestmark = pytest.mark.usefixtures("no_luck")

ALL = Domain(finite=False)


def apart(one: Model, other: Model, everything: tiny.Everything) -> dict[str, int] | None:
    """An input at which two models differ, by the oracle."""
    for columns in everything:
        places = np.flatnonzero(exact.results(one, columns) != exact.results(other, columns))
        if places.size:
            return {name: int(words[places[0]]) for name, words in columns.items()}
    return None


# --- audit -----------------------------------------------------------------------------------------


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are asked here, where the engine's search is switched off, not in processes of their own."""

    def answers(jobs: int, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[str, Any]]]:
        for task in tasks:
            yield task, task.run()

    monkeypatch.setattr(processes, "answers_of", answers)


def audited(seed: int, path: Path, bits: int, timeout: float) -> Counter[str]:
    """A tiny unit's audit with a few random vectors: every gap against all inputs."""
    rng = Random(f"audit {seed}")
    while True:
        model = tiny.some_model(rng, narrow=True)
        if sum(fmt.width for fmt in model.input_formats.values()) <= bits:
            break
    row = Row(
        architecture="tiny", instruction="x", model=model, source="drawn", date=2025, evidence="conjectured"
    )
    everything = tiny.Everything.of(model.input_formats, ALL)
    vectors = everything.some(rng, 100)
    audit = audit_of(row, listed(row, [("", [int(w[n]) for w in vectors.values()]) for n in range(100)]))
    with verdicts_in(path / f"{seed}.json") as store:
        found = gaps(audit, store, SolvingOptions(timeout=timeout, confirm=False))
    counts: Counter[str] = Counter()
    for gap in found:
        one, other = (audit.hypotheses[n].row.model for n in gap.pair)
        if not (exact.describes(one) and exact.describes(other)):
            counts["not described"] += 1
            continue
        witness = apart(one, other, everything)
        if gap.verdict == "equal":
            assert witness is None, f"seed {seed}: called equal: {one}, and {other}: {witness}"
        if gap.verdict == "open":
            values = {name: np.array([int(v["word"], 16)]) for name, v in gap.record["inputs"].items()}
            assert (exact.results(one, values) != exact.results(other, values)).all(), (seed, one, other)
        counts[gap.verdict] += 1
    closed = closing(audit, found)
    for number, told in enumerate(closed.closes if closed else ()):
        columns = _columns(closed, number, model) if closed else {}
        for pair in told:
            one, other = (audit.hypotheses[n].row.model for n in pair)
            if not (exact.describes(one) and exact.describes(other)):
                continue
            assert (exact.results(one, columns) != exact.results(other, columns)).all(), (seed, one, other)
    counts["closed"] += sum(len(told) for told in closed.closes) if closed else 0
    return counts


def _columns(closed: Any, number: int, model: Model) -> tiny.Columns:
    """One vector, by the inputs' names."""
    given = closed.vectors.inputs
    words = [*given.a[number], *given.b[number], given.c[number]]
    if given.scale_a is not None:
        words += [*given.scale_a[number], *given.scale_b[number]]
    return {name: np.array([int(w)]) for name, w in zip(model.input_names, words, strict=True)}


@pytest.mark.long
@pytest.mark.usefixtures("in_this_process")
def test_audit(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    counts += audited(0, tmp_path, 9, 0.3)
    print(f"audit: {dict(counts)}")
    assert counts["equal"] >= 3


@pytest.mark.long
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("seed", range(100, 115))
def test_audit_many(seed: int, tmp_path: Path) -> None:
    print(f"audit: {dict(audited(seed, tmp_path, 14, 2))}")


# --- identify --------------------------------------------------------------------------------------


def some_family(rng: Random, k: int | None = None) -> Family:
    """Formats of few words; D with exponents so far from the products' that some parameters cannot matter.

    k: with so many products, whose inputs are too many to try them all.
    """
    while True:
        a, b = (_operand(rng) for _ in range(2))
        d = tiny.described(
            exponent_bits=rng.choice((3, 4, 5, 6)), fraction_bits=rng.choice((1, 1, 2, 3)),
            bias=rng.choice((1, 3, 7, 15)),
        )  # fmt: skip
        c = d if rng.random() < 0.6 else tiny.some_format(rng)
        if k is not None or a.width + b.width + c.width <= 18:
            return Family(a, b, c, d, k or 1)


def _operand(rng: Random) -> Format:
    exponent_bits, fraction_bits = rng.choice(((2, 1), (2, 1), (2, 2), (3, 1)))
    return tiny.described(
        exponent_bits=exponent_bits, fraction_bits=fraction_bits, bias=rng.randint(0, 6),
        specials=rng.choice(list(Specials)),
    )  # fmt: skip


def some_hypothesis(family: Family, rng: Random) -> Any:
    """A row of the family's table: there is an IEEE overflow only where it depends on the sign."""
    rounding = rng.randrange(len(family.roundings))
    by_sign = family.roundings[rounding].overflows_by_sign
    number = rng.randrange(len(family.structures))
    one = family.structures[number]
    every, kept = one.order == "every", len(family.round_bits)
    return np.array([
        number,
        rng.randrange(rng.choice((8, len(family.bits)))),
        rng.randrange(len(family.alignments) - every),
        rng.randrange(len(family.carries(one))),
        rounding,
        rng.choice((kept - 1, rng.randrange(kept))),
        rng.randrange(len(family.zero_exponents) - every),
        rng.randrange(2),
        rng.randrange(2 + by_sign),
        rng.randrange(2),
        rng.randrange(2),
        rng.randrange(len(family.roundings)) if one.order == "last" else 0,
    ], np.int16)  # fmt: skip


def merged(seeds: range, rows: int) -> Counter[int]:
    """How often a column was replaced by what stands for it: each time the same unit, on all inputs."""
    columns: Counter[int] = Counter()
    for seed in seeds:
        rng = Random(f"canonical {seed}")
        family = some_family(rng)
        table = np.array([some_hypothesis(family, rng) for _ in range(rows)])
        everything: Any = None
        for row, other in zip(table, canonical(family, table), strict=True):
            changed = np.flatnonzero(row != other)
            if changed.size:
                one, two = family.model(row), family.model(other)
                everything = everything or tiny.Everything.of(one.input_formats, ALL)
                witness = apart(one, two, everything)
                assert witness is None, f"seed {seed}: merged with {row} -> {other}: {one} at {witness}"
                columns.update(map(int, changed))
    print(f"identify: replaced by column {dict(columns)}")
    return columns


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 8), marks=pytest.mark.long)], ids=str)
def test_merged_hypotheses_are_equal(seeds: range) -> None:
    assert sum(merged(seeds, 20).values()) > 10


@pytest.mark.long
def test_many_merged_hypotheses_are_equal() -> None:
    assert set(merged(range(1000, 1200), 60)) >= {0, 6, 8, 10}


def at_the_edge(family: Family, table: Any) -> list[Any]:
    """Rows with a value that is replaced, but would not be with one bit, or zero exponent, more or less."""
    found = []
    changed = canonical(family, table) != table
    for row, own in zip(table, changed, strict=True):
        near = []
        for column, last in ((1, len(family.bits)), (6, len(family.zero_exponents))):
            for step in (-1, 1):
                other = row.copy()
                other[column] += step
                if 0 <= other[column] < last:
                    near.append(other)
        others = np.array(near)
        edge = own & ~(canonical(family, others) != others).all(axis=0)
        if edge.any():
            found.append(row)
    return found


def some_inputs(family: Family, rng: Random) -> tiny.Columns:
    """Random words of every input, half of them with the largest or the smallest exponents."""
    columns = {}
    for name, fmt in family.model(some_hypothesis(family, rng)).input_formats.items():
        ends = [fmt.largest_finite_word, fmt.largest_finite_word - 1, 1, 2, 0]
        ends += [word | 1 << fmt.sign_bit for word in ends]
        columns[name] = [
            rng.choice(ends) if rng.random() < 0.6 else rng.getrandbits(fmt.width) for _ in range(3000)
        ]
    return {name: np.array(words, np.int64) for name, words in columns.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 48), marks=pytest.mark.long)], ids=str)
def test_hypotheses_merged_at_the_edge_of_a_rule_are_equal(seeds: range) -> None:
    columns: Counter[int] = Counter()
    for seed in seeds:
        rng = Random(f"edges {seed}")
        family = some_family(rng, rng.choice((1, 2, 2, 3)))
        rows = at_the_edge(family, np.array([some_hypothesis(family, rng) for _ in range(60)]))
        given = some_inputs(family, rng) if rows else {}
        for row in rows[:5]:
            (other,) = canonical(family, row[None])
            one, two = family.model(row), family.model(other)
            wrong = np.flatnonzero(exact.results(one, given) != exact.results(two, given))
            assert not wrong.size, f"seed {seed}: merged {row} -> {other}: {one} at input {wrong[0]}"
            columns.update(map(int, np.flatnonzero(row != other)))
    print(f"identify, edges: {dict(columns)}")
    assert len(columns) >= 4


def test_registers_that_hold_every_sum() -> None:
    """Called large enough: the largest products and c, all at the largest exponent, each rounded up."""
    enough = 0
    for seed in range(60):
        rng = Random(f"registers {seed}")
        family = some_family(rng, rng.choice((2, 3, 4, 6)))
        for _ in range(40):
            row = some_hypothesis(family, rng)
            one = family.structures[int(row[0])]
            carry = family.carries(one)[row[3]]
            if carry is None or not _enough_carries(family, one, row):
                continue
            product = Fraction(2)
            if one.products == "unnormalised":
                a, b = (2 - Fraction(1, 1 << fmt.fraction_bits) for fmt in (family.a_format, family.b_format))
                product = a * b
            scale = 1 << family.bits[row[1]]
            total = one.n_fma * Fraction(-int(-product * scale // 1), scale) + 2
            assert total < 1 << (2 + carry), (family, one, row)
            enough += 1
    assert enough >= 100


def test_registers_that_just_wrap_are_not_merged() -> None:
    """Two products of 2.98 are rounded up to 3, a c of 1.99 to 2: their sum of 8 is the first that wraps."""
    a = tiny.described(exponent_bits=3, fraction_bits=1, bias=3)
    b = tiny.described(exponent_bits=3, fraction_bits=6, bias=3)
    d = tiny.described(exponent_bits=5, fraction_bits=8, bias=15)
    family = Family(a, b, d, d, 2)
    (number,) = (
        i for i, one in enumerate(family.structures)
        if (one.n_fma, one.products, one.order) == (2, "unnormalised", "aligned")
    )  # fmt: skip
    row = np.zeros(len(COLUMNS), np.int16)
    row[[0, 2, 5]] = number, family.alignments.index(Alignment(ROUNDINGS["RA"])), len(family.round_bits) - 1
    row[3] = family.carries(family.structures[number]).index(1)
    assert family.bits[row[1]] == 5
    narrow = family.model(row)
    wide = narrow.replace(carry_bits=None)
    words = {"a": a.word(Fraction(3, 2)), "b": b.word(2 - Fraction(1, 64)), "c": d.word(2 - Fraction(1, 256))}
    inputs = {name: np.array([words[name[0]]]) for name in narrow.input_formats}
    assert exact.results(narrow, inputs) != exact.results(wide, inputs)
    assert not _enough_carries(family, family.structures[number], row)


def _edge(d_bits: int, k: int) -> Family:
    """Operands of a few numbers, and a c that can be much larger."""
    few = tiny.described(exponent_bits=2, fraction_bits=1, bias=1, specials=Specials.NEGATIVE_ZERO_NAN)
    d = tiny.described(exponent_bits=5, fraction_bits=d_bits, bias=1)
    return Family(few, few, d, d, k)


def _formats(a: str, b: str, c: str, d: str, k: int) -> Family:
    """Of texts as 31b6: exponent bits, fraction bits, bias. Operands have no infinities."""
    specials = Specials.NEGATIVE_ZERO_NAN, Specials.NEGATIVE_ZERO_NAN, Specials.IEEE, Specials.IEEE
    found = [
        tiny.described(exponent_bits=int(x[0]), fraction_bits=int(x[1]), bias=int(x[3:]), specials=special)
        for x, special in zip((a, b, c, d), specials, strict=True)
    ]
    return Family.of(found, k)


def _summed(k: int, n_fma: int) -> int:
    """The number of the structure that sums the products of contiguous blocks before c."""
    found = _formats("21b1", "21b1", "21b0", "46b7", k).structures
    one = (n_fma, 0, "unnormalised", "summed")
    return next(n for n, s in enumerate(found) if (s.n_fma, s.interleave, s.products, s.order) == one)


EDGES = {
    "a zero's exponent matters where carries are lost": (
        _edge(3, 3), [5, 4, 0, 1, 0, 1, 20, 1, 1, 0, 1, 0], 6,
        {"a0": 1, "a1": 10, "a2": 11, "b0": 3, "b1": 10, "b2": 10, "c": 12}, _below_all,
    ),
    "a sum overflows where alignment rounds up": (
        _edge(3, 3), [0, 0, 9, 1, 4, 2, 1, 0, 1, 0, 1, 0], 8,
        {"a0": 10, "a1": 10, "a2": 0, "b0": 1, "b1": 6, "b2": 13, "c": 503}, _never_overflows,
    ),
    "a zero c enters with an exponent beyond every product's": (
        _formats("22b6", "22b6", "31b2", "42b9", 2), [8, 1, 10, 0, 4, 0, 25, 1, 1, 1, 0, 0], 6,
        {"a0": 14, "a1": 1, "b0": 5, "b1": 2, "c": 17}, _below_all,
    ),
    "products lose bits beside a c that is larger than any result": (
        _formats("31b6", "21b6", "43b1", "21b4", 2), [5, 6, 9, 0, 5, 0, 1, 0, 0, 1, 0, 0], 0,
        {"a0": 14, "a1": 1, "b0": 9, "b1": 1, "c": 129}, _exact_products,
    ),
    "a c that the result's format does not hold rounds to zero": (
        _formats("31b0", "31b0", "32b8", "42b7", 2), [2, 30, 9, 2, 4, 1, 20, 0, 1, 0, 1, 3], 10,
        {"a0": 0, "a1": 0, "b0": 18, "b1": 29, "c": 33}, _no_negative_zero,
    ),
    "products are as large as the result's largest number": (
        _formats("21b1", "31b3", "31b5", "31b5", 2), [0, 3, 6, 2, 7, 0, 23, 1, 1, 0, 1, 0], 8,
        {"a0": 7, "a1": 0, "b0": 31, "b1": 15, "c": 12}, _never_overflows,
    ),
    "a zero among a's and b's fields is the largest exponent": (
        _formats("31b2", "21b0", "22b2", "22b0", 1), [5, 0, 4, 0, 3, 1, 25, 0, 0, 0, 1, 0], 6,
        {"a0": 29, "b0": 0, "c": 2}, _below_all,
    ),
    "a zero among b's and a's fields is the largest exponent": (
        _formats("21b5", "31b0", "31b7", "32b6", 1), [5, 1, 2, 0, 5, 1, 25, 1, 0, 1, 0, 0], 6,
        {"a0": 1, "b0": 10, "c": 21}, _below_all,
    ),
    "a zero of the result's format is the largest exponent": (
        _formats("31b6", "31b6", "22b9", "42b1", 2), [13, 3, 1, 0, 9, 0, 25, 0, 1, 0, 0, 0], 6,
        {"a0": 0, "a1": 18, "b0": 28, "b1": 18, "c": 16}, _below_all,
    ),
    "a normalised product lies below the smallest normal one": (
        _formats("23b3", "23b3", "46b5", "46b5", 1), [4, 0, 6, 0, 6, 5, 16, 0, 0, 0, 0, 0], 6,
        {"a0": 1, "b0": 15, "c": 0}, _below_all,
    ),
    "c has bits below those of every product": (
        _formats("21b2", "21b2", "22b6", "31b2", 2), [12, 3, 0, 0, 7, 0, 20, 0, 1, 0, 1, 0], 6,
        {"a0": 12, "a1": 0, "b0": 0, "b1": 13, "c": 2}, _below_all,
    ),
    "products lose bits beside a zero": (
        _formats("21b6", "21b6", "21b8", "21b8", 2), [1, 1, 8, 0, 7, 0, 21, 1, 0, 0, 0, 0], 0,
        {"a0": 3, "a1": 2, "b0": 6, "b1": 10, "c": 1}, _exact_products,
    ),
    "products lose bits beside what a block hands on": (
        _formats("21b1", "21b1", "21b0", "46b7", 4), [_summed(4, 2), 1, 6, 0, 6, 5, 0, 0, 0, 0, 0, 0], 0,
        {"a0": 7, "a1": 0, "a2": 1, "a3": 1, "b0": 7, "b1": 0, "b2": 1, "b3": 1, "c": 0}, _exact_products,
    ),
    "a sum that is kept in fewer bits rounds to zero": (
        _formats("21b4", "21b4", "43b7", "43b7", 1), [6, 5, 8, 1, 2, 0, 23, 0, 0, 0, 1, 9], 10,
        {"a0": 9, "b0": 1, "c": 128}, _no_negative_zero,
    ),
    "a result that is flushed is a zero of its sign": (
        _formats("21b3", "21b3", "43b4", "43b4", 1), [2, 2, 9, 1, 4, 2, 25, 1, 0, 1, 1, 2], 10,
        {"a0": 13, "b0": 14, "c": 157}, _no_negative_zero,
    ),
    "an exact zero is -0 where sums are rounded down": (
        _formats("21b1", "21b1", "31b4", "31b4", 1), [6, 4, 2, 0, 8, 0, 0, 1, 1, 0, 1, 8], 10,
        {"a0": 11, "b0": 15, "c": 29}, _no_negative_zero,
    ),
    "a product below the result's numbers rounds to zero": (
        _formats("21b6", "21b6", "42b1", "42b1", 1), [6, 5, 6, 1, 7, 1, 15, 0, 0, 0, 1, 2], 10,
        {"a0": 5, "b0": 13, "c": 64}, _no_negative_zero,
    ),
    "a c that is larger than any result overflows to nearest": (
        _formats("21b6", "21b6", "43b0", "43b1", 1), [0, 0, 6, 0, 0, 2, 0, 0, 1, 0, 0, 0], 8,
        {"a0": 0, "b0": 0, "c": 0x77}, _never_overflows,
    ),
    "a c that is larger than any result overflows toward zero": (
        _formats("21b6", "21b6", "43b0", "43b1", 1), [0, 0, 6, 0, 6, 0, 0, 0, 1, 0, 0, 0], 8,
        {"a0": 0, "b0": 0, "c": 0x77}, _never_overflows,
    ),
    "a block overflows before c is added": (
        _formats("21b0", "21b0", "22b9", "42b8", 1), [2, 17, 0, 0, 7, 0, 0, 0, 1, 1, 0, 1], 8,
        {"a0": 7, "b0": 15, "c": 2}, _never_overflows,
    ),
    "the largest c overflows where fewer bits are kept": (
        _edge(8, 1), [0, 3, 6, 0, 0, 6, 0, 0, 1, 0, 0, 0], 8,
        {"a0": 0, "b0": 0, "c": (30 << 8) + 255}, _never_overflows,
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", EDGES)
def test_rows_just_beyond_a_rule(title: str) -> None:
    """By the oracle the parameter can be seen on this input, so that no rule may take it away."""
    family, values, column, inputs, rule = EDGES[title]
    row = np.array(values, np.int16)
    other = row.copy()
    aligned = replace(family.structures[values[0]], order="aligned")
    other[column] = 0 if column else family.structures.index(aligned)
    columns = {name: np.array([word]) for name, word in inputs.items()}
    one, two = (
        exact.results(family.model(x, NanRule((), family.d_format.nan_word)), columns) for x in (row, other)
    )
    assert one != two
    assert not rule(family, family.structures[values[0]], row)


def predicted(seeds: range) -> None:
    """Every hypothesis' answers are what the oracle says, on a sample of the inputs."""
    for seed in seeds:
        rng = Random(f"predictions {seed}")
        family = some_family(rng)
        table = np.array([some_hypothesis(family, rng) for _ in range(12)])
        models: list[FusedDotAdd] = [
            family.model(row, NanRule((), family.d_format.nan_word)) for row in table
        ]
        columns = tiny.Everything.of(models[0].input_formats, ALL).some(rng, 4000)
        a, b = (
            np.stack([columns[f"{s}{i}"] for i in range(family.k)], axis=1).astype(np.uint64) for s in "ab"
        )
        answers = predictions(family, table, Questions(a, b, columns["c"].astype(np.uint64)))
        for model, given in zip(models, answers, strict=True):
            wrong = np.flatnonzero(exact.results(model, columns) != given.astype(np.int64))
            assert not wrong.size, (seed, model, {n: int(w[wrong[0]]) for n, w in columns.items()})


def test_predictions() -> None:
    predicted(range(3))


@pytest.mark.long
def test_predictions_many() -> None:
    predicted(range(100, 300))
