"""A program at one K as a model: what it computes for an element of D can be asked about like a unit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model, Operands, Stage, Trace
from tcsmt.matrix_units.models.base import Call, Terms
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.operations import multiply_add
from tcsmt.programs.steps.program import UnitProgram, read

#: What is said of a program where a NaN result stands for any NaN.
UNKNOWN_NANS = "no source says which word a NaN result has that is computed outside of the unit"


@dataclass(frozen=True, kw_only=True)
class ProgramModel(Model):
    """One element of D by a program: k products of a row of A and a column of B, and c."""

    longest: ClassVar[int] = 1 << 16

    @property
    @abstractmethod
    def program(self) -> UnitProgram:
        """Return its steps."""

    @property
    @abstractmethod
    def nans(self) -> NanWords:
        """Return which words NaN results have outside of the unit."""

    @property
    def knows_nans(self) -> bool:
        """Return whether the unit or the program's rule has the last word on a NaN result."""
        last = self.program.result
        return last.kind in ("chain", "padding") or self.nans.is_known(last.format)

    def apply(self, operands: Terms) -> Trace:
        """Return the program on input words, by calls of its units and of additions where these are all it
        does.
        """
        self.check_lengths(operands)
        rules = CalledTermRules([], self.nans)
        output = self._run(rules, operands)
        calls = rules.calls if rules.by_calls else [Call(self, operands, output)]
        return Trace(operands, tuple(rules.stages), output, tuple(calls))

    def unit_calls(self, operands: Terms) -> Sequence[Call]:
        """Return the calls of its units and of additions; of what else it does there are none."""
        rules = CalledTermRules([], self.nans)
        self._run(rules, operands)
        return rules.calls

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Run the steps."""
        return self._run(CalledTermRules(stages, self.nans), x)

    def words(self, x: Terms) -> dict[str, Any]:
        """Return what the program's inputs are of a row's words."""
        return {"A": x.a, "B": x.b, "c": x.c}

    def _run(self, rules: CalledTermRules, x: Terms) -> Term:
        word: Term = read(self.program, rules, self.words(x))
        if not rules.stages or rules.stages[-1].term is not word:
            rules.stages.append(Stage(None, Kind.RESULT, None, self.d_format, word))
        return word


class CalledTermRules(TermRules):
    """The rules of steps on terms where each operation outside is a stage, and a call where it can be.

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

    def added(self, x: Term, y: Term, fmt: AnyFormat, shift: int, rounding: Rounding) -> Term:
        """Additions commute: in one order, so that reductions which only swap them are the same graph. With
        a shift, which is of x alone, they do not.
        """
        if isinstance(fmt, Format) and not shift:
            x, y = sorted((x, y), key=lambda term: term.digest)
        return super().added(x, y, fmt, shift, rounding)

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
