"""The oracle held against the papers, the machine's own floats, and recorded GPU outputs."""

import json
import math
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.oracles.rationals import FDA, FORMATS, IEEE, decode, encode, fda, ieee_dot, round_to_grid

Vector = Sequence[Fraction | float]
Lanes = tuple[Vector, Vector]
Case = tuple[Vector, Vector, Fraction | float]

NAN_F16, NAN_F32 = 0x7FFF, 0x7FFFFFFF  # NVIDIA's canonical NaNs (MMA-Sim, FDA step 1)

VOLTA = FDA(
    a_format="f16",
    b_format="f16",
    c_format="f32",
    d_format="f32",
    k=4,
    n_fma=4,
    fraction_bits=23,
    zero_exponent=-131,
    rounding="RTZ",
    nan=NAN_F32,
)
AMPERE = replace(VOLTA, k=8, n_fma=8, fraction_bits=24, zero_exponent=-132)
HOPPER = replace(VOLTA, k=16, n_fma=16, fraction_bits=25, zero_exponent=-133)


def p(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(2) ** exponent


def word(fmt: str, x: Fraction | float) -> int:
    """The word of a number that the format holds exactly."""
    result = encode(fmt, Fraction(x), "RNE")
    assert decode(fmt, result).value == x
    return result


def dot(params: FDA, a: Vector, b: Vector, c: Fraction | float) -> Fraction:
    """`fda` on numbers: lanes not given are zero."""
    a_words = [word(params.a_format, x) for x in a] + [0] * (params.k - len(a))
    b_words = [word(params.b_format, x) for x in b] + [0] * (params.k - len(b))
    return decode(params.d_format, fda(params, a_words, b_words, word(params.c_format, c))).value


def float_word(x: float, fmt: str = "<f") -> int:
    """The word that this machine gives a float (binary64 to `fmt` rounds to nearest even)."""
    try:
        return int.from_bytes(struct.pack(fmt, x), "little")
    except OverflowError:
        positive, negative = {"<e": (0x7C00, 0xFC00), "<f": (0x7F800000, 0xFF800000)}[fmt]
        return positive if x > 0 else negative


# --- Formats and rounding ----------------------------------------------------------------------


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.long)])
def test_every_f16_word_agrees_with_struct(step: int) -> None:
    """decode of words, of all 65536 for step 1, and encode back."""
    for bits in range(0, 1 << 16, step):
        (expected,) = struct.unpack("<e", bits.to_bytes(2, "little"))
        number = decode("f16", bits)
        if math.isnan(expected):
            assert number.kind == "nan"
        elif math.isinf(expected):
            assert number.kind == "inf" and number.sign == bits >> 15
        else:
            assert number.value == Fraction(expected)
            assert number.sign == bits >> 15
            assert encode("f16", number.value, "RNE", negative_zero=bits == 0x8000) == bits


@pytest.mark.parametrize("count", [1500, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "fmt", "low", "high"), [("f32", "<f", -152, 130), ("f16", "<e", -27, 18)])
def test_rounding_to_nearest_agrees_with_struct(name: str, fmt: str, low: int, high: int, count: int) -> None:
    """binary64 to binary32 and binary16: normal, subnormal, underflow, overflow and ties."""
    rng = random.Random(1)
    kept = FORMATS[name].fraction_bits
    for _ in range(count):
        significand = rng.choice([rng.getrandbits(52) / 2**52, rng.getrandbits(kept + 1) / 2 ** (kept + 1)])
        x = math.ldexp(1 + significand, rng.randint(low, high)) * rng.choice([1, -1])
        assert encode(name, Fraction(x), "RNE", keep_zero_sign=True) == float_word(x, fmt)
        assert word("f64", Fraction(x)) == float_word(x, "<d")


@pytest.mark.parametrize(
    "name",
    [
        "e5m2",
        "e4m3",
        "e3m2",
        "e2m3",
        "e2m1",
        "e4m3fnuz",
        "e5m2fnuz",
        pytest.param("bf16", marks=pytest.mark.long),
    ],
)
def test_small_formats_round_trip(name: str) -> None:
    """Each finite word is its own encoding, and words grow with values."""
    fmt = FORMATS[name]
    half = 1 << fmt.sign_position
    numbers = {bits: decode(name, bits) for bits in range(2 * half)}
    finite = {bits: x for bits, x in numbers.items() if x.kind == "finite"}
    for bits, x in finite.items():
        assert encode(name, x.value, "RTZ", negative_zero=bits == half) == bits
    positive = [x.value for bits, x in finite.items() if bits < half]
    assert positive == sorted(set(positive))
    assert positive[-1] == fmt.max_finite
    counts = [sum(x.kind == kind for x in numbers.values()) for kind in ("nan", "inf")]
    nans_of_ieee = 2 * ((1 << fmt.fraction_bits) - 1)
    assert counts == {"ieee": [nans_of_ieee, 2], "ocp": [2, 0], "fnuz": [1, 0], "none": [0, 0]}[fmt.specials]


