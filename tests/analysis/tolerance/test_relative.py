"""Bounds of kernels on domains: never below an error that occurs, by an oracle in exact integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.budget import budget
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.search.bound import bound as largest_and_least
from tcsmt.analysis.tolerance.relative import relative_bound
from tcsmt.analysis.tolerance.remembered import RememberedProof
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.programs.recipes.named import recipe_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact, kernels
from tests.oracles.tiny_recipes import some_formats, some_unit
from tests.support.proofs import shared_proof

EPILOGUES = (
    "",
    "",
    "c=epilogue",
    "alpha=0.5,beta=2",
    "alpha=1.5,beta=-0.25",
    "beta=0",
    "alpha=3",
    "out=e5m2",
    "out=e5m2,RTZ",
    "out=bf16:e5m2",
    "out=f16",
    "out=e4m3,saturate",
)
ROWS = 2000


def values_of(fmt: Any, words: Any) -> list[Fraction]:
    x = (fmt if isinstance(fmt, exact.Format) else exact.Format.of(fmt)).decode(words)
    signed = np.where(x.sign, -x.mag, x.mag)
    return [Fraction(int(mag)) * Fraction(2) ** int(lsb) for mag, lsb in zip(signed, x.lsb, strict=True)]


def words_in(rng: Random, fmt: Any, domain: Domain, shape: tuple[int, ...]) -> Any:
    """Zeros, and normal numbers with the domain's exponents."""
    dice = np.random.default_rng(rng.getrandbits(32))
    words = np.arange(1 << fmt.width, dtype=np.int64)
    x = exact.Format.of(fmt).decode(words)
    normal = x.mag >= 1 << fmt.fraction_bits
    words = words[x.zero | (~x.inf & ~x.nan & normal & (x.exp >= domain.low) & (x.exp <= domain.high))]
    if rng.random() < 0.4:
        words = words[dice.integers(0, len(words), 3)]
    return words[dice.integers(0, len(words), shape)]


