"""A program on one input as a table of its steps, where terms do not say all of them: residues, functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from tcsmt.analysis.search.traced_steps import trace_steps
from tcsmt.interface.pictures.drawing import InputLine, Line, Note, Picture, Table
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models.stages import Kind
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.traced import TracedStep
from tcsmt.prove.statements.explain import short_text

_NOTES = (
    "loses: what an exact step would have added to the result; of words and digits: to the number cut",
    "steps that give zero and lose nothing are left out",
)


def steps_picture(name: str, model: ProgramModel, values: Mapping[str, int]) -> Picture:
    """Return the steps of a program (called ``name``) where its inputs have these words."""
    steps = trace_steps(model, values)
    last = steps[-1].word if steps and steps[-1].stage.kind is Kind.RESULT else 0
    given = {input_: (fmt, values[input_]) for input_, fmt in model.input_formats.items()}
    inputs = tuple(
        InputLine(input_, fmt.hex(word), _value(fmt, word))
        for input_, (fmt, word) in given.items()
        if fmt.is_special(word) or fmt.value(word)
    )
    lines = tuple(Line(step.name, (_cells(step),)) for step in steps)
    notes = tuple(map(Note, _NOTES))
    table = Table("", (name,), ("word", "value", "loses"), lines, notes)
    results = tuple(_results(model.d_format, last, steps))
    return Picture(name, inputs, len(given) - len(inputs), (table,), results)


def _cells(step: TracedStep) -> tuple[str, ...]:
    scaled = f" (·{short_text(step.weight)})" if step.kind == "split" and step.weight != 1 else ""
    lost = step.lost if step.kind == "split" else step.share
    shown = "not finite" if step.lost is None else short_text(lost) if lost else ""
    return step.format.hex(step.word), _value(step.format, step.word) + scaled, shown


def _results(fmt: AnyFormat, word: int, steps: list[TracedStep]) -> Iterator[Note]:
    yield Note(fmt.hex(word), "result")
    yield Note(fmt.describe(word), "value")
    lost = [step.share for step in steps if step.kind != "split"]
    if not any(step.lost is None for step in steps) and not fmt.is_special(word):
        yield Note(short_text(sum(lost, Fraction(0))) if any(lost) else "nothing", "lost by steps")


def _value(fmt: AnyFormat, word: int) -> str:
    number = None if fmt.is_special(word) else fmt.value(word)
    return short_text(number) if number else fmt.describe(word)
