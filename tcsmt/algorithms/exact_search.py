"""Integers whose dot product a unit does not give exactly: tried where the proof ends.

What is exact up to a limit fails first where a partial sum is as large as it can be, and odd. So the rows are
made of the largest products, with small or odd ones at the ends; some are random. Every pair of rows is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np

from tcsmt.algorithms.lattice import Lattice
from tcsmt.arithmetic.any_format import AnyFormat
from tcsmt.arithmetic.words import unsigned
from tcsmt.interpret.arrays import Program
from tcsmt.interpret.exact import evaluate
from tcsmt.models import Model, Operands
from tcsmt.simulator.matmul import gemm
from tcsmt.simulator.rows import run_words
from tcsmt.support.errors import InternalError

__all__ = ["LONGEST", "Inputs", "counterexample", "replayed"]

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


def counterexample(unit: Model, a: Lattice, b: Lattice, k: int, *, seed: int = 0) -> Inputs | None:
    """Integers from these ranges, in ``k`` products, whose sum the unit does not give; None: none found."""
    if k > LONGEST:
        return None
    rng = np.random.default_rng(seed)
    left, right = (np.array(list(_rows(x, y, k, unit.k, rng, flip)), np.int64) for x, y, flip in ((a, b, 0), (b, a, 1)))
    found, words = _words(unit.a_format, left), _words(unit.b_format, right)
    d = unit.d_format
    results = gemm(found, words.T, model=unit, **_block_scales(unit, left.shape, right.shape))
    exact = left @ right.T
    given = results.view(unsigned(d)) if results.dtype.kind != "u" else results
    # the simplest rows come first
    for i, j in sorted(np.ndindex(exact.shape), key=lambda place: (sum(place), place)):
        word = int(given[i, j])
        if d.is_special(word) or d.value(word) != int(exact[i, j]):
            pairs = zip(left[i].tolist(), right[j].tolist(), strict=True)
            runs = [(len(list(group)), *pair) for pair, group in groupby(pairs)]
            return replayed(unit, Inputs(tuple(runs), None, 0))
    return None


def _rows(
    own: Lattice, other: Lattice, k: int, step: int, rng: np.random.Generator, flip: int
) -> Iterator[Array]:
    """Rows of one operand; row i of a is meant for row i of b."""
    low, high = int(own.low), int(own.high)
    largest = high if high >= -low else low
    # of two operands, the one's sign is turned where that makes the products as large as possible
    odd = high if high % 2 else high - 1
    row = np.full(k, largest, np.int64)

    def with_ends(**places: Any) -> Array:
        new = row.copy()
        for name, value in places.items():
            new[{"first": slice(0, 1), "last": slice(k - 1, k), "tail": slice((k - 1) // step * step, k)}[name]] = value
        return new

    yield row
    yield np.full(k, max(odd, 1), np.int64)
    yield with_ends(last=1)
    yield with_ends(last=largest - 1 if largest > 0 else largest + 1)
    yield with_ends(first=1)
    yield with_ends(last=max(odd, 1))
    yield with_ends(tail=1)
    if low < 0:
        yield -with_ends(last=1) if -low == high and not flip else with_ends(first=-1)
    yield np.full(k, max(high, 1), np.int64)
    for _ in range(3):
        drawn = rng.integers(max(high // 2, 1), high + 1, k)
        yield np.where(drawn > high, high, drawn)
    yield rng.integers(low, high + 1, k)


def _words(fmt: AnyFormat, numbers: Array) -> Array:
    """The words of integers; what the format does not have becomes the next one toward zero, in place too."""
    values, places = np.unique(numbers, return_inverse=True)
    held = [_held(fmt, value) for value in values.tolist()]
    numbers[...] = np.array([value for _, value in held], np.int64)[places].reshape(numbers.shape)
    return np.array([word for word, _ in held], unsigned(fmt))[places].reshape(numbers.shape)


def _held(fmt: AnyFormat, value: int) -> tuple[int, int]:
    """The word of the integer nearest to a value that the format has, toward zero; and that integer."""
    for spare in range(abs(value).bit_length() + 1):
        near = (abs(value) >> spare << spare) * (-1 if value < 0 else 1)
        try:
            return fmt.word(Fraction(near)), near
        except ValueError:
            continue
    raise InternalError(f"{fmt.name} has no word for 0")


def replayed(unit: Model, inputs: Inputs) -> Inputs:
    """The same products with the result that the unit's own terms give, instruction by instruction."""
    a, b = ([value for count, *pair in inputs.runs for value in [pair[side]] * count] for side in (0, 1))
    left, right = ([fmt.word(Fraction(value)) for value in row] for fmt, row in ((unit.a_format, a), (unit.b_format, b)))
    zeros = [fmt.word(Fraction(0)) for fmt in (unit.a_format, unit.b_format)]
    spare = -len(a) % unit.k
    one, two = (
        np.array(row + [zero] * spare, unsigned(fmt)).reshape(-1, unit.k)
        for row, zero, fmt in zip((left, right), zeros, (unit.a_format, unit.b_format), strict=True)
    )
    word = _chained(unit, one, two)
    d = unit.d_format
    result = None if d.is_special(word) else d.value(word)
    exact = sum(x * y for x, y in zip(a, b, strict=True))
    if result == exact:
        raise InternalError("a counterexample does not replay on the unit's terms")
    return Inputs(inputs.runs, result, exact)


def _chained(unit: Model, a: Array, b: Array) -> int:
    """The word of a chain of instructions, by the unit's terms: rows of a and b are its instructions.

    Of many, the simulator says what each one's c is, and the terms are held against all of them at once.
    """
    scales = _scales_of_one(unit)
    word = unit.c_format.word(Fraction(0))
    if len(a) <= _EVALUATED:
        for one, two in zip(a.tolist(), b.tolist(), strict=True):
            values = dict(zip(unit.input_names, Operands(one, two, word, scales, scales).flat(), strict=True))
            (word,) = evaluate([unit.trace.output], values)
        return word
    given = None if scales is None else np.array([scales], unsigned(unit.scale_format or unit.a_format))
    chain = [np.array([word], unsigned(unit.c_format))]
    for one, two in zip(a, b, strict=True):
        chain.append(run_words(unit, Operands(one[None], two[None], chain[-1], given, given)))
    words = np.concatenate(chain)
    many = None if given is None else np.repeat(given, len(a), axis=0)
    operands = Operands(a, b, words[:-1], many, many)
    columns = operands.map(lambda part: np.moveaxis(part, -1, 0) if part.ndim > 1 else part).flat()
    (again,) = Program([unit.trace.output]).run(dict(zip(unit.input_names, columns, strict=True)))
    if (again != words[1:]).any():
        raise InternalError("the simulator's results do not replay on the unit's terms")
    return int(words[-1])


def _block_scales(unit: Model, a: tuple[int, ...], b: tuple[int, ...]) -> dict[str, Array]:
    """Scales of 1 for the matrices of so many rows and columns."""
    fmt = unit.scale_format
    if fmt is None:
        return {}
    one, size = fmt.word(Fraction(1)), unit.k // unit.scales
    shapes = {"scale_a": (a[0], -(-a[1] // size)), "scale_b": (-(-b[1] // size), b[0])}
    return {name: np.full(shape, one, unsigned(fmt)) for name, shape in shapes.items()}


def _scales_of_one(unit: Model) -> list[int] | None:
    fmt = unit.scale_format
    return None if fmt is None else [fmt.word(Fraction(1))] * unit.scales
