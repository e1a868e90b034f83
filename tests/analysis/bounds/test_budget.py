"""Error budgets: never below an error that occurs, close to it, and refused where a lemma does not hold."""

import contextlib
from dataclasses import fields, replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.analysis.bounds.budget import ErrorBudget, Partial, _ErrorShares, budget
from tcsmt.analysis.bounds.fused_loss import C, Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.split_constants import SplitConstants, prove_split_constants
from tcsmt.analysis.bounds.steps import FusedStep, IeeeStep, require_same, steps_of
from tcsmt.analysis.search.bound import bound, extreme, largest
from tcsmt.analysis.search.bound import unit as unit_of
from tcsmt.analysis.search.compare import AlgorithmPair, decide, judge
from tcsmt.analysis.search.search import random_rows
from tcsmt.analysis.sweeps.findings import bounded, table
from tcsmt.language.terms import const, var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models import FusedDotAdd, GroupedDotAdd, IeeeDotAdd, InstructionSequence, Model
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.recipes.named import RECIPES
from tcsmt.programs.steps.split import F32, Split
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import Contradiction
from tests.oracles import rationals, tiny
from tests.support.proofs import shared_proof
from tests.support.sampling import mostly_long

ULP = unit_of(F32)
SMALL, NEAR = Domain(exponents=(0, 0)), Domain(exponents=(-2, 3))
CASES = [
    ("fp32-fma", "hopper", 6, NEAR),
    ("single-bf16", "cdna2", 5, replace(NEAR, bits=(8, 8))),
]
MORE = [
    ("single-bf16", "cdna2", 5, NEAR),
    ("single-f16", "volta", 6, NEAR),
    ("ootomo-halfhalf", "volta", 6, NEAR),
    ("single-f16", "cdna3", 5, replace(NEAR, positive=True)),
    ("markidis", "volta", 1, replace(NEAR, c_zero=True)),
    ("markidis", "cdna3", 5, replace(NEAR, positive=True)),
    ("ootomo-halfhalf", "hopper", 20, NEAR),
    ("fp8-promoted,every=32", "hopper", 70, Domain(exponents=(-6, 7))),
    ("fp8", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", 40, Domain(exponents=(-6, 7), bits=(4, 4))),
    ("single-f16", "cdna1", 9, Domain(exponents=(-14, 3))),
    ("markidis", "volta/mma.m8n8k4.f32.f16.f16.f32@valpey", 3, NEAR),
    ("markidis", "ampere", 12, NEAR),
    ("ootomo-halfhalf,c=first", "turing", 3, NEAR),
    ("ootomo-halfhalf,outside=RTZ", "turing", 9, NEAR),
    ("fasi-bf16x3", "ampere", 5, NEAR),
    ("cutlass-3xtf32", "ampere", 5, replace(NEAR, bits=(24, 13))),
    ("bf16x3-kahan", "ampere", 40, NEAR),
    ("bf16x3-fast-two-sum,outside=RTZ", "ampere", 40, NEAR),
    ("bf16x3-two-sum,c=first", "hopper", 70, NEAR),
    ("ootomo-halfhalf,compensated=double-word", "volta", 20, NEAR),
    ("ootomo-halfhalf,compensated=kahan,c=unit", "volta", 20, NEAR),
]


@pytest.fixture(scope="module")
def chain() -> StepwiseProof:
    """One for all tests: what was proved of a unit is not asked again."""
    return shared_proof()


@pytest.mark.parametrize(
    ("name", "unit", "k", "domain"), [*CASES, *(pytest.param(*case, marks=pytest.mark.long) for case in MORE)]
)
@pytest.mark.slow_cases("single-bf16-cdna2-5-domain1")
def test_no_error_is_larger_than_the_budget(
    name: str, unit: str, k: int, domain: Domain, chain: StepwiseProof
) -> None:
    algorithm, _ = algorithm_named(name, unit, k)
    spent = budget(chain, algorithm, domain)
    assert spent.total == sum(spent.shares.values())
    worst, _ = largest(algorithm, domain, 0.3)
    assert worst is not None
    assert worst.relative is not None
    assert 0 < worst.relative <= spent.total / ULP


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "unit", "domain", "seconds"),
    [
        ("fp32-fma", "hopper", NEAR, 3),
        *(  # long enough for a busy machine
            pytest.param("markidis", "volta", Domain(exponents=e, c_zero=True), 20, marks=pytest.mark.long)
            for e in ((0, 14), (-15, 14))
        ),
    ],
)
def test_the_budget_is_close(name: str, unit: str, domain: Domain, seconds: float) -> None:
    algorithm, _ = algorithm_named(name, unit, 1)
    found = bound(algorithm, domain, Solving(), seconds=seconds, alternate=False)
    assert found.relative is not None and found.relative.relative is not None
    assert found.proved is not None
    assert 0.95 * found.proved < found.relative.relative <= found.proved
    assert found.proof is not None
    if domain.c_zero:
        assert found.ulps is not None and found.ulps.ulps is not None
        assert found.in_ulps is not None
        assert found.ulps.ulps <= found.in_ulps


