"""A right kernel on given operands, and how its program is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.kernels import MatrixWords
from tcsmt.matrix_units.arithmetic.conversion import NanWords, floats
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.quantisation.recipe import OperandRecipe
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices
from tcsmt.programs.steps.program import ProgramStep, UnitProgram, Value, read
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: What becomes of a step: another value, or None for the step as it is.
Rule = Callable[[Builder, ProgramStep, list[Value | None], int], Value | None]


class NotApplicable(Exception):
    """A wrong kernel that another one cannot be: the text says why."""


@dataclass(frozen=True)
class TestedProduct:
    """A right kernel as a program, on words.

    name: the kernel's. kernel: with its unit and reduction. words: of the program's inputs, by name. shape:
    M, N and K. recipe: by which the operands were quantised (None: they were not); requantised: the same
    product by another recipe.
    """

    __test__ = False  # of pytest's

    name: str
    kernel: Kernel
    program: UnitProgram
    words: Mapping[str, Array]
    shape: tuple[int, int, int]
    recipe: OperandRecipe | None = None
    requantised: Callable[[str], TestedProduct] | None = None

    @property
    def nans(self) -> NanWords:
        """Return which words NaNs have outside of the unit."""
        return self.kernel.schedule.nans

    @property
    def format(self) -> Format:
        """Return the format of the results."""
        return float_format(self.program.result.format)

    def run(self, words: Mapping[str, Array] | None = None, *, program: UnitProgram | None = None) -> Array:
        """Return the results in float64, (M, N): with other words in place of some, and by another program.

        Raises :class:`NotApplicable` where the program cannot be run on the words.
        """
        chosen = program or self.program
        given = {**self.words, **(words or {})}
        m, n = len(given["A"]), given["B"].shape[1]
        try:
            result = read(chosen, ArrayRules((m, n), of_matrices, self.nans), given)
        except TcsmtError as why:
            raise NotApplicable(str(why)) from None
        return floats(float_format(chosen.result.format), np.broadcast_to(result, (m, n)))

    @cached_property
    def right(self) -> Array:
        """Return the right results in float64, (M, N)."""
        return self.run()

    @property
    def operands(self) -> MatrixWords:
        """Return A, B, c and the bias."""
        return MatrixWords(self.words["A"], self.words["B"], self.words.get("c"), self.words.get("bias"))


def rewritten(program: UnitProgram, rule: Rule) -> UnitProgram:
    """Return a program whose steps a rule replaces. Raises :class:`NotApplicable` where it replaces none."""
    build, changed = Builder(), False
    values: list[Value] = []
    for number, step in enumerate(program.steps):
        taken = [None if at is None else values[at] for at in step.takes]
        value = rule(build, step, taken, number)
        changed |= value is not None
        values.append(copied(build, step, taken) if value is None else value)
    if not changed:
        raise NotApplicable("it has no such step")
    return build.program(values[program.output])


def copied(build: Builder, step: ProgramStep, taken: list[Value | None], **how: Any) -> Value:
    """Return the value of a step, written again with other values, and with other properties."""
    numbers = tuple(None if value is None else value.number for value in taken)
    build.steps.append(ProgramStep(step.kind, numbers, {**step.how, **how}, step.format, step.axes))
    return Value(len(build.steps) - 1, step.format)
