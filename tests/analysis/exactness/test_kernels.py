"""Integers that kernels add up exactly: held against exact sums, and against inputs beyond what is proved."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.analysis.bounds.fused_loss import Unbounded, need
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.kernels import exact_kernel
from tcsmt.interface.api.units import side_of
from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.terms import TRUE, Term, const
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, Kind, Model
from tcsmt.programs.kernels.reduction import Reduction, fold, reduction_named
from tcsmt.prove.engine.solving import Solving
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact as oracle
from tests.oracles import tiny
from tests.support.planted import put
from tests.support.proofs import shared_proof

CASES = [
    ("volta", "chained", 64, 512), ("volta", "split-k:2,parts=bf16", 64, 2),
    ("volta", "split-k:4,pairs", 64, 512),
    ("ieee/fma.f32", "sliced:2", 50, 579), ("turing/mma.m8n8k16.s32.s8.s8.s32", "split-k:3", 96, 128),
]  # fmt: skip


@pytest.fixture(scope="module")
def solving() -> Solving:
    """What is proved for one case is known to the next one."""
    return Solving()


def results(unit: str, reduction: str, a: Any, b: Any) -> Any:
    dtype = np.int8 if "s8" in unit else np.float32 if "f32" in unit else np.float16
    return tcsmt.gemm(a.astype(dtype), b.astype(dtype), unit=unit, reduction=reduction)


@pytest.mark.parametrize(("unit", "reduction", "k", "limit"), CASES)
@pytest.mark.slow_cases("volta-chained-64-512", "volta-split-k:2,parts=bf16-64-2")
def test_exact_up_to_the_limit_and_not_beyond(
    unit: str, reduction: str, k: int, limit: int, solving: Solving
) -> None:
    found = exact_kernel(StepwiseProof(solving), side_of(unit).row.model, reduction_named(reduction), k)
    assert found.integers == limit
    rng = np.random.default_rng(k)
    top = min(limit, 127) if "s8" in unit else limit
    a = np.concatenate([rng.integers(-top, top + 1, (30, k)), np.full((1, k), top), np.zeros((1, k))]).astype(
        int
    )
    b = np.concatenate([rng.integers(-top, top + 1, (30, k)), np.full((1, k), top), -a[:1]]).astype(int).T
    d = results(unit, reduction, a, b)
    assert (d == a @ b).all()
    assert not np.signbit(d[d == 0]).any()
    if top == limit:  # sums of numbers up to twice as large: some are rounded
        more = rng.integers(limit, 2 * limit + 1, (30, k))
        assert (results(unit, reduction, more, more.T) != more @ more.T).any()


@pytest.mark.slow
def test_the_format_of_inner_sums_is_that_of_the_outer_ones(solving: Solving) -> None:
    """Up to 5 the parts' sums are bfloat16 numbers; their own sum, in bfloat16 too, reaches 400."""
    unit, text = "volta/mma.m8n8k4.f16.f16.f16.f16", "split-k:2/split-k:2,sum=bf16"
    found = exact_kernel(StepwiseProof(solving), side_of(unit).row.model, reduction_named(text), 16)
    rng = np.random.default_rng(1)
    for limit, exact in ((found.integers, True), (found.integers + 1, False)):
        a = rng.integers(max(limit - 1, 0), limit + 1, (40, 16))
        d = tcsmt.gemm(a.astype(np.float16), a.T.astype(np.float16), unit=unit, reduction=text)
        assert bool((d.astype(float) == a @ a.T).all()) is exact


def test_negative_zeros_give_no_negative_zero() -> None:
    """Products of -0 alone, in every part."""
    a = np.full((1, 16), -0.0, np.float16)
    for reduction in ("chained", "split-k:2", "sliced:2,reversed"):
        d = tcsmt.gemm(a, np.abs(a).T, np.zeros((1, 1), np.float32), unit="volta", reduction=reduction)
        assert d.view(np.uint32) == 0


def test_a_lemma_that_does_not_hold_stops_the_proof() -> None:
    with pytest.raises(Unbounded):
        need(shared_proof(), "nothing", TRUE)


@pytest.mark.long
def test_reductions_agree_on_these_integers() -> None:
    reductions = ["chained", "split-k:2"]
    found = tcsmt.kernel_invariant("volta", reductions, k=16)
    assert found.invariant is False
    assert found.integers == 1024
    text = str(found)
    assert "the same bits, exactly the sum, up to 1024" in text
    assert [one["integers"] for one in found.as_json()["exact"]] == [1024, 1024]


# --- tiny units and kernels, every input: the same word, whatever the reduction

#: Zero, 1/8 and more, 1, 1.5, 2, 3, 4 and 6.
NARROW = tiny.described(exponent_bits=3, fraction_bits=1, bias=4)
RESULTS = tuple(tiny.described(exponent_bits=4, fraction_bits=f, bias=7) for f in (2, 3))
SCHEMES = ("chained", "split-k:2", "split-k:3,reversed", "promote:1,from-zero", "sliced:2,pairs")
REDUCTIONS = tuple(map(reduction_named, SCHEMES))
Columns = dict[str, Any]