@pytest.mark.long
def test_findings_of_bounds_hold_proof_shares_and_error() -> None:
    entry = bounded("markidis", "volta", 1, NEAR, Solving(), 0.2)
    found, proved = entry["relative"]["relative"], entry["proved"]
    assert 0 < found <= proved <= 13
    assert sum(entry["shares"].values()) == pytest.approx(proved)
    assert (entry["verdict"], entry["answer"]) == ("equivalent", "bounded")
    assert "comes out as it is" in entry["proof"]["stage"]
    assert f"| markidis | volta | 1 | {NEAR} | {found:g} | {proved:g} (" in table({"": entry})


@st.composite
def units(draw: st.DrawFn) -> FusedDotAdd:
    n_fma = draw(st.sampled_from([1, 2, 4]))
    blocks = draw(st.sampled_from([1, 2]))
    return FusedDotAdd.of(
        a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=n_fma * blocks, n_fma=n_fma,
        interleave=draw(st.sampled_from([0, 1])) * (blocks > 1),
        fraction_bits=draw(st.sampled_from([20, 23, 24, 25, 27])),
        products=draw(st.sampled_from(["unnormalised", "normalised"])),
        alignment=draw(st.sampled_from(["RTZ", "RTZ", "RTN"])),
        carry_bits=draw(st.sampled_from([None, None, 4])),
        c_position=draw(st.sampled_from(["aligned", "last"])),
        zero_exponent=draw(st.sampled_from([-133, -126])),
        rounding=draw(st.sampled_from(["RTZ", "RNE", "RTP"])),
    )  # fmt: skip


def holds(unit: FusedDotAdd, name: str, k: int, chain: StepwiseProof) -> None:
    """A bound holds, or is refused: a narrow sum loses terms that have the largest exponent."""
    algorithm = RECIPES[name].on(unit, k)
    total: Fraction | None = None
    with contextlib.suppress(Unbounded):
        total = budget(chain, algorithm, SMALL).total
    if total is None:  # other roundings have words with a bit to spare
        narrow = unit.parameters.fraction_bits < F32.fraction_bits or unit.parameters.carry_bits is not None
        assert narrow or unit.parameters.alignment.name != "RTZ"
        return
    rows = random_rows(SMALL, F32, k, 4000, np.random.default_rng(7))
    results = rows.run(algorithm)
    order = np.argsort(-np.abs(results.astype(float)))
    for row in order[:40]:
        found = extreme(algorithm, rows.values(int(row)))
        assert found is not None and found.relative is not None
        assert found.relative <= total / ULP


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(unit=units(), name=st.sampled_from(["markidis", "ootomo-halfhalf"]), k=st.integers(1, 6))
def test_whatever_the_unit(unit: FusedDotAdd, name: str, k: int, chain: StepwiseProof) -> None:
    holds(unit, name, k, chain)


