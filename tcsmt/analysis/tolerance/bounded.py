"""What is bounded on given matrices: a kernel, or a program, with what its units' instructions lose."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.integer_units import integer_steps
from tcsmt.analysis.tolerance.enclosures import numbers
from tcsmt.analysis.tolerance.exact import exact_element
from tcsmt.analysis.tolerance.instruction import InstructionLoss, Linear
from tcsmt.analysis.tolerance.kernels import (
    ElementBounds,
    MatrixWords,
    bounds_of_elements,
    bounds_of_product,
    loss_on,
    read_enclosures,
)
from tcsmt.analysis.tolerance.products import EnclosureRules, of_matrices, of_rows
from tcsmt.analysis.tolerance.upward import added, dot_error, scaled
from tcsmt.matrix_units.arithmetic.conversion import NanWords, floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import IntegerDotAdd, Model
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.sampled import sums
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.on_arrays import of_rows as chain_of_rows
from tcsmt.programs.steps.program import ProgramStep, UnitProgram, read
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
#: Rows and columns of D that are bounded at once; elements times groups of instructions that are, in all.
_TILE, _WORK = 128, 50_000_000
_SEED = 20261125
#: Steps that, of A, B, c and a bias alone, give a sum of these, rounded.
_OF_SUMS = {
    "input", "constant", "split", "chain", "padding", "add", "negate", "note", "convert", "convert_randomly",
}  # fmt: skip
#: Exponents below which operands' products might leave binary64: smaller ones count as these.
_LEAST = -400


class UnitLosses:
    """What units' instructions lose, each proved once: of operands from some exponent to another."""

    def __init__(self, chain: StepwiseProof) -> None:
        self._chain = chain
        self._found: dict[Model, list[InstructionLoss]] = {}

    def __call__(self, unit: Model, low: int, high: int) -> InstructionLoss:
        """Return what is proved of these operands, or more. Raises :class:`.Unbounded`."""
        found = self._found.setdefault(unit, [])
        for loss in found:
            if loss.low <= low and high <= loss.high:
                return loss
        found.append(self._proved(unit, low, high))
        return found[-1]

    def _proved(self, unit: Model, low: int, high: int) -> InstructionLoss:
        if not isinstance(unit, IntegerDotAdd):
            return loss_on(self._chain, unit, low, high)
        steps = integer_steps(self._chain, unit)
        least = min(min(-step.format.low, step.format.high) for step in steps)
        return InstructionLoss(unit.k, 0, Linear(before=Fraction(1)), Fraction(least), unit.d_format.width)


class BoundedProduct(ABC):
    """A product of given matrices, whose results have bounds."""

    name: str

    @property
    @abstractmethod
    def d_format(self) -> AnyFormat:
        """Return the format of the results."""

    @property
    @abstractmethod
    def a_format(self) -> AnyFormat:
        """Return the format of A."""

    @property
    def exact(self) -> str:
        """Return what results are held against."""
        return "alpha·A·B + beta·C + bias"

    @abstractmethod
    def of_product(self, operands: MatrixWords) -> ElementBounds:
        """Return the bounds of every element of D, each an array (M, N)."""

    @abstractmethod
    def of_elements(self, elements: MatrixWords, group: Any) -> ElementBounds:
        """Return those of elements apart that are computed alike, each an array (elements,)."""

    @abstractmethod
    def results(self, elements: MatrixWords, group: Any) -> list[Array]:
        """Return the words of such elements, in every order in which parts may be added."""

    def alike(self, places: Array, shape: tuple[int, int, int]) -> list[tuple[Any, Array]]:
        """Return groups of elements that are computed alike, and their numbers. places: rows and columns."""
        return [(None, np.arange(len(places)))]

    @abstractmethod
    def exact_element(self, operands: MatrixWords, row: int, column: int) -> Fraction | None:
        """Return the exact result of one element; None where it is known to binary64 alone."""


