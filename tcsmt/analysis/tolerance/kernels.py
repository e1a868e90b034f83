"""The tolerance of a kernel's product of two given matrices, for each element."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.tolerance.enclosures import Enclosure, EnclosureRules, Summed, of_matrices, of_rows
from tcsmt.analysis.tolerance.instruction import (
    InstructionLoss,
    greatest_exponent,
    instruction_loss,
    least_exponent,
)
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.steps.program import read
from tcsmt.support.errors import InternalError, TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows and columns of D that are bounded at once; elements times groups of instructions that are, in all.
_TILE, _WORK = 128, 50_000_000
#: Operands below this might have products that binary64 has no normal number for.
_LEAST = -500


@dataclass(frozen=True)
class MatrixWords:
    """What a kernel multiplies and adds, as words: of matrices, or of elements apart.

    a: (M, K), or (elements, K). b: (K, N), or (elements, K). c: of the elements' shape, or None. bias: (N,),
    or (elements,), or None.
    """

    a: Array
    b: Array
    c: Array | None = None
    bias: Array | None = None


@dataclass(frozen=True)
class ElementBounds:
    """Of each element: what the kernel's result is off by at most, and the exact result.

    atol: infinity where no bound holds, as a step may overflow, or as a number that the element is made of is
    not finite; then exact is NaN. exact: in binary64, off by ``error`` at most.
    """

    atol: Array
    exact: Array
    error: Array


def loss_on(chain: StepwiseProof, unit: Model, low: int, high: int | None = None) -> InstructionLoss:
    """Return what an instruction loses on operands none of which but zeros has an exponent below ``low``
    (:func:`least_operand`); its lemmas are added to the chain.

    high: none has a larger exponent (:func:`greatest_operand`), where no lemma covers all that there are.
    Raises :class:`.Unbounded` where no lemma covers a step.
    """
    greatest = None if high is None else greatest_exponent(unit, high)
    try:
        return _loss_from(chain, unit, low)
    except Unbounded:
        if greatest is None or greatest == greatest_exponent(unit, sys.maxsize):
            raise
        return _loss_from(chain, unit, low, greatest)


def _loss_from(chain: StepwiseProof, unit: Model, low: int, high: int | None = None) -> InstructionLoss:
    asked = least_exponent(unit, low)
    if asked < _LEAST:
        raise Unbounded(f"operands down to 2^{low}: their products may leave binary64")
    try:
        return instruction_loss(chain, unit, asked, high)
    except Unbounded as why:
        if str(why).startswith("exponents of products"):
            raise Unbounded(f"{why} (A or B has a number below 2^{low + 1})") from None
        if asked == _smallest(unit) and asked < low:
            # of units that read subnormal numbers as zeros, where there are none
            return instruction_loss(chain, unit, asked + 1, high)
        raise


def _smallest(unit: Model) -> int:
    return min(float_format(fmt).e_min for fmt in (unit.a_format, unit.b_format))


def least_operand(unit: Model, operands: MatrixWords) -> int:
    """Return the least exponent of an operand that is not zero, and finite; 0 where all are zeros.

    Raises :class:`.Unbounded` for integers.
    """
    return min((max(_exponent(np.min, x), fmt.e_min) for fmt, x in _magnitudes(unit, operands)), default=0)


def greatest_operand(unit: Model, operands: MatrixWords) -> int:
    """Return the greatest exponent of such an operand; 0 where all are zeros. Raises :class:`.Unbounded`."""
    return max((max(_exponent(np.max, x), fmt.e_min) for fmt, x in _magnitudes(unit, operands)), default=0)


def _exponent(chosen: Callable[[Array], Any], values: Array) -> int:
    return int(np.frexp(chosen(values))[1]) - 1


def _magnitudes(unit: Model, operands: MatrixWords) -> Iterator[tuple[Format, Array]]:
    """Yield the finite numbers of A and of B that are not zero, where there are any."""
    for name, fmt, words in (("A", unit.a_format, operands.a), ("B", unit.b_format, operands.b)):
        values = np.abs(_numbers(name, fmt, words))
        values = values[(values > 0) & np.isfinite(values)]
        if values.size:
            yield float_format(fmt), values


def _numbers(name: str, fmt: AnyFormat, words: Array) -> Array:
    """Return the words' values. Raises :class:`.Unbounded` for integers."""
    if not isinstance(fmt, Format):
        raise Unbounded(
            f"{name} is {fmt.name}: integers are exact or wrap; `tcsmt accuracy exact` says which"
        )
    return floats(fmt, words)


