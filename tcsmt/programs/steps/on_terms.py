"""The reading of programs as terms: what solvers ask about, and what certificates are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model, Operands, Stage, Trace
from tcsmt.matrix_units.models.stages import ChainPlace, InstructionPlace, OperandPlace
from tcsmt.programs.steps.operations import randomly_rounded, rounded, scaled_sum
from tcsmt.programs.steps.program import ProductRun
from tcsmt.programs.steps.split import Split

#: The words of an operand's numbers; of a split, all words of each.
Row = Sequence[Any]


class TermRules:
    """The rules of each step on terms. An operand is one term for each number, or all words of its split.

    stages: intermediate results are added to it. nans: which words NaN results of other steps than the unit's
    have.
    """

    def __init__(self, stages: list[Stage], nans: NanWords) -> None:
        self.stages, self.nans = stages, nans
        self.operations: dict[Term, Operation] = {}
        self.chains = 0

    def constant(self, *, fmt: AnyFormat, word: int) -> Term:
        """A constant."""
        return const(word, fmt.width)

    def split(self, x: Sequence[Term], *, split: Split, side: str) -> list[tuple[Term, ...]]:
        """Return all words of each number."""
        row = [split.apply(word) for word in x]
        self.stages += [
            Stage(OperandPlace(side.lower(), lane), Kind.WORD, number, split.format, word)
            for lane, words in enumerate(row)
            for number, word in enumerate(words)
        ]
        return row

    def chain(self, c: Term | None, *operands: Row, unit: Model, runs: Sequence[ProductRun]) -> Term:
        """Return instructions one after the other, each with a place of its own."""
        chain, step = self.chains, 0
        self.chains += 1
        word = const(0, unit.c_format.width) if c is None else c
        for run in runs:
            for first in range(0, len(run.indices), unit.k):
                part = run.indices[first : first + unit.k]
                place: ChainPlace | InstructionPlace = ChainPlace(chain, step)
                if run.words is not None:
                    place = InstructionPlace(*run.words, range(int(part[0]), int(part[-1]) + 1))
                step += 1
                trace = unit.apply(Operands(*_lanes(unit, operands, part, run.words), word))
                self.stages += [stage.inside(place) for stage in trace.stages]
                word = self.called(trace)
                self.stages.append(Stage(place, Kind.INSTRUCTION, None, unit.d_format, word))
        return word

    def called(self, trace: Trace) -> Term:
        """Return the result of an instruction."""
        return trace.output

    def add(self, x: Term, y: Term, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Term:
        """x·2^-shift + y."""
        if isinstance(fmt, IntegerFormat):
            return self.seen(Kind.SUM_OUTSIDE, fmt, x + y)
        fmt = float_format(fmt)
        operation = scaled_sum(fmt, x, shift, y, rounding, self.nans.computed(fmt))
        return self.seen(Kind.SUM_OUTSIDE, fmt, operation.word(), operation)

    def multiply_add(self, x: Term, y: Term, z: Term, *, fmt: Format) -> Term:
        """x·y + z."""
        operation = MultiplyAdd(format=fmt, x=x, y=y, z=z, nan_word=self.nans.computed(fmt))
        return self.seen(Kind.SUM_OUTSIDE, fmt, operation.word(), operation)

    def negate(self, x: Term, *, fmt: Format) -> Term:
        """-x."""
        return x ^ const(1 << fmt.sign_bit, fmt.width)

    def convert(
        self, x: Term | Sequence[Term], *, source: Format, target: Format, rounding: Rounding, saturate: bool
    ) -> Term | list[Term]:
        """x in another format; of an operand, each of its numbers."""
        if not isinstance(x, Term):
            words = (rounded(source, target, word, rounding, saturate=saturate, nans=self.nans) for word in x)
            return [operation.word() for operation in words]
        operation = rounded(source, target, x, rounding, saturate=saturate, nans=self.nans)
        return self.seen(Kind.CONVERTED, target, operation.word(), operation)

    def convert_randomly(
        self, x: Term, random: Term, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Term:
        """x in another format, by random bits."""
        word = randomly_rounded(source, target, x, random, saturate=saturate, nans=self.nans)
        return self.seen(Kind.CONVERTED, target, word)

    def seen(self, kind: Kind, fmt: AnyFormat, word: Term, operation: Operation | None = None) -> Term:
        """Return the word of an operation outside, which a note may call by a name."""
        if operation is not None:
            self.operations[word] = operation
        return word

    def note(self, x: Term, *, kind: Kind, number: int | None, fmt: AnyFormat) -> Term:
        """Return x, which becomes a stage."""
        self.stages.append(Stage(None, kind, number, fmt, x, self.operations.get(x)))
        return x


def _lanes(
    unit: Model, operands: Sequence[Row], part: Any, words: tuple[int, int] | None
) -> tuple[list[Term], list[Term]]:
    """Return the words of both operands that an instruction multiplies, filled up with zeros."""
    rows = []
    for operand, number, fmt in zip(operands, words or (0, 0), (unit.a_format, unit.b_format), strict=True):
        taken = [operand[int(lane)] if words is None else operand[int(lane)][number] for lane in part]
        rows.append(taken + [const(0, fmt.width)] * (unit.k - len(part)))
    return rows[0], rows[1]
