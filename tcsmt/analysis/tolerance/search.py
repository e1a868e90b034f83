"""The largest errors found beside bounds: on the matrices, and on the same numbers in other orders."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.bounded import BoundedProduct
from tcsmt.analysis.tolerance.enclosures import numbers
from tcsmt.analysis.tolerance.kernels import MatrixWords
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.support.errors import Contradiction

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements of D that are simulated; products of one, and elements, of which variants are made at a time.
_SAMPLED, _VARIANTS = 1024, 64
_SEED = 20261125


@dataclass(frozen=True)
class LargestError:
    """The element whose error is the largest part of its bound: of some, or of all.

    row, column: of D. error, atol: its error, and its bound. share: the one in parts of the other. elements:
    how many were simulated. varied: the largest share that was found where the same products come in another
    order, with other signs of A. variants: how many were tried.
    """

    row: int
    column: int
    error: float
    atol: float
    elements: int
    varied: float
    variants: int

    @property
    def share(self) -> float:
        """Return the error in parts of the bound; 0 where nothing is lost."""
        return self.error / self.atol if self.atol else 0.0


def largest_errors(product: BoundedProduct, operands: MatrixWords, seconds: float) -> LargestError | None:
    """Return the largest error found, on elements and in so many seconds on variants; None: no element has a
    bound.

    Raises :class:`.Contradiction` where an error is larger than its bound.
    """
    m, n, length = len(operands.a), operands.b.shape[1], operands.a.shape[1]
    rng = np.random.default_rng(_SEED)
    count = min(m * n, max(16, min(_SAMPLED, (1 << 22) // max(length, 1))))
    chosen = np.sort(rng.choice(m * n, count, replace=False))
    places = np.stack(np.divmod(chosen, n), axis=1)
    worst: tuple[float, float, float, int, Any] | None = None
    for group, some in product.alike(places, (m, n, length)):
        error, atol = _errors(product, operands.elements(places[some]), group)
        shares = np.where(np.isfinite(atol) & (atol > 0), error / np.where(atol > 0, atol, 1.0), -1.0)
        at = int(np.argmax(shares))
        if np.isfinite(atol[at]) and (worst is None or shares[at] > worst[0]):
            worst = float(shares[at]), float(error[at]), float(atol[at]), int(some[at]), group
    if worst is None:
        return None
    share, error_there, atol_there, number, group = worst
    row, column = (int(x) for x in places[number])
    end = time.monotonic() + seconds
    element = operands.elements(places[number : number + 1])
    varied, variants = _varied(product, element, group, max(0.0, share), end, rng)
    return LargestError(row, column, error_there, atol_there, count, varied, variants)


def _errors(product: BoundedProduct, elements: MatrixWords, group: Any) -> tuple[Array, Array]:
    """Return the error of each element at least, the largest of all orders of its parts, and its bound.

    Raises :class:`.Contradiction`.
    """
    bounds = product.of_elements(elements, group)
    errors = np.zeros(len(bounds.atol))
    for words in product.results(elements, group):
        values = numbers(product.d_format, words)
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(values - bounds.exact)
            error = apart - bounds.error - 2.0**-50 * (apart + np.abs(bounds.exact))
            error = np.where(np.isfinite(bounds.atol), np.maximum(error, 0.0), 0.0)
            beyond = np.isfinite(bounds.atol) & ~(error <= bounds.atol)
        if beyond.any():
            at = int(np.argmax(beyond))
            raise Contradiction(
                f"no element of {product.name} is off by more than {bounds.atol[at]:.9g}",
                f"an element {values[at]:.9g}, of {bounds.exact[at]:.9g}, is off by {error[at]:.9g}",
            )
        errors = np.maximum(errors, error)
    return errors, bounds.atol


def _varied(
    product: BoundedProduct,
    element: MatrixWords,
    group: Any,
    share: float,
    end: float,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Return the largest share on variants of one element: its products in other orders, A's with other
    signs.
    """
    fmt = product.a_format
    sign = 1 << fmt.sign_bit if isinstance(fmt, Format) and fmt.signed else 0
    best, variants, length = element, 0, element.a.shape[1]
    while time.monotonic() < end and length:
        a, b = (np.repeat(side, _VARIANTS, axis=0) for side in (best.a, best.b))
        for number in range(_VARIANTS):
            some = rng.permutation(length)[: max(2, length >> int(rng.integers(0, 8)))]
            mixed = rng.permutation(some)
            a[number, some], b[number, some] = a[number, mixed], b[number, mixed]
            if sign and rng.random() < 0.5:
                flipped = rng.permutation(some)[: max(1, len(some) // 2)]
                a[number, flipped] = _flipped(a[number, flipped], sign)
        c, bias = (None if x is None else np.repeat(x, _VARIANTS) for x in (best.c, best.bias))
        more = {name: (axes, np.repeat(x, _VARIANTS, axis=0)) for name, (axes, x) in best.more.items()}
        tried = MatrixWords(a, b, c, bias, more)
        error, atol = _errors(product, tried, group)
        variants += _VARIANTS
        shares = np.where(np.isfinite(atol) & (atol > 0), error / np.where(atol > 0, atol, 1.0), 0.0)
        at = int(np.argmax(shares))
        if shares[at] > share:
            share = float(shares[at])
            best = replace(best, a=a[at : at + 1], b=b[at : at + 1])
    return share, variants


def _flipped(words: Array, sign: int) -> Array:
    """Numbers with the other sign; zeros, and formats whose only NaN is -0, keep theirs."""
    return np.where(words & (sign - 1), words ^ sign, words).astype(words.dtype)
