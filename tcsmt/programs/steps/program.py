"""Programs on a unit as data, how they are built, and the one loop by which they are read.

A program is a list of steps. A step takes the values of earlier steps and gives one value; it says all of its
arithmetic. No program knows who reads it: a reading is an object with a method for each kind of step that it
has a rule for (``chain``, ``add``, ``convert`` ...), on whatever stands for words. The design, with its
examples, is the page "Programs on a unit" (``docs/explanation/programs.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import Kind, Model
from tcsmt.programs.steps.split import Split
from tcsmt.support.errors import TcsmtError

#: Of K: integers of shape (length,).
Indices: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_NEAREST = ROUNDINGS["RNE"]


class NoRule(TcsmtError):
    """A step that a reading has no rule for."""


@dataclass(frozen=True)
class Value:
    """What a step gives: the step's number, and the format in which it is read."""

    number: int
    format: AnyFormat


@dataclass(frozen=True, eq=False)
class ProductRun:
    """Products of two operands along some indices of K: whole instructions, zeros filling up the last one.

    indices: of K, in the order in which they are multiplied. words: which word of each operand, where the
    operands are splits.
    """

    indices: Indices
    words: tuple[int, int] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProductRun) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> tuple[bytes, tuple[int, int] | None]:
        """Return what makes two runs the same."""
        return self.indices.tobytes(), self.words


class ProgramStep(NamedTuple):
    """One step of a program.

    kind: the name of its rule. takes: the numbers of the values that it takes (None: a chain begins with +0).
    how: what the rule is told besides. format: of the value. axes: which of an operand's axes the value has:
    ``A``, ``B``, or none.
    """

    kind: str
    takes: tuple[int | None, ...]
    how: Mapping[str, Any]
    format: AnyFormat
    axes: str = ""


@dataclass(frozen=True)
class CompoundStep:
    """Steps that belong together: a reading may have a rule for all of them.

    kind: the name of the rule. first, end: the steps' numbers. takes, gives: the numbers of the values that
    it takes, and of those that it gives. how: what the rule is told besides.
    """

    kind: str
    first: int
    end: int
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    how: Mapping[str, Any]

    def moved(self, after: Mapping[int, int]) -> CompoundStep:
        """Return the same where its steps have other numbers."""
        takes, gives = (tuple(after[at] for at in part) for part in (self.takes, self.gives))
        return replace(self, first=after[self.first], end=after[self.end - 1] + 1, takes=takes, gives=gives)


@dataclass(frozen=True)
class UnitProgram:
    """The steps, in order, and the number of the one that gives the result. compounds: some that belong
    together.
    """

    steps: tuple[ProgramStep, ...]
    output: int
    compounds: tuple[CompoundStep, ...] = ()

    @property
    def result(self) -> ProgramStep:
        """Return the step that gives the result, whatever it is noted as."""
        return self.origin(self.output)

    def origin(self, number: int) -> ProgramStep:
        """Return the step that gives a value, notes left out."""
        step = self.steps[number]
        return step if step.kind != "note" or step.takes[0] is None else self.origin(step.takes[0])

    def reads(self, name: str) -> bool:
        """Return whether a step takes the input of this name."""
        taken = {at for step in self.steps for at in step.takes}
        return any(self.steps[at].how.get("name") == name for at in taken if at is not None)

    @property
    def needed(self) -> UnitProgram:
        """Return the program without steps that the result does not hang on; inputs stay."""
        wanted = {self.output}
        whole = {at: compound for compound in self.compounds for at in compound.gives}
        for number in range(len(self.steps) - 1, -1, -1):
            if number in wanted and number in whole:
                wanted.update(range(whole[number].first, whole[number].end))
            if self.steps[number].kind == "input":
                wanted.add(number)
            elif number in wanted:
                wanted.update(at for at in self.steps[number].takes if at is not None)
        after = {number: place for place, number in enumerate(sorted(wanted))}
        steps = (
            step._replace(takes=tuple(None if at is None else after[at] for at in step.takes))
            for step in (self.steps[number] for number in after)
        )
        compounds = (one.moved(after) for one in self.compounds if one.first in after)
        return UnitProgram(tuple(steps), after[self.output], tuple(compounds))

    @property
    def chains(self) -> list[ProgramStep]:
        """Return the chains of instructions, in order."""
        return [step for step in self.steps if step.kind == "chain"]

    def starts_with(self, step: ProgramStep, name: str) -> bool:
        """Return whether a chain begins with an input of this name."""
        start = None if step.takes[0] is None else self.origin(step.takes[0])
        return start is not None and start.kind == "input" and start.how["name"] == name


