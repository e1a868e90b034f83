"""One IEEE operation with its rounding and overflow as inputs, on arrays of words.

The graphs are those of :class:`.RoundedSum`, which models are built of, so that one graph serves every
rounding. Rounding down is apart: it alone decides the sign of an exact zero sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from tcsmt.identification.units.open_block import ROUNDING_TABLES, by_table
from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import RoundedSum, Zeros
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

Array = np.ndarray[Any, np.dtype[Any]]

#: Values of ``overflow``.
OVERFLOWS = ("ieee", "infinity", "saturate")
#: Values of ``tininess`` where subnormal results are flushed; None: they are not.
WRITES = (None, "result", "before", "after")

_MODES = list(ROUNDINGS.values())
_DOWN = np.array([mode.floors for mode in _MODES])
_INFINITE = {
    negative: np.array([m.overflows(negative=negative) for m in _MODES]) for negative in (False, True)
}


class Step(Enum):
    """A rounding, by the inputs of its graph."""

    PRODUCT = "a0·b0"
    MULTIPLY_ADD = "x + a0·b0"
    SUM = "x + y"
    EXACT = "the sum of all a·b"
    EXACT_WITH_C = "the sum of all a·b, and x"


@dataclass(frozen=True)
class Options:
    """The parameters of an operation for each row, by their numbers.

    rounding: in :data:`.ROUNDINGS`. overflow: in :data:`OVERFLOWS`. writes: in :data:`WRITES`. zeros: 1
    where a sum of negative zeros is +0 (of a unit with exact sums, its addition of c, too).
    """

    rounding: Array
    overflow: Array
    writes: Array
    zeros: Array


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation on every row.

    words: a0, b0, ..., x and y, as the step needs: one for each row, or the operation whose results they are.
    lanes: of an exact sum. depth: how many operations must come before, one after the other.
    """

    step: Step
    words: Mapping[str, Array | Operation]
    options: Options
    lanes: int = 1
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", max((operand.depth + 1 for operand in self.operands), default=0))

    @property
    def operands(self) -> list[Operation]:
        """Return the operations whose results it takes."""
        return [word for word in self.words.values() if isinstance(word, Operation)]


#: Words of each row, or the operation whose results they are.
Words = Array | Operation


def _array(words: Words, results: Mapping[Operation, Array]) -> Array:
    return results[words] if isinstance(words, Operation) else words


@dataclass(frozen=True)
class Steps:
    """The operations of units with these formats; product_exponent: as the model has it."""

    a_format: Format
    b_format: Format
    format: Format
    product_exponent: int = 0

    def run(self, several: Sequence[Words]) -> list[Array]:
        """Return the words of each, uint64 (rows,); operations of one depth and step are computed at once."""
        layers: dict[tuple[int, str, int], dict[Operation, None]] = {}
        waiting = [step for step in several if isinstance(step, Operation)]
        while waiting:
            operation = waiting.pop()
            layer = layers.setdefault((operation.depth, operation.step.value, operation.lanes), {})
            if operation not in layer:
                layer[operation] = None
                waiting += operation.operands
        results: dict[Operation, Array] = {}
        for _, layer in sorted(layers.items()):
            operations = list(layer)
            first, *_ = operations
            words = {
                name: np.concatenate([_array(step.words[name], results) for step in operations])
                for name in first.words
            }
            parts = [[getattr(step.options, part.name) for step in operations] for part in fields(Options)]
            words_of_all = self._run(first.step, words, Options(*map(np.concatenate, parts)), first.lanes)
            ends = np.cumsum([len(step.options.rounding) for step in operations])
            results |= zip(operations, np.split(words_of_all, ends[:-1]), strict=True)
        return [_array(step, results) for step in several]

    def _run(self, step: Step, words: Mapping[str, Array], options: Options, lanes: int) -> Array:
        results = np.zeros(len(options.rounding), np.uint64)
        kinds = options.writes * 4 + _DOWN[options.rounding] * 2 + options.zeros
        for kind in np.unique(kinds):
            rows = np.flatnonzero(kinds == kind)
            program = _program(self, step, lanes, WRITES[kind // 4], bool(kind & 2), bool(kind & 1))
            rounding, overflow = options.rounding[rows], options.overflow[rows]
            inputs = {name: word[rows] for name, word in words.items()}
            inputs["rounding"] = ROUNDING_TABLES[rounding]
            for negative, name in ((False, "overflow+"), (True, "overflow-")):
                as_ieee = (overflow == 0) & _INFINITE[negative][rounding]
                inputs[name] = (overflow == 1) | as_ieee
            used = {variable.name for variable in program.inputs}
            (word,) = program.run({name: value for name, value in inputs.items() if name in used})
            results[rows] = np.asarray(word).astype(np.uint64)
        return results


@cache
def _program(steps: Steps, step: Step, lanes: int, writes: str | None, down: bool, plus: bool) -> Program:
    fmt = steps.format

    def word(name: str) -> Number:
        return dp.decode(fmt, var(name, fmt.width))

    def product(lane: int) -> Number:
        x = dp.decode(steps.a_format, var(f"a{lane}", steps.a_format.width))
        y = dp.decode(steps.b_format, var(f"b{lane}", steps.b_format.width))
        exact = ieee.exact_product(x, y)
        return replace(exact, exponent=exact.exponent.plus(steps.product_exponent))

    match step:
        case Step.PRODUCT:
            terms = [product(0)]
        case Step.MULTIPLY_ADD:
            terms = [word("x"), product(0)]
        case Step.SUM:
            terms = [word("x"), word("y")]
        case Step.EXACT:
            terms = [product(lane) for lane in range(lanes)]
        case Step.EXACT_WITH_C:
            terms = [*(product(lane) for lane in range(lanes)), word("x")]
    operation = RoundedSum(
        terms=tuple(terms),
        format=fmt,
        rounding=ROUNDINGS["RTN"] if down else by_table("rounding"),
        flush=writes is not None,
        tininess=writes or "result",
        wide=step in (Step.EXACT, Step.EXACT_WITH_C),
        zeros=Zeros.NO_NEGATIVE_SUM if plus else Zeros.IEEE,
    )
    if down:  # overflow is an input here, too
        operation = replace(operation, rounding=replace(operation.rounding, infinite=by_table("").infinite))
    return Program([operation.word()])


def flushed(fmt: Format, words: Array, *, keep_sign: bool) -> Array:
    """Return the words as a unit reads them that reads subnormal ones as zero: uint64, of the same shape."""
    (result,) = _flush(fmt, keep_sign).run({"word": words.reshape(-1)})
    return np.asarray(result).astype(np.uint64).reshape(words.shape)


@cache
def _flush(fmt: Format, keep_sign: bool) -> Program:
    return Program([ieee.flush(var("word", fmt.width), fmt, keep_sign=keep_sign)])