@dataclass(frozen=True)
class BoundedKernel(BoundedProduct):
    """A kernel, and what its unit's instructions lose."""

    kernel: Kernel
    loss: InstructionLoss

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the kernel's name."""
        return self.kernel.name

    @property
    def d_format(self) -> AnyFormat:
        """Return the format of the results."""
        return self.kernel.schedule.d_format

    @property
    def a_format(self) -> AnyFormat:
        """Return the format of A."""
        return self.kernel.unit.model.a_format

    def of_product(self, operands: MatrixWords) -> ElementBounds:
        """Return the bounds of every element of D."""
        return bounds_of_product(self.kernel, operands, self.loss)

    def of_elements(self, elements: MatrixWords, group: Any) -> ElementBounds:
        """Return those of elements apart. group: how they are reduced."""
        return bounds_of_elements(self.kernel, elements, self.loss, group)

    def results(self, elements: MatrixWords, group: Any) -> list[Array]:
        """Return the words of such elements."""
        orders = group.orders(elements.a.shape[1], self.kernel.unit.model.k, c=elements.c is not None)
        return [results_of(self.kernel, elements, order) for order in orders]

    def alike(self, places: Array, shape: tuple[int, int, int]) -> list[tuple[Any, Array]]:
        """Return groups of elements that are reduced alike."""
        kernel = self.kernel
        if not kernel.reduction.tiled:
            return [(kernel.reduction, np.arange(len(places)))]
        groups: dict[str, tuple[Reduction, list[int]]] = {}
        for number, (row, column) in enumerate(places.tolist()):
            reduction = kernel.reduction.of_element(row, column, shape)
            groups.setdefault(str(reduction), (reduction, []))[1].append(number)
        return [(reduction, np.array(numbers)) for reduction, numbers in groups.values()]

    def exact_element(self, operands: MatrixWords, row: int, column: int) -> Fraction | None:
        """Return alpha·Σ a·b + beta·c + bias, in fractions."""
        return exact_element(self.kernel, operands, row, column)


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


