"""The largest relative error of a kernel that is found on the inputs of a domain."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.exact import exact_element, in_kernel
from tcsmt.analysis.tolerance.kernels import MatrixWords
from tcsmt.analysis.tolerance.search import results_of
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

__all__ = ["FoundError", "largest_found"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Inputs that are tried at once, times their products.
_WORK = 1 << 20
_SEED = 20261125


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


def largest_found(kernel: Kernel, k: int, domain: Domain, seconds: float) -> FoundError | None:
    """Return the largest one found in about so many seconds; None where nothing but zeros is tried."""
    rng = np.random.default_rng(_SEED)
    unit, schedule = kernel.unit.model, kernel.schedule
    formats = float_format(unit.a_format), float_format(unit.b_format), float_format(unit.c_format)
    count = max(4, min(256, _WORK // k))
    end, best, score, tried = time.monotonic() + seconds, None, -1.0, 0
    fmt = float_format(schedule.d_format)
    while best is None or time.monotonic() < end:
        words = _inputs(rng, domain, kernel, formats, count, k, best)
        values = floats(fmt, results_of(kernel, words, kernel.reduction))
        exact, size = _sums(kernel, words)
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
    return _exactly(kernel, best, tried) if score >= 0 else None


def _exactly(kernel: Kernel, words: MatrixWords, tried: int) -> FoundError | None:
    """One input, in fractions."""
    (word,) = (int(x) for x in results_of(kernel, words, kernel.reduction))
    schedule, epilogue, unit = kernel.schedule, kernel.epilogue, kernel.unit.model
    element = MatrixWords(words.a, words.b.T, None if words.c is None else words.c[:, None], words.bias)
    exact = exact_element(kernel, element, 0, 0)
    a, b = (
        [abs(Fraction(x)) for x in floats(float_format(fmt), part[0]).tolist()]
        for fmt, part in ((unit.a_format, words.a), (unit.b_format, words.b))
    )
    size = sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
    size *= abs(in_kernel(schedule, epilogue.alpha))
    if words.c is not None:
        c = Fraction(float(floats(float_format(unit.c_format), words.c)[0]))
        size += abs(in_kernel(schedule, epilogue.beta) * c)
    if words.bias is not None:
        size += abs(Fraction(float(floats(schedule.working_format, words.bias)[0])))
    fmt = float_format(schedule.d_format)
    if fmt.is_nan(word) or fmt.is_infinite(word):
        return FoundError(words, word, exact, size, None, tried)
    return FoundError(
        words, word, exact, size, abs(fmt.value(word) - exact) / size if size else Fraction(0), tried
    )


def _sums(kernel: Kernel, words: MatrixWords) -> tuple[Array, Array]:
    """Return the exact results and their sizes, nearly, in binary64."""
    unit, schedule, epilogue = kernel.unit.model, kernel.schedule, kernel.epilogue
    products = floats(float_format(unit.a_format), words.a) * floats(float_format(unit.b_format), words.b)
    products = products * float(in_kernel(schedule, epilogue.alpha))
    exact, size = products.sum(axis=1), np.abs(products).sum(axis=1)
    more = []
    if words.c is not None:
        c = floats(float_format(unit.c_format), words.c)
        more.append(c * float(in_kernel(schedule, epilogue.beta)))
    if words.bias is not None:
        more.append(floats(schedule.working_format, words.bias))
    for term in more:
        exact, size = exact + term, size + np.abs(term)
    return exact, size


def _inputs(
    rng: np.random.Generator,
    domain: Domain,
    kernel: Kernel,
    formats: tuple[Format, Format, Format],
    count: int,
    k: int,
    best: MatrixWords | None,
) -> MatrixWords:
    """Random inputs; all products alike, whose losses add up; and changes of the best one so far."""
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
    if not domain.c_zero and kernel.epilogue.beta != 0:
        c = _numbers(rng, domain, formats[2], (count,), formats[2].precision)
    bias = None
    if kernel.epilogue.bias:
        working = kernel.schedule.working_format
        bias = _numbers(rng, domain, working, (count,), working.precision)
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
