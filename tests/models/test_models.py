"""Models held against the exact-rational oracle, parameter by parameter.

A parameter set is drawn by Hypothesis; its rows come from a seeded NumPy generator, so that one
compiled term program serves many rows: random words, words packed in the alignment window (with
exact cancellations), boundary words and their neighbours, and special values.
``pytest -m long`` searches twenty times as many parameter sets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcsmt.arithmetic.formats import FORMATS, Format, Specials
from tcsmt.arithmetic.rounding import ROUNDINGS
from tcsmt.catalogue import row_named
from tcsmt.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, Model, Operands
from tcsmt.simulator.rows import run_words
from tests.support.references import reference
from tests.support.sampling import mostly_long

Array = np.ndarray[Any, np.dtype[np.uint64]]
Rng = np.random.Generator

INPUTS = sorted(FORMATS)
OUTPUTS = sorted(name for name, fmt in FORMATS.items() if fmt.has_infinity)
FINITE = sorted(name for name, fmt in FORMATS.items() if fmt.specials is Specials.NONE and fmt.has_subnormals)
MODES = sorted(ROUNDINGS)
SEEDS = st.integers(0, 1 << 32)


# --- rows --------------------------------------------------------------------------------------


def boundary_words(fmt: Format) -> Array:
    """Zeros, ends of the subnormal and normal ranges, one, specials; their neighbours; signs."""
    normal = 1 << fmt.fraction_bits
    one = fmt.word(fmt.largest_finite * 0 + 1) >> fmt.ignored_low_bits
    largest = fmt.largest_finite_word >> fmt.ignored_low_bits
    size = fmt.width - fmt.ignored_low_bits
    stored = {(w + d) % (1 << size) for w in (0, normal, one, largest) for d in (-1, 0, 1)}
    words = {w << fmt.ignored_low_bits for w in stored} | {fmt.infinity_word, fmt.nan_word or 0}
    words |= {w ^ (1 << fmt.sign_bit) for w in words}
    return np.array(sorted(words), dtype=np.uint64)


def random_words(fmt: Format, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Every bit random."""
    return rng.integers(0, (1 << fmt.width) - 1, shape, dtype=np.uint64, endpoint=True)


def words_at(fmt: Format, rng: Rng, exponent: np.ndarray[Any, Any]) -> Array:
    """Words of the wanted exponents as far as the format reaches, with telling fractions."""
    f = fmt.fraction_bits
    ones = (1 << f) - 1
    shape = exponent.shape
    noise = rng.integers(0, ones, shape, dtype=np.uint64, endpoint=True)
    shift = rng.integers(0, f + 1, shape).astype(np.uint64)
    patterns = [noise, noise << shift & np.uint64(ones), noise >> shift]
    patterns += [np.full(shape, ones, np.uint64), np.zeros(shape, np.uint64)]
    fraction = np.choose(rng.integers(0, len(patterns), shape), patterns)
    field = np.clip(exponent + fmt.bias, 0, fmt.largest_finite_field).astype(np.uint64)
    word = (field << np.uint64(f) | fraction) << np.uint64(fmt.ignored_low_bits)
    word |= rng.integers(0, 2, shape).astype(np.uint64) << np.uint64(fmt.sign_bit)
    return word


