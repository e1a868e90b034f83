"""Are two quantisers the same function? A proof, or a shortest block on which they differ.

An element depends on its number, on the largest magnitude of the block, on whether the block has a NaN, and
on what the caller gives; a scale on all of these but the number. So two numbers stand for all finite blocks,
of whatever length, and three for all blocks: what is proved of them is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.identification.quantisers.candidates import blocks_of
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN, are_nan
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.quantisation.quantiser import Quantiser
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.digest import digest
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import UnitProgram, Value, read_values
from tcsmt.programs.written.programs import WrittenProgram
from tcsmt.prove.engine.engine import Decision, compare_models
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.support.errors import InternalError, TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
_F32 = FORMATS["f32"]
#: Blocks of candidates that are computed at a time.
_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class BlockQuestion:
    """A quantiser on a block whose numbers are A, and where c is what its caller gives: the largest magnitude
    of the tensor's other numbers, or a factor.

    lines: the values of the formula by their names. scale: what elements are multiplied by to have numbers
    again, binary32.
    """

    program: UnitProgram
    lines: Mapping[str, Value]
    scale: Value

    def value(self, what: str) -> Value:
        """Return the ``scale`` or the ``element``."""
        return self.scale if what == "scale" else self.lines["q"]


@lru_cache(maxsize=64)
def block_question(quantiser: Quantiser, length: int, numbers: Format, nearest: bool) -> BlockQuestion:
    """Return the steps for a block of so many numbers of a format."""
    build = Builder()
    x, c = build.input("A", numbers, "A"), build.input("c", _F32, "a")
    size = build.maximum(numbers, build.absolute(numbers, x), nan=quantiser.nan)
    top = build.maximum(_F32, build.convert(size, _F32), build.absolute(_F32, c), nan=quantiser.nan)
    lines, _ = quantiser.write(build, x, {"T": top, "S": c}, nearest=nearest)
    scale = build.convert(lines["s"], _F32)
    if quantiser.keeps == "factor":
        scale = build.divide(_F32, build.constant(_F32, _F32.word(Fraction(1))), scale)
    return BlockQuestion(build.program(scale), lines, scale)


@dataclass(frozen=True)
class BlockWitness:
    """A block on which two quantisers differ.

    numbers: its words. given: c, a word, where one of them takes it. what: the ``scale``, or the ``element``
    of the last number. words: what both give. lines: of both, the formula's values by name: format and word.
    """

    format: Format
    numbers: tuple[int, ...]
    given: int | None
    what: str
    words: tuple[int, int]
    lines: tuple[Mapping[str, tuple[AnyFormat, int]], Mapping[str, tuple[AnyFormat, int]]]


@dataclass(frozen=True)
class QuantiserDecision:
    """Whether two quantisers are the same on a domain.

    witnesses: where their scales and their elements differ, one for each that was found. proofs: what was
    asked of solvers where there is no witness, in words, with the verdicts.
    """

    witnesses: tuple[BlockWitness, ...]
    proofs: tuple[tuple[str, Decision], ...] = ()

    @property
    def equal(self) -> bool | None:
        """True: proved; False: there is a witness; None: unknown."""
        if self.witnesses:
            return False
        return True if all(isinstance(one.verdict, Equivalent) for _, one in self.proofs) else None


@dataclass(frozen=True)
class _Pair:
    left: Quantiser
    right: Quantiser
    format: Format
    nearest: bool
    domain: Domain

    @property
    def given(self) -> bool:
        """Return whether one of both takes what the caller gives."""
        return bool(self.left.given or self.right.given)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return what both give."""
        both = all("q" in side.outputs for side in (self.left, self.right))
        return ("scale", "element") if both else ("scale",)

    def questions(self, length: int) -> tuple[BlockQuestion, BlockQuestion]:
        """Return both on a block of so many numbers."""
        left, right = (
            block_question(side, length, self.format, self.nearest) for side in (self.left, self.right)
        )
        return left, right

    def model(self, side: BlockQuestion, what: str, length: int) -> WrittenProgram:
        """Return what a question of solvers is about: the scale, or the element of the last number."""
        build = Builder(list(side.program.steps))
        value = side.value(what)
        result = value if what == "scale" else build.pick(value, length - 1)
        steps = build.program(result).needed
        return WrittenProgram(
            a_format=self.format, b_format=self.format, c_format=_F32, d_format=result.format, k=length,
            identity=digest(steps), steps=steps, nan=UNKNOWN,
        )  # fmt: skip

    def searched(self) -> tuple[BlockWitness, ...]:
        """Return, of scales and of elements, the first candidate on which both differ: the shortest one."""
        found: dict[str, BlockWitness] = {}
        for numbers, given in blocks_of(self.format, finite=self.domain.finite, given=self.given):
            for first in range(0, len(numbers), _AT_ONCE):
                inside = self._inside(*(x[first : first + _AT_ONCE] for x in (numbers, given)))
                part = first + np.flatnonzero(inside)
                for what in self.kinds:
                    if what in found or not len(part):
                        continue
                    if (one := self._first(what, numbers[part], given[part])) is not None:
                        found[what] = one
                if len(found) == len(self.kinds):
                    return tuple(found[what] for what in self.kinds)
        return tuple(found[what] for what in self.kinds if what in found)

    def _first(self, what: str, numbers: Array, given: Array) -> BlockWitness | None:
        rules, inputs = ArrayRules((len(numbers),), no_chain, UNKNOWN), {"A": numbers, "c": given}
        words = []
        for side in self.questions(numbers.shape[1]):
            value = side.value(what)
            (found,) = read_values(side.program, rules, inputs, [value.number])
            words.append(_merged(found if what == "scale" else found[:, -1], value.format))
        places = np.flatnonzero(words[0] != words[1])
        if not len(places):
            return None
        return self.witness(what, numbers[places[0]].tolist(), int(given[places[0]]))

    def _inside(self, numbers: Array, given: Array) -> Array:
        length = numbers.shape[1]
        columns = {f"a{lane}": numbers[:, lane] for lane in range(length)} | {"c": given}
        columns |= {f"b{lane}": np.zeros(len(numbers), numbers.dtype) for lane in range(length)}
        (inside,) = _domain(self.domain, self.format, length).run(columns)
        return inside.astype(bool)

    def witness(self, what: str, numbers: list[int], given: int) -> BlockWitness:
        """Return a block on which both differ, replayed as terms."""
        words, lines = [], []
        for side in self.questions(len(numbers)):
            model = self.model(side, what, len(numbers))
            inputs = {f"a{lane}": word for lane, word in enumerate(numbers)} | {"c": given}
            inputs |= {f"b{lane}": 0 for lane in range(len(numbers))}
            (word,) = evaluate([model.trace.output], inputs)
            words.append(int(_merged(np.array([word], np.uint32), model.d_format)[0]))
            lines.append(_lines(side, self.format, numbers, given))
        if words[0] == words[1]:
            raise InternalError(f"{self.left.name} and {self.right.name} are the same on {numbers} as terms")
        left, right = words
        return BlockWitness(
            self.format,
            tuple(numbers),
            given if self.given else None,
            what,
            (left, right),
            (lines[0], lines[1]),
        )


