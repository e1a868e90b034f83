"""Inputs at which an emulation errs, found by the simulator: rows that hurt a cut, and changes of the best.

What a cut loses is large, relative to Σ |a·b|, where a row's largest number meets a zero, and what is
multiplied is small and full of ones. Errors are computed in Python's integers, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.emulation.replay import replayed
from tcsmt.analysis.error import ulp
from tcsmt.analysis.search.bound import Extreme
from tcsmt.analysis.search.climb import climbed
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes.arrays import simulate
from tcsmt.programs.recipes.emulation.schemes import Emulation, Slices
from tcsmt.programs.steps.slicing import F64
from tcsmt.prove.statements.domain import Domain
from tcsmt.simulate.rows import Batch
from tcsmt.support.errors import InternalError

Array = np.ndarray[Any, np.dtype[Any]]

#: Products of a row that are drawn; in longer rows the last one is repeated, or zeros follow.
LANES = 12
#: Rows that are computed at once, and those that are kept; fewer where rows are long.
_ROWS, _KEPT, _MOST = 192, 24, 1 << 16
#: Slices are searched with so many products, and zeros after them: each of their products is a chain.
_SLICED = 64


@dataclass(frozen=True)
class LongRows(Batch):
    """Inputs of binary64: a, b (rows, lanes), c (rows,); and how often the last product occurs (rows,)."""

    repeats: Array

    def whole(self, k: int) -> tuple[Array, Array]:
        """a and b of k products, each float64 (rows, k)."""
        lanes = self.a.shape[1]
        places = np.minimum(np.arange(k), lanes - 1)
        there = np.arange(k) < lanes - 1 + self.repeats[:, None]
        return np.where(there, self.a[:, places], 0.0), np.where(there, self.b[:, places], 0.0)

    def results(self, emulation: Emulation, k: int) -> Array:
        """Return the emulation's results, float64."""
        return simulate(emulation, *self.whole(k), self.c)

    def exact(self, number: int) -> tuple[Fraction, Fraction]:
        """c + Σ a·b, and Σ of the magnitudes."""
        counts = [1] * (self.a.shape[1] - 1) + [int(self.repeats[number])]
        terms = [Fraction(float(self.c[number]))]
        for x, y, count in zip(self.a[number].tolist(), self.b[number].tolist(), counts, strict=True):
            if x and y:
                terms.append(Fraction(x) * Fraction(y) * count)
        return sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))


def random_rows(domain: Domain, k: int, rows: int, rng: np.random.Generator) -> LongRows:
    """Rows of a domain; some have a largest number that meets a zero, and otherwise small ones."""
    lanes = min(k, LANES)
    shape = (rows, lanes)
    of_a, of_b = domain.bits_in(F64)
    a, b = _numbers(domain, of_a, shape, rng), _numbers(domain, of_b, shape, rng)
    if lanes > 1:
        hidden = rng.random(rows) < 0.5
        small_a = _numbers(_only(domain, domain.low), of_a, shape, rng)
        small_b = _numbers(_only(domain, domain.low), of_b, shape, rng)
        a[hidden], b[hidden] = small_a[hidden], small_b[hidden]
        high = float(2.0**domain.high)
        a[hidden, 0], b[hidden, 0] = high, 0.0
        if lanes > 2:
            a[hidden, 1], b[hidden, 1] = 0.0, high
    c = np.zeros(rows) if domain.c_zero else _numbers(domain, F64.precision, (rows,), rng)
    c[rng.random(rows) < 0.5] = 0.0
    repeats = np.where(rng.random(rows) < 0.7, k - lanes + 1, 1)
    return LongRows(a, b, c, repeats)


def _only(domain: Domain, exponent: int) -> Domain:
    return Domain(exponents=(exponent, exponent), positive=domain.positive)