@pytest.mark.slow
@pytest.mark.parametrize("step", [43, pytest.param(3, marks=pytest.mark.long)])
def test_constants_of_a_split_against_the_definition(step: int) -> None:
    """Numbers of 13 bits of three binades, subnormal words included, in fractions."""
    domain, bits = Domain(exponents=(-15, -13)), 13
    for split in (RECIPES["markidis"].split, RECIPES["ootomo-halfhalf"].split):
        found = prove_split_constants(split, domain, bits, 2)
        largest_left = Fraction(0)
        for exponent in range(domain.low, domain.high + 1):
            for significand in range(1 << (bits - 1), 1 << bits, step):
                x = Fraction(significand, 1 << (bits - 1)) * Fraction(2) ** exponent
                rest = x
                for place, (size, power) in enumerate(zip(found.sizes, found.exponents, strict=True)):
                    scaled = rest * 2 ** (split.scale * place)
                    place_of = (
                        max(rationals.binary_exponent(abs(scaled)), split.format.e_min) if scaled else 0
                    )
                    last = Fraction(2) ** (place_of - split.format.fraction_bits)
                    word = rationals.round_to_grid(scaled, last, "RNE")
                    got = word / 2 ** (split.scale * place)
                    rest -= got
                    assert abs(got) <= size * x
                    if got:
                        least = max(rationals.binary_exponent(abs(word)), split.format.e_min)
                        assert Fraction(2) ** (least - split.scale * place) <= power * x
                assert abs(rest) <= found.left * x
                largest_left = max(largest_left, abs(rest) / x)
        assert largest_left >= found.left * Fraction(9, 10)


def test_splits_that_overflow_are_refused() -> None:
    split = Split(format=FORMATS["f16"])
    with pytest.raises(Unbounded, match="overflows"):
        prove_split_constants(split, Domain(exponents=(15, 16)), 24, 2)


@pytest.mark.slow
def test_a_lemma_that_does_not_hold_is_not_proved(chain: StepwiseProof) -> None:
    (step,) = steps_of(chain, rows("volta", claims=False)[0].model, -14, 15)
    assert isinstance(step, FusedStep)
    volta = step.sum
    assert volta.rounding(chain) == 1
    assert volta.alignment_error(chain, {0, C}) == Fraction(1, 2**23)
    finer = replace(volta, sum=replace(volta.sum, fraction_bits=24))
    with pytest.raises(Unbounded, match="not proved"):
        finer.rounding(chain)
    swapped = replace(volta, numbers={**volta.numbers, 0: volta.numbers[1], 1: volta.numbers[0]})
    assert swapped.alignment_error(chain, {0, 1}) == Fraction(1, 2**23)
    missing = replace(volta, numbers={place: x for place, x in volta.numbers.items() if place != 3})
    with pytest.raises(Unbounded, match="not proved"):
        missing.alignment_error(chain, {0, C})


@pytest.mark.long
def test_zeros_far_below_lose_nothing_more(chain: StepwiseProof) -> None:
    """The exponents of such zeros do not fit the words of usual ones."""
    unit = rows("volta", claims=False)[0].model.replace(k=1, n_fma=1)
    losses = []
    for zero in (-131, -4096):
        (step,) = steps_of(chain, unit.replace(zero_exponent=zero), -14, 15)
        assert isinstance(step, FusedStep)
        losses.append(step.sum.losses(chain, {0, C}))
    assert losses[0] == losses[1]


#: Of so few bits that trying all numbers takes no time.
COARSE = replace(NEAR, bits=(13, 13))
REFUSED = [
    ({"zero_exponent": 4096}, Domain(exponents=(0, 0)), "not proved"),
    pytest.param({"carry_bits": 1}, COARSE, "register may wrap", marks=pytest.mark.long),
    pytest.param(
        {"flush_inputs": True},
        Domain(exponents=(-14, 0)),
        "a factor has the value of the operand",
        marks=pytest.mark.long,
    ),
    ({"zero_exponent": None}, Domain(exponents=(0, 0)), "the largest exponent is that of a term"),
    ({"normalisation": "every"}, COARSE, "neither products nor c"),
    ({"c_position": "summed"}, COARSE, "register may wrap"),
]


