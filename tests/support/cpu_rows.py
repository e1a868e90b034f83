"""Rows of the units of CPUs, held against the oracle written from the manuals (:mod:`tests.oracles.cpus`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import tcsmt
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.simulate.rows import run_words
from tests.oracles import cpus

Array = np.ndarray[Any, np.dtype[Any]]


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
    dense = np.asarray(rng.integers(0, 1 << fmt.fraction_bits, size))
    fraction: Array = np.where(rng.random(size) < 0.3, 0, dense)
    fraction = np.where(rng.random(size) < 0.1, (1 << fmt.fraction_bits) - 1, fraction)
    field = np.clip(exponent + fmt.bias, 0, (1 << fmt.exponent_bits) - 2)
    return rng.integers(0, 2, size) << fmt.sign_bit | field << fmt.fraction_bits | fraction


def some_rows(model: Model, seed: int, count: int) -> tuple[Array, Array, Array]:
    """Random words, boundary words, sums that cancel, and results about the smallest normal number."""
    rng = np.random.default_rng(seed)
    a_format, b_format, c_format = map(float_format, (model.a_format, model.b_format, model.c_format))
    shape = (count, model.k)
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
        chance: Array = np.array([0, 0, 0, 0.2, 0.2, 0.9, 0, 0])[kind]
        chance = chance if words.ndim == 1 else chance[:, None]
        words[...] = np.where(
            rng.random(words.shape) < chance, rng.choice(boundary_words(fmt), words.shape), words
        )
        wild = np.asarray(rng.integers(0, 1 << fmt.width, words.shape))
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


@st.composite
def drawn(draw: st.DrawFn, name: str) -> tuple[Array, Array, Array]:
    """One row of words, many of them boundary words."""
    model = row_named(name).model

    def word(fmt: AnyFormat) -> int:
        words = boundary_words(float_format(fmt))
        return draw(st.sampled_from(words) | st.integers(0, (1 << fmt.width) - 1))

    a, b = ([[word(fmt) for _ in range(model.k)]] for fmt in (model.a_format, model.b_format))
    return np.array(a), np.array(b), np.array([word(model.c_format)])


def told_apart(one: str, two: str) -> None:
    """A solver's witness has two results by the oracle, which knows neither model."""
    verdict = tcsmt.compare(one, two, options=tcsmt.SolvingOptions(confirm=False)).verdict
    assert isinstance(verdict, Distinguished)
    k = row_named(one).model.k
    a, b = ([verdict.values[f"{side}{lane}"] for lane in range(k)] for side in "ab")
    words = [cpus.UNITS[name](a, b, verdict.values["c"]) for name in (one, two)]
    assert words[0] != words[1]