def packed_rows(model: Model, rng: Rng, rows: int, window: int) -> tuple[Array, Array, Array]:
    """Products and c whose exponents lie in one window of alignment, some cancelling exactly."""
    a, b, c, k = model.a_format, model.b_format, model.c_format, model.k
    low, high = a.e_min + b.e_min - 2, a.e_max + b.e_max
    low, high = max(low, c.e_min - 4), min(high, c.e_max)  # where c can meet them, if it can
    if low > high:
        low, high = a.e_min + b.e_min - 2, a.e_max + b.e_max
    top = rng.integers(low, high, (rows, 1), endpoint=True)
    top[: rows // 3] = rng.integers(max(low, high - 3), high, (rows // 3, 1), endpoint=True)
    edge = rng.integers(window - 3, window + 3, (rows, k), endpoint=True)
    inside = rng.integers(0, window + 2, (rows, k), endpoint=True)
    near = rng.integers(0, 2, (rows, k), endpoint=True)
    product = top - np.choose(rng.integers(0, 3, (rows, k)), [edge, inside, near])
    split = rng.integers(a.e_min - a.fraction_bits, a.e_max, (rows, k), endpoint=True)
    left = np.clip(split, product - b.e_max, product - b.e_min)
    x, y = words_at(a, rng, left), words_at(b, rng, product - left)
    c_exponent = top[:, 0] - rng.integers(-1, window + 2, rows, endpoint=True)
    if k > 1:  # lane 1 undoes lane 0
        undone = rng.random(rows) < 0.3
        x[undone, 1] = x[undone, 0]
        y[undone, 1] = y[undone, 0]
        if a.signed:
            x[undone, 1] ^= np.uint64(1 << a.sign_bit)
    return x, y, words_at(c, rng, c_exponent)


def make_rows(model: Model, seed: int, rows: int, window: int) -> tuple[Array, Array, Array]:
    """Rows of every kind: packed, boundary values among packed ones, boundary values, random."""
    rng = np.random.default_rng(seed)
    k = model.k
    a, b, c = packed_rows(model, rng, rows, window)
    chance = np.choose(np.arange(rows) % 4, [0.0, 0.15, 0.9, 0.0])
    for fmt, words in ((model.a_format, a), (model.b_format, b), (model.c_format, c[:, None])):
        chosen = rng.random(words.shape) < chance[:, None]
        words[chosen] = rng.choice(boundary_words(fmt), words.shape)[chosen]
        if fmt.width <= 16:
            noisy = np.arange(rows) % 8 == 3
            words[noisy] = random_words(fmt, rng, (int(noisy.sum()), words.shape[1]))
    wild = np.arange(rows) % 16 == 7
    count = int(wild.sum())
    a[wild] = random_words(model.a_format, rng, (count, k))
    b[wild] = random_words(model.b_format, rng, (count, k))
    c[wild] = random_words(model.c_format, rng, (count,))
    return a, b, c


def scale_rows(model: Model, seed: int, rows: int) -> list[Array]:
    """Scales of a and of b near 1, some at the ends of their range, some NaN; none without scales."""
    fmt = model.scale_format
    if fmt is None:
        return []
    rng = np.random.default_rng(seed + 1)
    found = []
    for _ in "ab":
        field = rng.integers(fmt.bias - 3, fmt.bias + 4, (rows, model.scales)).astype(np.uint64)
        noise = rng.integers(0, 1 << fmt.fraction_bits, field.shape, dtype=np.uint64)
        words = field << np.uint64(fmt.fraction_bits) | noise
        wild = rng.random(field.shape) < np.choose(np.arange(rows) % 4, [0.0, 0.0, 0.1, 0.5])[:, None]
        found.append(np.where(wild, random_words(fmt, rng, field.shape), words))
    return found


def agree(model: Model, a: Array, b: Array, c: Array, *scales: Array) -> None:
    """The model and the oracle give the same word for every row."""
    got = run_words(model, Operands(a, b, c, *scales))
    for row in range(len(c)):
        x, y, z = a[row].tolist(), b[row].tolist(), int(c[row])
        s = [words[row].tolist() for words in scales]
        expected, result = reference(model, x, y, z, *s), int(got[row])
        if result != expected:
            shown = [
                f"  a{i} = {model.a_format.hex(p)} {model.a_format.describe(p)}, "
                f"b{i} = {model.b_format.hex(q)} {model.b_format.describe(q)}"
                for i, (p, q) in enumerate(zip(x, y, strict=True))
            ]
            shown.append(f"  scales {s}")
            shown.append(f"  c = {model.c_format.hex(z)} {model.c_format.describe(z)}")
            d = model.d_format
            shown.append(f"  model  {d.hex(result)} {d.describe(result)}")
            shown.append(f"  oracle {d.hex(expected)} {d.describe(expected)}")
            raise AssertionError("\n".join([repr(model), *shown]))


# --- parameter sets ----------------------------------------------------------------------------


@st.composite
def nans(draw: st.DrawFn, name: str) -> int | None:
    """None, or any NaN of a format with infinities."""
    fmt = FORMATS[name]
    sign, fraction = draw(st.booleans()), draw(st.integers(1, (1 << fmt.fraction_bits) - 1))
    word = sign << fmt.sign_bit | fmt.infinity_word | fraction << fmt.ignored_low_bits
    return draw(st.none() | st.just(word))


@st.composite
def fused_models(draw: st.DrawFn, **fixed: Any) -> FusedDotAdd:
    """Any valid FusedDotAdd of at most 8 lanes."""
    k = draw(st.integers(1, 8))
    n_fma = draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0]))
    divisors = [g for g in range(1, n_fma + 1) if n_fma % g == 0] if n_fma < k else []
    output = draw(st.sampled_from(OUTPUTS))
    every = draw(st.sampled_from([False, False, True]))
    sticky = not every and draw(st.booleans())
    floors = st.integers(-160, -10) | st.integers(-20, 20) | st.sampled_from([-4096, 4096])
    parameters: dict[str, Any] = {
        "a_format": draw(st.sampled_from(INPUTS)),
        "b_format": draw(st.sampled_from(INPUTS)),
        "c_format": draw(st.sampled_from([*OUTPUTS, *INPUTS])),
        "d_format": output,
        "k": k,
        "n_fma": n_fma,
        "interleave": draw(st.sampled_from([0, *divisors])),
        "fraction_bits": draw(st.integers(1, 30) | st.integers(1, 64) | st.just(600)),
        "products": draw(st.sampled_from(["unnormalised", "normalised"])),
        "alignment": "RTZ" if sticky else draw(st.sampled_from(["RTZ", "RTN", "RNE", *MODES])),
        "alignment_sticky": sticky,
        "carry_bits": None if every else draw(st.none() | st.integers(0, 6)),
        "normalisation": "every" if every else "once",
        "c_position": "aligned" if every else draw(st.sampled_from(["aligned", "summed", "last"])),
        "c_rounding": draw(st.sampled_from(MODES)),
        "zero_exponent": draw(floors if every else st.none() | floors),
        "rounding": draw(st.sampled_from(MODES)),
        "round_fraction_bits": draw(st.none() | st.integers(1, FORMATS[output].fraction_bits)),
        "overflow": draw(st.sampled_from(["infinity", "saturate", "ieee"])),
        "flush_inputs": draw(st.booleans()),
        "flush_outputs": draw(st.booleans()),
        "negative_zero": draw(st.booleans()),
        "nan": draw(nans(output)),
    }
    return FusedDotAdd(**parameters | fixed)


