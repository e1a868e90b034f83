"""Inputs at which an algorithm errs, found by the simulator: random rows, and small changes of the best.

Rows are arrays a, b (rows, k) and c (rows,) of words of the wide format, binary32 or a smaller one.
Errors are computed in binary64 by error-free sums (each product of binary32 numbers is exact in
binary64; three passes of two-sums): good enough to rank rows, and never what is reported. A result
that is not finite has an infinite error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.analysis.search.climb import climbed
from tcsmt.matrix_units.arithmetic.boundary_words import FractionKind, fractions, from_fields
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import to_words
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.recipes.arrays import simulate
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.witnesses import shorten_where
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Unknown, Verdict
from tcsmt.simulate.rows import Batch

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows that are tried at once, fewer where a row has more products than this.
_ROWS, _LANES = 16384, 64
_KEPT = 64
_KINDS = (
    FractionKind.RANDOM,
    FractionKind.SHORT,
    FractionKind.LOW_ONES,
    FractionKind.HIGH_ONES,
    FractionKind.ONE_BIT,
)


@dataclass(frozen=True)
class Rows(Batch):
    """Inputs: a, b (rows, k), c (rows,), all uint32 words of the format ``wide``."""

    wide: Format = F32

    @classmethod
    def of(cls, inputs: Sequence[Mapping[str, int]], k: int, wide: Format = F32) -> Rows:
        """Inputs given as words by name."""
        a, b = (
            np.array([[values[f"{side}{i}"] for i in range(k)] for values in inputs], np.uint32)
            for side in "ab"
        )
        return cls(a, b, np.array([values["c"] for values in inputs], np.uint32), wide)

    def padded(self, k: int) -> Rows:
        """Return the same dot products with zeros up to k products."""
        zeros = ((0, 0), (0, k - self.a.shape[1]))
        return replace(self, a=np.pad(self.a, zeros), b=np.pad(self.b, zeros))

    def repeated(self, k: int) -> Rows:
        """Return the same dot products with the last product again and again, up to k products."""
        places = np.minimum(np.arange(k), self.a.shape[1] - 1)
        return replace(self, a=self.a[:, places], b=self.b[:, places])

    def values(self, row: int) -> dict[str, int]:
        """One row's words by name."""
        words = {f"a{i}": int(x) for i, x in enumerate(self.a[row])}
        words |= {f"b{i}": int(x) for i, x in enumerate(self.b[row])}
        return words | {"c": int(self.c[row])}

    def words(self, algorithm: Algorithm) -> Array:
        """Return the words of the algorithm's results, (rows,)."""
        return to_words(self.wide, simulate(algorithm, self.a, self.b, self.c), "result")

    def run(self, algorithm: Algorithm) -> Array:
        """Return the algorithm's results as numbers, (rows,) float64."""
        return floats(self.wide, self.words(algorithm))

    def numbers(self, words: Array) -> Array:
        """Return the numbers that words of the wide format stand for, float64."""
        return floats(self.wide, words)


def errors(rows: Rows, *results: Array) -> tuple[list[Array], Array, Array]:
    """|result - exact| for each array of results, |exact|, and |c| + Σ |a·b|: all (rows,), float64."""
    with np.errstate(all="ignore"):
        products = rows.numbers(rows.a) * rows.numbers(rows.b)
        terms = [*products.T, rows.numbers(rows.c)]
        sizes = [np.abs(_sum([*terms, -r])) for r in results]
        sizes = [np.where(np.isfinite(r), e, np.inf) for r, e in zip(results, sizes, strict=True)]
        return sizes, np.abs(_sum(terms)), np.sum(np.abs(terms), axis=0)


def _sum(terms: list[Array]) -> Array:
    parts = list(terms)
    for _ in range(3):
        for i in range(1, len(parts)):
            x, y = parts[i], parts[i - 1]
            whole = x + y
            back = whole - x
            parts[i], parts[i - 1] = whole, (x - (whole - back)) + (y - back)
    return np.asarray(np.sum(parts[:-1], axis=0) + parts[-1])


