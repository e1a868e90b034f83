"""The units of x86 and Arm CPUs against an oracle written from the manuals (:mod:`tests.oracles.cpus`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcsmt
from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.words import unsigned
from tcsmt.catalogue import row_named, rows
from tcsmt.models import Model, Operands
from tcsmt.simulator.rows import run_words
from tcsmt.statements.verdict import Distinguished, Equivalent
from tests.oracles import cpus
from tests.support.sampling import one_in

Array = np.ndarray[Any, np.dtype[Any]]
NAMES = [row.name for row in rows() if row.architecture in ("x86", "arm") and row.name in cpus.UNITS]
ODD_ONES_OUT = {"arm/bfdot.ebf0@qemu-ah", "arm/bfmmla.ebf0@qemu-ah", "arm/bfmopa.ebf0@qemu-ah"}


def test_every_unit_has_an_oracle() -> None:
    """Integers (VNNI) have one of their own."""
    floats = [
        row for row in rows() if row.architecture in ("x86", "arm") and row.model.kind == "ieee-dot-add"
    ]
    assert {row.name for row in floats} - ODD_ONES_OUT == set(cpus.UNITS) == set(NAMES)


def boundary_words(fmt: Format) -> list[int]:
    """Zeros, the ends of the subnormal and normal numbers and their neighbours, one, infinities, NaNs."""
    normal, top = 1 << fmt.fraction_bits, ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
    one = fmt.bias << fmt.fraction_bits
    quiet = top | normal >> 1
    places = [0, 1, 2, normal - 1, normal, normal + 1, 2 * normal, one, one + 1]
    places += [top - 1, top, top + 1, quiet, quiet | 1, (1 << fmt.sign_bit) - 1]
    words = {word for word in places if 0 <= word < 1 << fmt.sign_bit}
    return sorted(words | {word | 1 << fmt.sign_bit for word in words})


def words_near(fmt: Format, rng: np.random.Generator, exponent: Array) -> Array:
    """Words of these exponents, as far as there are any, with random and with sparse fractions."""
    size = exponent.shape
    fraction = rng.integers(0, 1 << fmt.fraction_bits, size)
    fraction = np.where(rng.random(size) < 0.3, 0, fraction)
    fraction = np.where(rng.random(size) < 0.1, (1 << fmt.fraction_bits) - 1, fraction)
    field = np.clip(exponent + fmt.bias, 0, (1 << fmt.exponent_bits) - 2)
    return rng.integers(0, 2, size) << fmt.sign_bit | field << fmt.fraction_bits | fraction


def some_rows(model: Model, seed: int, count: int) -> tuple[Array, Array, Array]:
    """Random words, boundary words, sums that cancel, and results about the smallest normal number."""
    rng = np.random.default_rng(seed)
    a_format, b_format, c_format, shape = model.a_format, model.b_format, model.c_format, (count, model.k)
    least = c_format.e_min
    top = np.where(
        rng.random((count, 1)) < 0.5, rng.integers(least - 30, least + 6, (count, 1)),
        rng.integers(least, c_format.e_max + 3, (count, 1)),
    )  # fmt: skip
    wanted = top - rng.integers(0, c_format.fraction_bits + 4, shape) * rng.integers(0, 2, shape)
    left = np.clip(wanted // 2 + rng.integers(-3, 4, shape), a_format.e_min, a_format.e_max)
    a = words_near(a_format, rng, left)
    b = words_near(b_format, rng, wanted - left)
    c = words_near(c_format, rng, top[:, 0] - rng.integers(-1, c_format.fraction_bits + 4, count))
    if model.k > 1:
        undone = rng.random(count) < 0.2
        a[undone, 1] = a[undone, 0] ^ (1 << a_format.sign_bit)
        b[undone, 1] = b[undone, 0]
    kind = np.arange(count) % 8
    for fmt, words in ((a_format, a), (b_format, b), (c_format, c)):
        chance = np.choose(kind, [0, 0, 0, 0.2, 0.2, 0.9, 0, 0])
        chance = chance if words.ndim == 1 else chance[:, None]
        words[...] = np.where(
            rng.random(words.shape) < chance, rng.choice(boundary_words(fmt), words.shape), words
        )
        wild = rng.integers(0, 1 << fmt.width, words.shape)
        words[kind == 6] = wild[kind == 6]
    return a, b, c


def agree(name: str, a: Array, b: Array, c: Array) -> None:
    model, oracle = row_named(name).model, cpus.UNITS[name]
    formats = (model.a_format, model.b_format, model.c_format)
    given_words = [x.astype(unsigned(f)) for x, f in zip((a, b, c), formats, strict=True)]
    got = run_words(model, Operands(*given_words))
    for i in range(len(c)):
        expected = oracle(a[i].tolist(), b[i].tolist(), int(c[i]))
        row = [[hex(int(x)) for x in side] for side in (a[i], b[i], c[i : i + 1])]
        assert int(got[i]) == expected, (name, row, hex(int(got[i])), hex(expected))


@pytest.mark.parametrize("count", [150, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_every_kind(name: str, count: int) -> None:
    agree(name, *some_rows(row_named(name).model, 1, count))


@pytest.mark.parametrize(
    "name", one_in(2, ["x86/vdpbf16ps", "arm/bfdot.ebf0", "arm/bfdot.ebf1", "arm/fmlal"])
)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_drawn_words(name: str, data: st.DataObject) -> None:
    model = row_named(name).model

    def word(fmt: Format) -> int:
        return data.draw(st.sampled_from(boundary_words(fmt)) | st.integers(0, (1 << fmt.width) - 1))

    a, b = ([[word(fmt) for _ in range(model.k)]] for fmt in (model.a_format, model.b_format))
    agree(name, np.array(a), np.array(b), np.array([word(model.c_format)]))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param("x86/tdpbf16ps", "x86/tdpbf16ps@guide", marks=pytest.mark.long),  # 32 lanes
        ("arm/bfdot.ebf0", "arm/bfdot.ebf1"),
        ("x86/vdpbf16ps", "arm/bfdot.ebf1"),
    ],
)
def test_a_witness_tells_two_units_apart(one: str, two: str) -> None:
    """Its words by the oracle, which knows neither model."""
    verdict = tcsmt.compare(one, two, confirm=False).verdict
    assert isinstance(verdict, Distinguished)
    k = row_named(one).model.k
    a, b = ([verdict.values[f"{side}{lane}"] for lane in range(k)] for side in "ab")
    words = [cpus.UNITS[name](a, b, verdict.values["c"]) for name in (one, two)]
    assert words[0] != words[1]


def test_the_vector_that_decides_between_intel_s_documents() -> None:
    """a = b = (1, 1), c = 2^24: the manual gives 2^24 + 2, the Intrinsics Guide 2^24."""
    ones, c = [0x3F80] * 2 + [0] * 30, 0x4B800000
    words = np.array([ones])
    for name, expected in (("x86/tdpbf16ps", 0x4B800001), ("x86/tdpbf16ps@guide", 0x4B800000)):
        agree(name, words, words, np.array([c]))
        assert cpus.UNITS[name](ones, ones, c) == expected


def test_the_same_arithmetic_is_one_graph() -> None:
    for ebf in ("ebf0", "ebf1"):
        assert isinstance(tcsmt.compare(f"arm/bfdot.{ebf}", f"arm/bfmopa.{ebf}").verdict, Equivalent)
    # with EBF = 0, a chain reads each result as an operand once more, which a solver would have to see
    assert isinstance(tcsmt.compare("arm/bfdot.ebf1", "arm/bfmmla.ebf1").verdict, Equivalent)
