"""Inputs with few products that are not zero, on which reductions are told apart by simulation.

A long dot product has its few products anywhere along K, so that they fall into different parts. Where the
results have a narrower format than the sums, few inputs show how a sum was made: those whose sum lies next to
the middle between two results. So some rows are made of a result, half the distance to the next one, and
products around the last place of the sum, which each order of additions keeps or loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const, substitute, var
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.elements import SampledElements, on_elements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.prove.engine.witnesses import cost, shorten
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question

Array = np.ndarray[Any, np.dtype[Any]]
_ROWS = 4096
_MOST = 4
#: Words of a and of b that are drawn at once for inputs of so many products, and in all for each number.
_WORDS, _DRAWN = 1 << 19, 1 << 23
#: Powers of two, from a sum's last place on, of what orders of additions keep or lose.
_LAST = (-4, 3)
#: Rows that are made short, and rows that are held against a domain to find them.
_STARTS, _TRIED = 4, 256


@dataclass(frozen=True)
class FewProducts:
    """Rows for kernels with one unit at one K, and what each kernel makes of them."""

    unit: Row
    kernels: tuple[Kernel, ...]
    k: int

    @cached_property
    def _rows(self) -> tuple[Array, dict[str, Array]]:
        """Places along K (rows, products), and words by the names a0, ..., b0, ..., c."""
        model, count = self.unit.model, min(_MOST, self.k)
        rng = np.random.default_rng(20250101)
        formats = {f"{side}{n}": getattr(model, f"{side}_format") for side in "ab" for n in range(count)}
        words = rows(formats | {"c": model.c_format}, _ROWS, rng)
        words["c"][::2] = 0
        self._aim(words, rng)
        places = np.argsort(rng.random((_ROWS, self.k)), axis=1)[:, :count]
        return places, words

    def _aim(self, words: dict[str, Array], rng: np.random.Generator) -> None:
        """Put the sums of every other pair of rows next to the middle between two results."""
        model, schedule = self.unit.model, self.kernels[0].schedule
        formats = model.a_format, model.b_format, schedule.sum_format, schedule.d_format
        if self.k < _MOST or not all(isinstance(fmt, Format) and fmt.signed for fmt in formats):
            return
        left, right, sums, results = map(float_format, formats)
        if results.precision >= sums.precision:
            return
        chosen = np.flatnonzero(np.arange(_ROWS) // 2 % 2)
        count = len(chosen)
        first = rng.integers(max(results.e_min, -2), min(results.e_max, 8), count)
        tails = [first - sums.fraction_bits + rng.integers(*_LAST, count, endpoint=True) for _ in range(2)]
        for lane, exponent in enumerate((first, first - results.precision, *tails)):
            one = np.clip(exponent, left.e_min, left.e_max)
            other = np.clip(exponent - one, right.e_min, right.e_max)
            odd = rng.integers(0, 2, count) * (lane > 1)  # 1, or 1.5, so that sums of two differ
            sign = rng.integers(0, 2, count) * (lane > 0)
            for name, fmt, power, half in (("a", left, one, odd), ("b", right, other, odd * 0)):
                fraction = half << max(fmt.fraction_bits - 1, 0) if fmt.fraction_bits else half * 0
                stored = (power + fmt.bias << fmt.fraction_bits) + fraction << fmt.ignored_low_bits
                word = stored | (sign << fmt.sign_bit if name == "a" else 0)
                words[f"{name}{lane}"][chosen] = word.astype(words[f"{name}{lane}"].dtype)
        words["c"][chosen[: count // 2]] = 0

    @cached_property
    def _results(self) -> list[Array]:
        places, words = self._rows
        count = places.shape[1]
        sides = []
        for side in "ab":
            columns = np.stack([words[f"{side}{n}"] for n in range(count)], axis=1)
            full = np.zeros((_ROWS, self.k), columns.dtype)
            np.put_along_axis(full, places, columns, axis=1)
            sides.append(full)
        results = dict(on_elements(self.kernels, SampledElements(sides[0], sides[1], words["c"])))
        return [results[kernel] for kernel in self.kernels]

    def witness(self, first: int, second: int, domain: Domain, question: Question) -> dict[str, int] | None:
        """A short input of the domain at which the question's goal holds, replayed; None: none is found."""
        found = self._of_few(first, second, domain, question)
        return (
            self._of_many((self.kernels[first], self.kernels[second]), domain, question)
            if found is None
            else found
        )

    def _of_many(
        self, kernels: tuple[Kernel, Kernel], domain: Domain, question: Question
    ) -> dict[str, int] | None:
        """Return one of random inputs of the domain, with as few products as keep the difference."""
        found = self._differing(kernels, domain)
        if found is None:
            return None
        a, b, c = found
        size = self.k
        while size:
            lanes = np.flatnonzero(a | b)
            blocks = [lanes[at : at + size] for at in range(0, len(lanes), size)]
            tries = [np.repeat(side[None], len(blocks), axis=0) for side in (a, b)]
            for number, block in enumerate(blocks):
                for side in tries:
                    side[number, block] = 0
            still = np.flatnonzero(self._differ(kernels, tries[0], tries[1], np.repeat(c, len(blocks))))
            if still.size:
                a, b = (side[still[0]] for side in tries)
            else:
                size //= 2
        values = {"c": int(c)}
        for lane in np.flatnonzero(a | b):
            values |= {f"a{lane}": int(a[lane]), f"b{lane}": int(b[lane])}
        if not domain.contains({name: question.formats[name] for name in values}, values):
            return None
        short = dict.fromkeys(question.formats, 0) | _short(question, values)
        return short if evaluate([question.goal], short)[0] else None

    def _differing(self, kernels: tuple[Kernel, Kernel], domain: Domain) -> tuple[Array, Array, Any] | None:
        """Words of an input of the domain that tells the kernels apart; None: of many, none does.

        Where some input does, one of 2 products is looked for, of 4, and so on: an input of many can seldom
        be made one of few, as without a product its sum is another one, and no longer between two results.
        """
        rng, count = np.random.default_rng(20250102), max(_TRIED, min(_ROWS, _WORDS // self.k))
        found = self._first(kernels, self._drawn(rng, domain, count))
        products = 2
        while found is not None and products < self.k:
            for _ in range(max(1, _DRAWN // (count * self.k))):
                a, b, c = self._drawn(rng, domain, count)
                left_out = np.argsort(rng.random((count, self.k)), axis=1) >= products
                a[left_out] = b[left_out] = 0
                fewer = self._first(kernels, (a, b, c))
                if fewer is not None:
                    return fewer
            products *= 2
        return found

    def _first(
        self, kernels: tuple[Kernel, Kernel], columns: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Any] | None:
        """Return the first input on which the kernels differ."""
        differing = np.flatnonzero(self._differ(kernels, *columns))
        if not differing.size:
            return None
        a, b, c = (words[differing[0]] for words in columns)
        return a, b, c

    def _drawn(self, rng: np.random.Generator, domain: Domain, count: int) -> tuple[Array, Array, Array]:
        """Words of a and b (count, K), and of c: normal numbers of the domain near 1."""
        model = self.unit.model
        sides = []
        for name, shape in (("a", (count, self.k)), ("b", (count, self.k)), ("c", (count,))):
            fmt = getattr(model, f"{name}_format")
            words = np.zeros(shape, unsigned(fmt))
            if isinstance(fmt, Format) and not (name == "c" and domain.c_zero):
                low, high = domain.exponents or (fmt.e_min, fmt.e_max)
                low, high = max(low, fmt.e_min), min(high, fmt.e_max)
                ends = min(max(low, -2), high), max(min(high, 2), low)
                bits = dict(zip("ab", domain.bits_in(fmt), strict=True)).get(name, fmt.precision)
                fraction = rng.integers(0, 1 << fmt.fraction_bits, shape)
                dropped = fmt.precision - min(bits, fmt.precision)
                stored = rng.integers(ends[0], ends[1], shape, endpoint=True) + fmt.bias << fmt.fraction_bits
                limit = fmt.largest_finite_word >> fmt.ignored_low_bits
                stored = np.minimum(stored | fraction >> dropped << dropped, limit) << fmt.ignored_low_bits
                sign = rng.integers(0, 2, shape) * (fmt.signed and not domain.positive)
                words = (stored | sign << fmt.sign_bit).astype(words.dtype)
            sides.append(words)
        return sides[0], sides[1], sides[2]

    @staticmethod
    def _differ(kernels: tuple[Kernel, Kernel], a: Array, b: Array, c: Array) -> Array:
        """Return where the kernels give different words."""
        results = dict(on_elements(kernels, SampledElements(a, b, c)))
        different: Array = results[kernels[0]] != results[kernels[1]]
        return different

    def _of_few(self, first: int, second: int, domain: Domain, question: Question) -> dict[str, int] | None:
        """Return one of the rows with few products."""
        results = self._results
        differing = np.flatnonzero(results[first] != results[second])
        _, words = self._rows
        order = sorted(differing.tolist(), key=lambda row: sum(bool(word[row]) for word in words.values()))
        witnesses: list[dict[str, int]] = []
        for row in order[:_TRIED]:
            values = self._values(row)
            if not domain.contains({name: question.formats[name] for name in values}, values):
                continue
            witnesses.append(_short(question, values))
            if len(witnesses) == _STARTS:
                break
        inputs = [dict.fromkeys(question.formats, 0) | values for values in witnesses]
        replayed = [values for values in inputs if evaluate([question.goal], values)[0]]
        return min(replayed, key=lambda values: cost(question.formats, values), default=None)

    def _values(self, row: int) -> dict[str, int]:
        """Return the words of a row that may be other than zero, by the names of the kernels' inputs."""
        places, words = self._rows
        values = {"c": int(words["c"][row])}
        for number, place in enumerate(places[row]):
            pair = [int(words[f"{side}{number}"][row]) for side in "ab"]
            if any(pair):
                values |= {f"a{place}": pair[0], f"b{place}": pair[1]}
        return values


def _short(question: Question, values: dict[str, int]) -> dict[str, int]:
    """A simpler witness with the same products other than zero, or fewer of them."""
    formats = {name: question.formats[name] for name in values}
    zeros = {
        var(name, fmt.width): const(0, fmt.width)
        for name, fmt in question.formats.items()
        if name not in values
    }
    (goal,) = substitute([question.goal], zeros)
    return shorten(goal, formats, values)
