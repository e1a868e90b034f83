"""What kind of step a product has that no kernel tried has: signs in D, and in how far it is from A·B.

Each sign is a measurement of the whole of D, with its figures: none of them proves anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from tcsmt.compose.kernels.elements import Product
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES, converted, floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.support.invariants import present

__all__ = ["StepSign", "signs"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Formats whose values binary64 has, and whose sums of products it is far more exact than.
_WIDEST = 32
#: Formats to which operands and results may have been rounded, the widest first.
_NARROWER = ("tf32", "f16", "bf16", "e4m3", "e5m2")
#: How many times an error must fall for a step to be its reason; spread of a factor that is one for all.
_FALLS, _SPREAD = 8.0, 0.02
#: Errors within this factor of the nearest kernel's are those of another order.
_SAME = 8.0


@dataclass(frozen=True)
class StepSign:
    """A sign of a step.

    kind: ``region``, ``scaling``, ``addend``, ``operands``, ``result``, ``format`` or ``order``.
    text: what was measured, as a sentence.
    """

    kind: str
    text: str


def signs(product: Product, nearest: Array | None) -> tuple[StepSign, ...]:
    """What D says of the step that is missing, the strongest sign first.

    nearest: the words of D as the nearest kernel gives them, unsigned integers (M, N); None: there is none.
    Of formats that binary64 is not far more exact than, and of D without numbers, only where the nearest
    kernel is wrong is said.
    """
    lines = [] if nearest is None else [*_region(product, nearest)]
    return (*lines, *_of_numbers(product, nearest))


def _region(product: Product, nearest: Array) -> Iterator[StepSign]:
    """The nearest kernel is wrong in a part of D alone."""
    m, n, _ = product.shape
    wrong = product.missed(nearest.reshape(-1), np.argwhere(np.ones((m, n), bool))).reshape(m, n)
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    if not rows.size or 2 * (np.ptp(rows) + 1) * (np.ptp(columns) + 1) > m * n:
        return
    where = f"rows {rows[0]} to {rows[-1]}, columns {columns[0]} to {columns[-1]}"
    yield StepSign(
        "region", f"the nearest kernel gives all elements but some in {where}: another kernel there"
    )


def _of_numbers(product: Product, nearest: Array | None) -> tuple[StepSign, ...]:
    """What the numbers of A, B, C and D say."""
    formats = product.a_format, product.b_format, product.d_format, product.c_format
    if not all(fmt is None or _is_narrow(fmt) for fmt in formats):
        return ()
    measured = _Measured(product, nearest)
    return tuple(measured.signs()) if measured.inside.any() else ()


def _is_narrow(fmt: AnyFormat) -> bool:
    return isinstance(fmt, Format) and fmt.width <= _WIDEST


class _Measured:
    """A, B, C and D as numbers in binary64, and what they are together."""

    def __init__(self, product: Product, nearest: Array | None) -> None:
        self.product = product
        self.a, self.b, self.d = (
            self._floats(fmt, words)
            for fmt, words in (
                (product.a_format, product.a),
                (product.b_format, product.b),
                (product.d_format, product.d),
            )
        )
        self.c = 0.0 if product.c is None else self._floats(product.c_format, product.c)
        self.near = None if nearest is None else self._floats(product.d_format, nearest)
        with np.errstate(all="ignore"):
            self.exact = self.a @ self.b + self.c
            self.size = np.abs(self.a) @ np.abs(self.b) + np.abs(self.c)
            self.inside = np.isfinite(self.d) & np.isfinite(self.exact) & (self.size > 0)

    @staticmethod
    def _floats(fmt: AnyFormat | None, words: Array) -> Array:
        return floats(float_format(present(fmt)), words)

    def error(self, values: Array, exact: Array | None = None) -> float:
        """The root mean square of errors, as a part of the sum of the products' sizes."""
        right = self.exact if exact is None else exact
        with np.errstate(all="ignore"):
            parts = ((values - right) / self.size)[self.inside & np.isfinite(right) & np.isfinite(values)]
        return float(np.sqrt(np.mean(parts**2))) if parts.size else float("inf")

    def signs(self) -> Iterator[StepSign]:
        lines = [*self.scaling(), *self.addend(), *self.operands()]
        yield from lines
        yield from self.result()
        if not lines:
            yield from self.precision()

    def scaling(self) -> Iterator[StepSign]:
        """One factor between D and A·B + C."""
        with np.errstate(all="ignore"):
            ratios = (self.d / self.exact)[self.inside & (np.abs(self.exact) > self.size / 64)]
        ratios = ratios[np.isfinite(ratios)]
        if ratios.size < 2:
            return
        factor = float(np.median(ratios))
        spread = float(np.median(np.abs(ratios - factor)))
        if abs(factor - 1) > 4 * spread + 2**-20 and spread < _SPREAD * abs(factor):
            before, after = self.error(self.d), self.error(self.d, factor * self.exact)
            if after * _FALLS < before:
                told = f"D is {factor:.6g} times A·B" + (" + C" if self.product.c is not None else "")
                yield StepSign(
                    "scaling", f"{told}, within {spread / abs(factor):.2g}: a factor such as alpha"
                )

    def addend(self) -> Iterator[StepSign]:
        """What is left is the same in each column, or in each row, or a multiple of C."""
        difference = np.where(self.inside, self.d - self.exact, np.nan)
        if np.isnan(difference).any() or min(difference.shape) < 2:
            return
        before = self.error(self.d)
        for axis, what in ((0, "column"), (1, "row")):
            same = self.error(self.d, self.exact + np.median(difference, axis=axis, keepdims=True))
            if same * _FALLS < before:
                yield StepSign("addend", f"D - A·B is the same number in each {what}: a bias for each {what}")
                return
        if self.product.c is not None and np.any(self.c):
            factor = 1 + float(np.sum(difference * self.c) / np.sum(np.square(self.c)))
            if self.error(self.d, self.exact + (factor - 1) * self.c) * _FALLS < before:
                yield StepSign("addend", f"D is A·B + {factor:.6g} C: a factor such as beta")

    def operands(self) -> Iterator[StepSign]:
        """A and B rounded to a narrower format before they were multiplied."""
        before, best = self.error(self.d), (float("inf"), "")
        for name in _NARROWER:
            for rule, rounding in OPERAND_RULES.items():
                sides = []
                for fmt, words in (
                    (self.product.a_format, self.product.a),
                    (self.product.b_format, self.product.b),
                ):
                    wanted = FORMATS[name]
                    fmt = float_format(fmt)
                    if not (fmt.holds(wanted) and fmt != wanted):
                        break
                    sides.append(floats(wanted, converted(words, fmt, wanted, rounding).words))
                else:
                    with np.errstate(all="ignore"):
                        rounded = sides[0] @ sides[1] + self.c
                    best = min(best, (self.error(self.d, rounded), f"{name} ({rule})"), key=itemgetter(0))
        if best[0] * _FALLS < before:
            nearer = f"{before / best[0]:.0f} times as near to" if best[0] else "exactly"
            yield StepSign(
                "operands",
                f"D is {nearer} the product of A and B rounded to {best[1]}: operands that were rounded",
            )

    def result(self) -> Iterator[StepSign]:
        """All numbers of D are those of a narrower format."""
        fmt = self.product.d_format
        fmt = float_format(fmt)
        for name in reversed(_NARROWER):
            wanted = FORMATS[name]
            if fmt != wanted and fmt.holds(wanted):
                words = converted(self.product.d, fmt, wanted, OPERAND_RULES["nearest-even"]).words
                if np.array_equal(floats(wanted, words), self.d) and np.any(self.d):
                    yield StepSign("result", f"every number of D is one of {name}: a result in that format")
                    return

    def precision(self) -> Iterator[StepSign]:
        """How far D is from the exact sum, beside the nearest kernel."""
        if self.near is None:
            return
        own, near = self.error(self.d), self.error(self.near)
        if not (np.isfinite(near) and near > 0):
            return
        told = f"errors of D are {own / near:.2g} times those of the nearest kernel"
        if own > _SAME * near:
            yield StepSign(
                "format", f"{told}: partial sums, or the result, in a narrower format, or cut bits"
            )
        elif own * _SAME < near:
            yield StepSign("format", f"{told}: sums in a wider format, or more bits kept")
        else:
            yield StepSign("order", f"{told}: products or partial sums that are added in another order")
