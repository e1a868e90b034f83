"""A check of an implementation against a unit: many rows, and what they exclude.

An implementation takes words and gives words: a device, a program, a Python function. It is asked the rows
that tell the unit from its neighbours and from other units of the catalogue
(:mod:`tcsmt.surveys.units.audit`), rows near the boundaries of the arithmetic, and random words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import are_nan, knows_nans
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.witnesses import cost, shorten_where
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import Words, run_words, words_of_row
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.interrupts import on_stop
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.surveys.units.audit import (
    Audit,
    UndistinguishedPair,
    Vectors,
    audit_of,
    closing,
    gaps,
    gaps_so_far,
    joined,
)
from tcsmt.surveys.units.vectors import edges, random_rows

Array = np.ndarray[Any, np.dtype[Any]]
#: Words of many rows in, words of D out.
Implementation = Callable[[Words], Array]

#: Is given the rows that were asked before a stop, how many of them differ, and what else is known by then.
Stopped = Callable[[int, int, "Examination | None"], object]

#: Recorded rows that hypotheses are held against, and wrong ones of which the shortest is shown.
_RECORDED, _SHORTEST = 20_000, 1000
#: Wrong rows among which one is looked for that is of numbers.
_LOOKED_AT = 1 << 16
#: Rows that are asked once more, at most: does the implementation still say the same?
_AGAIN = 512


@dataclass(frozen=True)
class ShortMismatch:
    """A row, made short, on which the implementation is not the unit. values: words by name; words of D."""

    values: Mapping[str, int]
    expected: int
    got: int


@dataclass(frozen=True)
class Examination:
    """The outcome of asking an implementation.

    rows: asked in all. mismatches: of these, not the unit's. audit: of the rows in it, which also has what
    every hypothesis answers. gaps: hypotheses that no row excludes, with the engine's verdict; None: it was
    not asked. answers: the implementation's to the audit's rows. first: shortened; None where there is none.
    changed: a row to which it later gave another answer (expected: its first one); None: it gave the same.
    """

    row: Row
    rows: int
    mismatches: int
    audit: Audit
    gaps: tuple[UndistinguishedPair, ...] | None
    answers: Array
    first: ShortMismatch | None
    changed: ShortMismatch | None = None

    @property
    def alike(self) -> list[str]:
        """Return the hypotheses that give every answer in the audit, by name."""
        same = (self.audit.words == self.answers).all(axis=1)
        return [
            hypothesis.name
            for hypothesis, is_same in zip(self.audit.hypotheses, same, strict=True)
            if is_same
        ]


def check(
    row: Row,
    implementation: Implementation,
    *,
    rows: int,
    seed: int,
    options: SolvingOptions | None = None,
    store: Checkpoint | None = None,
    progress: ProgressCallback = no_progress,
    differs: Callable[[ShortMismatch], object] = lambda first: None,
    again: Implementation | None = None,
    stopped: Stopped = lambda asked, mismatches, known: None,
) -> Examination:
    """Ask the edges, the rows that decide between hypotheses, and so many rows more.

    rows: in all, at least. options, store: how solvers look for rows that exclude what the edges do not;
    None: they are not asked. A mismatch ends the search for hypotheses that are not excluded. differs: is
    told of the first mismatch, made short, before the hypotheses are looked at. again: who is asked some rows
    once more, where the implementation may answer from an earlier run; None: the implementation. stopped: is
    called where the run is stopped.
    Raises what the implementation raises.
    """
    model, first_vectors = row.model, edges(row, seed)
    first: ShortMismatch | None = None
    asked = mismatches = 0

    def held(inputs: Words) -> Array:
        """Return the answers to some rows, which are counted; the first that is wrong is made short."""
        nonlocal first, asked, mismatches
        got, expected = implementation(inputs), run_words(model, inputs)
        asked += len(got)
        mismatches += int(wrong_answers(model, got, expected).sum())
        if first is None:
            example = _first_row(model, inputs, got, expected)
            if example is not None:
                first = _shortened(model, implementation, example)
                differs(first)
        return got

    with on_stop(lambda: stopped(asked, mismatches, None)):
        answers = held(first_vectors.inputs)
        for words in random_rows(model, rows - asked, seed):
            held(words)
            progress(asked, rows, row.name)
        changed = _changed(model, again or implementation, first_vectors.inputs, answers)
        made = audit_of(row, first_vectors, progress)
    undecided: tuple[UndistinguishedPair, ...] | None = None
    if options is not None and store is not None and not mismatches:
        done, kept, how = made, store, options

        def so_far() -> None:
            left = tuple(gaps_so_far(done, kept, how))
            examination = Examination(row, asked, mismatches, done, left, answers, first, changed)
            stopped(asked, mismatches, examination)

        with on_stop(so_far):
            undecided = tuple(gaps(made, store, options, progress))
        closed = closing(made, undecided)
        if closed is not None:
            deciding = Vectors(
                tuple(f"deciding {n}" for n in range(len(closed.vectors))), closed.vectors.inputs
            )
            answers = np.concatenate([answers, held(deciding.inputs)])
            made = Audit(
                made.hypotheses,
                joined([made.vectors, deciding]),
                np.concatenate([made.words, closed.words], axis=1),
            )
            undecided = tuple(gap for gap in undecided if gap.verdict != "open")
    return Examination(row, asked, mismatches, made, undecided, answers, first, changed)


def recorded(
    row: Row, inputs: Words, answers: Array, progress: ProgressCallback = no_progress
) -> Examination:
    """Return the same of answers that were recorded: nothing more can be asked.

    inputs: words, a and b of shape (rows, k), c of (rows,). answers: words of D, (rows,). The hypotheses are
    tried on the first rows, of so many that all of them go into memory. first: of the rows that differ, the
    shortest.
    """
    model = row.model
    expected = run_words(model, inputs)
    wrong = np.flatnonzero(wrong_answers(model, answers, expected))
    few = inputs.map(lambda words: words[:_RECORDED])
    vectors = Vectors(tuple(f"row {n}" for n in range(len(few.c))), few)
    audit = audit_of(row, vectors, progress)
    first = None
    if wrong.size:
        tried = []
        for place in wrong[:_SHORTEST].tolist():
            values = dict(zip(model.input_names, words_of_row(inputs, place), strict=True))
            tried.append((cost(model.input_formats, values), place, values))
        _, place, values = min(tried, key=lambda entry: entry[:2])
        first = ShortMismatch(values, int(expected[place]), int(answers[place]))
    return Examination(row, len(answers), len(wrong), audit, None, answers[:_RECORDED], first)


def _changed(
    model: Model, implementation: Implementation, inputs: Words, answers: Array
) -> ShortMismatch | None:
    """Return a row to which the implementation now gives another answer, of some from all places."""
    chosen = np.arange(0, len(answers), -(-len(answers) // _AGAIN))
    again = implementation(inputs.map(lambda words: words[chosen]))
    other = np.flatnonzero(again != answers[chosen])
    if not other.size:
        return None
    place = int(chosen[other[0]])
    values = dict(zip(model.input_names, words_of_row(inputs, place), strict=True))
    return ShortMismatch(values, int(answers[place]), int(again[other[0]]))


def wrong_answers(model: Model, got: Array, expected: Array) -> Array:
    """Return where answers are not the model's; any NaN is right for a NaN whose word no source says.

    got, expected: words of D, of one shape.
    """
    different: Array = got != expected
    if not knows_nans(model):
        different &= ~(are_nan(model.d_format, got) & are_nan(model.d_format, expected))
    return different


def _first_row(model: Model, inputs: Words, got: Array, expected: Array) -> tuple[int, ...] | None:
    d, wrong = model.d_format, np.flatnonzero(wrong_answers(model, got, expected))
    if not wrong.size:
        return None
    # which NaN it is says less than a number
    numbers = (n for n in wrong[:_LOOKED_AT] if not (d.is_nan(int(got[n])) or d.is_nan(int(expected[n]))))
    return words_of_row(inputs, int(next(numbers, wrong[0])))


def _shortened(model: Model, implementation: Implementation, words: Sequence[int]) -> ShortMismatch:
    """Return a mismatch that no single simplification makes shorter and still a mismatch."""

    def both(tries: Sequence[Mapping[str, int]]) -> tuple[Array, Array]:
        columns = {name: np.array([words[name] for words in tries], np.uint64) for name in model.input_names}
        rows = words_of(model, columns)
        return implementation(rows), run_words(model, rows)

    def holds(tries: Sequence[Mapping[str, int]]) -> Sequence[bool]:
        got, expected = both(tries)
        return list(wrong_answers(model, got, expected))

    values = shorten_where(holds, model.input_formats, dict(zip(model.input_names, words, strict=True)))
    got, expected = both([values])
    return ShortMismatch(values, int(expected[0]), int(got[0]))