def attacked(seed: int) -> str:
    rng = Random(f"relative {seed}")
    while True:
        unit = some_unit(rng, *some_formats(rng))
        if unit.c_format == unit.d_format:
            break
    narrow, wide = float_format(unit.a_format), float_format(unit.c_format)
    most = min(narrow.e_max, (wide.e_max - 5) // 2)
    low = rng.randint(min(most, max(narrow.e_min, -(-(wide.e_min + 6) // 2))), most)
    domain = Domain(exponents=(low, rng.randint(low, min(low + 2, most))), c_zero=rng.random() < 0.3)
    k, text, last = rng.choice((1, 2, 3, 5)), rng.choice(kernels.REDUCTIONS), rng.choice(EPILOGUES)
    try:
        kernel = Kernel(side_of(unit).row, reduction_named(text), epilogue_named(last))
        assert kernel.schedule.working_format
        bound = relative_bound(shared_proof(SolvingOptions(steps=400_000)), kernel, k, domain)
    except Unbounded as why:
        return f"refused: {str(why).split(':')[0]}"
    except TcsmtError:
        return "no kernel"
    a, b = (words_in(rng, fmt, domain, (ROWS, k)) for fmt in (narrow, float_format(unit.b_format)))
    c = np.zeros(ROWS, np.int64) if domain.c_zero else words_in(rng, wide, domain, (ROWS,))
    columns = {f"{s}{n}": side[:, n] for s, side in (("a", a), ("b", b)) for n in range(k)} | {"c": c}
    words = kernels.kernel(unit, text, last, k, columns)
    options = {key: value for key, _, value in (part.partition("=") for part in last.split(","))}
    alpha, beta = (Fraction(options.get(name, "1")) for name in ("alpha", "beta"))
    assert isinstance(words.fmt, exact.Format)
    number = words.fmt.decode(words.words)
    assert not (number.inf | number.nan).any(), f"seed {seed}: overflows"
    x, y = ([values_of(fmt, side[:, n]) for n in range(k)] for fmt, side in ((narrow, a), (unit.b_format, b)))
    added, results = values_of(wide, c), values_of(words.fmt, words.words)
    reached = False
    for n in range(ROWS):
        terms = [alpha * x[p][n] * y[p][n] for p in range(k)] + [beta * added[n]]
        error, size = abs(results[n] - sum(terms)), sum(map(abs, terms))
        about = f"seed {seed}: {unit}, {text}+{last}, K = {k}, {domain}"
        assert error <= bound * size, f"{about}: {float(error)} of {float(size)}, at most {float(bound)}"
        reached |= 4 * error > bound * size
    return "a bound, of which a quarter is reached" if reached else "a bound"


@pytest.mark.parametrize(
    ("seeds", "least"),
    [
        ((3, 7, 8), 2),
        *(pytest.param(range(s, s + 50), 2, marks=pytest.mark.long) for s in range(1000, 1200, 50)),
    ],
    ids=str,
)
def test_no_error_is_larger(seeds: Sequence[int], least: int) -> None:
    counts = Counter(attacked(seed) for seed in seeds)
    print(dict(counts))
    assert counts["a bound, of which a quarter is reached"] >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "algorithm", "words", "k"),
    [
        ("volta/mma.m8n8k4.f32.f16.f16.f32", "single-f16", 11, 16),
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", "single-f16", 11, 64),
        ("ampere/mma.m16n8k16.f32.bf16.bf16.f32", "single-bf16", 8, 20),
        ("cdna2/v_mfma_f32_32x32x8_f16", "single-f16", 11, 24),
    ],
)
def test_an_algorithm_and_a_kernel_that_are_one_sum_have_one_bound(
    unit: str, algorithm: str, words: int, k: int
) -> None:
    """On words of the unit's format, where an algorithm of one word splits nothing."""
    domain = Domain(exponents=(-2, 14), bits=(words, words))
    chain, row = RememberedProof(SolvingOptions()), row_named(unit)
    kernel = relative_bound(chain, Kernel(row), k, domain)
    assert kernel == pytest.approx(
        float(budget(chain, recipe_named(algorithm).on(row.model, k), domain).total)
    )
    staged = relative_bound(chain, Kernel(row, reduction_named("promote:16,from-zero")), k, domain)
    of_stages = recipe_named(f"{algorithm},every=16,c=last").on(row.model, k)
    assert staged == pytest.approx(float(budget(chain, of_stages, domain).total), rel=0.2)


@pytest.mark.long
def test_an_algorithm_has_the_bound_of_its_kernel_where_that_is_less() -> None:
    """FP8 through FP16 instructions, of which the budget takes each conversion to be as large as the sum."""
    unit = "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"
    domain, solving, row = Domain(exponents=(-2, 4), bits=(4, 4)), Solving(SolvingOptions()), row_named(unit)
    algorithm = recipe_named("fp8").on(row.model, 32)
    found = largest_and_least(algorithm, domain, solving, seconds=0.2)
    spent = budget(StepwiseProof(solving), algorithm, domain).total * 2**24
    kernel = relative_bound(StepwiseProof(solving), Kernel(row), 32, domain) * 2**24
    assert (
        found.proved == pytest.approx(float(kernel))
        and kernel < spent
        and found.proof is not None
        and not found.shares
    )
    assert found.relative is not None and 0 < found.relative.relative <= found.proved  # type: ignore[operator]


def chained_words(unit: Any, x: Any, y: Any, c: Any) -> Any:
    """The words of a chain, by exact integers. x, y: (rows, K)."""
    columns = {f"{side}{n}": words[:, n] for side, words in (("a", x), ("b", y)) for n in range(x.shape[1])}
    return kernels.kernel(unit, "chained", "", x.shape[1], columns | {"c": c}).words


def ratio_of(unit: Any, x: Any, y: Any, c: Any) -> tuple[Fraction, int]:
    """The largest error of a chain relative to |c| + Σ|a·b|, and its row."""
    results = values_of(unit.d_format, chained_words(unit, x, y, c))
    a, b = ([values_of(unit.a_format, side[:, n]) for n in range(x.shape[1])] for side in (x, y))
    worst = Fraction(0), 0
    for row, (result, added) in enumerate(zip(results, values_of(unit.c_format, c), strict=True)):
        terms = [added, *(p[row] * q[row] for p, q in zip(a, b, strict=True))]
        size = sum(map(abs, terms))
        worst = max(worst, (abs(result - sum(terms)) / size if size else Fraction(0), row))
    return worst


def attacked_whole(seed: int) -> str:
    """A tiny unit's chain: K = 1 with every word of a domain, and longer ones by climbing."""
    rng, dice = Random(f"whole {seed}"), np.random.default_rng(seed)
    while True:
        unit = some_unit(rng, *some_formats(rng))
        if unit.c_format == unit.d_format:
            break
    narrow, wide = float_format(unit.a_format), float_format(unit.c_format)
    most = min(narrow.e_max, (wide.e_max - 5) // 2)
    low = rng.randint(min(most, max(narrow.e_min, -(-(wide.e_min + 6) // 2))), most)
    domain = Domain(exponents=(low, min(low + 1, most)))
    chain, reached = StepwiseProof(Solving(SolvingOptions(timeout=2.0))), False
    for k in (1, 3, 8):
        try:
            limit = relative_bound(chain, Kernel(side_of(unit).row), k, domain)
        except Unbounded as why:
            return f"refused: {str(why).split(':')[0]}"
        own, added = (np.arange(1 << fmt.width, dtype=np.int64) for fmt in (narrow, wide))
        own, added = (
            words[[domain.contains({"a0": fmt}, {"a0": int(w)}) for w in words]]
            for fmt, words in ((narrow, own), (wide, added))
        )
        if k == 1:
            x, y, c = (side.ravel() for side in np.meshgrid(own, own, added))
            x, y = x[:, None], y[:, None]
            some = dice.permutation(len(c))[:6000]
            x, y, c = x[some], y[some], c[some]
        else:
            x, y = (own[dice.integers(0, len(own), (400, k))] for _ in "ab")
            c = added[dice.integers(0, len(added), 400)]
        found, at = ratio_of(unit, x, y, c)
        for _ in range(6 if k > 1 else 0):
            x, y, c = (np.repeat(side[at : at + 1], 200, axis=0) for side in (x, y, c))
            for side in (x, y):
                changed = dice.random(side.shape) < 0.3
                changed[0] = False
                side[changed] = own[dice.integers(0, len(own), int(changed.sum()))]
            c[100:] = added[dice.integers(0, len(added), 100)]
            found, at = ratio_of(unit, x, y, c)
        assert found <= limit, f"seed {seed}: {unit}, K = {k}, {domain}: {float(found)} over {float(limit)}"
        reached |= 2 * found > limit
    return "a bound, of which half is reached" if reached else "a bound"


@pytest.mark.parametrize(
    ("seeds", "least"),
    [
        pytest.param(range(6), 1, marks=pytest.mark.slow),
        *(pytest.param(range(s, s + 40), 4, marks=pytest.mark.long) for s in range(100, 260, 40)),
    ],
    ids=str,
)
def test_no_chain_errs_by_more(seeds: Sequence[int], least: int) -> None:
    counts = Counter(attacked_whole(seed) for seed in seeds)
    print(dict(counts))
    assert counts["a bound, of which half is reached"] >= least


TYPE1 = Domain(exponents=(-15, 14))


def bound(text: str, k: int, domain: Domain = TYPE1) -> Fraction:
    reduction, _, epilogue = text.partition("+")
    kernel = Kernel(side_of("ieee/fma.f32.bf16").row, reduction_named(reduction), epilogue_named(epilogue))
    return relative_bound(shared_proof(), kernel, k, domain)


def test_additions_count_for_the_longest_chain_and_every_sum() -> None:
    """Half of a last bit for each multiply-add of a chain, and for each addition outside, nearly."""
    half = Fraction(1, 2**24)
    for text, k, count in (
        ("chained", 1, 1),
        ("chained", 64, 64),
        ("split-k:4", 64, 20),
        ("split-k:4,pairs", 64, 19),
    ):
        assert count * half <= bound(text, k) <= count * half * (1 + Fraction(1, 1000)), text
    narrow = bound("split-k:4,parts=bf16+out=bf16", 64)
    assert Fraction(2, 2**8) < narrow < Fraction(201, 100) / 2**8
    assert bound("chained+alpha=2", 8) == pytest.approx(float(9 * half), rel=1e-3)


def test_parts_in_any_order_have_the_largest_bound_of_every_order() -> None:
    domain = Domain(exponents=(0, 3))
    orders = [bound(f"cuts:8-24,order={order}", 32, domain) for order in ("0-1-2", "1-2-0", "2-0-1", "2-1-0")]
    assert bound("cuts:8-24,any", 32, domain) >= max(orders) > min(orders)


def test_refusals() -> None:
    for text, domain, message in (
        ("chained+out=f16", Domain(exponents=(-15, 14)), "may overflow"),
        ("stream-k:2,tile=4x4x8", Domain(exponents=(0, 0)), "cuts K elsewhere"),
        ("chained", Domain(exponents=(0, 0), c_free=True), "c may be of any size"),
        ("chained+alpha=0", Domain(exponents=(0, 0)), "alpha is 0"),
    ):
        with pytest.raises(Unbounded, match=message):
            bound(text, 8, domain)
    with pytest.raises(TcsmtError, match="at most 5 in any order"):
        bound("split-k:6,any", 120, Domain(exponents=(0, 0)))
    with pytest.raises(TcsmtError, match="must be restricted"):
        bound("chained", 8, Domain())