def numbers(fmt: Any, limit: int) -> list[int]:
    """The words of the integers of a format up to a limit, both zeros among them, by the oracle."""
    words = np.arange(1 << fmt.width)
    x = oracle.Format.of(fmt).decode(words)
    values = np.where(x.sign, -1, 1) * x.mag * 2.0**x.lsb
    whole = (values == np.rint(values)) & (np.abs(values) <= limit) & ~x.inf & ~x.nan
    return [int(w) for w in words[whole]]


def values_of(fmt: Any) -> Any:
    """The value of each word (no number: NaN)."""
    x = oracle.Format.of(fmt).decode(np.arange(1 << fmt.width))
    return np.where(x.inf | x.nan, np.nan, np.where(x.sign, -1, 1) * x.mag * 2.0**x.lsb)


def unlike_the_sum(
    unit: Model, instruction: Callable[[Columns], Any], reduction: Reduction, k: int, limit: int
) -> str:
    """Words of integers for which a kernel's word is not that of their sum, a zero being +0; or nothing.

    All are tried. instruction: the result's words, of columns of words.
    """
    a, b = (numbers(fmt, limit) for fmt in (unit.a_format, unit.b_format))
    pairs = np.array(list(itertools.product(a, b)))
    chosen = pairs[np.indices((len(pairs),) * k).reshape(k, -1)]  # lane, row, side
    decoded = [values_of(fmt) for fmt in (unit.a_format, unit.b_format)]
    total = (decoded[0][chosen[..., 0]] * decoded[1][chosen[..., 1]]).sum(axis=0)
    values = values_of(unit.d_format)
    word_of = {
        value: word for word, value in reversed(list(enumerate(values.tolist()))) if not np.isnan(value)
    }
    assert word_of[0.0] == 0
    negative_zero = 1 << (unit.d_format.width - 1)

    def add(one: Any, two: Any) -> Any:
        """To nearest: -0 of two -0 alone; -1 for what the format does not have, as nothing may be rounded."""
        found = [word_of.get(x, -1) for x in (values[one] + values[two]).tolist()]
        return np.where((one == negative_zero) & (two == negative_zero), negative_zero, found)

    def reduced(some: Reduction, lanes: Any, start: bool) -> Any:
        if some.levels:
            level, inner = some.levels[0], Reduction(some.levels[1:])
            parts = [reduced(inner, part, False) for part in level.cut(lanes, unit.k)]
            zero = np.zeros(chosen.shape[1], np.int64)
            return fold(level, parts, add, lambda x: x, zero if start or level.from_zero else None)
        word = np.zeros(chosen.shape[1], np.int64)
        for first in range(0, len(lanes), unit.k):
            columns: Columns = {}
            for side, name in enumerate("ab"):
                for lane in range(unit.k):
                    inside = first + lane < len(lanes)
                    given = chosen[lanes[first + lane], :, side] if inside else np.zeros_like(word)
                    columns[f"{name}{lane}"] = given
            word = instruction(columns | {"c": word}).astype(np.int64)
        return word

    result = reduced(reduction, np.arange(k), True)
    wanted = np.array([word_of.get(x, -2) for x in total.tolist()])
    wrong = (result != wanted).nonzero()[0]
    if not wrong.size:
        return ""
    first = wrong[0]
    return f"{chosen[:, first].tolist()}: {result[first]}, not {wanted[first]}"


def some_unit(rng: Random) -> Model:
    """One whose zeros may have any sign; rounding down is drawn often, as it gives -0 for 1 - 1."""
    d = rng.choice(RESULTS)
    k = rng.choice((1, 2))
    given: dict[str, Any] = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": k}
    rounding = rng.choice(("RTN", "RTN", "RNE", "RTZ", "RTP", "RND"))
    kind = rng.choice(("fused", "fused", "dot", "ieee", "ieee"))
    if kind == "ieee":
        method = rng.choice(("sequential", "fma", "pairwise", "exact"))
        given |= {"c_first": rng.random() < 0.7, "negative_zero": method != "exact" or rng.random() < 0.7}
        return IeeeDotAdd.of(**given, method=method, sum_format=d, rounding=rounding)
    given |= {"n_fma": rng.choice([n for n in (1, 2) if k % n == 0]), "rounding": rounding}
    if kind == "dot":
        return DotThenAdd(**given, fraction_bits=4, dot_fraction_bits=rng.choice((4, 6)))
    given |= {
        "fraction_bits": rng.choice((3, 4, 5)), "alignment": rng.choice(("RTZ", "RNE", "RTN")),
        "zero_exponent": rng.choice((None, -20)), "negative_zero": rng.random() < 0.7,
    }  # fmt: skip
    position = rng.choice(("aligned", "aligned", "summed", "last"))
    if position == "last":
        given["c_rounding"] = rng.choice(("RTN", "RNE"))
    return FusedDotAdd.of(**given, c_position=position)


def made(draw: Callable[[], Model]) -> Model:
    """One that can be."""
    while True:
        try:
            return draw()
        except TcsmtError:
            continue


#: By default, units that are refused are among them.
SEEDS = (
    range(26, 30),
    pytest.param(range(22, 30), marks=pytest.mark.long),
    pytest.param(range(100, 180), marks=pytest.mark.long),
)


