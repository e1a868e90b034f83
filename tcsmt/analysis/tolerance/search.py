"""The largest errors found beside bounds: on the matrices, and on the same numbers in other orders."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.instruction import InstructionLoss
from tcsmt.analysis.tolerance.kernels import MatrixWords, bounds_of_elements
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.sampled import sums
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read
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


def elements_at(operands: MatrixWords, places: Array) -> MatrixWords:
    """Elements apart. places: rows and columns of D, integers (elements, 2)."""
    rows, columns = places[:, 0], places[:, 1]
    c = None if operands.c is None else operands.c[rows, columns]
    bias = None if operands.bias is None else operands.bias[columns]
    return MatrixWords(operands.a[rows], operands.b[:, columns].T, c, bias)


def results_of(kernel: Kernel, operands: MatrixWords, reduction: Reduction) -> Array:
    """Return the kernel's words of elements apart, which are all reduced alike. Random bits are drawn."""
    schedule = kernel.schedule
    (total,) = sums([(schedule, reduction)], operands.a, operands.b, operands.c)
    bits = kernel.epilogue.stochastic
    random = None
    if bits:
        random = np.random.default_rng(_SEED).integers(0, 1 << bits, len(operands.a)).astype(np.uint32)
    given = {"total": total, "c": operands.c, "bias": operands.bias, "random": random}
    end = schedule.end(**{name: given[name] is not None for name in ("c", "bias", "random")})
    words: Array = read(end, ArrayRules((len(operands.a),), no_chain, schedule.nans), given)
    return words


def largest_errors(
    kernel: Kernel, operands: MatrixWords, loss: InstructionLoss, seconds: float
) -> LargestError | None:
    """Return the largest error found, on elements and in so many seconds on variants; None: no element has a
    bound.

    Raises :class:`.Contradiction` where an error is larger than its bound.
    """
    m, n, length = len(operands.a), operands.b.shape[1], operands.a.shape[1]
    rng = np.random.default_rng(_SEED)
    count = min(m * n, max(16, min(_SAMPLED, (1 << 22) // max(length, 1))))
    chosen = np.sort(rng.choice(m * n, count, replace=False))
    places = np.stack(np.divmod(chosen, n), axis=1)
    groups = _alike(kernel, places, (m, n, length))
    worst: tuple[float, float, float, int] | None = None
    for reduction, some in groups:
        error, atol = _errors(kernel, elements_at(operands, places[some]), loss, reduction)
        shares = np.where(np.isfinite(atol) & (atol > 0), error / np.where(atol > 0, atol, 1.0), -1.0)
        at = int(np.argmax(shares))
        if np.isfinite(atol[at]) and (worst is None or shares[at] > worst[0]):
            worst = float(shares[at]), float(error[at]), float(atol[at]), int(some[at])
    if worst is None:
        return None
    share, error_there, atol_there, number = worst
    row, column = (int(x) for x in places[number])
    end = time.monotonic() + seconds
    reduction = kernel.reduction.of_element(row, column, (m, n, length))
    varied, variants = _varied(
        kernel, elements_at(operands, places[number : number + 1]), loss, reduction, max(0.0, share), end, rng
    )
    return LargestError(row, column, error_there, atol_there, count, varied, variants)


def _alike(kernel: Kernel, places: Array, shape: tuple[int, int, int]) -> list[tuple[Reduction, Array]]:
    """Elements that are reduced alike, by their numbers."""
    if not kernel.reduction.tiled:
        return [(kernel.reduction, np.arange(len(places)))]
    groups: dict[str, tuple[Reduction, list[int]]] = {}
    for number, (row, column) in enumerate(places.tolist()):
        reduction = kernel.reduction.of_element(row, column, shape)
        groups.setdefault(str(reduction), (reduction, []))[1].append(number)
    return [(reduction, np.array(numbers)) for reduction, numbers in groups.values()]


def _errors(
    kernel: Kernel, elements: MatrixWords, loss: InstructionLoss, reduction: Reduction
) -> tuple[Array, Array]:
    """Return the error of each element at least, the largest of all orders of its parts, and its bound.

    Raises :class:`.Contradiction`.
    """
    bounds = bounds_of_elements(kernel, elements, loss, reduction)
    fmt = float_format(kernel.schedule.d_format)
    errors = np.zeros(len(bounds.atol))
    for order in reduction.orders(elements.a.shape[1], kernel.unit.model.k, c=elements.c is not None):
        values = floats(fmt, results_of(kernel, elements, order))
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(values - bounds.exact)
            error = apart - bounds.error - 2.0**-50 * (apart + np.abs(bounds.exact))
            error = np.where(np.isfinite(bounds.atol), np.maximum(error, 0.0), 0.0)
            beyond = np.isfinite(bounds.atol) & ~(error <= bounds.atol)
        if beyond.any():
            at = int(np.argmax(beyond))
            raise Contradiction(
                f"no element of {kernel.name} is off by more than {bounds.atol[at]:.9g}",
                f"an element {values[at]:.9g}, of {bounds.exact[at]:.9g}, is off by {error[at]:.9g}",
            )
        errors = np.maximum(errors, error)
    return errors, bounds.atol


def _varied(
    kernel: Kernel,
    element: MatrixWords,
    loss: InstructionLoss,
    reduction: Reduction,
    share: float,
    end: float,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Return the largest share on variants of one element: its products in other orders, A's with other
    signs.
    """
    fmt = kernel.unit.model.a_format
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
        tried = MatrixWords(a, b, c, bias)
        error, atol = _errors(kernel, tried, loss, reduction)
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