@dataclass(frozen=True)
class _Known:
    """Operands with zeros in place of numbers that are not finite, and where there are any, by operand."""

    operands: MatrixWords
    unknown: dict[str, Array]
    first: str

    @classmethod
    def of(cls, kernel: Kernel, operands: MatrixWords) -> _Known:
        """C counts where the epilogue reads it."""
        unit, working = kernel.unit.model, kernel.schedule.working_format
        formats = {"a": unit.a_format, "b": unit.b_format, "c": unit.c_format, "bias": working}
        words: dict[str, Any] = {}
        unknown: dict[str, Array] = {}
        first = ""
        for name, fmt in formats.items():
            own = getattr(operands, name)
            if own is None or (name == "c" and kernel.epilogue.beta == 0):
                continue
            called = name if name == "bias" else name.upper()
            values = _numbers(called, fmt, own)
            unknown[name] = ~np.isfinite(values)
            words[name] = np.where(unknown[name], own.dtype.type(0), own)
            if unknown[name].any() and not first:
                place = [int(at) for at in np.argwhere(unknown[name])[0]]
                first = f"{called}{place} is {values[tuple(place)]}"
        return cls(replace(operands, **words), unknown, first)

    def without(self, bounds: ElementBounds, elements: Array) -> ElementBounds:
        """No bound for some elements. Raises :class:`.TcsmtError` where none is left."""
        if elements.size and elements.all():
            raise TcsmtError(f"{self.first}: no element is made of finite numbers alone, and has a tolerance")
        atol, exact = np.where(elements, np.inf, bounds.atol), np.where(elements, np.nan, bounds.exact)
        return replace(bounds, atol=atol, exact=exact)


def _check_sizes(loss: InstructionLoss, *sides: Array) -> None:
    """Refuse numbers that the lemmas are not about: the loss is that of other operands."""
    largest = max(float(np.abs(values).max(initial=0.0)) for values in sides)
    if largest and int(np.frexp(largest)[1]) - 1 > loss.high:
        raise InternalError(f"operands up to {largest:g}, and lemmas up to 2^{loss.high}")