def test_published_range_of_the_small_formats() -> None:
    """Largest and smallest numbers of the OCP FP8 and MX specifications and of AMD's FNUZ."""
    largest = {name: float(FORMATS[name].max_finite) for name in FORMATS}
    assert largest["e4m3"] == 448 and largest["e5m2"] == 57344
    assert largest["e3m2"] == 28 and largest["e2m3"] == 7.5 and largest["e2m1"] == 6
    assert largest["e4m3fnuz"] == 240 and largest["e5m2fnuz"] == 57344
    smallest = {name: decode(name, 1).value for name in FORMATS if FORMATS[name].padding == 0}
    assert smallest["e4m3"] == p(-9) and smallest["e5m2"] == p(-16)
    assert smallest["e3m2"] == p(-4) and smallest["e2m3"] == p(-3) and smallest["e2m1"] == p(-1)
    assert smallest["e4m3fnuz"] == p(-10) and smallest["e5m2fnuz"] == p(-17)
    assert decode("e8m0", 0).value == p(-127) and decode("e8m0", 255).kind == "nan"
    assert decode("ue4m3", 0xFE) == decode("e4m3", 0x7E) and decode("ue4m3", 0xFF).kind == "nan"


def test_tf32_ignores_its_low_bits() -> None:
    """MMA-Sim, "TF32 truncation": the NaN 0x7F800001 is read as an infinity."""
    assert decode("tf32", 0x7F800001).kind == "inf"
    assert decode("tf32", 0x3F801FFF).value == 1
    assert word("tf32", 1 + p(-10)) == 0x3F802000


def test_rounding_modes() -> None:
    """MMA-Sim, Tables I and II: four ties, and two inexact numbers that are no ties."""
    xs = [Fraction(x) for x in (0.5, 1.5, -0.5, -1.5, 0.25, -0.75)]
    expected = {
        "RNE": [0, 2, 0, -2, 0, -1],
        "RNA": [1, 2, -1, -2, 0, -1],
        "RNZ": [0, 1, 0, -1, 0, -1],
        "RNU": [1, 2, 0, -1, 0, -1],
        "RND": [0, 1, -1, -2, 0, -1],
        "RNO": [1, 1, -1, -1, 0, -1],
        "RTZ": [0, 1, 0, -1, 0, 0],
        "RTP": [1, 2, 0, -1, 1, 0],
        "RTN": [0, 1, -1, -2, 0, -1],
        "RA": [1, 2, -1, -2, 1, -1],
        "RTO": [1, 1, -1, -1, 1, -1],
    }
    for mode, integers in expected.items():
        assert [round_to_grid(x, Fraction(1), mode) for x in xs] == integers


def test_overflow_and_reduced_precision() -> None:
    """Overflow is decided after rounding; IEEE 754, 7.4 for its direction."""
    just_below, tie = Fraction(65519), Fraction(65520)
    assert encode("f16", just_below, "RNE") == 0x7BFF
    assert encode("f16", tie, "RNE") == 0x7C00
    assert encode("f16", tie, "RTZ", overflow="infinity") == 0x7BFF
    assert encode("f16", p(16), "RTZ", overflow="infinity") == 0x7C00
    assert encode("f16", p(16), "RTZ", overflow="ieee") == 0x7BFF
    assert encode("f16", p(16), "RTP", overflow="ieee") == 0x7C00
    assert encode("f16", -p(16), "RTP", overflow="ieee") == 0xFBFF
    assert encode("f16", -p(16), "RA", overflow="ieee") == 0xFC00
    assert encode("f16", -p(99), "RNE", overflow="saturate") == 0xFBFF
    assert encode("f32", p(128), "RTZ", 13, overflow="saturate") == 0x7F7FFC00
    assert encode("f32", 1 + p(-13) + p(-14), "RTZ", 13) == 0x3F800400
    assert encode("f32", p(-140), "RTZ", 13) == 0  # subnormal unit: 2^(-126-13)
    assert encode("f32", p(-139), "RTZ", 13) == 1 << 10
    assert encode("f32", p(-126) - p(-149), "RNE", flush_output=True) == 0
    assert encode("f32", p(-126) - p(-151), "RNE", flush_output=True) == 0x00800000
    assert encode("e4m3", Fraction(464), "RNE", overflow="saturate") == 0x7E