@pytest.mark.slow_cases("change5-domain5-register may wrap")
@pytest.mark.parametrize(("change", "domain", "message"), REFUSED)
def test_units_and_domains_without_lemmas_are_refused(
    change: dict[str, object], domain: Domain, message: str, chain: StepwiseProof
) -> None:
    unit = rows("volta", claims=False)[0].model.replace(k=1, n_fma=1, **change)
    with pytest.raises(Unbounded, match=message):
        budget(chain, RECIPES["single-f16"].on(unit, 1), domain)


# --- what was proved and is false ----------------------------------------------------------------

FAR = Domain(exponents=(60, 100))


@pytest.mark.parametrize(
    ("name", "unit", "bits"),
    [
        ("fp32-fma", "hopper", 24),
        pytest.param("single-bf16", "cdna2", 8, marks=pytest.mark.long),
        pytest.param("single-bf16", "cdna1", 8, marks=pytest.mark.long),
    ],
)
def test_a_result_that_overflows_has_no_bound(name: str, unit: str, bits: int, chain: StepwiseProof) -> None:
    """2^100·2^100 is infinite: an infinite error, which no bound may ignore and no search may hide."""
    algorithm, _ = algorithm_named(name, unit, 2)
    domain = replace(FAR, bits=(bits, bits))
    large = F32.word(Fraction(2) ** 100)
    found = extreme(algorithm, {"a0": large, "b0": large, "a1": 0, "b1": 0, "c": 0})
    assert (found.error, found.relative, found.ulps) == (None, None, None)
    with pytest.raises(Unbounded, match="may overflow"):
        budget(chain, algorithm, domain)
    worst, _ = largest(algorithm, domain, 0.2)
    assert worst is not None
    assert worst.relative is None
    assert bound(algorithm, domain, Solving(), seconds=0.2).proved is None


@pytest.mark.long
def test_numbers_far_below_the_smallest_word(chain: StepwiseProof) -> None:
    """Words of numbers below half of the smallest are +0; away from zero they are the smallest word."""
    algorithm, _ = algorithm_named("single-f16", "volta", 1)
    domain = Domain(exponents=(-40, -30), bits=(8, 8), c_zero=True)
    assert budget(chain, algorithm, domain).total / ULP == 2**24
    away = replace(algorithm, split=Split(format=FORMATS["f16"], words=1, rounding=ROUNDINGS["RA"]))
    worst, _ = largest(away, domain, 0.3)
    assert worst is not None
    assert worst.relative is not None
    assert 2**24 < worst.relative <= budget(chain, away, domain).total / ULP


@pytest.mark.parametrize(
    ("name", "most", "bounded"),
    [
        ("fp32-fma", 63, True),
        ("fp32-fma", 64, False),
        pytest.param("single-bf16", 62, True, marks=pytest.mark.long),
        ("single-bf16", 64, False),
    ],
)
def test_just_below_and_at_the_largest_number(
    name: str, most: int, bounded: bool, chain: StepwiseProof
) -> None:
    """Two products of 2^126 (of 2^124 in a fused sum, which counts terms) and c: bounded; of 2^128: not."""
    algorithm, _ = algorithm_named(name, "hopper", 2)
    domain = Domain(exponents=(60, most), bits=(1, 1))
    if bounded:
        assert budget(chain, algorithm, domain).total > 0
        return
    with pytest.raises(Unbounded, match="may overflow"):
        budget(chain, algorithm, domain)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rounding", "k"),
    [
        ("RTZ", 1),
        *(
            pytest.param(name, k, marks=pytest.mark.long)
            for name, k in (("RTZ", 2), ("RTZ", 16), ("RTP", 16), ("RNE", 16))
        ),
    ],
)
def test_c_last_with_a_directed_rounding(rounding: str, k: int, chain: StepwiseProof) -> None:
    row = next(r for r in rows("hopper", claims=False) if r.name == "hopper/mma.m16n8k16.f32.f16.f16.f32")
    domain = Domain(exponents=(-2, 7), bits=(11, 11))
    unit = row.model.replace(k=k, n_fma=k, c_position="last", c_rounding=rounding)
    algorithm = RECIPES["single-f16"].on(unit, 2)
    worst, _ = largest(algorithm, domain, 0.4)
    assert worst is not None
    assert worst.relative is not None
    assert worst.relative <= budget(chain, algorithm, domain).total / ULP
    if rounding == "RTZ":
        assert worst.relative > 3  # which was the bound