def _numbers(domain: Domain, bits: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Numbers of so many bits: random ones, all ones, a one at the end, low ones; any exponents."""
    ends = rng.choice([domain.low, domain.high], shape)
    exponents = np.where(rng.random(shape) < 0.5, ends, rng.integers(domain.low, domain.high + 1, shape))
    fractions = rng.integers(0, 1 << max(bits - 1, 1), shape, dtype=np.int64)
    every = (1 << (bits - 1)) - 1
    low = (np.int64(1) << rng.integers(0, bits, shape)) - 1
    kind = rng.integers(0, 5, shape)
    fractions = np.choose(kind, [fractions, every, np.minimum(1, every), low, every - low]) & every
    sizes = np.ldexp(((1 << (bits - 1)) | fractions).astype(np.float64), exponents - (bits - 1))
    signs = np.where(rng.random(shape) < (0 if domain.positive else 0.3), -1.0, 1.0)
    return np.asarray(sizes * signs)


def _changed(rows: LongRows, fresh: LongRows, rng: np.random.Generator) -> LongRows:
    """With one or two of their numbers from other rows, and some with other numbers of repetitions."""
    a, b, c, repeats = rows.a.copy(), rows.b.copy(), rows.c.copy(), rows.repeats.copy()
    lanes = a.shape[1]
    for _ in range(2):
        place = rng.integers(0, lanes, len(rows))
        each = np.arange(len(rows))
        which = rng.integers(0, 4, len(rows))
        a[each, place] = np.where(which != 1, fresh.a[each, place], a[each, place])
        b[each, place] = np.where(which != 2, fresh.b[each, place], b[each, place])
        flip = which == 3
        a[each[flip], place[flip]] = rows.a[each[flip], 0]
    other = rng.random(len(rows)) < 0.2
    c[other], repeats[other] = fresh.c[other], fresh.repeats[other]
    return LongRows(a, b, c, repeats)


def largest(
    emulation: Emulation, domain: Domain, k: int, seconds: float, *, seed: int = 0
) -> tuple[Extreme | None, Extreme | None]:
    """Return the inputs with the largest errors found: relative to |c| + Σ|a·b|, and in ulps of the exact
    result.

    None where no result has an error. Each is replayed on terms.
    """
    whole = k
    if isinstance(emulation, Slices):
        k = min(k, _SLICED)
    rng, count = np.random.default_rng(seed), max(8, min(_ROWS, _MOST // k))
    best = climbed(
        lambda: random_rows(domain, k, count, rng),
        lambda rows, fresh: _changed(rows, fresh, rng),
        lambda rows: _measured(emulation, k, rows),
        rng,
        kept=_KEPT,
        seconds=seconds,
        enough=_INFINITE,
    )
    relative, ulps = (_extreme(emulation, whole, rows) if scores[0] > 0 else None for rows, scores in best)
    return relative, ulps


#: More than any finite error.
_INFINITE = Fraction(1 << 4000)


def _measured(emulation: Emulation, k: int, rows: LongRows) -> Array:
    """Return the errors of each row as fractions, relative and in ulps: (2, rows)."""
    errors = np.full((2, len(rows)), _INFINITE, dtype=object)
    for number, result in enumerate(rows.results(emulation, k).tolist()):
        if np.isfinite(result):
            exact, size = rows.exact(number)
            error = abs(Fraction(result) - exact)
            errors[0, number] = error / size if size else error
            errors[1, number] = error / ulp(exact, F64) if exact else Fraction(0)
    return errors


def _extreme(emulation: Emulation, k: int, rows: LongRows) -> Extreme:
    """Return the first row, replayed."""
    a, b = (side[0].astype(np.float64).view(np.uint64).tolist() for side in rows[:1].whole(k))
    c = int(rows.c[:1].astype(np.float64).view(np.uint64)[0])
    words = {f"a{i}": word for i, word in enumerate(a)} | {f"b{i}": word for i, word in enumerate(b)}
    extreme = extreme_of(emulation, words | {"c": c})
    if extreme.result != int(rows[:1].results(emulation, k).view(np.uint64)[0]):
        raise InternalError(f"the simulator's result does not replay on terms: {extreme.values}")
    return extreme


def extreme_of(emulation: Emulation, values: dict[str, int]) -> Extreme:
    """Return the error on one input, words of the wide format by name, on terms and in fractions."""
    wide: Format = emulation.wide
    k = (len(values) - 1) // 2
    a, b = ([values[f"{side}{i}"] for i in range(k)] for side in "ab")
    word = replayed(emulation, a, b, values["c"])
    products = [wide.value(x) * wide.value(y) for x, y in zip(a, b, strict=True)]
    terms = [wide.value(values["c"]), *products]
    exact, size = sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
    extreme = Extreme.of(values, word, exact, size, wide)
    # of an exact zero, any error is infinitely many units in the last place
    return extreme if exact or not extreme.error else replace(extreme, ulps=None)
