"""The largest relative error of a kernel, or a program, that is found on the inputs of a domain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.bounded import results_of
from tcsmt.analysis.tolerance.exact import in_kernel
from tcsmt.analysis.tolerance.kernels import MatrixWords
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.on_arrays import ArrayRules, of_rows
from tcsmt.programs.steps.program import read
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]

#: Inputs that are tried at once, times their products.
_WORK = 1 << 20
_SEED = 20261125


@dataclass(frozen=True)
class ErrorSubject:
    """What gives results whose errors are looked for: of alpha·Σ a·b + beta·c + bias, which has these parts.

    formats: of a, b and c; d_format: of the result; bias: of the bias (None: there is none). run: the words
    of the results of elements apart. has_c: whether there is a c. size: what errors are relative to.
    """

    name: str
    formats: tuple[Format, Format, Format]
    d_format: Format
    run: Callable[[MatrixWords], Array]
    alpha: Fraction = Fraction(1)
    beta: Fraction = Fraction(1)
    has_c: bool = True
    bias: Format | None = None
    size: str = "|alpha|·Σ|a·b| + |beta·c| + |bias|"

    @classmethod
    def of_kernel(cls, kernel: Kernel) -> ErrorSubject:
        """A kernel whose parts are added in one order."""
        unit, schedule, epilogue = kernel.unit.model, kernel.schedule, kernel.epilogue
        alpha, beta = (in_kernel(schedule, number) for number in (epilogue.alpha, epilogue.beta))
        return cls(
            kernel.name, _float_formats(unit), float_format(schedule.d_format),
            lambda words: results_of(kernel, words, kernel.reduction), alpha, beta, epilogue.beta != 0,
            schedule.working_format if epilogue.bias else None,
        )  # fmt: skip

    @classmethod
    def of_program(cls, name: str, model: ProgramModel) -> ErrorSubject:
        """A program at one K."""

        def run(words: MatrixWords) -> Array:
            given = {"A": words.a, "B": words.b, "c": words.c}
            if words.c is None:
                given["c"] = np.zeros(len(words.a), unsigned(model.c_format))
            results: Array = read(model.program, ArrayRules((len(words.a),), of_rows, model.nans), given)
            return results

        has_c = model.program.reads("c")
        size = "|c| + Σ|a·b|" if has_c else "Σ|a·b|"
        return cls(name, _float_formats(model), float_format(model.d_format), run, has_c=has_c, size=size)

    def terms(self, words: MatrixWords) -> Iterator[Array]:
        """Yield what the exact result is the sum of, in binary64: arrays (elements, terms)."""
        a, b, c = self.formats
        yield floats(a, words.a) * floats(b, words.b) * float(self.alpha)
        if words.c is not None:
            yield floats(c, words.c)[:, None] * float(self.beta)
        if words.bias is not None and self.bias is not None:
            yield floats(self.bias, words.bias)[:, None]

    def exact_terms(self, words: MatrixWords) -> list[Fraction]:
        """Return the same of the first element, in fractions."""
        a, b, c = self.formats
        x, y = ([Fraction(v) for v in floats(f, w[0]).tolist()] for f, w in ((a, words.a), (b, words.b)))
        terms = [self.alpha * left * right for left, right in zip(x, y, strict=True)]
        if words.c is not None:
            terms.append(self.beta * Fraction(float(floats(c, words.c)[0])))
        if words.bias is not None and self.bias is not None:
            terms.append(Fraction(float(floats(self.bias, words.bias)[0])))
        return terms


def _float_formats(model: Model) -> tuple[Format, Format, Format]:
    return float_format(model.a_format), float_format(model.b_format), float_format(model.c_format)


@dataclass(frozen=True)
class FoundError:
    """An input with a large error. words: by name; error, exact, size: of the result; tried: how many inputs.

    relative: the error as a part of size, |alpha|·Σ|a·b| + |beta·c| + |bias|; None: the result is not finite.
    """

    words: MatrixWords
    result: int
    exact: Fraction
    size: Fraction
    relative: Fraction | None
    tried: int


def largest_found(subject: ErrorSubject, k: int, domain: Domain, seconds: float) -> FoundError | None:
    """Return the largest one found in about so many seconds; None where nothing but zeros is tried."""
    rng = np.random.default_rng(_SEED)
    count = max(4, min(256, _WORK // k))
    end, best, score, tried = time.monotonic() + seconds, None, -1.0, 0
    while best is None or time.monotonic() < end:
        words = _inputs(rng, domain, subject, count, k, best)
        values = floats(subject.d_format, subject.run(words))
        parts = list(subject.terms(words))
        exact, size = (sum(np.sum(of(part), axis=1) for part in parts) for of in (np.asarray, np.abs))
        with np.errstate(all="ignore"):
            error = np.where(np.isfinite(values), np.abs(values - exact), np.inf)
            relative = np.where(size > 0, error / size, -1.0)
        at = int(np.argmax(relative))
        tried += count
        if relative[at] > score:
            score, best = float(relative[at]), _one(words, at)
        if score == np.inf:
            break
    assert best is not None
    return _exactly(subject, best, tried) if score >= 0 else None


def _exactly(subject: ErrorSubject, words: MatrixWords, tried: int) -> FoundError | None:
    """One input, in fractions."""
    (word,) = (int(x) for x in subject.run(words))
    terms, fmt = subject.exact_terms(words), subject.d_format
    exact, size = sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
    if fmt.is_nan(word) or fmt.is_infinite(word):
        return FoundError(words, word, exact, size, None, tried)
    error = abs(fmt.value(word) - exact) / size if size else Fraction(0)
    return FoundError(words, word, exact, size, error, tried)


def _inputs(
    rng: np.random.Generator,
    domain: Domain,
    subject: ErrorSubject,
    count: int,
    k: int,
    best: MatrixWords | None,
) -> MatrixWords:
    """Random inputs; all products alike, whose losses add up; and changes of the best one so far."""
    formats = subject.formats
    kinds = rng.integers(0, 4 if best is not None else 3, count)
    a, b = (
        _numbers(rng, domain, fmt, (count, k), bits)
        for fmt, bits in zip(formats, _bits(domain, formats), strict=False)
    )
    alike = kinds == 0
    a[alike], b[alike] = a[alike, :1], b[alike, :1]
    first = kinds == 1  # a large product or sum, and then all alike
    a[first, 1:], b[first, 1:] = a[first, 1:2], b[first, 1:2]
    c = None
    if not domain.c_zero and subject.has_c:
        c = _numbers(rng, domain, formats[2], (count,), formats[2].precision)
    bias = None
    if subject.bias is not None:
        bias = _numbers(rng, domain, subject.bias, (count,), subject.bias.precision)
    if best is not None:
        for n in np.flatnonzero(kinds == 3):
            some = rng.random(k) < rng.choice((0.5, 0.1, 1 / k))
            a[n], b[n] = np.where(some, a[n], best.a[0]), np.where(some, b[n], best.b[0])
            for part, before in ((c, best.c), (bias, best.bias)):
                if part is not None and before is not None and rng.random() < 0.5:
                    part[n] = before[0]
    return MatrixWords(a, b, c, bias)


def _bits(domain: Domain, formats: tuple[Format, Format, Format]) -> tuple[int, int]:
    return domain.bits_in(formats[0])[0], domain.bits_in(formats[1])[1]


def _numbers(
    rng: np.random.Generator, domain: Domain, fmt: Format, shape: tuple[int, ...], bits: int
) -> Array:
    """Words of normal numbers of a domain: random fractions, short ones and those of ones."""
    low, high = max(domain.low, fmt.e_min), min(domain.high, fmt.e_max)
    if low > high:
        raise TcsmtError(f"domain {domain}: {fmt.name} has no normal numbers with these exponents")
    field = rng.integers(low, high + 1, shape) + fmt.bias
    whole = 1 << fmt.fraction_bits
    fraction = rng.integers(0, whole, shape)
    kind = rng.integers(0, 4, shape)
    fraction = np.where(kind == 0, 0, np.where(kind == 1, whole - 1, fraction))
    dropped = fmt.precision - min(bits, fmt.precision)
    fraction = fraction >> dropped << dropped
    sign = rng.integers(0, 2, shape) if fmt.signed and not domain.positive else np.zeros(shape, np.int64)
    stored = (field << fmt.fraction_bits | fraction).astype(np.uint64)
    limit = np.uint64(fmt.largest_finite_word >> fmt.ignored_low_bits)
    stored = np.minimum(stored, limit) << np.uint64(fmt.ignored_low_bits)
    return (stored | sign.astype(np.uint64) << np.uint64(fmt.sign_bit)).astype(unsigned(fmt))


def _one(words: MatrixWords, at: int) -> MatrixWords:
    a, b, c, bias = (
        None if x is None else x[at : at + 1].copy() for x in (words.a, words.b, words.c, words.bias)
    )
    return MatrixWords(not_none(a), not_none(b), c, bias)