def largest(unit: Model, reduction: Reduction, k: int) -> int:
    return exact_kernel(shared_proof(), unit, reduction, k).integers


@pytest.mark.slow
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_kernels_of_tiny_units_give_the_word_of_the_sum(seeds: range) -> None:
    """Where two reductions are proved exact they are proved to agree: with +0 for each sum of zero."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"kernels {seed}")
        unit = made(partial(some_unit, rng))
        reduction, k = rng.choice(REDUCTIONS), rng.choice((2, 2, 3))
        limit = largest(unit, reduction, k)
        tried = 1 if k == 3 else min(limit, 6) or 1
        wrong = unlike_the_sum(unit, partial(oracle.results, unit), reduction, k, tried)
        assert not (limit and wrong), (seed, unit, reduction, k, limit, wrong)
        counts["proved" if limit else "not proved, and not so" if wrong else "not proved"] += 1
    print(dict(counts))
    assert counts["proved"] >= len(seeds) / 3
    assert counts["not proved, and not so"]


def test_operands_without_a_sign() -> None:
    """A product's sign is known then."""
    unsigned, d = tiny.described(exponent_bits=3, fraction_bits=1, bias=4, signed=False), RESULTS[1]
    formats: dict[str, Any] = {"a_format": unsigned, "b_format": unsigned, "c_format": d, "d_format": d}
    unit = FusedDotAdd.of(**formats, k=1, n_fma=1, fraction_bits=6, rounding="RTZ", zero_exponent=None)
    limit = largest(unit, reduction_named("split-k:2"), 2)
    assert limit == 2
    for reduction in REDUCTIONS[:2]:
        assert not unlike_the_sum(unit, lambda x: oracle.results(unit, x), reduction, 2, limit)


@pytest.mark.parametrize("method", ["fma", "sequential", "exact"])
def test_operations_that_round_down_are_not_proved(method: str) -> None:
    """1 - 1 is -0 then, and +0 where each has a part of its own: exact reductions that differ."""
    formats: dict[str, Any] = {"a_format": "f16", "b_format": "f16", "c_format": "f32", "d_format": "f32"}
    unit = IeeeDotAdd.of(**formats, sum_format="f32", k=1, method=method, rounding="RTN")
    a, b = np.ones((1, 2), np.float16), np.array([[1], [-1]], np.float16)
    words = [
        tcsmt.gemm(a, b, unit=unit, reduction=one).view(np.uint32)[0, 0] for one in ("chained", "split-k:2")
    ]
    assert words == [1 << 31, 0]
    found = exact_kernel(shared_proof(), unit, reduction_named("chained"), 2)
    assert (found.integers, found.ends) == (0, "it is not proved that no result is -0")
    up = unit.replace(rounding="RTP")
    assert exact_kernel(shared_proof(), up, reduction_named("chained"), 2).integers == 2048


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(2),
        pytest.param(range(3), marks=pytest.mark.long),
        pytest.param(range(100, 160), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_planted_negative_zeros_are_not_proved_away(seeds: range) -> None:
    """A fused sum whose zeros are -0, for all inputs or for few: refused for that."""
    for seed in seeds:
        rng = Random(f"planted {seed}")
        d = rng.choice(RESULTS)
        given: dict[str, Any] = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d}
        given |= {"rounding": rng.choice(("RNE", "RTZ", "RTN")), "zero_exponent": rng.choice((None, -20))}
        unit = FusedDotAdd.of(**given, k=1, n_fma=1, fraction_bits=5)
        reduction = rng.choice(REDUCTIONS)
        assert largest(unit, reduction, 2)
        trace = unit.trace
        (total,), (result,) = trace.of(Kind.SUM), trace.of(Kind.RESULT)
        where = total.term.eq(0)
        if seed % 3:  # only for one word of b, or of c: of a partial sum
            name, words = rng.choice((("b0", numbers(NARROW, 1)), ("c", numbers(d, 1))))
            word = next(term for term in trace.inputs if term.data == name)
            where &= word.eq(rng.choice([w for w in words if name == "b0" or w != 1 << d.sign_bit]))
        unit.__dict__["trace"] = put(trace, result, where.ite(_negative_zero(d), result.term))
        found = exact_kernel(shared_proof(), unit, reduction, 2)
        run = _computed(unit)
        wrong = [unlike_the_sum(unit, run, reduction_named("chained"), k, 1) for k in (1, 2)]
        assert any(wrong) and not found.integers, (seed, unit, reduction, wrong)
        assert "a sum of zero is not -0, unless c is" in found.ends


def _negative_zero(fmt: Any) -> Term:
    return const(1 << fmt.sign_bit, fmt.width)


def _computed(unit: Model) -> Callable[[Columns], Any]:
    """The instruction of a unit's trace, as it is."""
    program = Program([unit.trace.output])

    def run(columns: Columns) -> Any:
        given = {n: x.astype(storage(unit.input_formats[n].width)) for n, x in columns.items()}
        return np.broadcast_to(program.run(given)[0], len(columns["c"]))

    return run