def ieee_unit(k: int, **changes: object) -> IeeeDotAdd:
    given: dict[str, object] = {
        **{f"{name}_format": "f32" for name in ("a", "b", "c", "d", "sum")}, "k": k,
    }  # fmt: skip
    return IeeeDotAdd.of(**(given | changes))


#: What was said to be the bound, and is less than an error that occurs.
COUNTED = [
    (4, {"method": "sequential", "c_first": False, "product_format": None}, 4),
    (2, {"method": "pairwise", "product_format": None}, 2),
    (2, {"method": "pairwise", "product_format": "f32", "product_rounding": "RTZ"}, 3),
    (1, {"method": "sequential", "product_format": "f32", "product_rounding": "RTZ"}, 2),
    (1, {"method": "sequential", "product_format": "f32", "product_rounding": "RA"}, 2),
]


@pytest.mark.parametrize(
    ("k", "changes", "before"),
    [
        one if number == 1 else pytest.param(*one, marks=pytest.mark.long)
        for number, one in enumerate(COUNTED)
    ],
)
def test_every_rounding_of_a_custom_unit_is_counted(
    k: int, changes: dict[str, object], before: int, chain: StepwiseProof
) -> None:
    algorithm = Algorithm(
        k=k,
        unit=ieee_unit(k, **changes),
        split=Split(format=F32, words=1),
        sums=(Sum(products=((0, 0),)),),
        interleaved=True,
    )
    worst, _ = largest(algorithm, Domain(exponents=(0, 3)), 1.0)
    assert worst is not None
    assert worst.relative is not None
    assert worst.relative > before * Fraction(9, 10)
    assert worst.relative <= budget(chain, algorithm, Domain(exponents=(0, 3))).total / ULP


@pytest.mark.long
def test_nearest_is_not_nearest_where_the_sum_overflows() -> None:
    """Ootomo and Yokota's last addition is exact here, but infinite; with truncation it is not."""
    one, two = (
        algorithm_named(name, "hopper", 2)[0]
        for name in ("single-bf16,every=1", "single-bf16,every=1,outside=RTZ")
    )
    domain = Domain(exponents=(63, 63), bits=(8, 8), c_zero=True)
    pair = AlgorithmPair(("nearest", "truncated"), (one, two), domain)
    large = F32.word(Fraction(255, 128) * Fraction(2) ** 63)
    (judged,) = judge(pair, [{"a0": large, "b0": large, "a1": large, "b1": large, "c": 0}])
    assert judged.worse
    found = decide(pair, Solving(), 0.0)
    assert not isinstance(found.verdict, Equivalent)
    small = replace(pair, domain=replace(domain, exponents=(60, 60)))
    assert isinstance(decide(small, Solving(), 0.0).verdict, Equivalent)


