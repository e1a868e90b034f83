"""The tolerance of a kernel's product of two given matrices, for each element."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.tolerance.enclosures import Enclosure
from tcsmt.analysis.tolerance.instruction import (
    InstructionLoss,
    greatest_exponent,
    instruction_loss,
    least_exponent,
)
from tcsmt.analysis.tolerance.products import EnclosureRules
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.steps.program import NoRule, UnitProgram, read
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows and columns of D that are bounded at once; elements times groups of instructions that are, in all.
_TILE, _WORK = 128, 50_000_000
#: Operands below this might have products that binary64 has no normal number for.
_LEAST = -500


@dataclass(frozen=True)
class MatrixWords:
    """What a kernel or a program multiplies and adds, as words: of matrices, or of elements apart.

    a: (M, K), or (elements, K). b: (K, N), or (elements, K). c: of the elements' shape, or None. bias: of a
    kernel, (N,), or (elements,), or None. more: of a program's other inputs, by name, the axes and the words.
    """

    a: Array
    b: Array
    c: Array | None = None
    bias: Array | None = None
    more: Mapping[str, tuple[str, Array]] = field(default_factory=dict)

    def at(self, rows: slice, columns: slice) -> MatrixWords:
        """Return what some rows and columns of D are made of."""
        places = {"A": (rows,), "B": (slice(None), columns), "t": (), "": (rows, columns)}
        return MatrixWords(
            self.a[rows],
            self.b[:, columns],
            None if self.c is None else self.c[rows, columns],
            None if self.bias is None else self.bias[columns],
            {
                name: (axes, words[places[axes[:1].upper().replace("T", "t")]])
                for name, (axes, words) in self.more.items()
            },
        )

    def elements(self, places: Array) -> MatrixWords:
        """Return elements apart. places: rows and columns of D, integers (elements, 2)."""
        rows, columns = places.T

        def apart(axes: str, words: Array) -> Array:
            if not axes:
                return np.asarray(words[rows, columns])
            own = words[rows] if axes[0] in "Aa" else words[:, columns].T
            return np.asarray(own[:, 0] if axes in ("a", "b") else own)

        return MatrixWords(
            self.a[rows],
            self.b[:, columns].T,
            None if self.c is None else self.c[rows, columns],
            None if self.bias is None else self.bias[columns],
            {name: (axes, apart(axes, words)) for name, (axes, words) in self.more.items()},
        )


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


def bounds_of_product(kernel: Kernel, operands: MatrixWords, loss: InstructionLoss) -> ElementBounds:
    """Return the bounds of every element of D, each an array (M, N). loss: of :func:`loss_on`.

    Raises :class:`.Unbounded` for what is not covered, and :class:`.TcsmtError` where no element is made of
    finite numbers alone.
    """
    unit, known = kernel.unit.model, _Known.of(kernel, operands)
    operands, unknown = known.operands, known.unknown
    (m, length), n = operands.a.shape, operands.b.shape[1]
    result = ElementBounds(*(np.empty((m, n)) for _ in range(3)))
    together = max(1, -(-(length // unit.k * m * n) // _WORK))
    for rows, columns, reduction in kernel.reduction.on(m, n, length):
        for row in range(*rows.indices(m))[::_TILE]:
            for column in range(*columns.indices(n))[::_TILE]:
                tall = slice(row, min(row + _TILE, *rows.indices(m)[1:2]))
                wide = slice(column, min(column + _TILE, *columns.indices(n)[1:2]))
                own = operands.at(tall, wide)
                shape = len(own.a), own.b.shape[1]
                part = _bounded(kernel, reduction, shape, own, loss, together)
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
    known = _Known.of(kernel, operands)
    operands, unknown = known.operands, known.unknown
    result = _bounded(kernel, reduction or kernel.reduction, (len(operands.a),), operands, loss, 1)
    some = unknown["a"].any(axis=1) | unknown["b"].any(axis=1)
    some = some | unknown.get("c", False) | unknown.get("bias", False)
    return replace(
        result, atol=np.where(some, np.inf, result.atol), exact=np.where(some, np.nan, result.exact)
    )


def _bounded(
    kernel: Kernel,
    reduction: Reduction,
    shape: tuple[int, ...],
    operands: MatrixWords,
    loss: InstructionLoss,
    together: int,
) -> ElementBounds:
    """Of parts that are added in any order: the largest bound of every order."""
    schedule, epilogue, length = kernel.schedule, kernel.epilogue, operands.a.shape[1]
    orders = reduction.orders(length, kernel.unit.model.k, c=operands.c is not None)
    there = {
        "c": operands.c is not None and epilogue.beta != 0,
        "bias": operands.bias is not None,
        "random": bool(epilogue.stochastic),
    }
    given = {"A": operands.a, "B": operands.b, "c": operands.c, "bias": operands.bias}
    results = []
    for order in orders:
        program = replace(schedule, reduction=order).program(length, **there)
        rules = EnclosureRules(shape, lambda unit, low, high: loss, together)
        results.append(read_enclosures(program, rules, given))
    first, *others = results
    atol = first.atol
    for bounds in others:
        atol = np.maximum(atol, bounds.atol)
    return replace(first, atol=atol)


def read_enclosures(
    program: UnitProgram, rules: EnclosureRules, given: Mapping[str, Array | None]
) -> ElementBounds:
    """Return the bounds of a program's result against what its steps give without any rounding.

    given: the words of its inputs; random bits may be any. Words of axes are known; others are bounded.
    Raises :class:`.Unbounded` for a step that no rule is about, by its name.
    """
    inputs: dict[str, Enclosure] = {}
    for name, step in program.inputs.items():
        words = given.get(name)
        if words is not None:
            inputs[name] = rules.given(step.format, words, known=bool(step.axes))
        elif name == "random" or not program.reads(name):
            inputs[name] = rules.constant_zero()
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        try:
            result: Enclosure = read(program, rules, inputs)
        except NoRule as why:
            raise Unbounded(str(why)) from None
    known = np.isfinite(result.error)  # else there is no exact result
    atol = np.where(rules.overflows | ~np.isfinite(result.off) | ~known, np.inf, result.off)
    value, error = (
        np.broadcast_to(np.where(known, part, np.nan), rules.shape) for part in (result.value, result.error)
    )
    return ElementBounds(atol, value, error)