@st.composite
def ieee_models(draw: st.DrawFn) -> IeeeDotAdd:
    """Any valid IeeeDotAdd of at most 8 lanes."""
    method = draw(st.sampled_from(["sequential", "fma", "pairwise", "exact"]))
    lanes = st.sampled_from([1, 2, 4, 8]) if method == "pairwise" else st.integers(1, 6)
    k = draw(lanes)
    narrow = st.sampled_from(["f16", "bf16", "e5m2", "f32"])
    wide = st.sampled_from(["f16", "bf16", "e5m2", "f32", "f64"])
    inputs = wide if method != "exact" else narrow | st.sampled_from(INPUTS)
    output = draw(wide)
    fused = method in ("fma", "exact")
    return IeeeDotAdd(
        a_format=draw(inputs),
        b_format=draw(inputs),
        c_format=draw(inputs),
        d_format=output,
        k=k,
        method=method,
        order=draw(st.none() | st.permutations(range(k)).map(tuple)),
        c_first=draw(st.booleans()),
        product_format=None if fused else draw(st.none() | wide),
        product_rounding=draw(st.sampled_from(MODES)),
        sum_format=draw(wide),
        rounding=draw(st.sampled_from(MODES)),
        d_rounding=draw(st.sampled_from(MODES)),
        nan=draw(nans(output)),
        chains=draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0])) if method == "fma" else 1,
        product_exponent=draw(st.just(0) | st.integers(-20, 20)),
        **draw(ends()),
    )


