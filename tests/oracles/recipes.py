"""Algorithms on a matrix unit, in exact integers: results, errors, and every input of a domain.

As :mod:`.exact`: an algorithm is read as data, and what it computes is written down again from the
docstrings of ``Split``, ``Sum`` and ``Algorithm``. An error is |result - exact|, and is infinite where the
result is no finite number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles import exact
from tests.oracles.exact import Array, Fixed, Format, Numbers, total
from tests.oracles.tiny import Columns, Everything

# --- what an algorithm computes ----------------------------------------------------------------------


def rounded(fmt: Format, mode: str, *terms: Numbers) -> Array:
    """The words of an exact sum rounded once, by IEEE 754; of one term: of its conversion.

    An infinity becomes the largest number of a format that has none.
    """
    minus = exact.minus_zero(terms, mode) if len(terms) > 1 else terms[0].sign
    words = fmt.encode(total([t.fixed for t in terms]), mode, minus)
    nan, inf, sign = exact.specials(terms)
    if fmt.specials != "IEEE":
        assert not nan.any()
        beyond = Fixed(np.where(sign, -1, 1), np.full(words.shape, fmt.e_max + 1))
        return np.where(inf, fmt.encode(beyond, "RTZ", minus), words)
    return exact.finished(fmt, words, (nan, inf, sign), fmt.quiet_nan)


def scaled(x: Numbers, power: int) -> Numbers:
    """x·2^power, exactly."""
    return replace(x, lsb=x.lsb + power, exp=x.exp + power)


def negated(x: Numbers) -> Numbers:
    """-x."""
    return replace(x, sign=~x.sign)


def split(s: Any, words: Array) -> list[Array]:
    """The words of numbers of the wide format, the largest first."""
    wide, narrow = Format.of(s.wide), Format.of(s.format)
    if narrow == wide:
        return [words, *[np.zeros_like(words)] * (s.words - 1)]
    rest = words
    found = [rounded(narrow, s.rounding.name, wide.decode(words))]
    for _ in range(1, s.words):
        rest = rounded(wide, "RNE", wide.decode(rest), negated(narrow.decode(found[-1])))
        if s.scale:
            rest = rounded(wide, "RNE", scaled(wide.decode(rest), s.scale))
        found.append(rounded(narrow, s.residual.name, wide.decode(rest)))
    return found


def results(algorithm: Any, columns: Columns) -> Array:
    """The word of the result for each row."""
    k, wide, unit = algorithm.k, Format.of(algorithm.split.wide), algorithm.unit
    words = {side: [split(algorithm.split, columns[f"{side}{lane}"]) for lane in range(k)] for side in "ab"}
    c = columns["c"].astype(np.int64)
    zeros = np.zeros_like(c)

    def plus(x: Array, shift: int, y: Array) -> Array:
        return rounded(wide, algorithm.rounding.name, scaled(wide.decode(x), -shift), wide.decode(y))

    def instruction(i: int, j: int, lanes: range, inside: Array) -> Array:
        given: Columns = {"c": inside}
        for place in range(unit.k):
            there = place < len(lanes)
            for side, number in (("a", i), ("b", j)):
                given[f"{side}{place}"] = words[side][lanes[place]][number] if there else zeros
        return exact.results(unit, given)

    outside = c if algorithm.c_enters == "first" else None
    inside = c if algorithm.c_enters == "unit" else zeros
    for one in algorithm.sums:
        shift = algorithm.split.scale * sum(one.products[0])
        length = one.every or k
        for start in range(0, k, length):
            stop = min(start + length, k)
            parts = [range(s, min(s + unit.k, stop)) for s in range(start, stop, unit.k)]
            if algorithm.interleaved:
                steps = [(i, j, part) for part in parts for i, j in one.products]
            else:
                steps = [(i, j, part) for i, j in one.products for part in parts]
            for step in steps:
                inside = instruction(*step, inside)
            outside = inside if outside is None else plus(inside, shift, outside)
            inside = zeros
    assert outside is not None
    return plus(c, 0, outside) if algorithm.c_enters == "last" else outside


# --- errors -----------------------------------------------------------------------------------------


def sums(wide: Format, columns: Columns) -> tuple[Fixed, Fixed]:
    """c + Σ a·b and |c| + Σ |a·b|."""
    numbers = {name: wide.decode(words) for name, words in columns.items()}
    lanes = [name[1:] for name in columns if name[0] == "a"]
    terms = [numbers["c"], *(exact.product(numbers[f"a{lane}"], numbers[f"b{lane}"]) for lane in lanes)]
    return total([t.fixed for t in terms]), total([Fixed(t.mag, t.lsb) for t in terms])


def errors(algorithm: Any, columns: Columns) -> tuple[Fixed, Array]:
    """|result - exact|, and where the result is finite."""
    wide = Format.of(algorithm.split.wide)
    result = wide.decode(results(algorithm, columns))
    truth, _ = sums(wide, columns)
    error = total([result.fixed, Fixed(-truth.word, truth.lsb)])
    return Fixed(np.abs(error.word), error.lsb), ~(result.inf | result.nan)


def ratio(x: Fixed, y: Fixed) -> Array:
    """x / y in binary64, to within a few units in the last place."""
    return np.ldexp(x.word.astype(np.float64), x.lsb - y.lsb) / y.word.astype(np.float64)


def fraction(x: Fixed, row: int) -> Fraction:
    """One of them."""
    return Fraction(int(x.word[row])) * Fraction(2) ** int(x.lsb[row])


def largest_error(algorithm: Any, everything: Iterable[Columns]) -> tuple[Fraction | None, dict[str, int]]:
    """The largest error relative to |c| + Σ |a·b| (None: infinite), and an input that has it."""
    best, where = Fraction(0), dict[str, int]()
    wide = Format.of(algorithm.split.wide)
    for columns in everything:
        error, finite = errors(algorithm, columns)
        _, size = sums(wide, columns)
        nothing = np.equal(size.word, 0)
        endless = ~finite | (nothing & np.not_equal(error.word, 0))
        if endless.any():
            return None, _input(columns, int(np.flatnonzero(endless)[0]))
        relative = np.where(nothing, 0.0, ratio(error, Fixed(np.where(nothing, 1, size.word), size.lsb)))
        for row in np.flatnonzero(relative >= float(best) * (1 - 1e-12)):
            if relative[row] < relative.max() * (1 - 1e-12) or not relative[row]:
                continue
            found = fraction(error, int(row)) / fraction(size, int(row))
            if found > best:
                best, where = found, _input(columns, int(row))
    return best, where


def worse(one: Any, two: Any, everything: Iterable[Columns]) -> dict[str, int] | None:
    """An input at which the first algorithm's error is strictly larger; None: there is none."""
    for columns in everything:
        (x, fine), (y, other) = (errors(algorithm, columns) for algorithm in (one, two))
        larger = np.asarray(total([x, Fixed(-y.word, y.lsb)]).word > 0).astype(bool)
        rows = np.flatnonzero(other & (~fine | larger))
        if rows.size:
            return _input(columns, int(rows[0]))
    return None


def _input(columns: Mapping[str, Array], row: int) -> dict[str, int]:
    return {name: int(words[row]) for name, words in columns.items()}


# --- domains ----------------------------------------------------------------------------------------


def inputs(domain: Any, algorithm: Any) -> Everything:
    """All inputs: zeros, and numbers with exponents in the domain's range and so many significand bits."""
    wide, k = Format.of(algorithm.wide), algorithm.k
    whole = np.arange(1 << wide.width, dtype=np.int64)
    x = wide.decode(whole)
    precision = wide.fraction_bits + 1
    normal = ~x.inf & ~x.nan & (x.mag >= 1 << wide.fraction_bits)
    inside = x.zero | (normal & (x.exp >= domain.low) & (x.exp <= domain.high))
    if domain.positive:
        inside &= ~x.sign
    found: dict[str, Array] = {}
    for side, bits in zip("ab", domain.bits or (precision, precision), strict=True):
        kept = whole[inside & (x.mag & ((1 << (precision - bits)) - 1) == 0)]
        found |= {f"{side}{lane}": kept for lane in range(k)}
    return Everything(found | {"c": np.array([0]) if domain.c_zero else whole[inside]})
