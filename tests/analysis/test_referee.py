"""Verdicts about algorithms on tiny units, against all inputs: bounds of errors, and "never less accurate".

``pytest -m long tests/analysis/test_referee.py`` takes about 40 minutes on one core.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.budget import budget
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.search import bound as search
from tcsmt.analysis.search.bound import prove, unit
from tcsmt.analysis.search.compare import AlgorithmPair, decide
from tcsmt.language.run.arrays import Program, storage
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tests.oracles import recipes, tiny
from tests.oracles.tiny_recipes import WITHOUT, Drawn, some_sequence, varied

pytestmark = pytest.mark.usefixtures("no_luck")

#: Seconds for a query.
STEPS = 200_000


def solving() -> Solving:
    return Solving(SolvingOptions(steps=STEPS))


# --- the algorithms themselves ---------------------------------------------------------------------


def simulated(seeds: range, most: int) -> None:
    """An algorithm's terms, and its rows on arrays, give what the oracle says, on all inputs."""
    for seed in seeds:
        drawn = Drawn.of(f"simulated {seed}", most)
        one = drawn.algorithm
        program, dtype = Program([one.trace.output]), storage(one.wide.width)
        for columns in drawn.everything:
            expected = recipes.results(one, columns)
            given = program.run({name: words.astype(dtype) for name, words in columns.items()})[0]
            assert np.array_equal(given.astype(np.int64), expected), drawn


def test_algorithms_on_all_inputs() -> None:
    simulated(range(12), 1 << 12)


@pytest.mark.long
def test_many_algorithms_on_all_inputs() -> None:
    simulated(range(1000, 1400), 1 << 16)


# --- bounds ----------------------------------------------------------------------------------------


def bounded(seed: int, most: int) -> list[str]:
    """What was proved of an error, held against the largest one that there is."""
    drawn = Drawn.of(f"bounded {seed}", most)
    one, domain = drawn.algorithm, drawn.domain
    largest, where = recipes.largest_error(one, drawn.everything)
    found = []
    try:
        total = budget(StepwiseProof(solving()), one, domain).total
        assert largest is not None and largest <= total, f"{drawn}: at most {total}, and {largest} at {where}"
        found.append("a bound" if largest < total else "a bound that is reached")
    except Unbounded:
        found.append("no bound")
    limit = prove(StepwiseProof(solving()), one, domain, Fraction(0), None)
    if limit is not None:
        total = limit * unit(one.wide)
        assert largest is not None and largest <= total, f"{drawn}: at most {total}, and {largest} at {where}"
        found.append("a bound of the whole")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(12, 16), pytest.param(range(20, 24), marks=pytest.mark.long)], ids=str
)
def test_bounds(seeds: range) -> None:
    counts = Counter(kind for seed in seeds for kind in bounded(seed, 1 << 10))
    print(f"bounds: {dict(counts)}")
    assert counts["a bound"] >= 2 and counts["a bound of the whole"]


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_many_bounds(part: int) -> None:
    seeds = range(1000 + 60 * part, 1060 + 60 * part)
    print(f"bounds: {dict(Counter(kind for seed in seeds for kind in bounded(seed, 1 << 16)))}")


def with_complement(rng: Random, unit: FusedDotAdd) -> FusedDotAdd:
    """The unit, with few oddities but that it changes signs by the complement."""
    flushes, fmt = rng.random() < 0.5, unit.c_format
    offset = -rng.randint(0, max(0, min(2, fmt.fraction_bits - 1)))
    parameters: dict[str, Any] = {
        **WITHOUT, "alignment_complement": True, "alignment": ROUNDINGS["RTZ"], "alignment_sticky": False,
        "carry_bits": None, "normalisation": "once", "c_position": "aligned", "products": "unnormalised",
        "operand_format": None,
        "round_fraction_bits": None, "c_exponent_offset": offset,
        "zero_exponent": fmt.e_min - 9, "flush_c": rng.random() < 0.7, "flush_outputs": flushes,
        "flush_inputs": rng.random() < 0.3,
        "tininess": "after" if flushes else "result",
        "rounding": ROUNDINGS[rng.choice(("RNE", "RNE", "RTZ"))],
    }  # fmt: skip
    return unit.replace(**parameters)