@dataclass(frozen=True)
class BoundedProgram(BoundedProduct):
    """A program on units, such as an algorithm, at one K.

    program: its steps. nans: of operations outside of the units. losses: of these.
    """

    name: str
    program: UnitProgram
    nans: NanWords
    losses: UnitLosses

    @cached_property
    def inputs(self) -> dict[str, ProgramStep]:
        """Return the inputs that are read, and A and B, by their names."""
        every = self.program.inputs
        return {name: step for name, step in every.items() if name in "AB" or self.program.reads(name)}

    @property
    def d_format(self) -> AnyFormat:
        """Return the format of the results."""
        return self.program.result.format

    @property
    def a_format(self) -> AnyFormat:
        """Return the format of A."""
        return self.inputs["A"].format

    @cached_property
    def is_sum(self) -> bool:
        """Return whether the result is a sum of c and products: then it is held against c + Σ a·b."""
        steps = self.program.steps
        for step in steps:
            factors = [steps[at].kind for at in step.takes[:2] if at is not None]
            weighted = step.kind == "multiply_add" and "constant" in factors
            if step.kind not in _OF_SUMS and not weighted:
                return False
        axes = [step.axes for step in (*self.program.inputs.values(), self.program.result)]
        return {*self.inputs} <= {"A", "B", "c"} and {*axes} <= {"A", "B", ""}

    @property
    def exact(self) -> str:
        """Return what results are held against."""
        if not self.is_sum:
            return "the program's steps without any rounding"
        return "c + Σ a·b" if "c" in self.inputs else "Σ a·b"

    def of_product(self, operands: MatrixWords) -> ElementBounds:
        """Return the bounds of every element of D."""
        m, n = len(operands.a), operands.b.shape[1]
        groups = sum(
            -(-len(run.indices) // step.how["unit"].k)
            for step in self.program.chains
            for run in step.how["runs"]
        )
        together = max(1, -(-(groups * m * n) // _WORK))
        result = ElementBounds(*(np.empty((m, n)) for _ in range(3)))
        for row in range(0, m, _TILE):
            for column in range(0, n, _TILE):
                tall, wide = slice(row, row + _TILE), slice(column, column + _TILE)
                part = self._bounded(operands.at(tall, wide), together)
                for name in ("atol", "exact", "error"):
                    getattr(result, name)[tall, wide] = getattr(part, name)
        if result.exact.size and np.isnan(result.exact).all():
            raise TcsmtError("no element is made of finite numbers alone, and has a tolerance")
        return result

    def of_elements(self, elements: MatrixWords, group: Any) -> ElementBounds:
        """Return those of elements apart."""
        return self._bounded(elements, 1, rows=True)

    def _given(self, operands: MatrixWords, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return the words of the inputs, None of those that are not read; zeros of a c that is not given."""
        given: dict[str, Any] = {"A": operands.a, "B": operands.b, "c": operands.c}
        given |= {name: words for name, (_, words) in operands.more.items()}
        if operands.c is None and "c" in self.inputs:
            given["c"] = np.zeros(shape, unsigned(self.inputs["c"].format))
        return {name: given[name] if name in self.inputs else None for name in self.program.inputs}

    def _bounded(self, operands: MatrixWords, together: int, *, rows: bool = False) -> ElementBounds:
        shape = (len(operands.a),) if rows else (len(operands.a), operands.b.shape[1])
        given = self._given(operands, shape)
        bounds = read_enclosures(self.program, EnclosureRules(shape, self.losses, together), given)
        if self.is_sum:
            bounds = against(bounds, *self._sum(given, rows=rows))
        unknown = np.isnan(bounds.exact)
        for name, step in self.inputs.items():
            if isinstance(step.format, Format):
                bad = ~np.isfinite(floats(step.format, given[name]))
                unknown = unknown | _elements(bad, step.axes, rows=rows)
        return replace(
            bounds,
            atol=np.where(unknown, np.inf, bounds.atol),
            exact=np.where(unknown, np.nan, bounds.exact),
        )

    def _sum(self, given: Mapping[str, Any], *, rows: bool) -> tuple[Array, Array]:
        """Return c + Σ a·b of the program's inputs in binary64, and how far it is off."""
        values = {}
        for name, step in self.inputs.items():
            own = numbers(step.format, given[name])
            values[name] = np.where(np.isfinite(own), own, 0.0)
        of, least = of_rows if rows else of_matrices, (_LEAST, _LEAST)
        products = of(values["A"], values["B"], least)(np.arange(values["A"].shape[1]))
        total, size = products.value, products.size
        if "c" in values:
            total, size = total + values["c"], added(size, np.abs(values["c"]))
        return total, added(products.error, scaled(size, dot_error(2)))

    def results(self, elements: MatrixWords, group: Any) -> list[Array]:
        """Return the words of such elements."""
        shape = (len(elements.a),)
        result = read(self.program, ArrayRules(shape, chain_of_rows, self.nans), self._given(elements, shape))
        return [np.broadcast_to(result, shape)]

    def exact_element(self, operands: MatrixWords, row: int, column: int) -> Fraction | None:
        """Return c + Σ a·b, in fractions."""
        if not self.is_sum:
            return None
        a, b = (
            [Fraction(x) for x in numbers(self.inputs[name].format, words).tolist()]
            for name, words in (("A", operands.a[row]), ("B", operands.b[:, column]))
        )
        total = sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
        if operands.c is not None and "c" in self.inputs:
            total += Fraction(float(numbers(self.inputs["c"].format, operands.c[row, column])))
        return total


def against(bounds: ElementBounds, exact: Array, error: Array) -> ElementBounds:
    """Return the bounds against another exact result: how far that is from the first one counts, too."""
    apart = np.abs(bounds.exact - exact)
    apart = np.where(apart > 0, np.nextafter(apart, np.inf), 0.0)
    return ElementBounds(added(bounds.atol, apart, bounds.error, error), exact, error)


def _elements(there: Array, axes: str, *, rows: bool) -> Array:
    """Return which elements an input's words have a part in. there: of the words, by their axes."""
    if axes in ("", "a", "b") or axes.startswith("t"):
        return there
    if rows or axes.startswith("A"):
        some = np.asarray(there.any(axis=1))
        return some if rows else some[:, None]
    return np.asarray(there.any(axis=0))[None, :]
