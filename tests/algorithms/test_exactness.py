"""Where sums of integers are exact: proofs on tiny units against every input, by independent oracles."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.algorithms.exact_integers import polynomial
from tcsmt.algorithms.exact_recipes import AlgorithmSubject, word_lattices
from tcsmt.algorithms.exact_search import Subject, UnitSubject, counterexample
from tcsmt.algorithms.exact_table import table
from tcsmt.algorithms.exact_units import ExactUnit
from tcsmt.algorithms.exactness import Exactness, exact
from tcsmt.algorithms.fused_loss import Unbounded
from tcsmt.algorithms.lattice import Inexact
from tcsmt.algorithms.proof import StepwiseProof
from tcsmt.arithmetic.integer_format import IntegerFormat, integers_from
from tcsmt.catalogue import row_named
from tcsmt.kernels.gemm import gemm
from tcsmt.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, IntegerDotAdd, Model
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes.arrays import multiply
from tcsmt.recipes.named import algorithm_named
from tcsmt.support.errors import Contradiction, TcsmtError
from tcsmt.terms import const, var
from tests.oracles import exact as oracle
from tests.oracles import integers, tiny
from tests.support.paths import ROOT
from tests.support.sampling import one_in

#: Zero, 1/8 and more, 1, 1.5, 2, 3, 4 and 6.
NARROW = tiny.described(exponent_bits=3, fraction_bits=1, bias=4)
RESULTS = tuple(tiny.described(exponent_bits=4, fraction_bits=f, bias=7) for f in (2, 3, 4))
S6 = integers_from(-32, 31, 0)
#: Pairs of operands are summed up to this K.
MOST = 4


def chain() -> StepwiseProof:
    return StepwiseProof(Solving(Settings(timeout=20)))


def asked(model: Model, **about: Any) -> Exactness:
    proof = chain()
    return exact(UnitSubject(ExactUnit(proof, model)), proof, **about)


# --- tiny units, every input


def some_unit(rng: Random) -> Model:
    d = rng.choice(RESULTS)
    k = rng.choice((1, 2))
    given: dict[str, Any] = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": k}
    rounding = rng.choice(("RTZ", "RNE", "RTN", "RTO"))
    kind = rng.choice(("fused", "fused", "dot", "ieee"))
    if kind == "ieee":
        method = rng.choice(("sequential", "fma", "pairwise", "exact"))
        flush = rng.random() < 0.3
        return IeeeDotAdd(**given, method=method, sum_format=d, rounding=rounding, flush_outputs=flush)
    given |= {"n_fma": rng.choice([n for n in (1, 2) if k % n == 0]), "rounding": rounding}
    bits = rng.choice((2, 3, 3, 4, 5))
    if kind == "dot":
        reach = rng.choice((None, None, bits + 2))
        more = rng.choice((0, 2))
        return DotThenAdd(**given, fraction_bits=bits, dot_fraction_bits=bits + more, c_reach=reach)
    given |= {
        "fraction_bits": bits,
        "alignment": rng.choice(("RTZ", "RTZ", "RNE", "RTN")),
        "products": rng.choice(("unnormalised", "normalised")),
        "zero_exponent": rng.choice((None, None, -20, 1)),
        "c_position": rng.choice(("aligned", "aligned", "aligned", "summed", "last")),
        "carry_bits": rng.choice((None, None, None, None, None, None, 1)),
        "round_fraction_bits": rng.choice((None, None, 2)),
    }
    return FusedDotAdd(**given)


def numbers(fmt: Any, limit: int) -> list[tuple[int, int]]:
    """The integers of a format up to a limit, each with its word, by the oracle."""
    if isinstance(fmt, IntegerFormat):
        return [
            (integers.count(fmt, w), w) for w in integers.words(fmt) if abs(integers.count(fmt, w)) <= limit
        ]
    words = np.arange(1 << fmt.width)
    x = oracle.Format.of(fmt).decode(words)
    values = np.where(x.sign, -1, 1) * x.mag * 2.0**x.lsb
    whole = (values == np.rint(values)) & (np.abs(values) <= limit) & ~x.inf & ~x.nan
    return [(int(values[w]), int(w)) for w in words[whole]]


def wrong(model: Model, limit: int, k: int) -> int:
    """On how many inputs of k products the result is not the sum of products: every input is tried."""
    pairs = {(x * y, min(v, w)): (v, w) for (x, v), (y, w) in itertools.product(
        numbers(model.a_format, limit), numbers(model.b_format, limit))}  # fmt: skip
    count = len(pairs)
    places = np.indices((count,) * k).reshape(k, -1)
    products, words = np.array([p for p, _ in pairs]), np.array(list(pairs.values()))
    total = products[places].sum(axis=0)
    c = np.zeros(places.shape[1], np.int64)
    for first in range(0, k, model.k):
        columns: dict[str, Any] = {}
        for lane in range(model.k):
            for side, name in enumerate("ab"):
                inside = first + lane < k
                columns[f"{name}{lane}"] = words[places[first + lane], side] if inside else np.zeros_like(c)
        columns = dict(sorted(columns.items())) | {"c": c}
        c = oracle.results(model, columns).astype(np.int64)
    return int((value_of(model.d_format, c) != total).sum())


def value_of(fmt: Any, words: Any) -> Any:
    if isinstance(fmt, IntegerFormat):
        return np.array([integers.count(fmt, int(w)) for w in words])
    x = oracle.Format.of(fmt).decode(words)
    return np.where(x.inf | x.nan, np.nan, np.where(x.sign, -1, 1) * x.mag * 2.0**x.lsb)


@pytest.mark.parametrize("seed", one_in(32, range(64)))
def test_proofs_on_tiny_units_hold_for_every_input(seed: int) -> None:
    rng = Random(seed)
    model = None
    while model is None:
        try:
            model = some_unit(rng)
        except TcsmtError:
            continue
    for limit in (1, 2, 3):
        found = asked(model, integers=limit)
        for k in range(1, min(found.k, MOST if limit == 1 else 3) + 1):
            assert not wrong(model, limit, k), (model, limit, k)
        if found.beyond is not None:  # replayed on the terms; and by the oracle
            assert found.beyond.k > found.k
            if found.beyond.k <= 2:
                assert wrong(model, limit, found.beyond.k)


def test_tiny_units_are_decided_at_the_next_k() -> None:
    d = RESULTS[1]
    common = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": 2}
    for bits, most in ((3, 4), (2, 2)):
        model = FusedDotAdd(
            **common, n_fma=2, fraction_bits=bits, zero_exponent=None, carry_bits=None, rounding="RTZ"
        )  # fmt: skip
        found = asked(model, integers=2)
        assert (found.k, found.closed) == (most, True), found
        assert not wrong(model, 2, found.k)
        assert wrong(model, 2, found.k + 1)


def test_integers_wrap_where_the_oracle_says() -> None:
    s3 = integers_from(-4, 3, 0)
    for overflow, block in itertools.product(("wrap", "saturate"), (None, 1)):
        model = IntegerDotAdd(
            a_format=s3, b_format=s3, c_format=S6, d_format=S6, k=2, n_fma=block, overflow=overflow
        )
        found = asked(model, integers=4)
        assert (found.k, found.closed) == (1, True)  # 2 · 16 is beyond 31
        assert not wrong(model, 4, 1)
        assert wrong(model, 4, 2)
        smaller = asked(model, k=2)
        assert smaller.integers == 3
        assert not wrong(model, 3, 2)


# --- what is refused


def test_what_the_lemmas_are_not_about_is_refused_and_not_proved() -> None:
    d = RESULTS[2]
    common = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": 2, "n_fma": 2}
    short = FusedDotAdd(**common, fraction_bits=4, zero_exponent=None, rounding="RTZ", carry_bits=0)
    found = asked(short, integers=2)
    assert found.k == 0
    assert "may wrap" in found.ends
    every = FusedDotAdd(
        **common, fraction_bits=4, zero_exponent=-9, carry_bits=None, rounding="RTZ", normalisation="every"
    )
    assert asked(every, integers=1).k == 0


def test_a_polynomial_is_not_read_where_a_word_may_wrap() -> None:
    x, y = var("x", 4), var("y", 4)
    s4 = integers_from(-8, 7, 0)
    leaves = {x: s4, y: s4}
    wide = x.sext(8) * y.sext(8)
    assert polynomial(wide + 1, leaves) == {tuple(sorted((x, y), key=lambda t: t.digest)): 1, (): 1}
    assert polynomial((x.sext(5) + y.sext(5)).sext(9), leaves) == {(x,): 1, (y,): 1}
    for bad in ((x + y).sext(8), x.zext(8), x & y, x >> const(1, 4)):
        with pytest.raises(Unbounded):
            polynomial(bad, leaves)


def test_an_input_that_contradicts_the_proof_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    monkeypatch.setattr(UnitSubject, "proved", lambda self, limit, k: "" if k <= 128 else "no")
    with pytest.raises(Contradiction, match=r"128 products of integers up to 15"):
        asked(model, integers=15)


# --- units of the catalogue


def test_integers_in_e4m3_on_hopper() -> None:
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    proof = chain()
    subject = UnitSubject(ExactUnit(proof, model))
    found = exact(subject, proof, integers=16)
    assert (found.k, found.closed) == (64, True)
    assert found.beyond is not None
    assert (found.beyond.result, found.beyond.exact) == (16384, 16385)
    known = exact(subject, proof, integers=15, k=128)
    assert known.k == 0
    assert known.beyond is not None
    assert known.beyond.runs == ((128, 15, 15),)
    assert (known.beyond.result, known.beyond.exact) == (28768, 28800)
    assert exact(subject, proof, integers=15).k == 72
    assert exact(subject, proof, k=64).integers == 16
    larger = exact(subject, proof, integers=448)
    assert (larger.k, larger.proof) == (0, None)
    assert larger.beyond is not None


@pytest.mark.parametrize(
    ("name", "limit", "most"),
    [
        ("turing/mma.m8n8k16.s32.s8.s8.s32", 128, 131071),
        pytest.param("cdna2/v_mfma_f32_32x32x8f16", 2048, 4, marks=pytest.mark.long),
        pytest.param("arm/bfdot.ebf0", 256, 256, marks=pytest.mark.long),
        pytest.param("cdna3/v_mfma_f32_32x32x8_f16", 2048, 4, marks=pytest.mark.long),
        pytest.param("volta/mma.m8n8k4.f32.f16.f16.f32", 1024, 16, marks=pytest.mark.long),
    ],
)
def test_units_of_the_catalogue(name: str, limit: int, most: int) -> None:
    found = asked(row_named(name).model, integers=limit, search=most < 1000)
    assert found.k == most
    if most < 1000:
        assert found.closed, found


def test_random_integers_agree_inside_the_domain() -> None:
    """Rows that the search does not draw: every sum inside is exact, by NumPy's integers."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    rng = np.random.default_rng(3)
    for limit, k in ((16, 64), (15, 72), (4, 1024)):
        a, b = (rng.integers(-limit, limit + 1, (64, k)) for _ in range(2))
        got = gemm(a.astype(np.float32), b.T.astype(np.float32), model=model)
        assert (got == a @ b.T).all()