@dataclass
class Builder:
    """A program that is being written. Each method adds a step, and returns its value."""

    steps: list[ProgramStep] = field(default_factory=list)
    compounds: list[CompoundStep] = field(default_factory=list)
    _constants: dict[tuple[str, int], Value] = field(default_factory=dict)

    def program(self, result: Value) -> UnitProgram:
        """Return the program whose result this value is."""
        return UnitProgram(tuple(self.steps), result.number, tuple(self.compounds))

    def input(self, name: str, fmt: AnyFormat, axes: str = "") -> Value:
        """Return words from outside. axes: ``A``: a row of A; ``B``: a column of B; else one number."""
        return self._step("input", (), fmt, axes, name=name)

    def constant(self, fmt: AnyFormat, word: int) -> Value:
        """Return the same word everywhere."""
        key = fmt.name, word
        if key not in self._constants:
            self._constants[key] = self._step("constant", (), fmt, fmt=fmt, word=word)
        return self._constants[key]

    def split(self, x: Value, split: Split) -> Value:
        """Return the words of each number, by the rule of a split."""
        side = self.steps[x.number].axes
        return self._step("split", (x,), split.format, side, split=split, side=side)

    def chain(
        self, unit: Model, operands: Sequence[Value], runs: Sequence[ProductRun], c: Value | None
    ) -> Value:
        """Return instructions one after the other, each with the last one's result as its c (None: +0).

        operands: of axes ``A`` and ``B``.
        """
        return self._step("chain", (c, *operands), unit.d_format, unit=unit, runs=tuple(runs))

    def add(self, fmt: AnyFormat, x: Value, y: Value, shift: int = 0, rounding: Rounding = _NEAREST) -> Value:
        """x·2^-shift + y, rounded once; integers wrap."""
        return self._step("add", (x, y), fmt, fmt=fmt, shift=shift, rounding=rounding)

    def multiply_add(self, fmt: Format, x: Value, y: Value, z: Value) -> Value:
        """x·y + z, rounded once to nearest even."""
        return self._step("multiply_add", (x, y, z), fmt, fmt=fmt)

    def negate(self, fmt: Format, x: Value) -> Value:
        """-x: x with the other sign."""
        return self._step("negate", (x,), fmt, fmt=fmt)

    def convert(
        self, x: Value, wanted: AnyFormat, rounding: Rounding = _NEAREST, *, saturate: bool = False
    ) -> Value:
        """Return x in another format, rounded once. A word stays what it is where the format stays, but for
        infinities that saturate.
        """
        if (x.format is wanted or x.format == wanted) and not saturate:
            return x
        source, target = float_format(x.format), float_format(wanted)
        return self._step(
            "convert", (x,), target, self.steps[x.number].axes,
            source=source, target=target, rounding=rounding, saturate=saturate,
        )  # fmt: skip

    def convert_randomly(
        self, x: Value, wanted: Format, random: Value, bits: int, *, saturate: bool
    ) -> Value:
        """Return x in another format, rounded by so many random bits (:func:`.randomly_rounded`)."""
        source = float_format(x.format)
        return self._step(
            "convert_randomly",
            (x, random),
            wanted,
            source=source,
            target=wanted,
            bits=bits,
            saturate=saturate,
        )  # fmt: skip

    def note(self, x: Value, kind: Kind, number: int | None = None) -> Value:
        """Return x, which readings that keep intermediate results call so."""
        return self._step("note", (x,), x.format, kind=kind, number=number, fmt=x.format)

    def compound(
        self, kind: str, takes: Sequence[Value], write: Callable[[], tuple[Value, ...]], **how: Any
    ) -> tuple[Value, ...]:
        """Return the values of steps that belong together. write: adds them; no constant that is new."""
        first = len(self.steps)
        values = write()
        taken, given = (tuple(x.number for x in part) for part in (takes, values))
        self.compounds.append(CompoundStep(kind, first, len(self.steps), taken, given, how))
        return values

    def _step(
        self, of: str, takes: Sequence[Value | None], gives: AnyFormat, axes: str = "", **how: Any
    ) -> Value:
        numbers = tuple([None if x is None else x.number for x in takes])
        self.steps.append(ProgramStep(of, numbers, how, gives, axes))
        return Value(len(self.steps) - 1, gives)


def read(
    program: UnitProgram, rules: object, inputs: Mapping[str, Any], *, given: Mapping[int, Any] | None = None
) -> Any:
    """Return what a reading makes of a program's result.

    rules: has a method for each kind of step, which takes what the steps before gave, and by name what the
    step says. Notes are left out where it has none for them. inputs: the words of each input, by name.
    given: what stands for the values of steps by their numbers, whose rules are not asked. Where the rules
    have one for a compound step, its steps are not looked at.
    Raises :class:`.NoRule` for a step that there is no rule for: no step is skipped.
    """
    held: list[Any] = []
    starts = {one.first: one for one in program.compounds if hasattr(rules, one.kind)}
    values: dict[int, Any] = {}
    end = 0
    for number, step in enumerate(program.steps):
        if number in starts:
            compound = starts[number]
            values = dict(
                zip(
                    compound.gives,
                    getattr(rules, compound.kind)(*(held[at] for at in compound.takes), **compound.how),
                    strict=True,
                )
            )
            end = compound.end
        if number < end:
            held.append(values.get(number))
            continue
        if given is not None and number in given:
            held.append(given[number])
            continue
        if step.kind == "input":
            held.append(inputs[step.how["name"]])
            continue
        rule = getattr(rules, step.kind, None)
        taken = [None if at is None else held[at] for at in step.takes]
        if rule is not None:
            held.append(rule(*taken, **step.how))
        elif step.kind == "note":
            held.append(taken[0])
        else:
            raise NoRule(f"step {number + 1}, {step.kind}: {type(rules).__name__} has no rule for it")
    return held[program.output]
