"""Recorded answers: which models explain them all, and what would decide between those."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tcsmt.face.api.black_boxes import one_dataset
from tcsmt.identification.units.family import COLUMNS, Family
from tcsmt.identification.units.kinds import known
from tcsmt.identification.units.recorded import Survivors, family_of, survivors
from tcsmt.identification.units.report import best_data, best_lines, lines, summary
from tcsmt.simulate.measured.datasets import DataSet
from tcsmt.support.errors import Exit
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ignore
from tcsmt.support.results import Result
from tcsmt.support.text import agreeing, counted

__all__ = ["IdentifiedData", "identify_data"]


@dataclass(frozen=True, repr=False)
class IdentifiedData(Result):
    """Which fused dot-adds explain recorded answers: see ``remaining``, ``values`` and ``catalogue``.

    data: the answers. survivors: the hypotheses that explain them all, and questions that split those.
    """

    data: DataSet
    survivors: Survivors

    @cached_property
    def _family(self) -> Family:
        return family_of(self.data)

    @property
    def remaining(self) -> int:
        """Hypotheses that explain all rows; those that a range argument makes equal count once."""
        return len(self.survivors.table)

    @property
    def exit_code(self) -> Exit:
        """0: one hypothesis explains all rows; 1: none does; 3: several do."""
        return {0: Exit.DIFFERS, 1: Exit.ANSWERED}.get(self.remaining, Exit.UNKNOWN)

    @property
    def catalogue(self) -> list[str]:
        """Return the names of the catalogue's units among the hypotheses that explain all rows."""
        return known(self._family, self.survivors.table)

    @cached_property
    def values(self) -> dict[str, list[Any]]:
        """Return the values of each parameter among the hypotheses that explain all rows."""
        return summary(self._family, self.survivors.table) if self.remaining else {}

    @property
    def _questions(self) -> list[dict[str, Any]]:
        """Rows that would split the hypotheses that explain all rows, as JSON."""
        questions = self.survivors.questions
        return [] if questions is None else lines(self._family.formats, questions)

    def _facts(self) -> dict[str, Any]:
        best, splits = self.survivors.best, self.survivors.splits
        return {
            "dataset": self.data.name,
            "rows": self.survivors.rows,
            "hypotheses": self._family.count,
            "remaining": self.remaining,
            "catalogue": self.catalogue,
            "values": self.values,
            "seconds": round(self.survivors.seconds, 1),
            "next": [{**q, "answers": n} for q, n in zip(self._questions, splits, strict=True)],
            "best": None if best is None else best_data(self.data, self._family, best),
        }

    def _lines(self) -> Iterator[str]:
        rows, best = self.survivors.rows, self.survivors.best
        yield f"{self.data.name}: {counted(rows, 'row')}, {self.survivors.seconds:.1f} s"
        yield f"{self._title} them all"
        for name, several in self.values.items():
            if several != [None] or name in COLUMNS:
                yield f"  {name} = {', '.join(map(str, several))}"
        for question, count in zip(self._questions, self.survivors.splits, strict=True):
            yield f"ask ({counted(count, 'different answer')} predicted): {json.dumps(question)}"
        if best is not None:
            yield from best_lines(self.data, self._family, rows, best)

    @property
    def _title(self) -> str:
        explain = agreeing(self.remaining, "explains", "explain")
        return f"{self.remaining} of {counted(self._family.count, 'hypothesis')} {explain}"


@ieee_floats
def identify_data(
    path: str | os.PathLike[str],
    *,
    rows: int = 2000,
    seed: int = 1,
    progress: Callable[[str], None] = ignore,
) -> IdentifiedData:
    """Find every fused dot-add that explains recorded answers; nothing is asked.

    Args:
        path: Use the recorded answers of this data set.
        rows: Use at most this many rows of the data set.
        seed: Seed of the questions that would split what remains.
        progress: Called with one line.

    Raises :class:`tcsmt.TcsmtError` for a file that cannot be read or that has several data sets, for formats
    that no fused dot-add has, and where no row is ordinary.

    >>> import tcsmt
    >>> found = tcsmt.identify_data("answers.json", rows=200)  # doctest: +SKIP
    >>> found.remaining, found.catalogue  # doctest: +SKIP
    """
    data = one_dataset(Path(path))
    family_of(data)
    return IdentifiedData(data, survivors(data, rows=rows, seed=seed, progress=progress))