# --- algorithms


def subjects(name: str, unit: str) -> tuple[StepwiseProof, Subject]:
    proof = chain()
    return proof, AlgorithmSubject(proof, algorithm_named(name, unit)[0])


@pytest.mark.long
def test_promotion_makes_chains_short() -> None:
    where = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
    proof, subject = subjects("fp8-promoted", where)
    assert exact(subject, proof, integers=16, search=False).k == 64
    proof, subject = subjects("fp8-promoted,every=64", where)
    assert exact(subject, proof, integers=16, k=4096, search=False).k == 4096


def test_words_of_integers() -> None:
    two = algorithm_named("markidis", "volta")[0].split
    one, other = word_lattices(two, 3000)
    assert (one.low, one.high, one.last) == (-3000, 3000, 0)
    assert (other.low, other.high, other.last) == (-1, 1, 0)
    single = algorithm_named("single-f16", "volta")[0].split
    with pytest.raises(Inexact, match=r"the words of \d+ do not add up"):
        word_lattices(single, 3000)
    with pytest.raises(Inexact, match="tried for all integers"):
        word_lattices(two, 1 << 21)


@pytest.mark.long
def test_a_product_that_is_left_out_is_missed() -> None:
    proof, subject = subjects("fasi-f16x2", "volta")
    found = exact(subject, proof, integers=4095, k=1)
    assert found.k == 0
    assert "left out" in found.ends
    assert found.beyond is not None
    proof, subject = subjects("markidis", "volta")
    assert exact(subject, proof, integers=2900, k=1, search=False).k == 1


