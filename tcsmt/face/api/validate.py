"""Measured data held against models: how many rows differ, and what the first of those look like."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.face.api.units import UnitLike, side_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.preferred import by_use
from tcsmt.prove.statements.explain import stage_lines
from tcsmt.prove.statements.finding import shown
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
from tcsmt.support.results import Result
from tcsmt.support.text import counted

__all__ = ["HEAD", "ReplayedDataset", "Validation", "predicted", "prediction_lines", "replayed", "validate"]

HEAD = f"{'data set':<28} {'rows':>6} {'mismatches':>10}  instruction"


@dataclass(frozen=True)
class ReplayedDataset:
    """One data set: held against a row's model (``result``), or skipped for a reason."""

    name: str
    row: Row | None = None
    result: Replay | None = None
    skipped: str = ""

    def as_json(self) -> dict[str, Any]:
        """What came of holding it against a model."""
        assert self.result is not None
        assert self.row is not None
        data = self.result.dataset
        return {
            "dataset": self.name,
            "gpu": data.gpu,
            "model": self.row.name,
            "rows": self.result.rows,
            "mismatches": self.result.mismatches,
            "provenance": dict(data.provenance),
        }

    def lines(self, examples: int) -> Iterator[str]:
        """For people, with so many mismatches explained at most."""
        if self.result is None or self.row is None:
            yield f"{self.name:<28} skipped: {self.skipped}"
            return
        result = self.result
        yield f"{self.name:<28} {result.rows:>6} {result.mismatches:>10}  {self.row.name}"
        for mismatch in result.examples[:examples]:
            yield from _mismatch_lines(result, mismatch)


@dataclass(frozen=True, repr=False)
class Validation(Result):
    """What replaying data sets has shown: ``rows``, ``mismatches``, and each data set.

    predictions: what files say that readings of units give, beside what their models give.
    """

    replayed: tuple[ReplayedDataset, ...]
    examples: int
    predictions: tuple[Prediction, ...] = ()

    @property
    def results(self) -> list[Replay]:
        """Those data sets that were held against a model."""
        return [one.result for one in self.replayed if one.result is not None]

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
        return sum(one.differs for one in self.predictions)

    @property
    def exit_code(self) -> Exit:
        """0: every row matches and no prediction differs; 1: not so."""
        return Exit.of(not (self.mismatches or self.differing))

    @property
    def summary(self) -> str:
        """The last line for people."""
        others = len(self.replayed) - len(self.results)
        skipped = f"; {others} skipped" if others else ""
        wrong = counted(self.mismatches, "mismatch")
        differ = counted(self.differing, "differs", "differ")
        told = f"{counted(len(self.predictions), 'prediction')}, {differ}"
        more = f"{skipped}; {told}" if self.predictions else skipped
        return f"{counted(len(self.results), 'data set')}, {counted(self.rows, 'row')}, {wrong}{more}"

    def _facts(self) -> dict[str, Any]:
        found = [one.as_json() for one in self.replayed if one.result is not None]
        skipped = [{"dataset": o.name, "reason": o.skipped} for o in self.replayed if o.result is None]
        counts = {"rows": self.rows, "mismatches": self.mismatches}
        told = {"predictions": [one.as_json() for one in self.predictions]} if self.predictions else {}
        return {"datasets": found, "skipped": skipped, **counts, **told}

    def _lines(self) -> Iterator[str]:
        yield HEAD
        left = self.examples
        for one in self.replayed:
            yield from one.lines(left)
            left -= min(left, len(one.result.examples) if one.result else 0)
        yield from prediction_lines(self.predictions)
        yield self.summary

    @property
    def _title(self) -> str:
        return self.summary


def validate(
    *paths: str | os.PathLike[str], against: UnitLike | None = None, examples: int = 3
) -> Validation:
    """Replay measured data sets against the catalogue's models, or against one that is given.

    paths: folders and files: ``.npz`` with a manifest, JSON, CSV, or the published text files. against: hold
    this unit against all that it fits; one without an instruction is, for each data set, the most used of
    those that it fits. examples: mismatching rows that are explained, at most.
    Raises :class:`tcsmt.TcsmtError` for files that cannot be read, and where nothing fits ``against``.
    """
    other = None if against is None else by_use(side_of(against).units)
    named = against if isinstance(against, str) else other[0].name if other else ""
    given = [Path(path) for path in paths]
    found = tuple(replayed(given, other, examples, named))
    return checked(Validation(found, examples, predicted(given, other)))


def replayed(
    paths: Sequence[Path], others: Sequence[Row] | None, examples: int, named: str = ""
) -> Iterator[ReplayedDataset]:
    """Each data set as it is done. named: the model of files that do not say whose results they are.

    others: the first of these that a data set fits is held against it; None: the unit that it is of.
    """
    for dataset in find_datasets(paths, named):
        fitting = [row for row in others or () if not objection(dataset, row.model)]
        if others and not fitting:
            yield ReplayedDataset(dataset.name, skipped=objection(dataset, others[0].model))
            continue
        row = fitting[0] if fitting else explaining_row(dataset)
        yield ReplayedDataset(dataset.name, row, replay(dataset, row.model, keep=examples))


def predicted(paths: Sequence[Path], other: Sequence[Row] | None) -> tuple[Prediction, ...]:
    """What the files predict; nothing where a unit is given to hold against the data."""
    return () if other is not None else tuple(find_predictions(paths))


def prediction_lines(found: Sequence[Prediction]) -> Iterator[str]:
    """For people: what each file predicts, reading by reading."""
    seen: tuple[object, ...] = ()
    for one in found:
        if (one.file,) != seen[:1]:
            yield f"{one.file.stem}: predictions, not measured"
        if (one.file, one.row) != seen:
            yield f"    {one.question}"
        seen = (one.file, one.row)
        told = one.as_json()
        ours = "in no row of the catalogue" if one.unit is None else f"{one.unit.name} gives {told['ours']}"
        yield f"        {one.reading}: {told['predicted']}; {ours}" + (
            ", which differs" if one.differs else ""
        )


def checked(found: Validation) -> Validation:
    """The same, unless every data set was skipped. Raises :class:`.TcsmtError`."""
    if not found.replayed and not found.predictions:
        raise TcsmtError("nothing to compare: no data set was found")
    if found.replayed and not found.results:
        first = found.replayed[0]
        raise TcsmtError(f"nothing to compare: {first.name} {first.skipped}")
    return found


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
