"""Rows on which a model is held against the exact-rational oracle.

A parameter set is drawn by Hypothesis; its rows come from a seeded NumPy generator, so that one compiled term
program serves many rows: random words, words packed in the alignment window (with exact cancellations),
boundary words and their neighbours, and special values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, Model, Operands
from tcsmt.simulate.rows import run_words
from tests.support.references import reference

__all__ = [
    "MANY", "ROWS", "SEEDS", "SOME", "agree", "as_the_oracle", "drawn_agrees", "ends", "largest_rows",
    "make_rows", "nans", "unit_agrees",
]  # fmt: skip

Array = np.ndarray[Any, np.dtype[np.uint64]]
Rng = np.random.Generator

SEEDS = st.integers(0, 1 << 32)
#: As Ampere's unit is built.
AMPERE = FusedDotAdd.of(
    a_format=FORMATS["f16"],
    b_format=FORMATS["f16"],
    c_format=FORMATS["f32"],
    d_format=FORMATS["f32"],
    k=8,
    n_fma=8,
    fraction_bits=24,
    zero_exponent=-132,
    rounding=ROUNDINGS["RTZ"],
)


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
    a, b, c = (float_format(fmt) for fmt in (model.a_format, model.b_format, model.c_format))
    k = model.k
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
    formats = [float_format(fmt) for fmt in (model.a_format, model.b_format, model.c_format)]
    for fmt, words in zip(formats, (a, b, c[:, None]), strict=True):
        chosen = rng.random(words.shape) < chance[:, None]
        words[chosen] = rng.choice(boundary_words(fmt), words.shape)[chosen]
        if fmt.width <= 16:
            noisy = np.arange(rows) % 8 == 3
            words[noisy] = random_words(fmt, rng, (int(noisy.sum()), words.shape[1]))
    wild = np.arange(rows) % 16 == 7
    count = int(wild.sum())
    a[wild] = random_words(formats[0], rng, (count, k))
    b[wild] = random_words(formats[1], rng, (count, k))
    c[wild] = random_words(formats[2], rng, (count,))
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
def ends(draw: st.DrawFn) -> dict[str, Any]:
    """What IEEE operations do with results that are too small or too large, and with subnormal operands."""
    flush = {name: draw(st.booleans()) for name in ("flush_inputs", "flush_c", "flush_outputs")}
    read, written = flush["flush_inputs"] or flush["flush_c"], flush["flush_outputs"]
    return flush | {
        "flush_to_positive": read and draw(st.booleans()),
        "tininess": draw(st.sampled_from(["result", "before", "after"])) if written else "result",
        "overflow": draw(st.sampled_from(["ieee", "ieee", "infinity", "saturate"])),
    }


def window(model: Model) -> int:
    """The bits within which a sum keeps what it adds."""
    if isinstance(model, IeeeDotAdd):
        return model.sum_format.fraction_bits + 2
    assert isinstance(model, FusedDotAdd | DotThenAdd | GroupedDotAdd)
    return model.parameters.fraction_bits


_SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
#: Of drawn parameter sets: some in the default run, and the long run's.
SOME: dict[str, Any] = {"max_examples": 8, **_SETTINGS}
MANY: dict[str, Any] = {"max_examples": 1000, **_SETTINGS}
#: Of known units: some of every kind of row, and more of them.
ROWS = [64, pytest.param(400, marks=pytest.mark.long)]


def as_the_oracle(model: Model, seed: int, rows: int) -> None:
    """The model gives the oracle's words on so many rows."""
    agree(model, *make_rows(model, seed, rows, window(model)), *scale_rows(model, seed, rows))


def drawn_agrees(models: st.SearchStrategy[Model], data: st.DataObject, seed: int, rows: int = 96) -> None:
    """A drawn parameter set."""
    as_the_oracle(data.draw(models), seed, rows)


def unit_agrees(name: str, rows: int) -> None:
    """A catalogue row as it is."""
    as_the_oracle(row_named(name).model, 5, rows)


def largest_rows(model: Model) -> None:
    """Every lane at the end of the range, with as many negative ones as you like: no wrapping."""
    fmt = model.a_format
    largest, sign = np.uint64(fmt.largest_finite_word), np.uint64(1 << fmt.sign_bit)
    negative = np.arange(17)[:, None] > np.arange(16)
    a = np.where(negative, largest | sign, largest)
    for c in (largest, largest | sign):
        agree(model, a, np.full_like(a, largest), np.full(17, c))