def test_evidence_against_a_proof_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that is too small, and one of what has an infinite error: never printed as proved."""
    algorithm, _ = algorithm_named("fp32-fma", "hopper", 2)
    small = ErrorBudget({"additions outside": ULP / 2})

    def said(chain: StepwiseProof, *_: object) -> ErrorBudget:
        chain.know("a step that is wrong")
        return small

    monkeypatch.setattr("tcsmt.analysis.search.bound.budget", said)
    for domain in (NEAR, FAR):
        with pytest.raises(
            Contradiction, match=r"no error is over 0\.5 2\^-24 .*; found: an (infinite )?error"
        ):
            bound(algorithm, domain, Solving(SolvingOptions(steps=1_000_000)), seconds=0.3, alternate=False)


# --- one operation at a time, against numbers --------------------------------------------------------

#: c alone, so small that its last bit may lie below binary32's last one.
TINY = Domain(exponents=(-70, -66))
WHOLE = SplitConstants((Fraction(1),), (Fraction(1),), Fraction(0))


def spending(chain: StepwiseProof) -> _ErrorShares:
    algorithm = Algorithm(k=1, unit=ieee_unit(1), split=Split(format=F32, words=1), sums=(Sum(((0, 0),)),))
    return _ErrorShares(chain, algorithm, TINY, WHOLE, WHOLE)


def ieee(x: Fraction, rounding: str, flush: str) -> Fraction:
    """A number rounded to binary32; flush: "", or when a number counts as subnormal, and becomes zero."""
    if not x:
        return x
    exponent = rationals.binary_exponent(abs(x))
    found, unbounded = (
        rationals.round_to_grid(x, Fraction(2) ** (place - F32.fraction_bits), rounding)
        for place in (max(exponent, F32.e_min), exponent)
    )
    small = {"": found, "result": found, "before": x, "after": unbounded}[flush]
    return Fraction(0) if flush and abs(small) < Fraction(2) ** F32.e_min else found


def off_by(partial: Partial, term: Fraction) -> Fraction:
    """How far a partial sum of one term may be from it, where |c| + Σ |a·b| is the term's magnitude."""
    return ((partial.growth - 1) + partial.off) * abs(term)


@pytest.mark.parametrize("flush", ["", "result", "before", "after"])
@pytest.mark.parametrize("rounding", mostly_long(["RNE", "RTZ", "RTP", "RA", "RTO"], ["RNE", "RTP"]))
def test_a_rounded_sum_is_no_further_off(rounding: str, flush: str, chain: StepwiseProof) -> None:
    """Terms from the smallest possible one on, already off by as much as is said of them."""
    rng, subnormal = Random(f"{rounding} {flush}"), 0
    for _ in range(400):
        before = Partial(
            c=True,
            growth=1 + rng.choice((0, 1, 3)) * Fraction(1, 1 << 24),
            off=rng.choice((0, 1, 5)) * Fraction(1, 1 << 22),
        )
        after = spending(chain).rounded(before, F32, ROUNDINGS[rounding], flush=bool(flush))
        exponent = rng.choice((2 * TINY.low, 2 * TINY.low + 3, F32.e_min - 1, F32.e_min, TINY.high))
        significand = 1 + Fraction(rng.choice((0, 1, rng.getrandbits(26), (1 << 26) - 1)), 1 << 26)
        term = rng.choice((-1, 1)) * significand * Fraction(2) ** exponent
        given = term + rng.choice((-1, 0, 1)) * off_by(before, term)
        assert abs(ieee(given, rounding, flush) - term) <= off_by(after, term), (before, term)
        subnormal += exponent < F32.e_min
    assert subnormal > 100


@pytest.mark.long
def test_c_that_is_added_last_is_rounded(chain: StepwiseProof) -> None:
    """A product of 11-bit numbers is exact: all that is lost is lost when c is added."""
    single, _ = algorithm_named("single-f16", "hopper", 1)
    domain = Domain(exponents=(0, 0), bits=(11, 11))
    algorithm = single.replace(c_enters="last")
    worst, _ = largest(algorithm, domain, 0.2)
    assert worst is not None
    assert worst.relative is not None
    total = budget(chain, algorithm, domain).total / unit_of(F32)
    assert Fraction(1, 2) < worst.relative <= total <= 1


