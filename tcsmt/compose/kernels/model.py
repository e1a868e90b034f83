"""A kernel at one K as a model: what it computes for an element of D can be asked about like a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tcsmt.compose.kernels.epilogue import PLAIN, Epilogue
from tcsmt.compose.kernels.kernel import Kernel, kernel_named
from tcsmt.compose.kernels.reduction import CHAINED, Reduction
from tcsmt.compose.kernels.schedule import Schedule
from tcsmt.compose.programs.on_terms import TermRules
from tcsmt.compose.programs.operations import multiply_add
from tcsmt.compose.programs.steps import read
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Kind, Model, Operands, Stage, Trace
from tcsmt.matrix_units.models.base import Call, Terms
from tcsmt.support.errors import TcsmtError

__all__ = ["KernelModel", "KernelTermRules", "kernel_row", "unit_of_kernel"]


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
        self.schedule.chains(self.k)

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
        rules = KernelTermRules([], self.schedule.nans)
        output = self._run(rules, operands)
        calls = rules.calls if rules.by_calls else [Call(self, operands, output)]
        return Trace(operands, tuple(rules.stages), output, tuple(calls))

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Run the chains, add their sums up, end."""
        return self._run(KernelTermRules(stages, self.schedule.nans), x)

    @property
    def knows_nans(self) -> bool:
        """Return whether the unit or the kernel's rule has the last word on a NaN result."""
        return self.schedule.knows_nans(self.k)

    @property
    def schedule(self) -> Schedule:
        """Its steps, which are those of matrix products."""
        return Schedule(self.unit, self.reduction, self.epilogue)

    def _run(self, rules: KernelTermRules, x: Terms) -> Term:
        program = self.schedule.program(self.k, c=self.has_c)
        word: Term = read(program, rules, {"A": x.a, "B": x.b, "c": x.c})
        if rules.stages[-1].term is not word:
            rules.stages.append(Stage(None, Kind.RESULT, None, self.d_format, word))
        return word


class KernelTermRules(TermRules):
    """The rules of a kernel's steps on terms: each operation outside is a stage, and a call where it can be.

    calls: of models, by which a reader gets the result again; by_calls: whether there is nothing else to it.
    """

    def __init__(self, stages: list[Stage], nans: NanWords) -> None:
        super().__init__(stages, nans)
        self.sums = 0
        self.calls: list[Call] = []
        self.by_calls = True

    def called(self, trace: Trace) -> Term:
        """Return the result of an instruction, whose calls are noted."""
        self.calls += trace.calls
        return trace.output

    def add(self, x: Term, y: Term, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Term:
        """Additions commute: in one order, so that reductions which only swap them are the same graph."""
        if isinstance(fmt, Format):
            x, y = sorted((x, y), key=lambda term: term.digest)
        return super().add(x, y, fmt=fmt, shift=shift, rounding=rounding)

    def seen(self, kind: Kind, fmt: AnyFormat, word: Term, operation: Operation | None = None) -> Term:
        """Return the word, which is a stage; a multiply-add is a call of a model of its own."""
        self.sums += 1
        self.stages.append(Stage(None, kind, self.sums, fmt, word, operation))
        if not isinstance(operation, MultiplyAdd):
            self.by_calls = False
            return word
        model = multiply_add(operation.format, operation.nan_word)
        trace = model.apply(Operands((operation.x,), (operation.y,), operation.z))
        self.by_calls &= trace.output is word
        self.calls += trace.calls
        return word


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