def complemented(seed: int, most: int) -> str:
    """What was proved of a unit that changes signs by the complement, held against all inputs."""
    rng = Random(f"complemented {seed}")
    for attempt in count():
        drawn = Drawn.of(f"complemented {seed} {attempt}", most)
        unit = drawn.algorithm.unit
        if isinstance(unit, FusedDotAdd):
            break
    one, domain = replace(drawn.algorithm, unit=with_complement(rng, unit)), drawn.domain
    try:
        total = budget(StepwiseProof(solving()), one, domain).total
    except Unbounded as why:
        return str(why).split(":")[0]
    largest, where = recipes.largest_error(one, drawn.everything)
    assert largest is not None and largest <= total, f"{drawn}: at most {total}, and {largest} at {where}"
    return "a bound" if largest < total else "a bound that is reached"


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(2),
        pytest.param(range(4), marks=pytest.mark.long),
        pytest.param(range(100, 160), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_bounds_of_units_with_complements(seeds: range) -> None:
    counts = Counter(complemented(seed, 1 << 10 if len(seeds) < 9 else 1 << 14) for seed in seeds)
    print(f"bounds with complements: {dict(counts)}")
    assert counts["a bound"] >= len(seeds) / 4


def in_parts(seed: int, most: int) -> str:
    """What was proved of instructions that multiply parts of significands, held against many inputs."""
    rng = Random(f"in parts {seed}")
    precision, own = rng.choice((2, 3, 4)), rng.choice((1, 1, 2, 2, 4))
    narrow = tiny.described(exponent_bits=4, fraction_bits=precision - 1, bias=7)
    wide = tiny.described(exponent_bits=5, fraction_bits=rng.choice((3, 4, 5)), bias=15)
    one = Algorithm(
        k=rng.choice((1, own, own, 2 * own)), unit=some_sequence(rng, narrow, wide, own),
        split=Split(format=narrow, wide=wide, words=1), sums=(Sum(((0, 0),)),),
        c_enters=rng.choice(("unit", "unit", "first", "last")),
    )  # fmt: skip
    low, bits = rng.randint(-3, 2), min(precision, wide.precision)
    domain = Domain(
        exponents=(low, low + rng.choice((0, 1, 2))), c_zero=rng.random() < 0.4, positive=rng.random() < 0.2,
        bits=(rng.randint(1, bits), rng.randint(1, bits)),
    )  # fmt: skip
    try:
        total = budget(StepwiseProof(solving()), one, domain).total
    except Unbounded as why:
        return str(why).partition(":")[0]
    everything = recipes.inputs(domain, one)
    rows = everything if everything.count <= most else [everything.some(rng, most)]
    climbed, _ = search.largest(one, domain, 0.2)  # it finds inputs, and the oracle says what they are
    found = [] if climbed is None else [{name: np.array([x]) for name, x in climbed.values.items()}]
    largest, where = recipes.largest_error(one, [*rows, *found])
    drawn = f"in parts {seed}: {one} on {domain}"
    assert largest is not None and largest <= total, f"{drawn}: at most {total}, and {largest} at {where}"
    return "a bound" if largest < total else "a bound that is reached"


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        (0, 2),
        pytest.param(range(3), marks=pytest.mark.long),
        pytest.param(range(100, 220), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_bounds_of_products_of_parts(seeds: Sequence[int]) -> None:
    counts = Counter(in_parts(seed, 1 << 11 if len(seeds) < 9 else 1 << 14) for seed in seeds)
    print(f"bounds of products of parts: {dict(counts)}")
    assert counts["a bound"] >= len(seeds) / 4


# --- is one ever less accurate? --------------------------------------------------------------------


def pairs(seed: int, most: int) -> Iterator[tuple[Drawn, Algorithm, dict[str, int] | None]]:
    """Random algorithms, another one close to each, and an input on which the other is better, if any."""
    rng = Random(f"varied {seed}")
    for attempt in count():
        drawn = Drawn.of(f"judged {seed} {attempt}", most)
        two = varied(rng, drawn.algorithm)
        yield drawn, two, recipes.worse(drawn.algorithm, two, drawn.everything)


def judged(seed: int, most: int) -> str:
    """The verdict on "is the first ever less accurate than the second?", held against all inputs.

    Most variations are never seen on so few inputs: every other seed asks about algorithms of which the first
    is less accurate somewhere, so that a proof of the contrary would be wrong.
    """
    tried = (one for one in pairs(seed, most) if one[2] is not None or seed % 2)
    drawn, two, worse = next(tried)
    one, domain = drawn.algorithm, drawn.domain
    pair = AlgorithmPair(("one", "two"), (one, two), domain)
    verdict = decide(pair, solving(), time.monotonic()).verdict
    match verdict:
        case Equivalent():
            assert worse is None, f"{drawn}, against {two}: never worse, and is at {worse}"
            return "never worse, by a proof" if verdict.scripts else "never worse, the same graph"
        case Distinguished():
            columns = {name: np.array([word]) for name, word in verdict.values.items()}
            assert verdict.values in drawn.everything, f"{drawn}: {verdict.values} is not in the domain"
            assert recipes.worse(one, two, [columns]), f"{drawn}, against {two}: not so at {verdict.values}"
            return "worse"
    return "unknown, and it is worse" if worse else "unknown"


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        (3, 5, 6),
        pytest.param((4, 7, 8, 9), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_never_worse(seeds: Sequence[int]) -> None:
    counts = Counter(judged(seed, 1 << 10) for seed in seeds)
    print(f"never worse: {dict(counts)}")
    assert counts["never worse, by a proof"] and counts["worse"]


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_never_worse_many(part: int) -> None:
    seeds = range(1000 + 100 * part, 1100 + 100 * part)
    print(f"never worse: {dict(Counter(judged(seed, 1 << 16) for seed in seeds))}")
