"""Measured data held against models: how many rows differ, and what the first of those look like."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.row import by_use
from tcsmt.prove.statements.explain import stage_lines
from tcsmt.prove.statements.finding import shown
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.simulate.measured.datasets import (
    Mismatch,
    Replay,
    explaining_row,
    find_datasets,
    find_predictions,
    objection,
    replay,
)
from tcsmt.simulate.measured.unit_files import Prediction
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.invariants import not_none
from tcsmt.support.progress import ignore
from tcsmt.support.results import Result
from tcsmt.support.text import counted

_HEAD = f"{'data set':<28} {'rows':>6} {'mismatches':>10}  instruction"


@dataclass(frozen=True)
class ReplayedDataset:
    """One data set: held against a row's model (``result``), or skipped for a reason."""

    name: str
    row: Row | None = None
    result: Replay | None = None
    skipped: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return what came of holding it against a model."""
        result, row = not_none(self.result), not_none(self.row)
        return {
            "dataset": self.name,
            "gpu": result.dataset.gpu,
            "model": row.name,
            "rows": result.rows,
            "mismatches": result.mismatches,
            "provenance": dict(result.dataset.provenance),
        }

    def lines(self) -> Iterator[str]:
        """For people, with the mismatches that the replay kept explained."""
        if self.result is None or self.row is None:
            yield f"{self.name:<28} skipped: {self.skipped}"
            return
        result = self.result
        yield f"{self.name:<28} {result.rows:>6} {result.mismatches:>10}  {self.row.name}"
        for mismatch in result.examples:
            yield from _mismatch_lines(result, mismatch)


@dataclass(frozen=True, repr=False)
class Validation(Result):
    """Results of replaying data sets: ``rows``, ``mismatches``, and each data set.

    predictions: what files say that readings of units give, beside what their models give.
    """

    replayed: tuple[ReplayedDataset, ...]
    predictions: tuple[Prediction, ...] = ()

    @property
    def results(self) -> list[Replay]:
        """Return the data sets that were held against a model."""
        return [data.result for data in self.replayed if data.result is not None]

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(result.rows for result in self.results)

    @property
    def mismatches(self) -> int:
        """Rows on which a model gives another word than was measured."""
        return sum(result.mismatches for result in self.results)

    @property
    def differing(self) -> int:
        """Predictions of a reading that the catalogue has, and whose model gives another word."""
        return sum(prediction.differs for prediction in self.predictions)

    @property
    def exit_code(self) -> Exit:
        """0: every row matches and no prediction differs; 1: not so."""
        return Exit.of(not (self.mismatches or self.differing))

    @property
    def summary(self) -> str:
        """Return the last line for people."""
        counts = counted(len(self.results), "data set"), counted(self.rows, "row")
        parts = [", ".join([*counts, counted(self.mismatches, "mismatch")])]
        if skipped := len(self.replayed) - len(self.results):
            parts.append(f"{skipped} skipped")
        if self.predictions:
            differ = counted(self.differing, "differs", "differ")
            parts.append(f"{counted(len(self.predictions), 'prediction')}, {differ}")
        return "; ".join(parts)

    def _facts(self) -> dict[str, Any]:
        replayed = [data.as_json() for data in self.replayed if data.result is not None]
        skipped = [{"dataset": d.name, "reason": d.skipped} for d in self.replayed if d.result is None]
        counts = {"rows": self.rows, "mismatches": self.mismatches}
        facts = {"datasets": replayed, "skipped": skipped, **counts}
        if self.predictions:
            facts["predictions"] = [prediction.as_json() for prediction in self.predictions]
        return facts

    def _lines(self) -> Iterator[str]:
        yield _HEAD
        for data in self.replayed:
            yield from data.lines()
        yield self.conclusion

    @property
    def conclusion(self) -> str:
        """For people: the predictions, and the summary."""
        return "\n".join([*_prediction_lines(self.predictions), self.summary])

    @property
    def _title(self) -> str:
        return self.summary


@ieee_floats
def validate(
    *paths: str | os.PathLike[str],
    against: UnitLike | None = None,
    examples: int = 3,
    say: Callable[[str], None] = ignore,
) -> Validation:
    """Replay measured data sets against the catalogue's models, or against one that is given.

    A unit without an instruction is, for each data set, the most used of those that it fits.

    Args:
        paths: Folders and files: ``.npz`` with a manifest, JSON, CSV, or the published text files.
        against: Try this unit on all data sets that it fits.
        examples: Number of mismatching rows to explain.
        say: Called with the head of the text, and with that of each data set as soon as it is replayed.

    Raises :class:`tcsmt.TcsmtError` for files that cannot be read, and where nothing fits ``against``.

    >>> import tcsmt
    >>> tcsmt.vectors("volta", "edge", rows=10).save("edges.json")
    >>> tcsmt.validate("edges.json").mismatches
    0
    """
    side = None if against is None else side_of(against)
    others = None if side is None else by_use(side.units)
    files = [Path(path) for path in paths]
    replays: list[ReplayedDataset] = []
    say(_HEAD)
    for dataset in find_datasets(files, "" if side is None else side.text):
        replays.append(_replayed(dataset, others, examples))
        say("\n".join(replays[-1].lines()))
        examples -= len(replays[-1].result.examples) if replays[-1].result else 0
    predictions = () if others is not None else tuple(find_predictions(files))
    if not replays and not predictions:
        raise TcsmtError("nothing to compare: no data set was found")
    validation = Validation(tuple(replays), predictions)
    if replays and not validation.results:
        raise TcsmtError(f"nothing to compare: {replays[0].name} {replays[0].skipped}")
    return validation


def _replayed(dataset: DataSet, others: Sequence[Row] | None, examples: int) -> ReplayedDataset:
    """A data set held against the first of some units that it fits; None: against the unit that it is of."""
    fitting = [row for row in others or () if not objection(dataset, row.model)]
    if others and not fitting:
        return ReplayedDataset(dataset.name, skipped=objection(dataset, others[0].model))
    row = fitting[0] if fitting else explaining_row(dataset)
    return ReplayedDataset(dataset.name, row, replay(dataset, row.model, keep=examples))


def _prediction_lines(predictions: Sequence[Prediction]) -> Iterator[str]:
    """For people: what each file predicts, reading by reading."""
    seen: tuple[object, ...] = ()
    for prediction in predictions:
        file, row = prediction.file, prediction.row
        if (file,) != seen[:1]:
            yield f"{file.stem}: predictions, not measured"
        if (file, row) != seen:
            yield f"    {prediction.question}"
        seen = (file, row)
        facts, unit = prediction.as_json(), prediction.unit
        ours = "in no row of the catalogue" if unit is None else f"{unit.name} gives {facts['ours']}"
        differs = ", which differs" if prediction.differs else ""
        yield f"        {prediction.reading}: {facts['predicted']}; {ours}{differs}"


def _mismatch_lines(result: Replay, mismatch: Mismatch) -> list[str]:
    fmt = result.model.d_format
    expected, got = (shown(fmt, int(word)) for word in (mismatch.expected, mismatch.got))
    lines = [
        f"    row {mismatch.row}: measured {expected['word']} {expected['value']}, "
        f"model {got['word']} {got['value']}"
    ]
    if len(mismatch.a) == result.model.k:
        stages = stage_lines(result.model, (*mismatch.a, *mismatch.b, mismatch.c))
        lines += [f"        {line}" for line in stages]
    return lines