def test_a_subnormal_c_that_is_read_as_zero(chain: StepwiseProof) -> None:
    """It is lost whole, though nothing is rounded."""
    operation = MultiplyAdd.sum(F32, var("c", 32), const(0, 32))
    step = IeeeStep((C,), operation, frozenset({C}), fine=True, drops=True)
    c = Partial(c=True)
    after = spending(chain).operation(step, [c], c, 0)
    for term in (Fraction(2) ** (2 * TINY.low), Fraction(2) ** F32.e_min * Fraction(2**23 - 1, 2**23)):
        assert abs(0 - term) <= off_by(after, term)
    kept_whole = replace(step, drops=False)
    assert spending(chain).operation(kept_whole, [c], c, 0) == c


@pytest.mark.long
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.long)])
def test_every_sum_of_products_has_a_loss_of_its_own(step: int, chain: StepwiseProof) -> None:
    """Parts of one dot product share what the worst of them loses; sums of other words do not."""
    unit = rows("volta", claims=False)[0].model.replace(k=2, n_fma=2)
    whole = RECIPES["markidis"].on(unit, 4)
    sums = tuple(Sum((product,), every=2) for total in whole.sums for product in total.products[:2])
    domain = replace(COARSE, c_zero=True)
    together = budget(chain, replace(whole, sums=sums, c_enters="first"), domain).shares
    for one in sums[::step]:
        alone = budget(chain, replace(whole, sums=(one,), c_enters="first"), domain).shares
        (name,) = (name for name in alone if name.startswith("in the unit"))
        assert 0 < alone[name] <= together[name]


# --- units that multiply parts of significands ---------------------------------------------------------

SHARED = Domain(exponents=(-7, 0), bits=(8, 8))
FIVE_BITS = Domain(exponents=(-2, 1), bits=(5, 5))
NARROW = tiny.described(exponent_bits=4, fraction_bits=4, bias=7)
WIDE = tiny.described(exponent_bits=6, fraction_bits=8, bias=31)
FINITE = [tiny.all_finite(fmt) for fmt in (NARROW, WIDE)]
HIGH = GroupedDotAdd(
    a_format=FINITE[0], b_format=FINITE[0], c_format=FINITE[1], d_format=FINITE[1], k=2, group_lanes=2,
    a_bits=3, b_bits=5, fraction_bits=6, zero_exponent=-31, least_exponent=-30, sum_fraction_bits=8,
)  # fmt: skip
LOW = replace(HIGH, a_first_bit=3)
OF_WIDE = unit_of(WIDE)


def in_parts(*instructions: Model, k: int = 2) -> Algorithm:
    unit = InstructionSequence(instructions=instructions)
    split = Split(format=NARROW, wide=WIDE, words=1)
    return Algorithm(k=k, unit=unit, split=split, sums=(Sum(products=((0, 0),)),))


@pytest.mark.long
def test_parts_of_significands(chain: StepwiseProof) -> None:
    """What is left out of a is three of 19 at most; both parts lose half of a bit of the groups' grid."""
    both, alone = (budget(chain, in_parts(*units), FIVE_BITS) for units in ((HIGH, LOW), (HIGH,)))
    assert "parts left out" not in both.shares
    assert alone.shares["parts left out"] == Fraction(3, 19)
    for spent, units in ((both, (HIGH, LOW)), (alone, (HIGH,))):
        worst, _ = largest(in_parts(*units), FIVE_BITS, 0.3)
        assert worst is not None
        assert worst.relative is not None
        assert Fraction(1, 2) * spent.total / OF_WIDE < worst.relative <= spent.total / OF_WIDE
    # half of a last bit of the groups' grid counts once, however many instructions there are
    longer = budget(chain, in_parts(HIGH, LOW, k=4), FIVE_BITS)
    assert both.total < longer.total < 2 * both.total - Fraction(1, 2**7)


@pytest.mark.long
def test_the_budget_of_a_group_of_lanes_is_close(chain: StepwiseProof) -> None:
    """Three of four products lose half of a bit of a coarse grid, on which the fourth one is."""
    domain = Domain(exponents=(-3, 0), bits=(5, 5))
    algorithm = in_parts(replace(HIGH, k=4, group_lanes=4, a_bits=5, fraction_bits=5), k=4)
    worst, _ = largest(algorithm, domain, 0.5)
    assert worst is not None
    assert worst.relative is not None
    total = budget(chain, algorithm, domain).total / OF_WIDE
    assert Fraction(2, 3) * total < worst.relative <= total


