"""Tolerances of kernels: never below an error that occurs, by oracles in exact integers and fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.tolerance import kernels as tolerances
from tcsmt.analysis.tolerance.instruction import InstructionLoss
from tcsmt.analysis.tolerance.kernels import (
    ElementBounds,
    MatrixWords,
    bounds_of_elements,
    bounds_of_product,
    greatest_operand,
    least_operand,
    loss_on,
)
from tcsmt.analysis.tolerance.remembered import RememberedProof
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact, kernels, tiny
from tests.oracles.tiny_recipes import some_formats, some_unit
from tests.support.proofs import shared_proof, shared_solving

EPILOGUES = (
    "",
    "",
    "",
    "c=epilogue",
    "alpha=0.5,beta=2",
    "alpha=1.5,beta=-0.25",
    "beta=0",
    "alpha=3",
    "bias,out=f16",
    "out=e5m2",
    "out=e5m2,RTZ",
    "out=e5m2,RTN",
    "out=f16:e4m3,saturate",
    "out=e2m1,saturate",
    "out=e4m3,stochastic=3,saturate",
    "out=bf16:e5m2",
    "alpha=0.75,bias,out=e5m2,saturate",
)
#: Elements of a case.
ROWS = 2000
#: Real units: a fused sum, two of them, one that cuts far, IEEE operations; the formats of what is added.
REAL = (
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "cdna3/v_mfma_f32_32x32x8_f16",
    "x86/vdpbf16ps",
    "ieee/fma.f32",
    "ieee/fma.f64",
    "x86/tdpbf16ps",
)
#: Units that accumulate in FP16: one rounding for each instruction, two of them, pairs that are chained.
HALF = (
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "ampere/mma.m16n8k16.f16.f16.f16.f16",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "rdna3/v_wmma_f16_16x16x16_f16_w32",
)


def solving() -> Solving:
    return shared_solving(SolvingOptions(steps=400_000))


def values_of(fmt: Any, words: Any) -> list[Fraction]:
    """Exact values, by the oracle; of finite words alone."""
    x = (fmt if isinstance(fmt, exact.Format) else exact.Format.of(fmt)).decode(words)
    signed = np.where(x.sign, -x.mag, x.mag)
    return [Fraction(int(mag)) * Fraction(2) ** int(lsb) for mag, lsb in zip(signed, x.lsb, strict=True)]


def finite_words(rng: Random, fmt: Any, low: int, shape: tuple[int, ...]) -> exact.Array:
    """Random words: zeros, or finite numbers with such an exponent at least."""
    dice = np.random.default_rng(rng.getrandbits(32))
    words = np.arange(1 << fmt.width, dtype=np.int64)
    x = exact.Format.of(fmt).decode(words)
    words = words[~x.inf & ~x.nan & (x.zero | (x.exp >= low))]
    if rng.random() < 0.3:  # few different ones, so that sums cancel
        words = words[dice.integers(0, len(words), 4)]
    return words[dice.integers(0, len(words), shape)]


def drawn_unit(rng: Random, *, gradual: bool = False) -> Model:
    """A unit of tiny formats; gradual: results are subnormal where products are those of normal numbers."""
    while True:
        narrow, wide = some_formats(rng)
        if gradual:
            bits = rng.choice((3, 4))
            wide = tiny.described(
                exponent_bits=bits, fraction_bits=wide.fraction_bits, bias=rng.randint(1, 1 << (bits - 1))
            )
        unit = some_unit(rng, narrow, wide)
        if unit.c_format == unit.d_format and unit.scale_format is None:
            return unit


def checked(about: str, bounds: ElementBounds, results: list[Fraction | None], right: list[Fraction]) -> str:
    """How close errors come to their bounds; an error where one is larger. None: not finite."""
    bounded = reached = 0
    for n, (result, wanted) in enumerate(zip(results, right, strict=True)):
        if not np.isfinite(bounds.atol[n]):
            continue
        assert result is not None, f"{about}, element {n}: not finite"
        error, most = abs(result - wanted), Fraction(float(bounds.atol[n]))
        assert error <= most, f"{about}, element {n}: off by {float(error)}, at most {float(most)}"
        off = abs(Fraction(float(bounds.exact[n])) - wanted)
        assert off <= Fraction(float(bounds.error[n])), f"{about}, element {n}: not {bounds.exact[n]}"
        bounded += 1
        reached += 2 * error > most > 0
    return "a bound, of which half is reached" if reached else "a bound" if bounded else "may overflow"


def attacked(seed: int, *, gradual: bool = False) -> str:
    """What became of one kernel of tiny formats: no element may be off by more than its bound."""
    rng = Random(f"tolerance {seed}")
    unit, k = drawn_unit(rng, gradual=gradual), rng.choice((1, 2, 3, 4, 5))
    text, last = rng.choice(kernels.REDUCTIONS), rng.choice(EPILOGUES)
    narrow, wide = float_format(unit.a_format), float_format(unit.c_format)
    middle = min(max(-(-(wide.e_min + 8) // 2), narrow.e_min), narrow.e_max)
    low = middle if rng.random() < 0.7 else rng.randint(narrow.e_min, narrow.e_max)
    low = narrow.e_min if gradual else low
    a, b = (finite_words(rng, fmt, low, (ROWS, k)) for fmt in (unit.a_format, unit.b_format))
    c = None if rng.random() < 0.3 else finite_words(rng, wide, wide.e_min, (ROWS,))
    try:
        kernel = Kernel(side_of(unit).row, reduction_named(text), epilogue_named(last))
        working = kernel.schedule.working_format
    except TcsmtError:
        return "no kernel"
    bias = random = None
    dice = np.random.default_rng(seed)
    if "bias" in last:
        numbers = (dice.integers(-8, 8, ROWS) / 4.0).astype(f"f{working.width // 8}")
        bias = numbers.view(f"u{working.width // 8}").astype(np.int64)
    if "stochastic" in last:
        random = dice.integers(0, 8, ROWS)
    formats = unit.a_format, unit.b_format, unit.c_format, working
    given = [
        None if words is None else words.astype(unsigned(fmt))
        for words, fmt in zip((a, b, c, bias), formats, strict=True)
    ]
    operands = MatrixWords(*given)
    try:
        loss = loss_on(StepwiseProof(solving()), unit, least_operand(unit, operands))
        bounds = bounds_of_elements(kernel, operands, loss)
    except Unbounded as why:
        return f"refused: {str(why).split(':')[0]}"
    columns = {f"{s}{n}": side[:, n] for s, side in (("a", a), ("b", b)) for n in range(k)}
    columns |= {} if c is None else {"c": c}
    words = kernels.kernel(unit, text, last, k, columns, bias=bias, random=random)
    options = {key: value for key, _, value in (part.partition("=") for part in last.split(","))}
    alpha, beta = (Fraction(options.get(name, "1")) for name in ("alpha", "beta"))
    x, y = (
        [values_of(fmt, side[:, n]) for n in range(k)]
        for fmt, side in ((unit.a_format, a), (unit.b_format, b))
    )
    none = [Fraction(0)] * ROWS
    added = none if c is None else values_of(unit.c_format, c)
    more = none if bias is None else values_of(working, bias)
    assert isinstance(words.fmt, exact.Format)
    number = words.fmt.decode(words.words)
    finite = ~(number.inf | number.nan)
    results = values_of(words.fmt, np.where(finite, words.words, 0))
    right = [
        alpha * sum(x[p][n] * y[p][n] for p in range(k)) + beta * added[n] + more[n] for n in range(ROWS)
    ]
    about = f"seed {seed}: {unit}, {text}+{last}, K = {k}"
    return checked(about, bounds, [r if f else None for r, f in zip(results, finite, strict=True)], right)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "least"),
    [
        ((100, 101, 105, 107), 2),
        # how many are proved in time depends on the machine's load
        *(pytest.param(range(s, s + 50), 3, marks=pytest.mark.long) for s in range(1000, 1400, 50)),
    ],
    ids=str,
)
def test_no_error_is_larger_than_its_bound(seeds: Sequence[int], least: int) -> None:
    """Kernels of tiny formats; that some errors reach half of their bounds shows that the test can fail."""
    counts = Counter(attacked(seed) for seed in seeds)
    print(dict(counts))
    assert counts["a bound, of which half is reached"] >= least


@pytest.mark.parametrize(
    ("seeds", "least"),
    [
        pytest.param((2006, 2016, 2027, 2028), 1, marks=pytest.mark.slow),
        *(pytest.param(range(s, s + 50), 1, marks=pytest.mark.long) for s in range(3000, 3400, 50)),
    ],
    ids=str,
)
def test_no_error_is_larger_where_results_are_subnormal(seeds: Sequence[int], least: int) -> None:
    counts = Counter(attacked(seed, gradual=True) for seed in seeds)
    print(dict(counts))
    assert counts["a bound, of which half is reached"] >= least


@cache
def loss_of(unit: Model, least: int) -> InstructionLoss:
    """What an instruction of a unit loses: worked out once, and not once for each of its kernels."""
    return loss_on(RememberedProof(SolvingOptions()), unit, least)


def real(
    unit: str, scheme: str, shape: tuple[int, int, int], seed: int, spread: float, centre: int = 0
) -> str:
    """A kernel on a unit of the catalogue, on normal numbers of such a spread of sizes, as matrices."""
    m, k, n = shape
    rng = np.random.default_rng(seed)
    reduction, _, epilogue = scheme.partition("+")
    row = side_of(unit).row
    kernel = Kernel(row, reduction_named(reduction), epilogue_named(epilogue))
    formats = row.model.a_format, row.model.b_format, row.model.c_format
    a, b, c = (
        drawn(rng, fmt, size, spread, centre)
        for fmt, size in zip(formats, ((m, k), (k, n), (m, n)), strict=True)
    )
    operands = MatrixWords(a, b, c if rng.random() < 0.7 else None)
    loss = loss_of(row.model, least_operand(row.model, operands))
    bounds = bounds_of_product(kernel, operands, loss)
    flat = ElementBounds(*(getattr(bounds, name).reshape(-1) for name in ("atol", "exact", "error")))
    left = [[Fraction(x) for x in values] for values in numbers_of(formats[0], a).tolist()]
    right = [[Fraction(x) for x in values] for values in numbers_of(formats[1], b.T).tolist()]
    added = numbers_of(formats[2], c).tolist() if operands.c is not None else [[0.0] * n] * m
    options = {key: value for key, _, value in (part.partition("=") for part in epilogue.split(","))}
    alpha, beta = (Fraction(options.get(name, "1")) for name in ("alpha", "beta"))
    wanted = [
        alpha * sum(x * y for x, y in zip(left[i], right[j], strict=True)) + beta * Fraction(added[i][j])
        for i in range(m)
        for j in range(n)
    ]
    outcome = ""
    for order in kernel.reduction.orders(k, row.model.k, c=True):
        d = replace(kernel, reduction=order).multiply(operands.a, operands.b, operands.c)
        results = [Fraction(x) if np.isfinite(x) else None for x in d.astype(np.float64).ravel().tolist()]
        outcome = checked(f"{kernel.name}, {order}, {shape}, seed {seed}", flat, results, wanted)
    return outcome


def drawn(rng: np.random.Generator, fmt: Any, shape: tuple[int, ...], spread: float, centre: int) -> Any:
    """Words of normal numbers whose exponents spread so far, of random signs and significands."""
    exponents = np.rint(rng.standard_normal(shape) * spread) + centre
    exponents = np.clip(exponents, fmt.e_min + 1, min(fmt.e_max, 12))
    field = exponents.astype(np.int64) + fmt.bias
    fraction = rng.integers(0, 1 << fmt.fraction_bits, shape)
    sign = rng.integers(0, 2, shape)
    stored = (field << fmt.fraction_bits | fraction) << fmt.ignored_low_bits
    words = (stored | sign << (fmt.width - 1)) if fmt.width < 64 else stored
    x = exact.Format.of(fmt).decode(words)
    return np.where(x.nan | x.inf, 0, words).astype(unsigned(fmt))


def numbers_of(fmt: Any, words: Any) -> Any:
    """In binary64, by the oracle."""
    x = exact.Format.of(fmt).decode(words.astype(np.int64))
    return np.where(x.sign, -1.0, 1.0) * x.mag.astype(np.float64) * 2.0 ** x.lsb.astype(np.float64)


SCHEMES = (
    "chained",
    "split-k:3",
    "split-k:2,pairs,parts=bf16+out=bf16",
    "promote:40+alpha=0.5,beta=-2",
    "sliced:2,total=f16+out=f16,RTZ",
    "stream-k:3,tile=4x5x24",
    "split-k:2/promote:24,from-zero+c=epilogue",
    "split-k:3,any,parts=bf16",
)


@pytest.mark.slow_cases("ieee/fma.f64")
@pytest.mark.parametrize("unit", REAL[5:7])
def test_real_units(unit: str) -> None:
    for number, scheme in enumerate(SCHEMES):
        if "f64" not in unit or "=f" not in scheme:
            assert real(unit, scheme, (6, 70, 7), number, 1.5)


@pytest.mark.long
@pytest.mark.parametrize("unit", REAL)
def test_real_units_and_schemes(unit: str) -> None:
    for scheme, number, spread in product(SCHEMES, range(3), (0.0, 1.0, 3.0)):
        if "f64" not in unit or "=f" not in scheme:
            assert real(unit, scheme, (9, 200, 11), number, spread)


@pytest.mark.slow
@pytest.mark.parametrize("centre", [0, -6, -10])
@pytest.mark.parametrize("unit", HALF)
def test_accumulators_in_f16(unit: str, centre: int) -> None:
    """Ordinary numbers, and those whose sums are subnormal: the error, in fractions, is within its bound."""
    for scheme, spread in product(("chained", "split-k:3", "promote:32,total=f16"), (0.0, 2.0)):
        assert real(unit, scheme, (7, 70, 8), 5, spread, centre) != "may overflow"


@pytest.mark.slow
def test_an_f16_accumulator_that_may_overflow_has_no_bound() -> None:
    """Where every sum stays below 2^15 there is one; these elements alone have one."""
    row = side_of("volta/mma.m8n8k4.f16.f16.f16.f16").row
    kernel = Kernel(row, reduction_named("chained"), epilogue_named(""))
    a, b = np.ones((3, 16), "f2"), np.full((16, 1), 2.0, "f2")
    a[1], a[2, :2] = 1023.0, (16384.0, -16384.0)  # 32736; and a sum that may have reached 2^15 on its way
    operands = MatrixWords(a.view("u2"), b.view("u2"))
    loss = loss_on(RememberedProof(SolvingOptions()), row.model, least_operand(row.model, operands))
    assert loss.limit == 2**15
    atol = bounds_of_product(kernel, operands, loss).atol[:, 0]
    assert 0 < atol[0] < 1 and np.isinf(atol[1:]).all()


def test_instructions_bounded_together_bound_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer places at which sums are looked at: the bounds grow, and tiles of D make no difference."""
    kernel = Kernel(side_of("ieee/fma.f32").row, reduction_named("split-k:2"), epilogue_named(""))
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((40, 96)).astype("f4"), rng.standard_normal((96, 50)).astype("f4")
    operands = MatrixWords(a.view("u4"), b.view("u4"))
    model = kernel.unit.model
    loss = loss_on(StepwiseProof(solving()), model, least_operand(model, operands))
    fine = bounds_of_product(kernel, operands, loss)
    monkeypatch.setattr(tolerances, "_TILE", 17)
    tiled = bounds_of_product(kernel, operands, loss)
    monkeypatch.setattr(tolerances, "_WORK", 40 * 50 * 12)
    coarse = bounds_of_product(kernel, operands, loss)
    error = np.abs(kernel.multiply(a, b).astype("f8") - fine.exact)
    assert np.allclose(tiled.atol, fine.atol, rtol=1e-9)
    assert (coarse.atol > fine.atol).all() and (coarse.atol < 3 * fine.atol).all()
    assert (error <= fine.atol).all()