def test_tininess() -> None:
    """A value just below the smallest normal number, rounded to it or not (IEEE 754, 7.5)."""
    smallest = 0x00800000

    def flushed(x: Fraction, tininess: str) -> int:
        return encode("f32", x, "RNE", flush_output=True, tininess=tininess)

    for below, kept in ((-150, {"result"}), (-151, {"result", "after"}), (-149, set())):
        for tininess in ("result", "after", "before"):
            word = flushed(p(-126) - p(below), tininess)
            assert word == (smallest if tininess in kept else 0), (below, tininess)
    assert all(flushed(p(-126), tininess) == smallest for tininess in ("result", "after", "before"))


# --- Fused dot-product-add: the papers' facts --------------------------------------------------


def test_products_are_not_normalised() -> None:
    """Khattak and Mikaitis, IV-A1 (V100), IV-A2 (A100) and IV-A5 (H100)."""
    tiny = [p(-12), p(-12)]
    by_unnormalised = dot(VOLTA, [1.5, *tiny], [1.5, p(-11), p(-11)], 0)
    assert by_unnormalised == Fraction(2.25) + p(-22)
    assert dot(VOLTA, [1, *tiny], [2.25, p(-11), p(-11)], 0) == 2.25
    assert dot(VOLTA, [0, *tiny], [0, p(-11), p(-11)], 2.25) == 2.25
    normalising = replace(VOLTA, products="normalised")
    assert dot(normalising, [1.5, *tiny], [1.5, p(-11), p(-11)], 0) == 2.25

    a100: Case = ([1.5, p(-12), p(-12), p(-12)], [1.5, p(-11), p(-12), p(-12)], 0)
    assert dot(AMPERE, *a100) == Fraction(2.25) + p(-22)
    assert dot(VOLTA, *a100) == 2.25
    h100: Case = ([1.5, p(-12), p(-13)], [1.5, p(-11) + p(-12) + p(-13), p(-12)], 0)
    assert dot(HOPPER, *h100) == Fraction(2.25) + p(-22)
    assert dot(AMPERE, *h100) == 2.25


def test_fp8_of_ada_keeps_13_fraction_bits() -> None:
    """Khattak and Mikaitis, IV-A4: 1 + 2^-13 + 2^-13 = 1 + 2^-12; c = 1 swallows 2^-14 + 2^-14."""
    ada = measured_model("ada", "e5m2", "f32", 32)
    assert dot(ada, [1, p(-7), p(-7)], [1, p(-6), p(-6)], 0) == 1 + p(-12)
    assert dot(ada, [p(-7), p(-7)], [p(-7), p(-7)], 1) == 1


def test_interleaved_lanes_of_fp8_on_fp16_units() -> None:
    """Khattak and Mikaitis, IV-A5: with p1 = 1, p2 = 2^-24, which third lane joins their sum."""
    hopper = measured_model("b200", "e5m2", "f32", 32)
    for lane in range(2, 32):
        a = [Fraction(1), p(-12)] + [p(-12) if i == lane else Fraction(0) for i in range(2, 32)]
        b = [Fraction(1), p(-12)] + [p(-12)] * 30
        assert dot(hopper, a, b, 0) == (1 + p(-23) if lane % 4 in (0, 1) else 1)
    # c is added last, rounded to nearest even: 1 + (2^-24 + 2^-46) rounds up.
    assert dot(hopper, [p(-12), p(-15)], [p(-12), p(-15)], 1) == 1 + p(-23)


def test_subnormals_and_exact_products() -> None:
    """Fasi et al., 3.1.1 and 3.1.2."""
    half = replace(VOLTA, c_format="f16", d_format="f16", rounding="RNE", zero_exponent=-19)
    half = replace(half, nan=NAN_F16)
    for unit in (VOLTA, half):
        assert dot(unit, [p(-24)], [4], 0) == p(-22)
        assert dot(unit, [p(-14)], [0.5], 0) == p(-15)
        assert dot(unit, [p(-14)], [1], -p(-15)) == p(-15)
    assert dot(VOLTA, [], [], p(-149)) == p(-149)
    near_one = 1 - p(-11)
    assert dot(VOLTA, [near_one] * 4, [near_one] * 4, 0) == 4 * (1 - p(-10) + p(-22))
    assert dot(half, [near_one] * 2, [near_one, p(-11)], 0) == 1 - p(-10) + p(-11)


