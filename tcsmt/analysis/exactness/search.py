"""The search for inexact integer dot products just beyond the proved limit.

What is exact up to a limit fails first where a partial sum is as large as it can be, and odd. So the rows
are made of the largest products, with small or odd ones at the ends; some are random. Every pair of rows is
tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.exactness.lattice import Inexact, Lattice, integers_up_to
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import InternalError

Array = np.ndarray[Any, np.dtype[Any]]
#: Longer dot products are not searched.
LONGEST = 1 << 18
#: Instructions that are replayed one at a time by the evaluator; of more, by the interpreter of arrays.
_EVALUATED = 128


@dataclass(frozen=True)
class Inputs:
    """An input on which a unit's chained result is not the dot product, replayed on the unit's terms.

    runs: products in order, as (count, a, b). result: None where it is not finite.
    """

    runs: tuple[tuple[int, int, int], ...]
    result: Fraction | None
    exact: int

    @property
    def k(self) -> int:
        """Products."""
        return sum(count for count, _, _ in self.runs)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        products = [{"count": count, "a": a, "b": b} for count, a, b in self.runs]
        result = None if self.result is None else str(self.result)
        return {"k": self.k, "products": products, "result": result, "exact": self.exact}

    def __str__(self) -> str:
        shown = [f"{count} x {a}·{b}" if count > 1 else f"{a}·{b}" for count, a, b in self.runs]
        if len(shown) > 8:
            shown = [*shown[:7], f"and {len(shown) - 7} more runs"]
        result = "not finite" if self.result is None else str(self.result)
        return f"K = {self.k}: {', then '.join(shown)}: the result is {result}, exactly {self.exact}"


class Subject(Protocol):
    """What sums up products of integers, a unit or an algorithm on it: how, and on numbers that it takes."""

    @property
    def step(self) -> int:
        """Products of an instruction."""

    @property
    def longest(self) -> int:
        """Return the largest K."""

    @property
    def formats(self) -> tuple[AnyFormat, AnyFormat, AnyFormat]:
        """Of a, of b and of the result."""

    def proved(self, limit: int, k: int) -> str:
        """Why sums of ``k`` products of integers up to a limit are not proved to be exact (or nothing)."""
        try:
            self.prove(limit, k)
        except (Inexact, Unbounded) as why:
            return str(why)
        return ""

    def prove(self, limit: int, k: int) -> None:
        """Prove that they are exact. Raises :class:`.Inexact` or :class:`.Unbounded` where that fails."""

    def results(self, a: Array, b: Array) -> Array:
        """Return the words of the results of every row of a with every row of b.

        a, b: words of shapes (m, k) and (n, k). Returns words of shape (m, n).
        """

    def replayed(self, a: Array, b: Array) -> int:
        """Return the word of the result of one row of words with another, each (k,), by the unit's terms."""


def counterexample(subject: Subject, limit: int, k: int, *, seed: int = 0) -> Inputs | None:
    """``k`` products of integers up to a limit whose sum is not the result; None: none found."""
    if k > min(LONGEST, subject.longest):
        return None
    rng = np.random.default_rng(seed)
    of_a, of_b, d = subject.formats
    a, b = integers_up_to(of_a, limit), integers_up_to(of_b, limit)
    rows = np.array(list(_rows(a, k, subject.step, rng, turned=False)), np.int64)
    right = np.array(list(_rows(b, k, subject.step, rng, turned=True)), np.int64)
    words = _words(of_a, rows), _words(of_b, right)
    results = subject.results(*words)
    exact = rows @ right.T
    # the simplest rows come first
    for i, j in sorted(np.ndindex(exact.shape), key=lambda place: (sum(place), place)):
        if _value(d, int(results[i, j])) != int(exact[i, j]):
            pairs = zip(rows[i].tolist(), right[j].tolist(), strict=True)
            runs = [(len(list(group)), *pair) for pair, group in groupby(pairs)]
            value = _value(d, subject.replayed(words[0][i], words[1][j]))
            inputs = Inputs(tuple(runs), value, sum(count * x * y for count, x, y in runs))
            if inputs.result == inputs.exact:
                raise InternalError(f"a counterexample does not replay on the unit's terms: {inputs}")
            return inputs
    return None


def _value(fmt: AnyFormat, word: int) -> Fraction | None:
    return None if fmt.is_special(word) else fmt.value(word)


