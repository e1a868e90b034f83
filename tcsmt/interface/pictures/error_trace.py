"""One algorithm or two on one input as a picture: step by step, and where they first differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from fractions import Fraction

from tcsmt.analysis.error import exact_dot, ulp, value
from tcsmt.analysis.search.traced_steps import first_divergence, trace_steps
from tcsmt.interface.pictures.build import LEFT_OUT, draw
from tcsmt.interface.pictures.drawing import InputLine, Line, Note, Picture, Sheet, Table, compared
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Stage
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.split import F32
from tcsmt.programs.steps.traced import TracedInstruction, TracedStep
from tcsmt.prove.statements.explain import first_difference, short_text, steps
from tcsmt.support.errors import TcsmtError

_HEADS = ("word", "value", "loses", "·2^-24 of size")


@dataclass(frozen=True)
class TracedAlgorithm:
    """An algorithm, what it is called, the name of its unit, its steps on one input, and its result there.

    The result is not the last step's word: steps that give zero and lose nothing are left out.
    """

    name: str
    unit: str
    algorithm: Algorithm
    steps: list[TracedStep]
    result: int

    @classmethod
    def on(cls, name: str, row: Row, algorithm: Algorithm, values: Mapping[str, int]) -> TracedAlgorithm:
        """Return the algorithm on an input: words by name. row: of its unit."""
        unit = row.name if row.model == algorithm.unit else "ordinary cores"
        (result,) = evaluate([algorithm.trace.output], values)
        return cls(name, unit, algorithm, trace_steps(algorithm, values), result)

    @property
    def worst(self) -> TracedInstruction | None:
        """Return the instruction that loses most of the result."""
        losing = [step for step in self._instructions() if step.lost]
        return max(losing, key=lambda step: abs(step.share), default=None)

    def _instructions(self) -> Iterator[TracedInstruction]:
        return (step for step in self.steps if isinstance(step, TracedInstruction))

    def instruction(self, stage: Stage | None) -> TracedInstruction | None:
        """Return the instruction whose result corresponds to a stage."""
        steps = (m for m in self._instructions() if stage and m.stage.place == stage.place)
        return next(steps, None)

    def left_out(self, values: Mapping[str, int]) -> Fraction | None:
        """Return what the result lacks that no step loses: words and products that are not computed.

        None where a step or the result is not finite.
        """
        got = value(self.result)
        after = [step for step in self.steps if step.kind != "split"]
        if got is None or any(step.lost is None for step in after):
            return None
        return exact_dot(values) - got - sum((step.share for step in after), Fraction(0))

    def picture(self, step: TracedInstruction) -> Picture:
        """One of its instructions bit by bit."""
        return draw(f"{self.name}: {step.name} on {self.unit}", self.algorithm.unit, step.inputs)


def trace_sheet(traces: Sequence[TracedAlgorithm], values: Mapping[str, int]) -> Sheet:
    """One or two algorithms on the input ``values``, on which they were traced.

    A table of all steps; then, bit by bit, the instruction at which they first differ, and of each the one
    that loses most. Raises :class:`.TcsmtError` where an input is infinite or NaN.
    """
    for name, word in values.items():
        if value(word) is None:
            raise TcsmtError(f"{name} = {F32.describe(word)}: must be a finite number")
    names = " against ".join(f"{trace.name} on {trace.unit}" for trace in traces)
    parts = first_divergence(*(trace.steps for trace in traces)) if len(traces) == 2 else None
    inputs = tuple(InputLine(n, F32.hex(w), F32.describe(w)) for n, w in values.items() if F32.value(w))
    table = _table(traces, values, parts)
    overview = Picture(names, inputs, len(values) - len(inputs), (table,), tuple(_results(traces, values)))
    return Sheet((overview, *_instructions(traces, parts)), title=names)


def _instructions(traces: Sequence[TracedAlgorithm], parts: Stage | None) -> Iterator[Picture]:
    at = [(trace, step) for trace in traces if (step := trace.instruction(parts)) is not None]
    pictures = [trace.picture(step) for trace, step in at]
    if len(at) == 2:
        left, right = (steps(trace.algorithm.unit.trace, step.inputs) for trace, step in at)
        pair = first_difference(left, right)
        pictures = list(compared(pictures[0], pictures[1], pair[0].name if pair else "", "").pictures)
    yield from pictures
    for group, trace in enumerate(traces, 1):
        if trace.worst is not None and trace.worst is not trace.instruction(parts):
            yield replace(trace.picture(trace.worst), group=group)


def _table(traces: Sequence[TracedAlgorithm], values: Mapping[str, int], parts: Stage | None) -> Table:
    size = exact_dot(values, absolute=True)
    lines = []
    for pair in _beside(*(trace.steps for trace in traces)):
        stage = next(step.stage for step in pair if step is not None)
        sides = tuple(None if step is None else _cells(step, size) for step in pair)
        lines.append(Line(stage.name, sides, parts is not None and stage.place == parts.place))
    rest = [trace.left_out(values) for trace in traces]
    if any(rest):
        sides = tuple(("", "", _text(x), _of(x, size)) if x else None for x in rest)
        lines.append(Line(LEFT_OUT, sides))
    notes = [
        "loses: what an exact step would have added to the result; of words: to the number that is split",
        f"size: |c| + Σ|a·b|; {LEFT_OUT}: the contribution of words and products that are not computed",
    ]
    if parts is not None:
        notes.insert(
            0,
            f"they first differ at '{parts.name}': the first step after the split that loses another amount",
        )
    return Table("", tuple(trace.name for trace in traces), _HEADS, tuple(lines), tuple(map(Note, notes)))


def _beside(*steps: list[TracedStep]) -> Iterator[tuple[TracedStep | None, ...]]:
    """Steps that correspond beside each other, each side in its own order; the split first."""
    if len(steps) == 1:
        yield from ((step,) for step in steps[0])
        return
    for split in (True, False):
        left, right = ([step for step in side if (step.kind == "split") is split] for side in steps)
        of_left, of_right = ([step.stage.place for step in side] for side in (left, right))
        for same, i, j, k, n in SequenceMatcher(None, of_left, of_right, autojunk=False).get_opcodes():
            if same == "equal":
                yield from zip(left[i:j], right[k:n], strict=True)
            else:
                yield from ((step, None) for step in left[i:j])
                yield from ((None, step) for step in right[k:n])


def _cells(step: TracedStep, size: Fraction) -> tuple[str, ...]:
    fmt, word = step.format, step.word
    scaled = f" (·{short_text(step.weight)})" if step.weight != 1 else ""
    seen = fmt.hex(word), _value(fmt, word) + scaled
    if not step.lost:
        return *seen, "not finite" if step.lost is None else "", ""
    if step.kind == "split":
        return *seen, _text(step.lost), ""
    return *seen, _text(step.share), _of(step.share, size)


def _results(traces: Sequence[TracedAlgorithm], values: Mapping[str, int]) -> Iterator[Note]:
    exact, size = exact_dot(values), exact_dot(values, absolute=True)
    yield Note(_text(exact), "exact")
    yield Note(_text(size), "size")
    for trace in traces:
        got = value(trace.result)
        if got is None:
            yield Note(F32.describe(trace.result), trace.name)
            continue
        wrong = got - exact
        ulps = f" = {float(wrong / ulp(exact)):.4g} ulp" if wrong else ""
        share = f" = {_of(wrong, size)}·2^-24 of size" if wrong else ""
        yield Note(f"{_value(F32, trace.result)}, error {_text(wrong)}{ulps}{share}", trace.name)


def _of(lost: Fraction, size: Fraction) -> str:
    """A loss in 2^-24 of the size; any loss is infinite relative to a sum of zeros."""
    if not size:
        return "infinite" if lost else "0"
    return f"{float(lost / size * 2**24):.4g}"


def _text(x: Fraction) -> str:
    return short_text(x) if x else "0"


def _value(fmt: AnyFormat, word: int) -> str:
    number = None if fmt.is_special(word) else fmt.value(word)
    return fmt.describe(word) if not number else short_text(number)