@st.composite
def ends(draw: st.DrawFn) -> dict[str, Any]:
    """What IEEE operations do with results that are too small or too large, and with subnormal operands."""
    flush = {name: draw(st.booleans()) for name in ("flush_inputs", "flush_c", "flush_outputs")}
    read, written = flush["flush_inputs"] or flush["flush_c"], flush["flush_outputs"]
    return flush | {
        "flush_to_positive": read and draw(st.booleans()),
        "tininess": draw(st.sampled_from(["result", "before", "after"])) if written else "result",
        "overflow": draw(st.sampled_from(["ieee", "ieee", "infinity", "saturate"])),
    }


@st.composite
def dot_then_add_models(draw: st.DrawFn) -> DotThenAdd:
    """Any valid DotThenAdd of at most 8 lanes."""
    k = draw(st.integers(1, 8))
    n_fma = draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0]))
    bits = draw(st.integers(1, 30))
    operands = st.sampled_from(["f16", "bf16", "tf32", "e4m3fnuz", "e5m2fnuz", "e4m3", "e2m1"])
    a, b = (FORMATS[draw(operands)] for _ in "ab")
    beyond = max(a.e_min + b.e_max, a.e_max + b.e_min) + 1  # products of subnormal numbers
    output = draw(st.sampled_from(["f32", "f32", "f16", "bf16"]))
    normalised = draw(st.none() | st.integers(1, 40))
    return DotThenAdd(
        a_format=a,
        b_format=b,
        c_format=output if normalised else draw(st.sampled_from([output, "f32", "f16"])),
        d_format=output,
        k=k,
        n_fma=n_fma,
        lane_groups=draw(st.sampled_from([g for g in range(1, n_fma + 1) if n_fma % g == 0])),
        fraction_bits=bits,
        alignment=draw(st.sampled_from(["RTZ", "RTZ", *MODES])),
        product_limit=draw(st.none() | st.integers(beyond, max(beyond, a.e_max + b.e_max + 2))),
        dot_fraction_bits=bits + draw(st.integers(0, 10)),
        realignment=draw(st.sampled_from(["RTN", "RTN", *MODES])),
        c_reach=draw(st.none() | st.integers(1, 30) | st.just(1000)),
        normalised_fraction_bits=normalised,
        rounding=draw(st.sampled_from(MODES)),
    )


@st.composite
def grouped_models(draw: st.DrawFn) -> GroupedDotAdd:
    """Any valid GroupedDotAdd of at most 8 lanes."""
    k = draw(st.integers(1, 8))
    names = {f"{side}_format": draw(st.sampled_from(FINITE)) for side in "abcd"}
    a, b, d = (FORMATS[names[f"{side}_format"]] for side in "abd")
    exponents = st.integers(a.e_min + b.e_min - 8, a.e_min + b.e_min + 8)
    exponents |= st.integers(-300, 300) | st.sampled_from([-4096, d.e_min, 4096])
    bits = draw(st.integers(1, 30))
    return GroupedDotAdd(
        **names,  # type: ignore[arg-type]
        k=k,
        group_lanes=draw(st.sampled_from([g for g in range(1, k + 1) if k % g == 0])),
        a_first_bit=draw(st.integers(0, a.fraction_bits)),
        a_bits=draw(st.integers(1, 14)),
        b_first_bit=draw(st.integers(0, b.fraction_bits)),
        b_bits=draw(st.integers(1, 14) | st.just(30)),
        fraction_bits=draw(st.integers(1, 30)),
        alignment=draw(st.sampled_from(["RNA", "RNA", *MODES])),
        zero_exponent=draw(exponents),
        least_exponent=draw(st.none() | exponents),
        sum_fraction_bits=bits,
        group_alignment=draw(st.sampled_from(["RNU", "RNU", *MODES])),
        c_alignment=draw(st.sampled_from(["RNA", "RNA", *MODES])),
        kept_fraction_bits=draw(st.none() | st.integers(1, bits)),
        minus_one_shift=draw(st.none() | st.integers(1, 40)),
        rounding=draw(st.sampled_from(["RNA", *MODES])),
        largest_result=draw(st.none() | st.integers(1, d.largest_finite_word)),
        flush_inputs=draw(st.booleans()),
        flush_outputs=draw(st.booleans()),
        tininess=draw(st.sampled_from(["after", "before", "result"])),
    )