def _rows(own: Lattice, k: int, step: int, rng: np.random.Generator, *, turned: bool) -> Iterator[Array]:
    """Rows of one operand; row i of a is meant for row i of b."""
    low, high = int(own.low), int(own.high)
    largest = high if high >= -low else low
    odd = high if high % 2 else high - 1
    row = np.full(k, largest, np.int64)

    def with_ends(**places: Any) -> Array:
        new = row.copy()
        for name, value in places.items():
            new[
                {"first": slice(0, 1), "last": slice(k - 1, k), "tail": slice((k - 1) // step * step, k)}[
                    name
                ]
            ] = value
        return new

    yield row
    yield np.full(k, max(odd, 1), np.int64)
    yield with_ends(last=1)
    yield with_ends(last=largest - 1 if largest > 0 else largest + 1)
    yield with_ends(first=1)
    yield with_ends(last=max(odd, 1))
    yield with_ends(tail=1)
    if low < 0:
        yield -with_ends(last=1) if -low == high and not turned else with_ends(first=-1)
    yield np.full(k, max(high, 1), np.int64)
    for _ in range(3):
        drawn = rng.integers(max(high // 2, 1), high + 1, k)
        yield np.where(drawn > high, high, drawn)
    yield rng.integers(low, high + 1, k)


def _words(fmt: AnyFormat, numbers: Array) -> Array:
    """Return the words of integers; what the format does not have becomes the next one toward zero, in place
    too.
    """
    values, places = np.unique(numbers, return_inverse=True)
    held = [_held(fmt, value) for value in values.tolist()]
    numbers[...] = np.array([value for _, value in held], np.int64)[places].reshape(numbers.shape)
    return np.array([word for word, _ in held], unsigned(fmt))[places].reshape(numbers.shape)


def _held(fmt: AnyFormat, value: int) -> tuple[int, int]:
    """Return the word of the integer nearest to a value that the format has, toward zero; and that
    integer.
    """
    for spare in range(abs(value).bit_length() + 1):
        near = (abs(value) >> spare << spare) * (-1 if value < 0 else 1)
        try:
            return fmt.word(Fraction(near)), near
        except ValueError:
            continue
    raise InternalError(f"{fmt.name} has no word for 0")


@dataclass(frozen=True)
class UnitSubject(Subject):
    """A unit: its instructions, chained along K from +0."""

    unit: ExactUnit

    @property
    def step(self) -> int:
        """Products of an instruction."""
        return self.unit.unit.k

    @property
    def longest(self) -> int:
        """Return the largest K: that of one instruction where it cannot be chained."""
        model = self.unit.unit
        return model.k if model.c_format != model.d_format else 1 << 60

    @property
    def formats(self) -> tuple[AnyFormat, AnyFormat, AnyFormat]:
        """Of a, of b and of the result."""
        model = self.unit.unit
        return model.a_format, model.b_format, model.d_format

    def prove(self, limit: int, k: int) -> None:
        """By induction: the last instructions decide, their partial sums being the largest."""
        of_a, of_b, _ = self.formats
        product = integers_up_to(of_a, limit) * integers_up_to(of_b, limit)
        full, rest = divmod(k - 1, self.step)
        if k > self.longest:
            c, d = self.unit.unit.c_format.name, self.unit.unit.d_format.name
            raise Inexact(f"a result in {d} cannot be the next instruction's c, which is in {c}")
        if full:
            self.unit.result(product.times((full - 1) * self.step), [product] * self.step)
        self.unit.result(product.times(full * self.step), [product] * (rest + 1))

    def results(self, a: Array, b: Array) -> Array:
        """By the simulator, on words: a (m, k) and b (n, k) give (m, n), unsigned integers."""
        model = self.unit.unit
        scale_a, scale_b = _block_scales(model, a.shape, b.shape)
        results = gemm(a, b.T, model=model, scale_a=scale_a, scale_b=scale_b)
        words = results.view(unsigned(model.d_format))
        return np.asarray(words & words.dtype.type((1 << model.d_format.width) - 1))

    def replayed(self, a: Array, b: Array) -> int:
        """Instruction by instruction. a, b: words (k,), unsigned integers of the formats of a and of b."""
        a_words, b_words = (
            in_instructions(self.unit.unit, row, fmt) for row, fmt in zip((a, b), self.formats, strict=False)
        )
        return chained(self.unit.unit, a_words, b_words)


def in_instructions(unit: Model, row: Array, fmt: AnyFormat) -> Array:
    """A row of words as those of so many instructions, the last one padded with zeros.

    row: (length,). Returns (instructions, k), of its dtype.
    """
    spare = np.full(-len(row) % unit.k, fmt.word(Fraction(0)), row.dtype)
    return np.concatenate([row, spare]).reshape(-1, unit.k)


def chained(unit: Model, a: Array, b: Array) -> int:
    """Return the word of a chain of instructions, by the unit's terms: rows of a and b are its instructions.

    Of many, the simulator says what each one's c is, and the terms are held against all of them at once.

    a, b: words (instructions, k), unsigned integers.
    """
    scales = _scales_of_one(unit)
    word = unit.c_format.word(Fraction(0))
    if len(a) <= _EVALUATED:
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            values = dict(zip(unit.input_names, Operands(x, y, word, scales, scales).flat(), strict=True))
            (word,) = evaluate([unit.trace.output], values)
        return word
    scale = None if scales is None else np.array([scales], unsigned(unit.scale_format or unit.a_format))
    chain = [np.array([word], unsigned(unit.c_format))]
    for x, y in zip(a, b, strict=True):
        chain.append(run_words(unit, Operands(x[None], y[None], chain[-1], scale, scale)))
    words = np.concatenate(chain)
    many = None if scale is None else np.repeat(scale, len(a), axis=0)
    operands = Operands(a, b, words[:-1], many, many)
    columns = operands.map(lambda part: np.moveaxis(part, -1, 0) if part.ndim > 1 else part).flat()
    (again,) = Program([unit.trace.output]).run(dict(zip(unit.input_names, columns, strict=True)))
    if (again != words[1:]).any():
        raise InternalError("the simulator's results do not replay on the unit's terms")
    return int(words[-1])


def _block_scales(unit: Model, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Array | None, Array | None]:
    """Scales of 1 for matrices of so many rows and columns, the second one transposed."""
    fmt = unit.scale_format
    if fmt is None:
        return None, None
    unit_scale, size = fmt.word(Fraction(1)), unit.k // unit.scales
    shapes = (a[0], -(-a[1] // size)), (-(-b[1] // size), b[0])
    left, right = (np.full(shape, unit_scale, unsigned(fmt)) for shape in shapes)
    return left, right


def _scales_of_one(unit: Model) -> list[int] | None:
    fmt = unit.scale_format
    return None if fmt is None else [fmt.word(Fraction(1))] * unit.scales