@pytest.mark.slow
def test_a_sum_of_minus_one_unit_that_is_counted_otherwise(chain: StepwiseProof) -> None:
    """-1·1 + (1 - 2^-8) is -2^-8, and becomes -2^(12 - 8)."""
    algorithm = in_parts(replace(HIGH, a_bits=5, minus_one_shift=12))
    one, below = (WIDE.word(x) for x in (Fraction(-1), 1 - Fraction(1, 2**8)))
    found = extreme(algorithm, {"a0": one, "b0": WIDE.word(Fraction(1)), "a1": 0, "b1": 0, "c": below})
    assert found.result == WIDE.word(Fraction(-16))
    assert found.relative is not None
    total = budget(chain, algorithm, FIVE_BITS).total / OF_WIDE
    assert 7 * 2**9 < found.relative <= total < 20 * 2**9

    coarse = in_parts(replace(HIGH, a_bits=5, minus_one_shift=12, sum_fraction_bits=2))
    with pytest.raises(Unbounded, match="terms that nearly cancel may be those that alignment leaves"):
        budget(chain, coarse, FIVE_BITS)


class Lying(GroupedDotAdd):
    """A unit that says that it multiplies all bits."""

    parts = ((0, 5), (0, 5))


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        ((replace(HIGH, least_exponent=-2),), "left out only where all of its numbers are zeros"),
        ((HIGH.replace(zero_exponent=3),), "the largest exponent is that of a term that is not zero"),
        ((replace(HIGH, largest_result=0x2000),), "not proved"),
        ((HIGH, HIGH), "multiplied more than once"),
        (
            (Lying(**{one.name: getattr(HIGH, one.name) for one in fields(HIGH)}),),
            "not that of the operands",
        ),
    ],
)
@pytest.mark.slow_cases(
    "instructions0-left out only where all of its numbers are zeros", "instructions2-not proved"
)
def test_parts_without_lemmas_are_refused(
    instructions: tuple[Model, ...], message: str, chain: StepwiseProof
) -> None:
    with pytest.raises(Unbounded, match=message):
        budget(chain, in_parts(*instructions), FIVE_BITS)


def test_words_that_are_not_the_same_numbers(chain: StepwiseProof) -> None:
    """Up to 2^127 both are; above, the one's numbers are the other's infinities and NaNs."""
    require_same(chain, FORMATS["e8m23fn"], F32, 127)
    with pytest.raises(Unbounded, match="not so for all words"):
        require_same(chain, FORMATS["e8m23fn"], F32, 128)


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["wormhole", "blackhole"])
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_bounds_of_fidelities(architecture: str, source: str, chain: StepwiseProof) -> None:
    totals = []
    for fidelity in ("hifi4", "hifi3", "hifi2", "lofi"):
        name = f"{architecture}/mvmul.f32.{source}.{fidelity}"
        algorithm, row = algorithm_named(f"single-{source}", name)
        assert row.name == name
        totals.append(budget(chain, algorithm, SHARED).total)
        worst, _ = largest(algorithm, SHARED, 4.0)
        assert worst is not None
        assert worst.relative is not None
        least = Fraction(9, 10) if architecture == "blackhole" else Fraction(4, 10)
        assert least * totals[-1] / ULP < worst.relative <= totals[-1] / ULP
    assert totals == sorted(totals) or architecture == "wormhole"


@pytest.mark.slow
def test_an_exact_error_needs_rounding_to_nearest(chain: StepwiseProof) -> None:
    algorithm, _ = algorithm_named("bf16x3-two-sum,outside=RTZ", "ampere", 8)
    with pytest.raises(Unbounded, match="two-sum is exact to nearest alone, not with RTZ"):
        budget(chain, algorithm, NEAR)
