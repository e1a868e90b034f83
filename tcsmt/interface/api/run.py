"""A unit simulated on the rows of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.interface.api.matching import formats_in, rows_for_operands
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.resolve import reference
from tcsmt.prove.statements.explain import stage_lines
from tcsmt.prove.statements.finding import shown
from tcsmt.simulate.measured.row_files import read_rows, write_rows
from tcsmt.simulate.rows import Words, run_words, words_of_row
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, repr=False)
class SimulatedRows(Result):
    """Results of a unit on rows: ``d``, words of D, shape (rows,).

    row: the unit. inputs: words of a and b, shape (rows, k), of c, shape (rows,), and of block scales. unit:
    how files name the unit. rounded: what became of each decimal number that a format does not hold.
    """

    row: Row
    inputs: Words
    d: Array
    unit: str
    rounded: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.d)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write rows and results by the suffix: .json, .csv, .npz, .hex or .mem.

        :func:`tcsmt.validate` reads the file. Raises :class:`tcsmt.TcsmtError` for another suffix.
        """
        write_rows(Path(path), self.row.model, self.inputs, self.d, name=self.unit)

    def text(self, *, stages: bool = False) -> str:
        """For people: a line for each row; with every stage of the datapath below it."""
        return "\n".join(self._rows(stages))

    def _rows(self, stages: bool) -> Iterator[str]:
        yield f"# {self.row.name}"
        for number, result in enumerate(self._results()):
            yield f"{number}: {result['word']}  {result['value']}  {result['decimal']}"
            if stages:
                lines = stage_lines(self.row.model, words_of_row(self.inputs, number))
                yield from (f"    {line}" for line in lines)

    def _results(self) -> list[dict[str, str]]:
        return [shown(self.row.model.d_format, int(word)) for word in self.d]

    def _facts(self) -> dict[str, Any]:
        return {"model": self.row.name, "d": self._results(), "rounded": list(self.rounded)}

    def _lines(self) -> Iterator[str]:
        return self._rows(stages=False)

    @property
    def _title(self) -> str:
        return f"{counted(len(self), 'row')} of {self.row.name}"


@ieee_floats
def run(
    unit: UnitLike,
    path: str | os.PathLike[str],
    *,
    operands: str | None = None,
    rounded: Callable[[str], object] = lambda text: None,
) -> SimulatedRows:
    """Simulate a unit on the rows of a file; arrays are what a :class:`tcsmt.Unit` is called with.

    A unit without an instruction is the most used one that takes a and b in the formats of the dtypes of an
    .npz file; text does not say formats, and is for the most used one of all.

    Args:
        unit: The unit.
        path: File of rows: JSON, CSV or .npz; .hex or .mem.
        operands: How to round values of a, b and c that their formats do not have. [default: arrays are
            refused, decimal numbers in text rounded to nearest even]
        rounded: Called with what became of each number that was rounded.

    Raises :class:`tcsmt.TcsmtError` for files that cannot be read and values that do not fit.

    >>> import tcsmt
    >>> tcsmt.vectors("volta", "edge", rows=10).save("edges.csv")
    >>> tcsmt.run("volta", "edges.csv").d.shape
    (10,)
    """
    source, notes = Path(path), list[str]()

    def note(text: str) -> None:
        notes.append(text)
        rounded(text)

    row, *_ = rows_for_operands(unit, formats_in(source), values=True, operands=operands, programs=True)
    inputs = read_rows(source, row.model, note, operands)
    name = reference(os.fspath(unit) if isinstance(unit, (str, os.PathLike)) else "", row)
    return SimulatedRows(row, inputs, run_words(row.model, inputs), name, tuple(notes))