def test_parts_in_any_order_have_the_largest_bound_of_every_order() -> None:
    rng = np.random.default_rng(4)
    a, b, c = (rng.standard_normal(shape).astype("f4") for shape in ((5, 48), (48, 6), (5, 6)))
    operands = MatrixWords(a.view("u4"), b.view("u4"), c.view("u4"))
    kernel = Kernel(side_of("ieee/fma.f32").row, reduction_named("split-k:3,any,total=bf16"))
    model = kernel.unit.model
    loss = loss_on(StepwiseProof(solving()), model, least_operand(model, operands))
    orders = kernel.reduction.orders(48, model.k, c=True)
    every = [bounds_of_product(replace(kernel, reduction=order), operands, loss).atol for order in orders]
    assert len({atol.tobytes() for atol in every}) == len(every) == 6
    assert np.array_equal(bounds_of_product(kernel, operands, loss).atol, np.max(every, axis=0))


def test_what_no_lemma_covers_is_refused() -> None:
    def refused(unit: str | Model, *words: Any) -> str:
        model = side_of(unit).row.model
        with pytest.raises(Unbounded) as why:
            loss_on(StepwiseProof(solving()), model, least_operand(model, MatrixWords(*words)))
        return str(why.value)

    ones = np.full((2, 4), 0x3F80, np.uint16)
    assert "s8" in refused("ampere/mma.m16n8k32.s32.s8.s8.s32", np.ones((2, 4), "u1"), np.ones((4, 2), "u1"))
    half = np.full((2, 4), 0x1000, np.uint16)
    lemmas = "exponents of products from -28: the lemmas hold from 9 (A or B has a number below 2^-10)"
    flushing = side_of("volta/mma.m8n8k4.f16.f16.f16.f16").row.model.replace(flush_outputs=True)
    assert refused(flushing, half, half.T) == lemmas
    model = side_of("hopper/mma.m16n8k16.f32.bf16.bf16.f32").row.model
    infinite = ones.T.copy()
    infinite[1, 0], infinite[2, 1] = 0x7F80, 0x4000
    operands = MatrixWords(ones, infinite)
    assert (least_operand(model, operands), greatest_operand(model, operands)) == (0, 1)


