"""What kind of bug gives results that are off by more than a kernel can be: each kind tried on the elements.

A kind is named where all of the elements tried are as it says, within the kernel's own bound (and half of it
more: a kernel with the bug is another kernel). That is a resemblance, and no proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.exact import in_kernel
from tcsmt.analysis.tolerance.instruction import InstructionLoss
from tcsmt.analysis.tolerance.kernels import ElementBounds, MatrixWords, bounds_of_elements
from tcsmt.analysis.tolerance.search import elements_at, results_of
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.compose.kernels.reduction import Level, Reduction
from tcsmt.matrix_units.arithmetic.conversion import converted, floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

__all__ = ["looks_like"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements tried, those that are off by the most first.
_TRIED = 256
#: How much of its bound a kernel with a bug may be off, compared with one without.
_SLACK = 1.5
#: Formats of partial sums and results, the widest first.
_NARROW = ("f16", "bf16")
#: Of all elements, those that must be off for a narrow format to be the reason: one of so many.
_MOST = 8


def looks_like(
    kernel: Kernel,
    operands: MatrixWords,
    bounds: ElementBounds,
    values: Array,
    wrong: Array,
    loss: InstructionLoss,
) -> list[str]:
    """Kinds of bugs, in words, the most specific first; empty where none fits.

    values: D in binary64, (M, N). wrong: which elements are further from the exact result than ``bounds``
    say.
    """
    places = np.argwhere(wrong)
    with np.errstate(invalid="ignore"):
        over = np.abs(values - bounds.exact)[wrong] / bounds.atol[wrong].clip(1e-300)
    order = np.argsort(np.where(np.isnan(over), -np.inf, -over), kind="stable")
    places = places[order[:_TRIED]]
    tried = _Tried.of(kernel, operands, bounds, values, places, loss)
    if not tried.finite:
        return [tried.special]
    kinds = list(tried.left_out()) or [*tried.factor(), *tried.transposed()]
    if not kinds and _MOST * int(wrong.sum()) >= wrong.size:
        kinds = list(tried.narrow())
    return kinds + list(_region(wrong))


def _region(wrong: Array) -> Iterator[str]:
    """Only a part of D is off."""
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    (first, last), (left, right) = ((int(x[0]), int(x[-1])) for x in (rows, columns))
    if 4 * (last - first + 1) * (right - left + 1) <= wrong.size:
        yield f"a tile, or memory: all that is off lies in rows {first} to {last}, columns {left} to {right}"


@dataclass(frozen=True)
class _Tried:
    kernel: Kernel
    places: Array
    elements: MatrixWords
    exact: Array
    atol: Array
    d: Array
    loss: InstructionLoss
    whole: Array

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        operands: MatrixWords,
        bounds: ElementBounds,
        values: Array,
        places: Array,
        loss: InstructionLoss,
    ) -> _Tried:
        at = places[:, 0], places[:, 1]
        return cls(
            kernel,
            places,
            elements_at(operands, places),
            bounds.exact[at],
            bounds.atol[at],
            values[at],
            loss,
            bounds.exact,
        )

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.d).all())

    @property
    def special(self) -> str:
        nans, count = int(np.isnan(self.d).sum()), len(self.d)
        if nans:
            return (
                f"memory that was never written, or Inf - Inf: {nans} of {counted(count, 'element')} are NaNs"
            )
        infinite = int(np.isinf(self.d).sum())
        return f"an overflow, as of FP16 partial sums: {infinite} of {counted(count, 'element')} are infinite"

    def fits(self, right: Array) -> bool:
        """Whether every element is as this says."""
        return bool((np.abs(self.d - right) <= _SLACK * self.atol).all())

    @property
    def products(self) -> Array:
        """alpha·a·b, in binary64, (elements, K)."""
        unit = self.kernel.unit.model
        a, b = (
            floats(float_format(fmt), words)
            for fmt, words in ((unit.a_format, self.elements.a), (unit.b_format, self.elements.b))
        )
        alpha = float(in_kernel(self.kernel.schedule, self.kernel.epilogue.alpha))
        products: Array = a * b * alpha
        return products

    def left_out(self) -> Iterator[str]:
        """Terms that are missing, or there twice."""
        missing, products = self.exact - self.d, self.products
        if self.fits(np.zeros_like(self.exact)):
            yield "elements that were never computed: they are zero within their bounds"
            return
        for text, term in self._addends():
            for share, what in ((1.0, "left out"), (-1.0, "added twice")):
                if self.fits(self.exact - share * term):
                    yield f"{text} {what}"
        for share, what in ((1.0, "left out"), (-1.0, "added twice")):
            run = self._run(missing, products, share)
            if run is not None:
                first, last = run
                where = f"k = {first}" if first == last else f"k = {first} to {last}"
                tail = ", the last ones of K" if last + 1 == products.shape[1] and first else ""
                terms = "a term" if first == last else counted(last - first + 1, "term")
                yield f"{terms} {what}: {where}{tail}"
                return

    def _addends(self) -> Iterator[tuple[str, Array]]:
        schedule, epilogue = self.kernel.schedule, self.kernel.epilogue
        if self.elements.c is not None and epilogue.beta != 0:
            c = floats(float_format(schedule.unit.c_format), self.elements.c)
            yield "C", c * float(in_kernel(schedule, epilogue.beta))
        if self.elements.bias is not None:
            yield "the bias", floats(schedule.working_format, self.elements.bias)

    def _run(self, missing: Array, products: Array, share: float) -> tuple[int, int] | None:
        """Some terms in a row, along K, whose sum is what is missing of every element: the fewest."""
        count, length = products.shape
        sums = np.concatenate([np.zeros((count, 1)), np.cumsum(products, axis=1)], axis=1) * share
        slack = _SLACK * self.atol
        step = self.kernel.unit.model.k
        single = sums[:, 1:] - sums[:, :-1]
        ends = [(sums[:, -1:] - sums[:, 1:-1], 1, True), (sums[:, 1:-1], 0, False)]
        fits = (np.abs(missing[:, None] - single) <= slack[:, None]).all(axis=0)
        if fits.any():
            first = int(np.flatnonzero(fits)[0])
            return first, first
        for runs, at, tail in ends:  # the last terms, of any number; the first ones
            fits = (np.abs(missing[:, None] - runs) <= slack[:, None]).all(axis=0)
            if fits.any():
                place = int(np.flatnonzero(fits)[-1 if tail else 0])
                return (place + at, length - 1) if tail else (0, place)
        for size in range(step, length, step):
            runs = sums[:, size:] - sums[:, :-size]
            fits = (np.abs(missing[:, None] - runs) <= slack[:, None]).all(axis=0)
            if fits.any():
                first = int(np.flatnonzero(fits)[-1])
                return first, first + size - 1
        return None

    def factor(self) -> Iterator[str]:
        """All elements are the exact ones times one number."""
        if len(self.d) < 2 or not self.exact.any():
            return
        ratio = float(self.d @ self.exact / (self.exact @ self.exact))
        for factor in (ratio, float(np.exp2(np.rint(np.log2(abs(ratio) or 1.0)))) * np.sign(ratio)):
            if abs(factor - 1) > 1e-3 and self.fits(factor * self.exact):
                yield f"alpha, or a scale: every element is {factor:g} times the exact result"
                return

    def transposed(self) -> Iterator[str]:
        """D is that of the other side of the diagonal."""
        if self.whole.shape[0] == self.whole.shape[1]:
            other = self.whole[self.places[:, 1], self.places[:, 0]]
            if (self.places[:, 0] != self.places[:, 1]).any() and self.fits(other):
                yield "a transposed result: every element is that of D's transpose"

    def narrow(self) -> Iterator[str]:
        """Partial sums, or results, in a narrower format."""
        schedule = self.kernel.schedule
        wide = float_format(schedule.d_format)
        for name in _NARROW:
            fmt = FORMATS[name]
            if not wide.holds(fmt) or wide == fmt:
                continue
            if self._held(fmt):
                texts = list(self._in_size(f"results in {name.upper()}", _with_results(self.kernel, fmt)))
                if texts:
                    yield texts[0]
                    return
        for name in _NARROW:
            for text, reduction in self._narrower(FORMATS[name]):
                other = replace(self.kernel, reduction=reduction)
                if any(np.array_equal(values, self.d) for values in self._results(other)):
                    where = counted(len(self.d), "element")
                    yield f"{text} in {name.upper()}: {reduction} gives the same bits, on all {where} tried"
                    return
        for name in _NARROW:
            for text, reduction in self._narrower(FORMATS[name]):
                texts = list(
                    self._in_size(f"{text} in {name.upper()}", replace(self.kernel, reduction=reduction))
                )
                if texts:
                    yield texts[0]
                    return

    def _results(self, kernel: Kernel) -> Iterator[Array]:
        """A kernel's results in binary64, of every order in which it may add its parts."""
        try:
            length, c = self.elements.a.shape[1], self.elements.c is not None
            for order in kernel.reduction.orders(length, kernel.unit.model.k, c=c):
                words = results_of(kernel, self.elements, order)
                yield floats(float_format(kernel.schedule.d_format), words)
        except TcsmtError:
            return

    def _held(self, fmt: Format) -> bool:
        """Whether the format has every element."""
        words = self.d.view(np.uint64)
        return not converted(words, FORMATS["f64"], fmt, ROUNDINGS["RNE"]).inexact.any()

    def _narrower(self, fmt: Format) -> Iterator[tuple[str, Reduction]]:
        levels = self.kernel.reduction.levels
        if self.kernel.reduction.tiled:
            return
        each, single = (Level(kind="promote", number=n, total=fmt) for n in (self.kernel.unit.model.k, 1))
        if levels:
            yield "partial sums", Reduction((replace(levels[0], parts=fmt), *levels[1:]))
            if levels[0].order in ("order", "reversed"):
                yield "a running total", Reduction((replace(levels[0], total=fmt), *levels[1:]))
        for inner in dict.fromkeys((each, single)):
            yield "accumulation", Reduction((inner,))
            if levels:
                yield "accumulation", Reduction((*levels, inner))

    def _in_size(self, text: str, other: Kernel) -> Iterator[str]:
        """Whether a kernel's own bounds would allow these elements."""
        try:
            bounds = bounds_of_elements(other, self.elements, self.loss, other.reduction)
        except (Unbounded, TcsmtError):
            return
        if (np.abs(self.d - bounds.exact) <= bounds.atol).all():
            yield f"{text}: no element tried is off by more than that allows"


def _with_results(kernel: Kernel, fmt: Format) -> Kernel:
    """The kernel with another format of its results."""
    return replace(kernel, epilogue=replace(kernel.epilogue, out=(fmt,), saturate=False, stochastic=0))
