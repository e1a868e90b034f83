"""An algorithm on one input, step by step: words, instructions, additions outside, and what each loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.analysis.error import value
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.matrix_units.models.stages import InstructionPlace, OperandPlace, Place
from tcsmt.programs.recipes.algorithm import Algorithm, Step
from tcsmt.programs.steps.running_sum import PLAIN
from tcsmt.programs.steps.split import F32
from tcsmt.prove.statements.explain import signed_text
from tcsmt.support.invariants import not_none


@dataclass(frozen=True)
class Move:
    """One step: what is computed, the word that comes out, and what an exact step would have added.

    lost: exact minus computed (None: not finite). kind: ``split``, ``unit`` or ``outside``.
    inputs: of an instruction, the words that the unit takes, by its own names. shift: the result
    takes 2^-shift of the word and, of an instruction, of what it loses.
    """

    stage: Stage
    kind: str
    format: Format
    word: int
    lost: Fraction | None
    inputs: Mapping[str, int]
    shift: int = 0

    @property
    def name(self) -> str:
        """Return the stage's name."""
        return self.stage.name

    def as_json(self) -> dict[str, str | None]:
        """Return the step as plain data."""
        return {
            "step": self.name,
            "kind": self.kind,
            "word": self.format.hex(self.word),
            "value": self.format.describe(self.word),
            "lost": None if self.lost is None else signed_text(self.lost),
        }


#: Each stage and its word, by its place.
StageOf = Mapping[Place, tuple[Stage, int]]


def walk(algorithm: Algorithm, values: Mapping[str, int]) -> list[Move]:
    """Every step on one input (words by name); what is zero and loses nothing is left out."""
    trace = algorithm.trace
    stages = [s for s in trace.stages if isinstance(s.value, Format)]
    words = evaluate([s.term for s in stages], values)
    stage_of = {s.place: (s, word) for s, word in zip(stages, words, strict=True)}
    return [m for m in _moves(algorithm, values, stage_of) if m.word & ~(1 << m.format.sign_bit) or m.lost]


def _moves(algorithm: Algorithm, values: Mapping[str, int], stage_of: StageOf) -> Iterator[Move]:
    yield from _splits(algorithm, values, stage_of)
    plain = algorithm.compensated == PLAIN
    held = value(values["c"]) if algorithm.c_enters == "first" else None
    empty = algorithm.c_enters != "first"
    for number, (shift, steps) in enumerate(algorithm.chains(algorithm.k)):
        inside = values["c"] if number == 0 and algorithm.c_enters == "unit" else 0
        for step in steps:
            move = _instruction(algorithm, inside, step, shift, stage_of)
            inside = move.word
            yield move
        x = value(inside)
        if empty:
            held, empty = x, False
            continue
        exact = None if x is None or held is None else x / 2**shift + held
        move, held = _added(stage_of, number, exact)
        yield move
    if algorithm.c_enters == "last":
        c = value(values["c"])
        held = None if c is None or held is None else c + held
        if not plain:
            move, held = _added(stage_of, None, held)
            yield move
    yield _outside(stage_of[None, Kind.RESULT, None], held)


def _added(stage_of: StageOf, number: int | None, exact: Fraction | None) -> tuple[Move, Fraction | None]:
    """An addition to the total, and what is held after it: the total and, if it is compensated, its error.

    exact: what was held before, and the summand. What the error still holds is not lost.
    """
    step = stage_of[None, Kind.SUM_OUTSIDE, number]
    error = stage_of.get((None, Kind.ERROR_OUTSIDE, number))
    total, rest = value(step[1]), Fraction(0) if error is None else value(error[1])
    held = None if total is None or rest is None else total + rest
    lost = None if exact is None or held is None else exact - held
    return Move(step[0], "outside", F32, step[1], lost, {}), held


def _splits(algorithm: Algorithm, values: Mapping[str, int], stage_of: StageOf) -> Iterator[Move]:
    """Yield the words of each number; the last one loses what none of them has."""
    split = algorithm.split
    for lane in range(algorithm.k):
        for side in "ab":
            rest = value(values[f"{side}{lane}"])
            for number in range(split.words):
                stage, word = stage_of[OperandPlace(side, lane), Kind.WORD, number]
                got, shift = value(word, split.format), split.scale * number
                rest = None if rest is None or got is None else rest - got / 2**shift
                lost = rest if number == split.words - 1 else Fraction(0)
                yield Move(stage, "split", split.format, word, lost, {}, shift)


def _instruction(algorithm: Algorithm, c: int, step: Step, shift: int, stage_of: StageOf) -> Move:
    """One instruction of the unit: its words, and what it loses of the exact sum of their products and c."""
    i, j, part = step
    words = dict.fromkeys(algorithm.unit.input_formats, 0) | {"c": c}
    exact = value(c)
    for place, lane in enumerate(part):
        pair = [stage_of[OperandPlace(s, lane), Kind.WORD, n][1] for s, n in (("a", i), ("b", j))]
        words |= {f"a{place}": pair[0], f"b{place}": pair[1]}
        x, y = (value(word, algorithm.split.format) for word in pair)
        exact = None if exact is None or x is None or y is None else exact + x * y
    stage, result = stage_of[InstructionPlace(i, j, part), Kind.INSTRUCTION, None]
    return Move(stage, "unit", F32, result, _minus(exact, result), words, shift)


def _outside(step: tuple[Stage, int], exact: Fraction | None) -> Move:
    stage, word = step
    return Move(stage, "outside", F32, word, _minus(exact, word), {})


def _minus(exact: Fraction | None, word: int) -> Fraction | None:
    got = value(word)
    return None if exact is None or got is None else exact - got


def first_divergence(left: list[Move], right: list[Move]) -> Stage | None:
    """Return the first step after the split that loses another amount in one than in the other.

    A step that only one of them has loses, in the other, all that it would have added.
    """
    of_left, of_right = ({m.stage.place: m for m in moves if m.kind != "split"} for moves in (left, right))
    for place in dict.fromkeys([*of_right, *of_left]):
        there, here = of_left.get(place), of_right.get(place)
        if there is None or here is None:
            only = there or here
            only = not_none(only)
            if only.kind == "unit":
                return only.stage
        elif there.lost != here.lost:
            return there.stage
    return None
