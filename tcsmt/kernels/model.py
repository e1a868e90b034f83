"""A kernel at one K as a model: what it computes for an element of D can be asked about like a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tcsmt.arithmetic.any_format import AnyFormat
from tcsmt.arithmetic.formats import Format, float_format
from tcsmt.arithmetic.ieee import MultiplyAdd, Operation, RoundedSum
from tcsmt.arithmetic.integer_format import IntegerFormat
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.catalogue import Row
from tcsmt.kernels.epilogue import PLAIN, Epilogue, multiply_add, rounded, working_format
from tcsmt.kernels.gemm import output_format
from tcsmt.kernels.kernel import Kernel, kernel_named
from tcsmt.kernels.reduction import CHAINED, Reduction, fold
from tcsmt.models import Kind, Model, Operands, Stage, Trace
from tcsmt.models.base import Call, Terms
from tcsmt.models.stages import ChainPlace
from tcsmt.support.errors import TcsmtError
from tcsmt.terms import Term, const

__all__ = ["KernelModel", "kernel_row", "row_named"]

_NEAREST = ROUNDINGS["RNE"]
Indices = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, kw_only=True)
class KernelModel(Model):
    """One element of D by a kernel: k products of a row of A and a column of B, and c.

    unit: the instruction that chains are made of; the last one of a chain is filled up with zeros.
    reduction, epilogue: see :class:`.Reduction` and :class:`.Epilogue`. Where K is cut must not depend on the
    tile of D, and the epilogue takes no numbers but c.
    """

    kind: ClassVar[str] = "kernel"
    title: ClassVar[str] = "a kernel on a matrix unit"
    longest: ClassVar[int] = 1 << 16
    a_format: AnyFormat = field(init=False)
    b_format: AnyFormat = field(init=False)
    c_format: AnyFormat = field(init=False)
    d_format: AnyFormat = field(init=False)
    unit: Model
    reduction: Reduction = CHAINED
    epilogue: Epilogue = PLAIN

    def __post_init__(self) -> None:
        for name in ("a_format", "b_format", "c_format"):
            object.__setattr__(self, name, getattr(self.unit, name))
        object.__setattr__(self, "d_format", output_format(self.unit, self.epilogue))
        super().__post_init__()

    def validate(self) -> None:
        """What a kernel could not do, or what one element does not say."""
        unit = self.unit
        if unit.scale_format is not None:
            raise TcsmtError("a kernel as a model takes no block scales")
        if self.reduction.tiled:
            raise TcsmtError(f"reduction {self.reduction}: where K is cut depends on the tile; use cuts")
        if self.epilogue.bias or self.epilogue.stochastic:
            raise TcsmtError(f"epilogue {self.epilogue}: a kernel as a model takes no numbers but a, b and c")
        integers = isinstance(unit.d_format, IntegerFormat)
        if integers and not (self.epilogue.plain and self.epilogue.beta == 1):
            raise TcsmtError(
                f"alpha and beta must be 1: the unit's results are integers ({unit.d_format.name})"
            )
        if unit.c_format != unit.d_format:
            one, two = unit.c_format.name, unit.d_format.name
            raise TcsmtError(f"the unit takes c in {one} and gives {two}: its instructions cannot be chained")

    def as_json(self) -> dict[str, Any]:
        """The kernel's parts as plain values."""
        return {
            "kind": self.kind,
            "unit": self.unit.as_json(),
            "reduction": str(self.reduction),
            "epilogue": str(self.epilogue),
            "k": self.k,
        }

    def apply(self, operands: Terms) -> Trace:
        """The kernel on input words, by calls of its unit and of additions where these are all it does."""
        self.check_lengths(operands)
        run = _Run(self, operands, [])
        output = run.result()
        calls = run.calls if run.by_calls else [Call(self, operands, output)]
        return Trace(operands, tuple(run.stages), output, tuple(calls))

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Run the chains, add their sums up, end."""
        return _Run(self, x, stages).result()


@dataclass(frozen=True)
class _Word:
    format: AnyFormat
    term: Term


class _Run:
    """One application of a kernel: chains are numbered in the order in which they are made."""

    def __init__(self, model: KernelModel, x: Terms, stages: list[Stage]) -> None:
        self.model, self.x, self.stages = model, x, stages
        self.chains = self.sums = 0
        self.calls: list[Call] = []
        self.by_calls = True

    def result(self) -> Term:
        model, epilogue = self.model, self.model.epilogue
        c = _Word(model.c_format, self.x.c)
        first = epilogue.c_first and epilogue.beta != 0
        total = self.reduced(model.reduction, np.arange(model.k), c if first else None)
        if not epilogue.plain:
            total = self.ended(total, None if epilogue.c_first else c)
        if self.stages[-1].term is not total.term:
            self.seen(Kind.RESULT, None, total)
        return total.term

    def seen(self, kind: Kind, lane: int | None, word: _Word, operation: Operation | None = None) -> _Word:
        self.stages.append(Stage(None, kind, lane, word.format, word.term, operation))
        return word

    def reduced(self, reduction: Reduction, indices: Indices, c: _Word | None = None) -> _Word:
        if not reduction.levels:
            return self.chain(indices, c)
        level, inner = reduction.levels[0], Reduction(reduction.levels[1:])
        parts = [self.reduced(inner, part) for part in level.cut(indices, self.model.unit.k)]
        fmt = level.sum or parts[0].format
        values = [self.to(self.to(part, level.parts), fmt) for part in parts]
        start = self.to(c, fmt) if c is not None else self.zero(fmt) if level.from_zero else None

        def kept(value: _Word) -> _Word:
            return self.to(self.to(value, level.total), fmt)

        return fold(level, values, self.add, kept, start)

    def chain(self, indices: Indices, c: _Word | None) -> _Word:
        unit, number = self.model.unit, self.chains
        self.chains += 1
        word = self.zero(unit.c_format) if c is None else c
        for step, first in enumerate(range(0, len(indices), unit.k)):
            lanes = [int(place) for place in indices[first : first + unit.k]]
            missing = unit.k - len(lanes)
            a, b = (
                [*(side[lane] for lane in lanes), *[const(0, fmt.width)] * missing]
                for side, fmt in ((self.x.a, unit.a_format), (self.x.b, unit.b_format))
            )
            trace = unit.apply(Operands(a, b, word.term))
            place = ChainPlace(number, step)
            self.stages += [stage.inside(place) for stage in trace.stages]
            self.calls += trace.calls
            word = _Word(unit.d_format, trace.output)
            self.stages.append(Stage(place, Kind.INSTRUCTION, None, unit.d_format, trace.output))
        return word

    def zero(self, fmt: AnyFormat) -> _Word:
        return _Word(fmt, const(0, fmt.width))

    def add(self, one: _Word, two: _Word) -> _Word:
        fmt = one.format
        if isinstance(fmt, IntegerFormat):
            self.by_calls = False
            return self.counted(_Word(fmt, one.term + two.term))
        # additions commute: in one order, so that reductions which only swap them are the same graph
        left, right = sorted((one.term, two.term), key=lambda term: term.digest)
        return self.multiplied(MultiplyAdd.sum(float_format(fmt), left, right))

    def multiplied(self, operation: MultiplyAdd) -> _Word:
        word = operation.word()
        operands = Operands((operation.x,), (operation.y,), operation.z)
        trace = multiply_add(operation.format).apply(operands)
        self.by_calls &= trace.output is word
        self.calls += trace.calls
        return self.counted(_Word(operation.format, word), operation)

    def counted(self, word: _Word, operation: Operation | None = None) -> _Word:
        self.sums += 1
        return self.seen(Kind.SUM_OUTSIDE, self.sums, word, operation)

    def to(self, word: _Word, fmt: AnyFormat | None) -> _Word:
        if fmt is None or word.format == fmt:
            return word
        return self.converted(word, float_format(fmt), _NEAREST, saturate=False)

    def converted(self, word: _Word, fmt: Format, rounding: Rounding, *, saturate: bool) -> _Word:
        given = float_format(word.format)
        if given == fmt:
            return word
        self.by_calls = False
        operation: RoundedSum = rounded(given, fmt, word.term, rounding, saturate=saturate)
        self.sums += 1
        return self.seen(Kind.CONVERTED, self.sums, _Word(fmt, operation.word()), operation)

    def ended(self, total: _Word, c: _Word | None) -> _Word:
        epilogue = self.model.epilogue
        result = float_format(total.format)
        fmt = working_format(result)
        if epilogue.alpha != 1 or c is not None:
            total = self.to(total, fmt)
            added = const(0, fmt.width)
            if c is not None and epilogue.beta != 0:
                added = self.to(c, fmt).term
                if epilogue.beta != 1:
                    added = self.multiplied(MultiplyAdd.product(fmt, added, _number(fmt, epilogue.beta))).term
            scaled = MultiplyAdd(format=fmt, x=total.term, y=_number(fmt, epilogue.alpha), z=added)
            total = self.multiplied(scaled)
        for number, wanted in enumerate(epilogue.out or (result,), 1):
            saturate = epilogue.saturate and number == len(epilogue.out)
            total = self.converted(total, wanted, epilogue.rounding, saturate=saturate)
        return total


def _number(fmt: Format, value: float) -> Term:
    """A constant; alpha and beta are rounded to the epilogue's format first."""
    return const(fmt.nearest_word(Fraction(value)), fmt.width)


def kernel_row(kernel: Kernel, k: int) -> Row:
    """A kernel at one K as a row: ``UNIT+REDUCTION@K``, with its unit's source and evidence."""
    unit = kernel.unit
    model = KernelModel(unit=unit.model, reduction=kernel.reduction, epilogue=kernel.epilogue, k=k)
    return Row(
        architecture=unit.architecture, instruction=f"{unit.instruction}+{kernel.scheme}@{k}", model=model,
        source=unit.source, date=unit.date, evidence=unit.evidence, status=unit.status,
        note=f"a kernel on {unit.name}",
    )  # fmt: skip


def row_named(text: str, unit_named: Callable[[str], Row]) -> Row:
    """The row of ``UNIT+REDUCTION[+EPILOGUE]@K``. Raises :class:`.TcsmtError`."""
    name, at, k = text.rpartition("@")
    if not at or not k.isdecimal() or not int(k):
        raise TcsmtError(f"{text!r}: a kernel as a unit needs its K at the end: UNIT+split-k:2@64")
    return kernel_row(kernel_named(name, unit_named), int(k))
