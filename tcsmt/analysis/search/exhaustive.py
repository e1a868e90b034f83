"""All inputs of a small domain: how often a statement holds, and where the error is largest.

An input is one number that has, for every word, its sign, exponent and significand in some of its bits.
The term that a solver would see, over these bits, is evaluated for every such number, by two back ends
(:mod:`tcsmt.language.run.exhaust`). No sign of an a is negative: -a times -b is a times b, word by word.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.analysis.error import ErrorGrid, exact_dot, value
from tcsmt.language.run.exact import evaluate
from tcsmt.language.run.exhaust import ExhaustiveEvaluator
from tcsmt.language.terms import FALSE, Term, const, substitute, var
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models.base import role_of
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Domain are numbers of so many bits at most.
LARGEST = 32
#: Domain that are looked at together: results that stay in a processor's cache.
_PORTION = 1 << 18
#: Exponents around 0 that are tried where all of a domain's are too many.
_REACHES = (3, 1, 0)


@dataclass(frozen=True)
class Tally:
    """What was counted.

    gone: inputs that were gone through; those outside of the domain, which never count, and zeros once
    for every significand are among them. holds: of how many a truth value is 1. first: the first of
    them. unsure: of how many it is not known. whole: no input is missing. how: what computed it.
    """

    gone: int
    holds: int
    first: int | None
    unsure: int
    whole: bool
    how: str


@dataclass(frozen=True)
class Worst:
    """The largest error relative to |c| + Σ |a·b|, and the first input that has it; what computed it."""

    gone: int
    relative: Fraction
    values: Mapping[str, int]
    result: int
    whole: bool
    how: str


@dataclass(frozen=True)
class InputSpace:
    """All inputs of a domain, for dot products of k numbers of the format ``wide``.

    Raises TcsmtError for more than 2^32.

    places: the first bit of each word, and how many it has. width: bits of an input.
    """

    domain: Domain
    wide: Format
    k: int
    places: Mapping[str, tuple[int, int]] = field(init=False, repr=False, compare=False)
    width: int = field(init=False)

    def __post_init__(self) -> None:
        names = [f"{side}{lane}" for side in "ab" for lane in range(self.k)]
        places, end = {}, 0
        for name in [*names, *(() if self.domain.c_zero else ("c",))][::-1]:
            signs = role_of(name).factor != 0 and not self.domain.positive
            places[name] = (end, signs + self._exponent_bits + self._fraction_bits(name))
            end += places[name][1]
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "width", end)

    @property
    def _exponent_bits(self) -> int:
        """Of the numbers of exponents; 0 stands for a zero."""
        return (self.domain.high - self.domain.low + 1).bit_length()

    def _fraction_bits(self, name: str) -> int:
        factor = role_of(name).factor
        return (self.wide.precision if factor is None else self.domain.bits_in(self.wide)[factor]) - 1

    @cached_property
    def words(self) -> dict[str, Term]:
        """Every word, as a term of the input ``x``."""
        zero = {"c": const(0, self.wide.width)} if self.domain.c_zero else {}
        return {name: self._word(name) for name in self.places} | zero

    def _word(self, name: str) -> Term:
        domain, wide, kept = self.domain, self.wide, self._fraction_bits(name)
        start, length = self.places[name]
        bits = var("x", self.width)[start + length - 1 : start]
        number = bits[kept + self._exponent_bits - 1 : kept].zext(wide.exponent_bits)
        word = number.eq(0).ite(0, number + (domain.low + wide.bias - 1))
        if kept:
            word = word.concat(bits[kept - 1 : 0])
        if kept < wide.fraction_bits:
            word = word.concat(const(0, wide.fraction_bits - kept))
        sign = bits[length - 1] if length > kept + self._exponent_bits else FALSE
        return sign.concat(word)

    def values(self, number: int) -> dict[str, int]:
        """Return the words of one input by name."""
        words = evaluate(list(self.words.values()), {"x": number})
        return dict(zip(self.words, words, strict=True))

    def count(self, algorithm: Algorithm, goal: Term, unsure: Term = FALSE, *, seconds: float) -> Tally:
        """For how many inputs of the domain ``goal`` is 1 and for how many ``unsure`` is (those count there).

        Both are terms of the variables of the algorithm's trace. Ends after so many seconds.
        """
        counts, first = np.zeros(4, dtype=np.int64), None

        def look(start: int, results: Array) -> None:
            nonlocal counts, first
            here = np.bincount(results, minlength=4)
            if first is None and here[1:].any():
                first = start + int(np.flatnonzero(results)[0])
            counts += here

        where = self.domain.holds(algorithm.input_formats, algorithm.trace)
        gone, how = self._through(algorithm, (where & unsure).concat(where & goal), look, seconds)
        return Tally(gone, int(counts[1]), first, int(counts[2] + counts[3]), gone == 1 << self.width, how)

    def worst(self, algorithm: Algorithm, *, seconds: float) -> Worst:
        """Return the largest relative error of one product and c. Ends after so many seconds.

        Errors are exact in binary64; the ratio that inputs are ranked by is rounded once, so that one that
        is larger by less than 2^-52 of itself may be missed. Raises :class:`.TcsmtError` where
        binary64 is too narrow.
        """
        wide, grid = self.wide, ErrorGrid.of(self.domain, 1, self.wide)
        if self.k != 1 or grid.width > 53:
            raise TcsmtError(
                f"K = {self.k}, {self.domain}: only one product whose sum fits 53 bits can be enumerated"
            )
        tables = {name: self._table(name) for name in self.places}
        best, place = Fraction(-1), 0

        def look(start: int, results: Array) -> None:
            nonlocal best, place
            numbers = np.arange(start, start + len(results))
            words = {
                name: tables[name][numbers >> first & ((1 << length) - 1)]
                for name, (first, length) in self.places.items()
            }
            product, c = words["a0"] * words["b0"], words.get("c", 0.0)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.abs(floats(wide, results) - (product + c)) / (np.abs(product) + np.abs(c))
            at = int(np.argmax(np.where(np.isnan(share), -1, share)))
            if share[at] >= float(best):
                relative = self._relative(algorithm, self.values(start + at))
                if relative > best:
                    best, place = relative, start + at

        gone, how = self._through(algorithm, algorithm.trace.output, look, seconds)
        values = self.values(place)
        (result,) = evaluate([algorithm.trace.output], values)
        return Worst(gone, best, values, result, gone == 1 << self.width, how)

    def _relative(self, algorithm: Algorithm, values: Mapping[str, int]) -> Fraction:
        wide = self.wide
        (word,) = evaluate([algorithm.trace.output], values)
        exact, size = (exact_dot(values, absolute=absolute, wide=wide) for absolute in (False, True))
        result = value(word, wide)
        if result is None:
            raise TcsmtError(f"{self.domain}: the result overflows at {values}")
        return abs(result - exact) / size if size else Fraction(0)

    def _table(self, name: str) -> Array:
        """A word's value for each of its bits; NaN outside of the domain."""
        (start, length), wide = self.places[name], self.wide
        word = self.words[name]
        inside = self.domain.within(word, wide, self._fraction_bits(name) + 1)
        table = np.full(1 << length, np.nan)
        for bits in range(1 << length):
            words, holds = evaluate([word, inside], {"x": bits << start})
            if holds:
                table[bits] = float(wide.value(words))
        return table

    def _through(
        self, algorithm: Algorithm, term: Term, look: Callable[[int, Array], None], seconds: float
    ) -> tuple[int, str]:
        """Shows ``look`` a term's value for every input, portion by portion.

        Returns how many inputs it has seen, and what computed the values.
        """
        if self.width > LARGEST:
            raise TcsmtError(
                f"{self.domain}, K = {self.k}: 2^{self.width} inputs are too many: at most 2^{LARGEST}"
            )
        names = zip(algorithm.input_names, algorithm.trace.inputs, strict=True)
        (root,) = substitute([term], {variable: self.words[name] for name, variable in names})
        total, size = 1 << self.width, min(_PORTION, 1 << self.width)
        function = _Constant(root.value) if root.value is not None else ExhaustiveEvaluator(root)
        end = time.monotonic() + seconds
        for start in range(0, total, size):
            if start and time.monotonic() > end:
                return start, function.how
            look(start, function(start, size))
        return total, function.how


@dataclass(frozen=True)
class _Constant:
    """A term that does not depend on the input."""

    value: int
    how: str = "simplification to a constant"

    def __call__(self, start: int, count: int) -> Array:
        return np.full(count, self.value)


def middles(domain: Domain, wide: Format, k: int, most: int) -> Iterator[InputSpace]:
    """Yield the domain, and its parts with exponents -3 to 3, -1 to 1, and 0, of 2^most inputs at most."""
    before = None
    for reach in (max(-domain.low, domain.high), *_REACHES):
        low, high = max(domain.low, -reach), min(domain.high, reach)
        if low <= high and before != (low, high):
            before = low, high
            tried = InputSpace(replace(domain, exponents=(low, high)), wide, k)
            if tried.width <= most:
                yield tried
