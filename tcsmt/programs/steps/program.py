"""Programs on a unit as data, and the one loop by which they are read.

A program is a list of steps. A step takes the values of earlier steps and gives one value; it says all of its
arithmetic. No program knows who reads it: a reading is an object with a method for each kind of step that it
has a rule for (``chain``, ``add``, ``convert`` ...), on whatever stands for words. The design, with its
examples, is the page "Programs on a unit" (``docs/explanation/programs.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat
from tcsmt.matrix_units.models import Model
from tcsmt.support.errors import TcsmtError

#: Of K: integers of shape (length,).
Indices: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: Of a comparison: 1 where it holds.
TRUTH = IntegerFormat(name="u1", bits=1, signed=False)


class NoRule(TcsmtError):
    """A step that a reading has no rule for."""


@dataclass(frozen=True)
class Value:
    """The value of a step: the step's number, and the format in which it is read."""

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
    how: what the rule is told besides. format: of the value. axes: what there is a word for: ``A``, each k of
    a row of A; ``A/n``, each n of these; ``a``, the row; ``B``, ``B/n``, ``b``: the same of a column of B;
    ``t``, each member of a tile, of the row; ``tB``, of the column; ``tK``, each k of each member; none: the
    element of the result.
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

    @cached_property
    def spent(self) -> Mapping[int, Sequence[int]]:
        """Return, by the number of a step, the values that none after it takes."""
        last = {at: number for number, step in enumerate(self.steps) for at in step.takes}
        for compound in self.compounds:
            last |= {at: max(compound.first, last.get(at, 0)) for at in compound.takes}
        spent: dict[int, list[int]] = {}
        for at, number in last.items():
            if at not in (None, self.output):
                spent.setdefault(number, []).append(at)
        return spent

    @property
    def chains(self) -> list[ProgramStep]:
        """Return the chains of instructions, in order."""
        return [step for step in self.steps if step.kind in ("chain", "chain_each")]

    @property
    def inputs(self) -> dict[str, ProgramStep]:
        """Return the inputs by their names."""
        return {step.how["name"]: step for step in self.steps if step.kind == "input"}

    def starts_with(self, step: ProgramStep, name: str) -> bool:
        """Return whether a chain begins with an input of this name."""
        start = None if step.takes[0] is None else self.origin(step.takes[0])
        return start is not None and start.kind == "input" and start.how["name"] == name


def scaled_blocks(unit: Model, indices: Indices) -> Indices:
    """Return which scale each block of an instruction takes, for instructions along some indices of K.

    Raises :class:`.TcsmtError` where the products of a block have more than one.
    """
    block = unit.k // unit.scales
    scales = indices // block
    if (np.repeat(scales[::block], block)[: len(scales)] != scales).any():
        raise TcsmtError(
            f"K from {indices[0]} to {indices[-1] + 1}: a part must be made of whole blocks of {block}"
        )
    return np.asarray(scales[::block])


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
    return read_values(program, rules, inputs, (program.output,), given=given)[0]


def read_values(
    program: UnitProgram,
    rules: object,
    inputs: Mapping[str, Any],
    wanted: Sequence[int],
    *,
    given: Mapping[int, Any] | None = None,
) -> list[Any]:
    """Return the same of some steps, by their numbers, none of which is inside of a compound step."""
    held: list[Any] = []
    starts = {one.first: one for one in program.compounds if hasattr(rules, one.kind)}
    values: dict[int, Any] = {}
    end, spent = 0, program.spent
    for number, step in enumerate(program.steps):
        for at in spent.get(number - 1, ()):
            if at not in wanted:
                held[at] = None  # large arrays are not kept
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
            name = step.how["name"]
            if name not in inputs:
                raise NoRule(f"step {number + 1}, input {name}: nothing is known of its numbers here")
            held.append(inputs[name])
            continue
        rule = getattr(rules, step.kind, None)
        taken = [None if at is None else held[at] for at in step.takes]
        if rule is not None:
            held.append(rule(*taken, **step.how))
        elif step.kind == "note":
            held.append(taken[0])
        else:
            raise NoRule(f"step {number + 1}, {step.kind}: {type(rules).__name__} has no rule for it")
    return [held[number] for number in wanted]
