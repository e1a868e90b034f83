"""The names that a unit's printed steps use (:mod:`tcsmt.matrix_units.models.python_steps`), on fractions.

They share no code with the package: rounding and formats are those of :mod:`.exact`.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.matrix_units.models.python_steps import python_steps
from tcsmt.simulate.rows import run_words
from tests.oracles import exact, integers
from tests.support.model_rows import make_rows

__all__ = ["agree", "differing"]


class NotFinite(Exception):
    """A result is infinite: what follows is not in the steps."""


class Number:
    """An exact number with the exponent of its fields, and a sign of its own where it is zero."""

    def __init__(self, value: Fraction, exp: int, sign: int) -> None:
        self.value, self.exp, self.sign = value, exp, sign

    def __mul__(self, other: Any) -> Number:
        if isinstance(other, Number):
            return Number(self.value * other.value, self.exp + other.exp, self.sign * other.sign)
        return Number(self.value * other, self.exp, self.sign)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Fraction:
        return self.value + value_of(other)

    __radd__ = __add__

    def __bool__(self) -> bool:
        return self.value != 0

    def __abs__(self) -> Fraction:
        return abs(self.value)

    def __lt__(self, other: Any) -> bool:
        return self.value < value_of(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > value_of(other)


def value_of(x: Any) -> Fraction:
    return x.value if isinstance(x, Number) else Fraction(x)


def grid(x: Any, e: float, mode: str) -> Fraction:
    """Rounded to a multiple of 2^e."""
    value = value_of(x)
    if not value:
        return value
    units = value / Fraction(2) ** int(e)
    below = units.numerator // units.denominator
    word = np.array([units.numerator], dtype=object)
    if units.denominator == 1:
        return value
    # as many bits below the point as the oracle needs to see: the denominator is a power of two
    drop = np.array([units.denominator.bit_length() - 1], dtype=object)
    found = int(exact.rounded(word, drop, mode)[0])
    assert found in (below, below + 1)
    return found * Fraction(2) ** int(e)


def sticky_grid(x: Any, e: int) -> Fraction:
    cut = grid(x, e, "RTZ")
    return cut if cut == value_of(x) else cut + Fraction(2) ** (e - 1) * (1 if value_of(x) > 0 else -1)


def register(x: Any, e: int, bits: int) -> Fraction:
    units = value_of(x) / Fraction(2) ** e
    assert units.denominator == 1
    half = 1 << (bits - 1)
    return Fraction((int(units) + half) % (2 * half) - half) * Fraction(2) ** e


def leading(x: Any) -> int:
    size = abs(value_of(x))
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if Fraction(2) ** guess <= size else guess - 1


def decoded(fmt: exact.Format, word: int) -> Number:
    read = fmt.decode(np.array([word]))
    if read.nan[0] or read.inf[0]:
        raise NotFinite
    size = int(read.mag[0]) * Fraction(2) ** int(read.lsb[0])
    sign = -1 if read.sign[0] else 1
    return Number(sign * size, int(read.exp[0]), sign)


class Names:
    """The names that steps use."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.formats: dict[str, Any] = {}
        parts = getattr(model, "instructions", (model,))
        for m in (part.parameters for part in parts):
            for name in vars(m):
                if name.endswith("_format") and getattr(m, name) is not None:
                    self.formats[getattr(m, name).name] = getattr(m, name)

    def namespace(self) -> dict[str, Any]:
        return {
            **{mode: mode for mode in ROUNDINGS}, **self.formats,
            "Fraction": Fraction, "inf": inf, "grid": grid, "sticky_grid": sticky_grid, "register": register,
            "leading": leading, "number": self.number, "integer": self.integer, "flushed": self.flushed,
            "bits": bits, "sign": lambda x: x.sign, "normalised": normalised,
        }  # fmt: skip

    def number(
        self, fmt: Any, x: Any, mode: str, beyond: str = "ieee", at: int | None = None, tiny: str = "",
        misplaced: int | None = None,
    ) -> Number:  # fmt: skip
        given = self.formats[fmt] if isinstance(fmt, str) else fmt
        target = exact.Format.of(given)
        value = value_of(x)
        whole = exact.Fixed(
            np.array([value.numerator], dtype=object), np.array([1 - value.denominator.bit_length()])
        )
        words = target.encode(
            whole,
            mode,
            np.array([False]),
            kept=at,
            overflow=beyond,
            flush=bool(tiny),
            tininess=tiny or "result",
        )
        if misplaced is not None:
            words = exact._misplaced(self.model.parameters, target, words, whole, np.array([misplaced]))
        return self.signed(decoded(target, int(words[0])), x)

    def signed(self, found: Number, x: Any) -> Number:
        """A zero that is a conversion of a zero keeps its sign."""
        if not found and isinstance(x, Number):
            found.sign = x.sign
        return found

    def integer(self, fmt: Any, x: Fraction, overflow: str) -> Number:
        given = self.formats[fmt] if isinstance(fmt, str) else fmt
        units = x * 2**given.fraction_bits
        assert units.denominator == 1
        return Number(Fraction(integers._in_range(int(units), given, overflow), 2**given.fraction_bits), 0, 1)

    def flushed(self, x: Any) -> Number:
        # a subnormal number has the smallest normal exponent, and is smaller than 2 to the power of it
        return Number(Fraction(0), x.exp, x.sign) if abs(x) < Fraction(2) ** x.exp else x