def test_rounding_of_volta() -> None:
    """Fasi et al., 3.1.3: toward zero in binary32, to nearest in binary16."""
    b = [Fraction(2), p(-23) + p(-24)]
    assert dot(VOLTA, [1, 1], b, 0) == 2
    assert dot(VOLTA, [1, 1], [-x for x in b], 0) == -2
    half = replace(VOLTA, c_format="f16", d_format="f16", rounding="RNE", zero_exponent=-19)
    assert dot(half, [p(-24)] * 2, [0.5, 0.25], 0) == p(-24)


def test_accumulator_of_volta() -> None:
    """Fasi et al., 3.1.4: no guard bit, one normalisation, carry bits."""
    ones = [1, 1, 1, 1]
    assert dot(VOLTA, ones, [1], -1 + p(-24)) == p(-23)  # no guard digit
    assert dot(VOLTA, ones, [1, -p(-24)], -1 + p(-24)) == p(-23)  # no left normalisation
    for place in range(4):
        b = [p(-23) if i == place else Fraction(1) for i in range(4)]
        assert dot(VOLTA, ones, b, 1 + p(-22) + p(-23)) == 4 + p(-21)
    eight = (ones, [1, 1.5, 1.75, 1.875], 1.875)
    assert dot(VOLTA, *eight) == 8
    assert dot(replace(VOLTA, carry_bits=2), *eight) == 8
    assert dot(replace(VOLTA, carry_bits=1), *eight) == -8  # wraps: 3 integer bits and a sign


def test_non_monotonic_sum() -> None:
    """Fasi et al., 3.1.4, the last test: a larger c, a smaller d; not so if each sum normalises."""
    lanes = ([1, 1, 1, 1], [p(-24)] * 4)
    assert dot(VOLTA, *lanes, 1 - p(-24)) == 1 + p(-23)
    assert dot(VOLTA, *lanes, 1) == 1
    assert dot(replace(VOLTA, normalisation="every"), *lanes, 1 - p(-24)) == 1


def test_rounding_down_in_cdna3() -> None:
    """MMA-Sim, A4: 2048*2048 - 2048*2048 - 0.000001 is -0.25 where c is rounded down."""
    cdna3 = replace(VOLTA, fraction_bits=24, alignment="down", c_position="summed", rounding="RNE")
    tiny = decode("f32", float_word(-1e-6)).value
    assert dot(cdna3, [2048, 2048], [2048, -2048], tiny) == -0.25
    assert dot(replace(cdna3, alignment="truncate"), [2048, 2048], [2048, -2048], tiny) == 0


def test_alignment_rules() -> None:
    """1 - x for an x of three quarters of the last place, and the OR of what is below."""
    unit = replace(VOLTA, d_format="f64", fraction_bits=4, rounding="RTZ")
    lanes: Lanes = ([1, 1], [1, -p(-5) - p(-6)])
    assert dot(replace(unit, alignment="truncate"), *lanes, 0) == 1
    assert dot(replace(unit, alignment="down"), *lanes, 0) == 1 - p(-4)
    assert dot(replace(unit, alignment="nearest"), *lanes, 0) == 1 - p(-4)
    assert dot(replace(unit, alignment="sticky"), *lanes, 0) == 1 - p(-5)


def test_special_values_and_zeros() -> None:
    """MMA-Sim, FDA step 1, and the sign of zero results."""
    inf16, inf32, one, zero = [0x7C00, 0, 0, 0], 0x7F800000, [0x3C00] * 4, [0] * 4
    assert fda(VOLTA, [0x7C01, 0, 0, 0], one, 0) == NAN_F32
    assert fda(VOLTA, inf16, zero, 0) == NAN_F32
    assert fda(VOLTA, inf16, one, inf32 | 1 << 31) == NAN_F32
    assert fda(VOLTA, inf16, one, 0) == inf32
    assert fda(VOLTA, zero, one, inf32 | 1 << 31) == inf32 | 1 << 31
    assert fda(replace(VOLTA, flush_inputs=True), inf16, [1, 0, 0, 0], 0) == NAN_F32
    assert fda(VOLTA, [0x8000] * 4, one, 1 << 31) == 0
    signed = replace(VOLTA, negative_zero=True)
    assert fda(signed, [0x8000] * 4, one, 1 << 31) == 1 << 31
    assert fda(signed, [0x8000] * 4, one, 0) == 0
    # The exponent of a zero product decides whether the smallest subnormal c survives.
    assert fda(VOLTA, zero, zero, 1) == 1
    assert fda(replace(VOLTA, zero_exponent=-125), zero, zero, 1) == 0
    chained = replace(VOLTA, k=8)
    assert fda(chained, inf16 + zero, zero + zero, 0) == NAN_F32


