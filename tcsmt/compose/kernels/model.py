"""A kernel at one K as a model: what it computes for an element of D can be asked about like a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from tcsmt.compose.kernels.epilogue import PLAIN, Epilogue, multiply_add, randomly_rounded, rounded
from tcsmt.compose.kernels.kernel import Kernel, kernel_named
from tcsmt.compose.kernels.reduction import CHAINED, Reduction
from tcsmt.compose.kernels.schedule import Indices, Schedule
from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation, RoundedSum
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Kind, Model, Operands, Stage, Trace
from tcsmt.matrix_units.models.base import Call, Terms
from tcsmt.matrix_units.models.stages import ChainPlace
from tcsmt.support.errors import TcsmtError

__all__ = ["KernelModel", "TermSteps", "kernel_row", "unit_of_kernel"]


@dataclass(frozen=True, kw_only=True)
class KernelModel(Model):
    """One element of D by a kernel: k products of a row of A and a column of B, and c.

    unit: the instruction that chains are made of; the last one of a chain is filled up with zeros.
    reduction, epilogue: see :class:`.Reduction` and :class:`.Epilogue`. Where K is cut must not depend on the
    tile of D, and the epilogue takes no numbers but c. has_c: whether there is a C; else the word of c is not
    read, which is not the same as a C of zeros: +0 + (-0) is +0.
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
    has_c: bool = True

    def __post_init__(self) -> None:
        for name in ("a_format", "b_format", "c_format"):
            object.__setattr__(self, name, getattr(self.unit, name))
        object.__setattr__(self, "d_format", self.schedule.d_format)
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
        self.schedule.chains(np.arange(self.k))

    def as_json(self) -> dict[str, Any]:
        """Return the kernel's parts as plain values."""
        return {
            "kind": self.kind,
            "unit": self.unit.as_json(),
            "reduction": str(self.reduction),
            "epilogue": str(self.epilogue),
            "nans_outside": str(self.schedule.nans),
            "has_c": self.has_c,
            "d_format": self.d_format.name,
            "k": self.k,
        }

    def apply(self, operands: Terms) -> Trace:
        """Return the kernel on input words, by calls of its unit and of additions where these are all it
        does.
        """
        self.check_lengths(operands)
        steps = TermSteps(self.unit, operands, [], self.schedule.nans)
        output = self._run(steps)
        calls = steps.calls if steps.by_calls else [Call(self, operands, output)]
        return Trace(operands, tuple(steps.stages), output, tuple(calls))

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Run the chains, add their sums up, end."""
        return self._run(TermSteps(self.unit, x, stages, self.schedule.nans))

    @property
    def knows_nans(self) -> bool:
        """Return whether the unit or the kernel's rule has the last word on a NaN result."""
        return self.schedule.knows_nans(self.k)

    @property
    def schedule(self) -> Schedule:
        """Its steps, which are those of matrix products."""
        return Schedule(self.unit, self.reduction, self.epilogue)

    def _run(self, steps: TermSteps) -> Term:
        c = steps.x.c if self.has_c else None
        total = self.schedule.sum(steps, np.arange(self.k), c)
        result = self.schedule.end(steps, total, c)
        if steps.stages[-1].term is not result.words:
            steps.stages.append(Stage(None, Kind.RESULT, None, result.format, result.words))
        return result.words