def bits(x: Number, first: int, count: int) -> Number:
    unit = Fraction(2) ** (x.exp - first - count + 1)
    units = abs(x) // unit
    return Number((units % 2**count) * unit * x.sign, x.exp - first, x.sign)


def normalised(x: Number) -> Number:
    return Number(x.value, leading(x) if x else x.exp, x.sign)


def random_words(rng: np.random.Generator, fmt: Any, *shape: int) -> Any:
    width = fmt.bits if hasattr(fmt, "bits") else fmt.width
    return rng.integers(0, 1 << width, shape, dtype=np.uint64)


def words_of(model: Model, seed: int, count: int) -> Operands[Any, Any]:
    """Rows of all kinds; random words where formats are not those of units, or are of integers."""
    rng = np.random.default_rng(seed)
    scale = model.scale_format
    scales = [random_words(rng, scale, count, model.scales) for _ in "ab"] if scale is not None else []
    if scale is not None and scale.fraction_bits < scale.width > 7:  # most of them near 1
        low, high = ((scale.bias + d) << scale.fraction_bits for d in (-4, 4))
        near = [rng.integers(low, high, words.shape, dtype=np.uint64) for words in scales]
        usual = rng.random((count, 1)) < 0.8
        scales = [np.where(usual, x, y) for x, y in zip(near, scales, strict=True)]
    if all(fmt.name in FORMATS for fmt in (model.a_format, model.b_format, model.c_format)):
        return Operands(*make_rows(model, seed, count, 24), *scales)
    a, b = (random_words(rng, fmt, count, model.k) for fmt in (model.a_format, model.b_format))
    return Operands(a, b, random_words(rng, model.c_format, count), *scales)


def agree(model: Model, seed: int, count: int) -> int:
    """Return on how many rows the steps ran; on each of them they gave the model's number."""
    ran, differ = differing(model, "\n".join(python_steps(model)), seed, count)
    assert not differ, (model, python_steps(model), differ)
    return ran


def differing(model: Model, steps: str, seed: int, count: int) -> tuple[int, list[int]]:
    """Return how many rows of finite numbers the steps ran on, and the rows where they gave another one."""
    operands = words_of(model, seed, count)
    got = run_words(model, operands)
    space = Names(model).namespace()
    exec(steps, space)
    ran, differ = 0, []
    for row in range(count):
        try:
            given = [read(getattr(operands, name), fmt, row) for name, fmt in columns(model)]
            found, wanted = space["d"](*given), read(got, model.d_format, row)
        except NotFinite:
            continue
        ran += 1
        if value_of(found) != wanted.value:
            differ.append(row)
    return ran, differ


def columns(model: Model) -> list[tuple[str, Any]]:
    plain = [("a", model.a_format), ("b", model.b_format), ("c", model.c_format)]
    scales = [(name, model.scale_format) for name in ("scale_a", "scale_b") if model.scale_format is not None]
    return plain + scales


def read(words: Any, fmt: Any, row: int) -> Any:
    """The numbers of a row: one, or a list of them. Raises NotFinite."""

    def one(word: int) -> Number:
        if hasattr(fmt, "bits"):
            return Number(Fraction(integers.count(fmt, word), 2**fmt.fraction_bits), 0, 1)
        return decoded(exact.Format.of(fmt), word)

    values = words[row]
    return [one(int(word)) for word in values] if np.ndim(values) else one(int(values))