def random_rows(domain: Domain, wide: Format, k: int, count: int, rng: np.random.Generator) -> Rows:
    """Rows of the domain: exponents near and far, significands of many kinds, few or all lanes."""
    middle = rng.integers(domain.low, domain.high, count, endpoint=True)
    middle = np.where(rng.random(count) < 0.3, np.clip(0, domain.low, domain.high), middle)
    spread = rng.choice([0, 1, 3, 8, 30], count)

    # the lower half of a significand: 13 of binary32's bits
    half = np.array(min(wide.fraction_bits, (wide.fraction_bits + 3) // 2))
    low = np.uint64((1 << int(half)) - 1)

    def numbers(lanes: int, precision: int, centre: Array) -> Array:
        shape = (count, lanes)
        exponent = centre[:, None] + rng.integers(-spread[:, None], spread[:, None] + 1, shape)
        field = np.clip(exponent, domain.low, domain.high) + wide.bias
        bits = rng.integers(0, 1 << wide.fraction_bits, shape)
        place = rng.integers(0, wide.fraction_bits + 1, shape)
        kinds = [fractions(wide, kind, place, bits) for kind in _KINDS]
        kinds.append(
            fractions(wide, FractionKind.SHORT, half, bits)
            | fractions(wide, FractionKind.ONE_BIT, place, bits) & low
        )
        fraction = np.choose(rng.integers(0, len(kinds), shape), kinds)
        dropped = np.uint64(wide.precision - precision)
        sign = rng.integers(0, 2, shape) * (not domain.positive)
        return from_fields(wide, sign, field, fraction >> dropped << dropped)

    kept = rng.choice([1, 2, k, k], count)
    here = np.arange(k)[None, :] < kept[:, None]
    a, b = (np.where(here, numbers(k, bits, middle), 0) for bits in domain.bits_in(wide))
    c = numbers(1, wide.precision, np.clip(2 * middle, domain.low, domain.high))[:, 0]
    c = np.where(rng.random(count) < 0.2, 0, c) if not domain.c_zero else np.zeros(count)
    a, b, c = (np.ascontiguousarray(x).astype(np.uint32) for x in (a, b, c))
    return Rows(a, b, c, wide)


def _changed(domain: Domain, rows: Rows, rng: np.random.Generator) -> Rows:
    """Rows with some words changed: a bit, a step, the exponent, the sign, zero."""

    wide, (a_bits, b_bits) = rows.wide, domain.bits_in(rows.wide)

    def change(words: Array, bits: int) -> Array:
        shape = words.shape
        old = words.astype(np.int64)
        place = rng.integers(0, wide.fraction_bits, shape)
        step = rng.integers(-3, 4, shape) << np.where(rng.random(shape) < 0.5, 0, place)
        exponent = rng.integers(-2, 3, shape) << wide.fraction_bits
        kinds = [old ^ (1 << place), old + step, old + exponent, old ^ (old & ((1 << place) - 1))]
        if not domain.positive:
            kinds.append(old ^ (1 << wide.sign_bit))
        new = np.choose(rng.integers(0, len(kinds), shape), kinds)
        new = np.where(rng.random(shape) < 0.01, 0, new)
        dropped = wide.precision - bits
        new = new >> dropped << dropped
        field = (new >> wide.fraction_bits & ((1 << wide.exponent_bits) - 1)) - wide.bias
        zero = new & ((1 << wide.sign_bit) - 1) == 0
        valid = (new >= 0) & (new < 1 << wide.width) & ((field >= domain.low) & (field <= domain.high) | zero)
        moved = valid & (rng.random(shape) < np.maximum(0.3, 1 / words[0].size))
        return np.where(moved, new, old).astype(np.uint32)

    c = rows.c if domain.c_zero else change(rows.c, wide.precision)
    return replace(rows, a=change(rows.a, a_bits), b=change(rows.b, b_bits), c=c)


def climb(
    domain: Domain,
    wide: Format,
    k: int,
    score: Callable[[Rows], Array],
    *,
    seconds: float,
    enough: float = np.inf,
    seed: int = 1,
    start: Rows | None = None,
    lanes: int = 0,
) -> tuple[Rows, Array]:
    """Return the rows of the highest scores that were found, the best first, and their scores.

    score: of each row, float64; rows with -inf never count. enough: stop at such a score.
    start: rows to begin from beside random ones. lanes: products of what ``score`` runs, where that is more
    than k.
    """
    rng = np.random.default_rng(seed)
    number = max(2 * _KEPT, _ROWS * _LANES // max(k, lanes, _LANES)) // 2
    (best,) = climbed(
        lambda: random_rows(domain, wide, k, number, rng),
        lambda rows, fresh: _changed(domain, rows, rng),
        lambda rows: [score(rows)],
        rng,
        kept=_KEPT,
        seconds=seconds,
        enough=enough,
        start=start if start is not None else random_rows(domain, wide, k, 1, rng),
    )
    return best


def short_witness(
    shows: Callable[[Sequence[Mapping[str, int]]], Sequence[bool]],
    formats: Mapping[str, AnyFormat],
    domain: Domain,
    values: Mapping[str, int],
) -> dict[str, int] | None:
    """A simpler input of the domain than this one that shows what it does; None where it does not.

    shows: whether each of several inputs does, by the simulator.
    """

    def holds(tries: Sequence[Mapping[str, int]]) -> list[bool]:
        inside = [domain.contains(formats, t) for t in tries]
        shown = iter(shows([t for t, i in zip(tries, inside, strict=True) if i]))
        return [i and next(shown) for i in inside]

    return shorten_where(holds, formats, values) if holds([values])[0] else None


def searched(verdict: Verdict, seconds: float) -> Verdict:
    """A solver's verdict after a search that found nothing: where it is unknown, the reason says so."""
    if not isinstance(verdict, Unknown):
        return verdict
    reason = f"no witness in {seconds:g} s of simulation, and no proof; {verdict.reason}"
    return replace(verdict, reason=reason)