@st.composite
def scaled_models(draw: st.DrawFn) -> FusedDotAdd:
    """Any valid FusedDotAdd with block scales, of at most 8 lanes."""
    block = draw(st.sampled_from([1, 2, 4]))
    k = block * draw(st.integers(1, 8 // block))
    n_fma = draw(st.sampled_from([n for n in range(1, k + 1) if k % n == 0]))
    shared = min(n_fma, block)
    narrow = st.sampled_from(["e2m1", "e2m3", "e3m2"])
    group = draw(st.sampled_from([g for g in range(1, shared + 1) if block % g == 0 and n_fma % g == 0]))
    wide = st.sampled_from(["e2m1", "e4m3", "e5m2", "e3m2", "f16"])
    return draw(
        fused_models(
            a_format=draw(narrow if group > 1 else wide),
            b_format=draw(narrow if group > 1 else wide),
            k=k,
            n_fma=n_fma,
            interleave=0,
            products="unnormalised",
            normalisation="once",
            c_position="aligned",
            carry_bits=None,
            flush_inputs=False,
            scale_format=draw(st.sampled_from(["ue8m0", "ue4m3"])),
            scale_block=block,
            group=group,
        )
    )


@st.composite
def grouped_ieee_models(draw: st.DrawFn) -> IeeeDotAdd:
    """Trees and exact sums in chained blocks; subnormals flushed or not."""
    size, count = draw(st.sampled_from([1, 2, 4])), draw(st.integers(1, 3))
    exact = draw(st.booleans())
    operand = draw(st.sampled_from(["f16", "bf16", "tf32", "e5m2", "e4m3fnuz", "f32"]))
    return IeeeDotAdd(
        a_format=operand,
        b_format=operand if exact else draw(st.sampled_from(["f16", "bf16", operand])),
        c_format="f32",
        d_format="f32",
        sum_format="f32",
        k=size * count,
        n_fma=size,
        method="exact" if exact else "pairwise",
        product_format=None if exact else "f32",
        c_first=draw(st.booleans()),
        rounding=draw(st.sampled_from(["RNE", "RNE", "RTO"])),
        **draw(ends()),
        negative_zero=not exact or draw(st.booleans()),
    )


def window(model: Model) -> int:
    """The bits within which a sum keeps what it adds."""
    if isinstance(model, IeeeDotAdd):
        return model.sum_format.fraction_bits + 2
    assert isinstance(model, FusedDotAdd | DotThenAdd | GroupedDotAdd)
    return model.fraction_bits


SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow],
}


#: Every parameter of each kind of model at once, and how many rows each is tried on.
KINDS: dict[str, tuple[st.SearchStrategy[Model], int]] = {
    "fused": (fused_models(), 96),
    "block scales": (scaled_models(), 96),
    "dot then add": (dot_then_add_models(), 96),
    "groups": (grouped_models(), 96),
    "IEEE": (ieee_models(), 64),
    "chained trees and exact sums": (grouped_ieee_models(), 64),
}


def drawn_model_agrees(kind: str, data: st.DataObject, seed: int) -> None:
    models, count = KINDS[kind]
    model = data.draw(models)
    agree(model, *make_rows(model, seed, count, window(model)), *scale_rows(model, seed, count))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, **SETTINGS)
@given(data=st.data(), seed=SEEDS)
def test_drawn_models_agree_with_the_oracle(kind: str, data: st.DataObject, seed: int) -> None:
    drawn_model_agrees(kind, data, seed)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=1000, **SETTINGS)
