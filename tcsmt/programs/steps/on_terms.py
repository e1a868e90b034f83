"""The reading of programs as terms: what solvers ask about, and what certificates are of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation, widen
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model, Operands, Stage, Trace
from tcsmt.matrix_units.models.stages import ChainPlace, InstructionPlace, OperandPlace
from tcsmt.programs.steps import digits, operations
from tcsmt.programs.steps.program import Indices, ProductRun, scaled_blocks
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.trees import SumOrder, summed
from tcsmt.support.invariants import not_none

#: The words of an operand's numbers; of a split, all words of each.
Row = Sequence[Any]


class TermRules:
    """The rules of each step on terms. What has axes is a list of a term for each word, or all words of a
    split; a step broadcasts over what is one term.

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
                place = instruction_place(chain, step, part, run.words)
                step += 1
                lanes = _lanes(unit, operands[:2], part, run.words)
                word = self._instruction(unit, place, *lanes, word, *_scales(unit, operands[2:], part))
        return word

    def padding(self, c: Term, *, unit: Model) -> Term:
        """Return an instruction of zeros alone."""
        place = ChainPlace(self.chains, 0)
        self.chains += 1
        zeros = ([const(0, fmt.width)] * unit.k for fmt in (unit.a_format, unit.b_format))
        fmt = unit.scale_format
        scales = () if fmt is None else ([const(0, fmt.width)] * unit.scales,) * 2
        return self._instruction(unit, place, *zeros, c, *scales)

    def _instruction(self, unit: Model, place: ChainPlace | InstructionPlace, *words: Any) -> Term:
        trace = unit.apply(Operands(*words))
        self.stages += [stage.inside(place) for stage in trace.stages]
        word = self.called(trace)
        self.stages.append(Stage(place, Kind.INSTRUCTION, None, unit.d_format, word))
        return word

    def called(self, trace: Trace) -> Term:
        """Return the result of an instruction."""
        return trace.output

    def chain_each(
        self, c: None, a: Row, b: Sequence[Row], *, unit: Model, runs: Sequence[ProductRun]
    ) -> Row:
        """Return a chain for each member of a tile."""
        return [self.chain(c, a, member, unit=unit, runs=runs) for member in b]

    def add(self, x: Any, y: Any, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Any:
        """x·2^-shift + y."""
        return each(lambda x, y: self.added(x, y, fmt, shift, rounding), x, y)

    def added(self, x: Term, y: Term, fmt: AnyFormat, shift: int, rounding: Rounding) -> Term:
        """Return the sum of two words."""
        if isinstance(fmt, IntegerFormat):
            return self.seen(Kind.SUM_OUTSIDE, fmt, x + y)
        fmt = float_format(fmt)
        operation = operations.scaled_sum(fmt, x, shift, y, rounding, self.nans.computed(fmt))
        return self.seen(Kind.SUM_OUTSIDE, fmt, operation.word(), operation)

    def multiply(self, x: Any, y: Any, *, fmt: AnyFormat, rounding: Rounding) -> Any:
        """x·y."""

        def multiplied(x: Term, y: Term) -> Term:
            if isinstance(fmt, IntegerFormat):
                return self.seen(Kind.COMPUTED, fmt, x * y)
            operation = operations.product(float_format(fmt), x, y, rounding, self._nan(fmt))
            return self.seen(Kind.COMPUTED, fmt, operation.word(), operation)

        return each(multiplied, x, y)

    def divide(self, x: Any, y: Any, *, fmt: Format, rounding: Rounding) -> Any:
        """x / y."""

        def divided(x: Term, y: Term) -> Term:
            operation = operations.quotient(fmt, x, y, rounding, self._nan(fmt))
            return self.seen(Kind.COMPUTED, fmt, operation.word(), operation)

        return each(divided, x, y)

    def multiply_add(self, x: Any, y: Any, z: Any, *, fmt: Format) -> Any:
        """x·y + z."""

        def multiplied(x: Term, y: Term, z: Term) -> Term:
            operation = MultiplyAdd(format=fmt, x=x, y=y, z=z, nan_word=self.nans.computed(fmt))
            return self.seen(Kind.SUM_OUTSIDE, fmt, operation.word(), operation)

        return each(multiplied, x, y, z)

    def negate(self, x: Any, *, fmt: AnyFormat) -> Any:
        """-x."""
        sign = None if isinstance(fmt, IntegerFormat) else const(1 << float_format(fmt).sign_bit, fmt.width)
        return each(lambda x: -x if sign is None else x ^ sign, x)

    def absolute(self, x: Any, *, fmt: Format) -> Any:
        """|x|."""
        return each(lambda x: x & const((1 << fmt.sign_bit) - 1, fmt.width), x)

    def power_of_two(self, x: Any, *, shift: int, up: bool) -> Any:
        """Return words of UE8M0."""
        return each(lambda x: operations.power_of_two(x, shift, up=up), x)

    def maximum(self, x: Any, y: Any = None, *, fmt: AnyFormat, nan: str, side: str = "") -> Any:
        """Return the larger word of two, or the largest of a list."""

        def larger(x: Term, y: Term) -> Term:
            return self.seen(Kind.COMPUTED, fmt, operations.maximum(fmt, x, y, nan, self._nan(fmt)))

        return summed("pairs", x, larger) if y is None else each(larger, x, y)

    def block_maximum(
        self, x: Sequence[Term], *, fmt: AnyFormat, nan: str, side: str, every: int
    ) -> list[Term]:
        """Return the largest words of blocks of a list."""
        return [self.maximum(x[at : at + every], fmt=fmt, nan=nan) for at in range(0, len(x), every)]

    def spread(self, x: Sequence[Term], *, side: str, every: int, length: int) -> list[Term]:
        """Return the word of each number's block."""
        return [x[at // every] for at in range(length)]

    def compare(self, x: Any, y: Any, *, fmt: AnyFormat, relation: str) -> Any:
        """Return the truth value of x compared with y."""
        return each(lambda x, y: operations.compared(fmt, x, y, relation), x, y)

    def select(self, condition: Any, x: Any, y: Any, *, fmt: AnyFormat) -> Any:
        """Return x where the condition holds, else y."""
        return each(
            lambda condition, x, y: self.seen(Kind.COMPUTED, fmt, condition.ite(x, y)), condition, x, y
        )

    def sum(
        self, x: Sequence[Term], *, fmt: AnyFormat, tree: SumOrder, rounding: Rounding, side: str
    ) -> Term:
        """Return the sum of a list."""
        return tree.sum(x, lambda x, y: self.added(x, y, fmt, 0, rounding))

    def pick(self, x: Sequence[Term], *, at: int, side: str) -> Term:
        """Return one word of a list."""
        word: Term = x[at]
        return word

    def convert(
        self, x: Any, *, source: AnyFormat, target: AnyFormat, rounding: Rounding, saturate: bool
    ) -> Any:
        """x in another format; of a list, each of its words."""

        def converted(x: Term) -> Term:
            if isinstance(target, IntegerFormat):
                return widen(x, source, target)
            operation = operations.rounded(
                source, float_format(target), x, rounding, saturate=saturate, nans=self.nans
            )
            word = operation.word()
            return self.seen(Kind.CONVERTED, target, word, operation) if single else word

        single = isinstance(x, Term)
        return each(converted, x)

    def exponent(self, x: Any, *, fmt: Format) -> Any:
        """Return exponents."""
        return each(lambda x: digits.exponent(fmt, x), x)

    def digits(self, x: Any, top: Any, *, slicing: Slicing, fmt: AnyFormat) -> Any:
        """Return all digits of each number."""
        return each(lambda x, top: digits.digits(slicing, fmt, x, top), x, top)

    def accumulate(self, x: Any, y: Any, *, source: AnyFormat, fmt: Format, shift: int) -> Any:
        """x·2^-shift + y, of two formats."""

        def accumulated(x: Term, y: Term) -> Term:
            operation = digits.accumulated(source, fmt, shift, self._nan(fmt), x, y)
            return self.seen(Kind.SUM_OUTSIDE, fmt, operation.word(), operation)

        return each(accumulated, x, y)

    def scale(
        self,
        x: Any,
        *exponents: Any,
        source: AnyFormat,
        powers: Sequence[IntegerFormat],
        fmt: Format,
        shift: int,
    ) -> Any:
        """x·2^(Σ exponents - shift)."""

        def scaled(x: Term, *exponents: Term) -> Term:
            operation = digits.scaled(source, fmt, powers, shift, self._nan(fmt), x, *exponents)
            return self.seen(Kind.COMPUTED, fmt, operation.word(), operation)

        return each(scaled, x, *exponents)

    def _nan(self, fmt: AnyFormat) -> int:
        return self.nans.computed(fmt) if isinstance(fmt, Format) else 0

    def convert_randomly(
        self, x: Any, random: Any, *, source: Format, target: Format, bits: int, saturate: bool
    ) -> Any:
        """x in another format, by random bits."""

        def converted(x: Term, random: Term) -> Term:
            word = operations.randomly_rounded(source, target, x, random, saturate=saturate, nans=self.nans)
            return self.seen(Kind.CONVERTED, target, word)

        return each(converted, x, random)

    def seen(self, kind: Kind, fmt: AnyFormat, word: Term, operation: Operation | None = None) -> Term:
        """Return the word of an operation outside, which a note may call by a name."""
        if operation is not None:
            self.operations[word] = operation
        return word

    def note(self, x: Term, *, kind: Kind, number: int | None, fmt: AnyFormat) -> Term:
        """Return x, which becomes a stage."""
        self.stages.append(Stage(None, kind, number, fmt, x, self.operations.get(x)))
        return x


def each(operation: Callable[..., Any], *values: Any) -> Any:
    """Return what an operation makes of values; of lists, of each of their members."""
    counts = [len(value) for value in values if isinstance(value, (list, tuple))]
    if not counts:
        return operation(*values)
    rows = (value if isinstance(value, (list, tuple)) else [value] * counts[0] for value in values)
    return [operation(*row) for row in zip(*rows, strict=True)]


def _scales(unit: Model, scales: Sequence[Row], part: Any) -> list[list[Term]]:
    """Return the scales of an instruction's blocks, filled up with zeros; nothing without scales."""
    if not scales:
        return []
    taken = scaled_blocks(unit, part)
    fill = [const(0, not_none(unit.scale_format).width)] * (unit.scales - len(taken))
    return [[row[int(at)] for at in taken] + fill for row in scales]


def instruction_place(
    chain: int, step: int, part: Indices, words: tuple[int, int] | None
) -> ChainPlace | InstructionPlace:
    """Return where an instruction stands: the chain's number and its own, or the words that it multiplies."""
    if words is None:
        return ChainPlace(chain, step)
    return InstructionPlace(*words, range(int(part[0]), int(part[-1]) + 1))


def _lanes(
    unit: Model, operands: Sequence[Row], part: Any, words: tuple[int, int] | None
) -> tuple[list[Term], list[Term]]:
    """Return the words of both operands that an instruction multiplies, filled up with zeros."""
    rows = []
    for operand, number, fmt in zip(operands, words or (0, 0), (unit.a_format, unit.b_format), strict=True):
        taken = [operand[int(lane)] if words is None else operand[int(lane)][number] for lane in part]
        rows.append(taken + [const(0, fmt.width)] * (unit.k - len(part)))
    return rows[0], rows[1]