@lru_cache(maxsize=32)
def _domain(domain: Domain, fmt: Format, length: int) -> Program:
    build = Builder()
    x, _ = build.input("A", fmt, "A"), build.input("c", _F32)
    steps = build.program(build.pick(x, 0))
    model = WrittenProgram(
        a_format=fmt, b_format=fmt, c_format=_F32, d_format=fmt, k=length, identity=digest(steps), steps=steps
    )
    formats = {name: (_F32 if name == "c" else fmt) for name in _input_names(length)}
    return Program([domain.holds(formats, model.trace)])


def _input_names(length: int) -> list[str]:
    return [f"{side}{lane}" for side in "ab" for lane in range(length)] + ["c"]


def _lines(
    side: BlockQuestion, fmt: Format, numbers: list[int], given: int
) -> Mapping[str, tuple[AnyFormat, int]]:
    """Return the values of a formula on one block, of the last number where there is one for each."""
    rules = ArrayRules((1,), no_chain, UNKNOWN)
    inputs = {"A": np.array([numbers], unsigned(fmt)), "c": np.array([given], np.uint32)}
    found = read_values(side.program, rules, inputs, [value.number for value in side.lines.values()])
    return {
        name: (value.format, int(word.reshape(-1)[-1]))
        for (name, value), word in zip(side.lines.items(), found, strict=True)
    }


def _merged(words: Array, fmt: AnyFormat) -> Array:
    """Return words with one NaN: no document says which of them a NaN result is."""
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return words
    return np.where(are_nan(fmt, words), words.dtype.type(fmt.nan_word), words)


def compare_quantisers(
    left: Quantiser,
    right: Quantiser,
    domain: Domain,
    solving: Solving,
    numbers: Format = _F32,
    *,
    nearest: bool = False,
) -> QuantiserDecision:
    """Return a shortest block on which two quantisers differ, or whether solvers prove that there is none.

    Raises :class:`.TcsmtError` for elements of two formats.
    """
    if left.element != right.element:
        raise TcsmtError(
            f"{left.name} gives {left.element.name} and {right.name} {right.element.name}: elements of one "
            "format can be compared (NAME:FORMAT)"
        )
    pair = _Pair(left, right, numbers, nearest, domain)
    if found := pair.searched():
        return QuantiserDecision(found)
    proofs: list[tuple[str, Decision]] = []
    for text, what, length in _asked(pair):
        first, second = (pair.model(question, what, length) for question in pair.questions(length))
        decision = compare_models((left.name, first), (right.name, second), domain, solving)
        if isinstance(decision.verdict, Distinguished):
            values = decision.verdict.values
            block = [values.get(f"a{lane}", 0) for lane in range(length)]
            return QuantiserDecision((pair.witness(what, block, values.get("c", 0)),))
        proofs.append((text, decision))
    return QuantiserDecision((), tuple(proofs))


def _asked(pair: _Pair) -> Iterator[tuple[str, str, int]]:
    """Yield what is asked: in words, of what, and of how many numbers."""
    sides = any("lowest" in side.names for side in (pair.left, pair.right))
    more = sides + (not pair.domain.finite)
    for what in pair.kinds:
        length = more + (1 if what == "scale" else 2)
        told = "the scale of a block" if what == "scale" else "an element of a block"
        yield f"{told} of {length}, which stands for blocks of any length", what, length