@given(data=st.data(), seed=SEEDS)
def test_many_drawn_models_agree_with_the_oracle(kind: str, data: st.DataObject, seed: int) -> None:
    drawn_model_agrees(kind, data, seed)


#: Of known units: some of every kind of row, and more of them.
ROWS = [64, pytest.param(400, marks=pytest.mark.long)]
#: One catalogue row of each arithmetic that is not NVIDIA's plain fused sum.
UNITS = [
    "cdna1/v_mfma_f32_32x32x8f16",
    "cdna1/v_mfma_f32_32x32x4bf16",
    "cdna1/v_mfma_f32_16x16x4f32",
    "cdna2/v_mfma_f32_32x32x8f16",
    "cdna2/v_mfma_f32_32x32x4bf16",
    "cdna2/v_mfma_f32_32x32x8bf16_1k",
    "cdna2/v_mfma_f64_16x16x4f64",
    "cdna3/v_mfma_f32_16x16x16_f16",
    "cdna3/v_mfma_f32_32x32x8_bf16",
    "cdna3/v_mfma_f32_16x16x8_xf32",
    "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
    "cdna3/v_mfma_f32_32x32x8_f16@paper",
    "ampere/mma.m8n8k4.f64.f64.f64.f64",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "wormhole/mvmul.f32.f16.phase3",
    "blackhole/mvmul.bf16.tf32.phase2",
]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", UNITS)
def test_units_agree_with_the_oracle(name: str, rows: int) -> None:
    """Catalogue rows as they are."""
    model = row_named(name).model
    agree(model, *make_rows(model, 5, rows, window(model)), *scale_rows(model, 5, rows))