@pytest.mark.long
def test_tiny_numbers() -> None:
    """Products far below all normal numbers of the result: the bound is tiny, and holds."""
    unit = side_of("hopper/mma.m16n8k16.f32.bf16.bf16.f32").row
    kernel = Kernel(unit, reduction_named("chained"), epilogue_named(""))
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 0x0400, shape).astype(np.uint16) for shape in ((4, 40), (40, 4)))
    a[::2] |= 0x8000
    b[:, ::2] += 0x3C00
    operands = MatrixWords(a, b)
    loss = loss_on(shared_proof(), unit.model, least_operand(unit.model, operands))
    bounds = bounds_of_product(kernel, operands, loss)
    assert 0 < bounds.atol.max() < 2.0**-105
    assert (np.abs(kernel.multiply(a, b).astype("f8") - bounds.exact) <= bounds.atol).all()


def test_where_a_step_may_overflow_there_is_no_bound() -> None:
    kernel = Kernel(side_of("ieee/fma.f32").row, reduction_named("split-k:2"), epilogue_named("out=f16"))
    a = np.array([[60.0, 1.0], [6e4, 1.0], [3e38, 3e38]], "f4")
    b = np.ones((2, 1), "f4")
    operands = MatrixWords(a.view("u4"), b.view("u4"))
    loss = loss_on(StepwiseProof(solving()), kernel.unit.model, least_operand(kernel.unit.model, operands))
    assert np.isfinite(bounds_of_product(kernel, operands, loss).atol[:, 0]).tolist() == [True, True, False]
    saturated = Kernel(kernel.unit, kernel.reduction, epilogue_named("out=e4m3,saturate"))
    bounds = bounds_of_product(saturated, operands, loss)
    assert bounds.atol[1, 0] >= 6e4 + 1 - 448  # what is cut off counts
    assert np.isinf(bounds.atol[2, 0])
    zero = MatrixWords(np.zeros((1, 2), "u4"), b.view("u4"))
    assert bounds_of_product(kernel, zero, loss).atol.tolist() == [[0.0]]