# --- IEEE dot products -------------------------------------------------------------------------

DOUBLE = IEEE(
    a_format="f64",
    b_format="f64",
    c_format="f64",
    d_format="f64",
    k=8,
    method="sequential",
    product_format="f64",
    sum_format="f64",
    nan=0x7FF8000000000000,
)


def python_sequential(a: list[float], b: list[float], c: float) -> float:
    """c first, this machine's binary64."""
    for x, y in zip(a, b, strict=True):
        c = c + x * y
    return c


def python_c_last(a: list[float], b: list[float], c: float) -> float:
    """c last, this machine's binary64."""
    products = [x * y for x, y in zip(a, b, strict=True)]
    total = products[0]
    for term in products[1:]:
        total = total + term
    return total + c


def python_pairwise(a: list[float], b: list[float], c: float) -> float:
    """A tree of this machine's binary64 additions."""
    level = [x * y for x, y in zip(a, b, strict=True)]

    def tree(terms: list[float]) -> float:
        half = len(terms) // 2
        return terms[0] if half == 0 else tree(terms[:half]) + tree(terms[half:])

    return tree(level) + c


def python_exact(a: list[float], b: list[float], c: float) -> float:
    """The exact sum, rounded once by Fraction's correctly rounded conversion."""
    exact = sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(c))
    return float(exact)