class TermSteps:
    """The steps of one application of a kernel: chains are numbered in the order in which they are made.

    nans: which words NaN results of the kernel's own arithmetic have.
    calls: of models, by which a reader gets the result again; by_calls: whether there is nothing else to it.
    """

    def __init__(self, unit: Model, x: Terms, stages: list[Stage], nans: NanWords) -> None:
        self.unit, self.x, self.stages, self.nans = unit, x, stages, nans
        self.chains = self.sums = 0
        self.calls: list[Call] = []
        self.by_calls = True

    def chain(self, indices: Indices, c: Term | None) -> Term:
        """Instructions, the last one of which is filled up with zeros. indices: integers (length,)."""
        unit, number = self.unit, self.chains
        self.chains += 1
        word = const(0, unit.c_format.width) if c is None else c
        for step, first in enumerate(range(0, len(indices), unit.k)):
            lanes = [int(place) for place in indices[first : first + unit.k]]
            missing = unit.k - len(lanes)
            a, b = (
                [*(side[lane] for lane in lanes), *[const(0, fmt.width)] * missing]
                for side, fmt in ((self.x.a, unit.a_format), (self.x.b, unit.b_format))
            )
            trace = unit.apply(Operands(a, b, word))
            place = ChainPlace(number, step)
            self.stages += [stage.inside(place) for stage in trace.stages]
            self.calls += trace.calls
            word = trace.output
            self.stages.append(Stage(place, Kind.INSTRUCTION, None, unit.d_format, word))
        return word

    def constant(self, fmt: AnyFormat, word: int) -> Term:
        """A constant."""
        return const(word, fmt.width)

    def add(self, fmt: AnyFormat, x: Term, y: Term) -> Term:
        """Additions commute: in one order, so that reductions which only swap them are the same graph."""
        if isinstance(fmt, IntegerFormat):
            self.by_calls = False
            return self._seen(Kind.SUM_OUTSIDE, fmt, x + y)
        left, right = sorted((x, y), key=lambda term: term.digest)
        return self._multiplied(MultiplyAdd.sum(float_format(fmt), left, right))

    def multiply_add(self, fmt: Format, x: Term, y: Term, z: Term) -> Term:
        """A call of a model of its own."""
        return self._multiplied(MultiplyAdd(format=fmt, x=x, y=y, z=z))

    def convert(self, x: Term, given: Format, wanted: Format, rounding: Rounding, saturate: bool) -> Term:
        """No model of its own, so that there is more to the kernel than calls."""
        self.by_calls = False
        operation: RoundedSum = rounded(given, wanted, x, rounding, saturate=saturate, nans=self.nans)
        return self._seen(Kind.CONVERTED, wanted, operation.word(), operation)

    def convert_randomly(
        self, x: Term, given: Format, wanted: Format, random: Term, bits: int, saturate: bool
    ) -> Term:
        """No model of its own, either."""
        self.by_calls = False
        word = randomly_rounded(given, wanted, x, random, saturate=saturate, nans=self.nans)
        return self._seen(Kind.CONVERTED, wanted, word)

    def _multiplied(self, operation: MultiplyAdd) -> Term:
        operation = replace(operation, nan_word=self.nans.computed(operation.format))
        word = operation.word()
        model = multiply_add(operation.format, operation.nan_word)
        trace = model.apply(Operands((operation.x,), (operation.y,), operation.z))
        self.by_calls &= trace.output is word
        self.calls += trace.calls
        return self._seen(Kind.SUM_OUTSIDE, operation.format, word, operation)

    def _seen(self, kind: Kind, fmt: AnyFormat, term: Term, operation: Operation | None = None) -> Term:
        self.sums += 1
        self.stages.append(Stage(None, kind, self.sums, fmt, term, operation))
        return term


#: What is said of a kernel where a NaN result stands for any NaN.
UNKNOWN_NANS = "no source says which word a NaN result has that is computed outside of the unit"


def kernel_row(kernel: Kernel, k: int) -> Row:
    """A kernel at one K as a row: ``UNIT+REDUCTION@K``, with its unit's source and evidence."""
    unit = kernel.unit
    model = KernelModel(unit=unit.model, reduction=kernel.reduction, epilogue=kernel.schedule.epilogue, k=k)
    return Row(
        architecture=unit.architecture, instruction=f"{unit.instruction}+{kernel.scheme}@{k}", model=model,
        source=unit.source, date=unit.date, evidence=unit.evidence, status=unit.status,
        note=f"a kernel on {unit.name}" + ("" if model.knows_nans else f"; {UNKNOWN_NANS}"),
        nans_outside=kernel.schedule.nans,
    )  # fmt: skip


def unit_of_kernel(text: str, unit_named: Callable[[str], Row]) -> Row:
    """Return the row of ``UNIT+REDUCTION[+EPILOGUE]@K``. Raises :class:`.TcsmtError`."""
    name, at, k = text.rpartition("@")
    if not at or not k.isdecimal() or not int(k):
        raise TcsmtError(f"{text!r}: a kernel as a unit needs its K at the end: UNIT+split-k:2@64")
    return kernel_row(kernel_named(name, unit_named), int(k))