def random_sums(rng: np.random.Generator, limit: int, k: int) -> Iterator[Any]:
    for _ in range(2):
        yield rng.integers(-limit, limit + 1, (24, k))


@pytest.mark.parametrize(
    ("name", "unit", "limit", "k"),
    [
        ("markidis", "volta", 2900, 1),
        pytest.param("ootomo-halfhalf", "volta", 64, 4096, marks=pytest.mark.long),
        pytest.param("bf16x9", "hopper", 400, 100, marks=pytest.mark.long),
    ],
)
def test_algorithms_are_exact_where_that_is_proved(name: str, unit: str, limit: int, k: int) -> None:
    proof, subject = subjects(name, unit)
    assert exact(subject, proof, integers=limit, k=k, search=False).k == k, subject.proved(limit, k)
    assert isinstance(subject, AlgorithmSubject)
    a, b = random_sums(np.random.default_rng(5), limit, k)
    got = multiply(subject.algorithm, a.astype(np.float32), b.T.astype(np.float32))
    assert (got == a @ b.T).all()
    assert counterexample(subject, limit, k) is None


# --- the table


def test_the_committed_table_is_the_pages() -> None:
    records = json.loads((ROOT / "results" / "exact.json").read_text())["families"]
    page = (ROOT / "docs" / "howto" / "exact.md").read_text()
    assert "\n".join(table(records)) in page
    for one in records:
        for size in one["slices"]:
            assert not size["k"] or size["beyond"] is None or size["beyond"]["k"] > size["k"]