@pytest.mark.parametrize("count", [100, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("params", "reference"),
    [
        (DOUBLE, python_sequential),
        (replace(DOUBLE, c_first=False), python_c_last),
        (replace(DOUBLE, method="pairwise"), python_pairwise),
        (replace(DOUBLE, method="exact", product_format=None), python_exact),
    ],
)
def test_ieee_dot_agrees_with_this_machine(
    params: IEEE, reference: Callable[[list[float], list[float], float], float], count: int
) -> None:
    """Random vectors with cancellation and signed zeros, in binary64."""
    rng = random.Random(2)
    for row in range(count):
        values = [rng.choice([-1, 1]) * math.ldexp(rng.random(), rng.randint(-30, 30)) for _ in range(17)]
        if row % 3 == 0:
            values = [rng.choice([0.0, -0.0, 1.0, -1.0]) for _ in range(17)]
        a, b, c = values[:8], values[8:16], values[16]
        words = [float_word(x, "<d") for x in values]
        expected = float_word(reference(a, b, c), "<d")
        if params.method == "exact" and expected == 0:  # a Fraction has no -0: tested below
            expected = ieee_dot(params, words[:8], words[8:16], words[16]) & 1 << 63
        assert ieee_dot(params, words[:8], words[8:16], words[16]) == expected


def test_fp64_unit_is_a_chain_of_fma() -> None:
    """Khattak and Mikaitis, IV-A2: of the permutations of 1, 2^-53, 2^-53 one gives 1 + 2^-52."""
    dmma = replace(DOUBLE, k=2, method="fma", product_format=None)
    one, tiny = word("f64", 1), word("f64", p(-53))
    results = {
        (c, p1, p2): ieee_dot(dmma, [p1, p2], [one, one], c)
        for c, p1, p2 in [(tiny, tiny, one), (tiny, one, tiny), (one, tiny, tiny)]
    }
    assert results.pop((tiny, tiny, one)) == word("f64", 1 + p(-52))
    assert set(results.values()) == {one}
    # One rounding for each multiply-add: (1 + 2^-30)^2 - (1 + 2^-29) = 2^-60.
    x, c = word("f64", 1 + p(-30)), word("f64", -1 - p(-29))
    assert ieee_dot(dmma, [x, 0], [x, 0], c) == word("f64", p(-60))


def test_ieee_zeros_and_specials() -> None:
    """IEEE 754, 6.3 (sign of zero), 7.2 (invalid), 7.4 (overflow)."""
    minus, one, inf = 1 << 63, word("f64", 1), 0x7FF << 52
    for method in ("sequential", "fma", "pairwise", "exact"):
        unit = replace(DOUBLE, k=1, method=method, product_format=None)
        assert ieee_dot(unit, [minus], [one], minus) == minus
        assert ieee_dot(unit, [minus], [one], 0) == 0
        assert ieee_dot(unit, [one], [one], one | minus) == 0
        down = replace(unit, rounding="RTN")
        assert ieee_dot(down, [one], [one], one | minus) == minus
        assert ieee_dot(down, [0], [one], 0) == 0
        assert ieee_dot(unit, [inf], [0], 0) == unit.nan
        assert ieee_dot(unit, [inf], [one], inf | minus) == unit.nan
        assert ieee_dot(unit, [inf], [one], one) == inf
        assert ieee_dot(replace(unit, d_format="f32", nan=NAN_F32), [one], [1], 0) == 0
        top = word("f64", FORMATS["f64"].max_finite)
        assert ieee_dot(replace(unit, rounding="RTZ"), [top], [top], 0) == top
        assert ieee_dot(unit, [top], [top | minus], 0) == inf | minus


# --- Recorded hardware -------------------------------------------------------------------------


def measured_model(gpu: str, in_format: str, out_format: str, k: int) -> FDA:
    """The unit behind a recorded file (hardware/README.md; Khattak and Mikaitis, Table II)."""
    generation = {"v100": 0, "a100": 1, "ada": 1, "rtx3080": 1, "rtx4090": 1, "h200": 2, "b200": 2}
    g = generation[gpu]
    wide = out_format == "f32"
    fp8 = in_format in ("e4m3", "e5m2")
    unit = FDA(
        a_format=in_format,
        b_format=in_format,
        c_format=out_format,
        d_format=out_format,
        k=k,
        n_fma=4 if in_format == "tf32" else (4, 8, 16)[g],
        fraction_bits=(23, 24, 25)[g],
        zero_exponent=((-131, -132, -133) if wide else (-19, -20, -21))[g],
        rounding="RTZ" if wide else "RNE",
        nan=NAN_F32 if wide else NAN_F16,
    )
    if not fp8:
        return unit
    if gpu == "ada" or (gpu == "h200" and wide):
        narrow = replace(unit, fraction_bits=13, n_fma=16 if gpu == "ada" else 32)
        return replace(narrow, round_fraction_bits=13) if wide else narrow
    return replace(unit, interleave=2, c_position="last")


def replay_rows(path: Path, rows: int) -> list[int]:
    """The rows of a recorded .npz on which the oracle and the GPU differ."""
    gpu, in_format, out_format = path.stem.split("_")
    data = np.load(path)
    a, b, c, d = (data[name][:rows].tolist() for name in "abcd")
    params = measured_model(gpu, in_format, out_format, len(a[0]))
    if gpu == "h200" and in_format in ("e4m3", "e5m2") and out_format == "f32":
        c = [0] * rows  # wgmma was called with C = 0
    if out_format == "f16":  # the host rounded c before the call
        c = [encode("f16", decode("f32", x).value, "RNE") for x in c]
    return [i for i in range(rows) if fda(params, a[i], b[i], c[i]) != d[i]]


def replay_cases(path: Path) -> list[str]:
    """The directed cases of a recorded .json on which the oracle and the GPU differ."""
    params = measured_model(path.stem.split("_", maxsplit=1)[0], "f16", "f32", 16)
    different = []
    for case in json.loads(path.read_text())["cases"]:
        a, b = ([int(x, 16) for x in case[name]] + [0] * 12 for name in "ab")
        if fda(params, a, b, int(case["c"], 16)) != int(case["d"], 16):
            different.append(case["case"])
    return different


@pytest.mark.parametrize("rows", [20, pytest.param(200, marks=pytest.mark.long)])
def test_recorded_hardware_is_reproduced(rows: int, measured_data: Path) -> None:
    """Every recorded file: some rows of each random one, all cases of each directed one."""
    folder = measured_data
    files = {row["file"] for row in json.loads((folder / "manifest.json").read_text())}
    differing: dict[str, list[int] | list[str]] = {}
    for name in sorted(files):
        path = folder / name
        different = replay_rows(path, rows) if path.suffix == ".npz" else replay_cases(path)
        if different:
            differing[name] = different
    assert files == {path.name for path in folder.iterdir()} - {"README.md", "manifest.json"}
    assert differing == {}