def bounds_of_product(kernel: Kernel, operands: MatrixWords, loss: InstructionLoss) -> ElementBounds:
    """Return the bounds of every element of D, each an array (M, N). loss: of :func:`loss_on`.

    Raises :class:`.Unbounded` for what is not covered, and :class:`.TcsmtError` where no element is made of
    finite numbers alone.
    """
    unit, known = kernel.unit.model, _Known.of(kernel, operands)
    operands, unknown = known.operands, known.unknown
    a, b = _numbers("A", unit.a_format, operands.a), _numbers("B", unit.b_format, operands.b)
    (m, length), n = a.shape, b.shape[1]
    result = ElementBounds(*(np.empty((m, n)) for _ in range(3)))
    together = max(1, -(-(length // unit.k * m * n) // _WORK))
    _check_sizes(loss, a, b)
    e_min = float_format(unit.a_format).e_min, float_format(unit.b_format).e_min
    for rows, columns, reduction in kernel.reduction.on(m, n, length):
        for row in range(*rows.indices(m))[::_TILE]:
            for column in range(*columns.indices(n))[::_TILE]:
                tall = slice(row, min(row + _TILE, *rows.indices(m)[1:2]))
                wide = slice(column, min(column + _TILE, *columns.indices(n)[1:2]))
                x, y = a[tall], b[:, wide]
                own = MatrixWords(
                    x,
                    y,
                    None if operands.c is None else operands.c[tall, wide],
                    None if operands.bias is None else operands.bias[wide],
                )
                part = _bounded(
                    kernel, reduction, of_matrices(x, y, e_min), (len(x), y.shape[1]), own, loss, together
                )
                for name in ("atol", "exact", "error"):
                    getattr(result, name)[tall, wide] = getattr(part, name)
    some = np.logical_or.outer(unknown["a"].any(axis=1), unknown["b"].any(axis=0))
    return known.without(result, some | unknown.get("c", False) | unknown.get("bias", False))


def bounds_of_elements(
    kernel: Kernel, operands: MatrixWords, loss: InstructionLoss, reduction: Reduction | None = None
) -> ElementBounds:
    """Return the bounds of elements apart, each an array (elements,). reduction: theirs where tiles
    differ.
    """
    unit, known = kernel.unit.model, _Known.of(kernel, operands)
    operands, unknown = known.operands, known.unknown
    a, b = _numbers("A", unit.a_format, operands.a), _numbers("B", unit.b_format, operands.b)
    _check_sizes(loss, a, b)
    e_min = float_format(unit.a_format).e_min, float_format(unit.b_format).e_min
    own = MatrixWords(a, b, operands.c, operands.bias)
    result = _bounded(kernel, reduction or kernel.reduction, of_rows(a, b, e_min), (len(a),), own, loss, 1)
    some = unknown["a"].any(axis=1) | unknown["b"].any(axis=1)
    some = some | unknown.get("c", False) | unknown.get("bias", False)
    return replace(
        result, atol=np.where(some, np.inf, result.atol), exact=np.where(some, np.nan, result.exact)
    )


def _bounded(
    kernel: Kernel,
    reduction: Reduction,
    products: Summed,
    shape: tuple[int, ...],
    operands: MatrixWords,
    loss: InstructionLoss,
    together: int,
) -> ElementBounds:
    """Of parts that are added in any order: the largest bound of every order."""
    orders = reduction.orders(operands.a.shape[1], kernel.unit.model.k, c=operands.c is not None)
    first, *others = (_in_order(kernel, order, products, shape, operands, loss, together) for order in orders)
    atol = first.atol
    for bounds in others:
        atol = np.maximum(atol, bounds.atol)
    return replace(first, atol=atol)


def _in_order(
    kernel: Kernel,
    reduction: Reduction,
    products: Summed,
    shape: tuple[int, ...],
    operands: MatrixWords,
    loss: InstructionLoss,
    together: int,
) -> ElementBounds:
    schedule, epilogue = kernel.schedule, kernel.epilogue
    wide = (
        max(fmt.width for fmt in (schedule.unit.a_format, schedule.unit.b_format, schedule.unit.c_format))
        > 32
    )
    rules = EnclosureRules(shape, products, loss, together, wide)
    given: dict[str, Any] = {"A": None, "B": None, "random": rules.constant_zero()}
    if operands.c is not None and epilogue.beta != 0:
        given["c"] = rules.given(schedule.unit.c_format, operands.c)
    if operands.bias is not None:
        given["bias"] = rules.given(schedule.working_format, operands.bias)
    length, bias, random = operands.a.shape[1], operands.bias is not None, bool(epilogue.stochastic)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        given["total"] = read(schedule.sums(length, reduction, c="c" in given), rules, given)
        result: Enclosure = read(schedule.end(c="c" in given, bias=bias, random=random), rules, given)
    atol = np.where(rules.overflows | ~np.isfinite(result.off), np.inf, result.off)
    return ElementBounds(atol, result.value, result.error)