AMPERE = FusedDotAdd(
    a_format="f16",
    b_format="f16",
    c_format="f32",
    d_format="f32",
    k=8,
    n_fma=8,
    fraction_bits=24,
    zero_exponent=-132,
    rounding="RTZ",
)
#: One change at a time of a unit as it is built, so that each parameter is seen to matter alone.
VARIANTS: dict[str, dict[str, Any]] = {
    "Ampere": {},
    "Volta": {"k": 4, "n_fma": 4, "fraction_bits": 23, "zero_exponent": -131},
    "Hopper": {"k": 16, "n_fma": 16, "fraction_bits": 25, "zero_exponent": -133},
    "chained": {"n_fma": 4},
    "interleaved": {"n_fma": 4, "interleave": 2},
    "single products": {"n_fma": 1},
    "half output": {"c_format": "f16", "d_format": "f16", "rounding": "RNE", "zero_exponent": -20},
    "bfloat inputs": {"a_format": "bf16", "b_format": "bf16"},
    "tf32 inputs": {"a_format": "tf32", "b_format": "tf32", "k": 4, "n_fma": 4},
    "fp8 inputs": {
        "a_format": "e4m3", "b_format": "e5m2", "fraction_bits": 13, "round_fraction_bits": 13,
    },
    "normalised": {"products": "normalised"},
    "normalised, own zeros": {"products": "normalised", "zero_exponent": None},
    "own zeros": {"zero_exponent": None},
    "sticky": {"alignment_sticky": True, "rounding": "RNE"},
    "aligned down": {"alignment": "RTN"},
    "aligned to nearest": {"alignment": "RNE"},
    "no carry bits": {"carry_bits": 0},
    "enough carry bits": {"carry_bits": 4},
    "c summed": {"c_position": "summed", "alignment": "RTN", "rounding": "RNE"},
    "c last": {"c_position": "last", "n_fma": 4, "interleave": 1},
    "every addition": {"normalisation": "every"},
    "saturating": {"overflow": "saturate", "a_format": "bf16", "b_format": "bf16"},
    "flushing": {"flush_inputs": True, "flush_outputs": True},
    "negative zero": {"negative_zero": True},
    "another NaN": {"nan": 0xFFC00001},
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("change", VARIANTS.values(), ids=VARIANTS)
def test_one_parameter_at_a_time(change: dict[str, Any], rows: int) -> None:
    """A known unit with one change."""
    model = replace(AMPERE, **change)
    agree(model, *make_rows(model, 1, rows, window(model)))


IEEE = IeeeDotAdd(a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=2, sum_format="f32")
IEEE_VARIANTS: dict[str, dict[str, Any]] = {
    "exact products": {},
    "rounded products": {"product_format": "f16", "sum_format": "f16"},
    "c last": {"c_first": False},
    "c last, wide products": {"c_first": False, "product_format": "f32", "sum_format": "f16"},
    "c last, exact products": {"c_first": False, "sum_format": "f16"},
    "another order": {"order": (1, 3, 0, 2), "sum_format": "f16"},
    "wide c": {"c_format": "f64", "sum_format": "f16", "d_format": "f16"},
    "fused": {"method": "fma"},
    "fused, wide c": {"method": "fma", "c_format": "f64", "sum_format": "bf16"},
    "binary64": {
        "method": "fma", "a_format": "f64", "b_format": "f64", "c_format": "f64",
        "d_format": "f64", "sum_format": "f64",
    },
    "pairwise": {"method": "pairwise", "sum_format": "f16"},
    "pairwise, rounded products": {"method": "pairwise", "product_format": "f16"},
    "exact": {"method": "exact"},
    "exact, rounded twice": {"method": "exact", "sum_format": "f32", "d_format": "f16"},
    "rounding down": {"rounding": "RTN", "d_rounding": "RTN"},
    "exact, rounding down": {"method": "exact", "rounding": "RTN"},
    "another NaN": {"nan": 0xFFC00001},
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("change", IEEE_VARIANTS.values(), ids=IEEE_VARIANTS)
def test_one_ieee_parameter_at_a_time(change: dict[str, Any], rows: int) -> None:
    """Known orders of IEEE 754 operations."""
    model = replace(IEEE, k=4, **change)
    agree(model, *make_rows(model, 1, rows, window(model)))


@pytest.mark.parametrize("name", mostly_long(["f16", "e5m2", "bf16"], ["f16"]))
@pytest.mark.parametrize("method", ["exact", "fma", "sequential", "pairwise", "fused"])
def test_sums_of_the_largest_numbers(name: str, method: str) -> None:
    """Every lane at the end of the range, with as many negative ones as you like: no wrapping."""
    wide = {"a_format": name, "b_format": name, "c_format": name, "d_format": "f64", "k": 16}
    model: Model = replace(AMPERE, **wide, n_fma=16, rounding="RNE", alignment="RA")
    if method != "fused":
        model = replace(IEEE, **wide, method=method, sum_format="f64")
    fmt = FORMATS[name]
    largest, sign = np.uint64(fmt.largest_finite_word), np.uint64(1 << fmt.sign_bit)
    negative = np.arange(17)[:, None] > np.arange(16)
    a = np.where(negative, largest | sign, largest)
    for c in (largest, largest | sign):
        agree(model, a, np.full_like(a, largest), np.full(17, c))


@pytest.mark.long
def test_every_pair_of_input_formats() -> None:
    """Decoding and multiplying, for all combinations of a and b."""
    for a in INPUTS:
        for b in INPUTS:
            model = replace(AMPERE, a_format=a, b_format=b, k=2, n_fma=2)
            agree(model, *make_rows(model, 2, 24, model.fraction_bits))


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m1", "e3m2", "e4m3fnuz", "ue4m3", "ue8m0"])
def test_all_products_of_a_small_format(name: str) -> None:
    """One lane: every word of a, by a spread of words of b."""
    fmt = FORMATS[name]
    model = replace(AMPERE, a_format=name, b_format=name, k=1, n_fma=1)
    words = np.arange(1 << fmt.width, dtype=np.uint64)
    a, b = np.repeat(words, 4), np.tile(words[:: max(1, len(words) // 16)], len(words) * 4)
    agree(model, a[:, None], b[: len(a), None], np.zeros(len(a), np.uint64))
