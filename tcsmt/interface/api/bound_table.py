"""Tables over units: error bounds for papers, and all comparisons and bounds of two algorithms."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.analysis.search.bound import LONGEST
from tcsmt.analysis.sweeps.bound_table import BoundSubject, TableLine, lines_of, tasks_of
from tcsmt.analysis.sweeps.findings import Effort, entries, write
from tcsmt.analysis.sweeps.findings import table as findings_table
from tcsmt.interface.api.asked import check_effort
from tcsmt.interface.api.renamed import renamed
from tcsmt.prove.engine.certify import require_sat_solver
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.escaping import latex_text, markdown_cell
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result, json_text, markdown
from tcsmt.support.text import counted

#: How a table is written.
FORMS = ("markdown", "latex", "csv", "json")
#: Exponents that each format has by itself.
_OPEN = Domain()
_HEAD = ("unit", "algorithm", "K", "domain", "found", "proved", "certificate")


@dataclass(frozen=True, repr=False)
class BoundTable(Result):
    """Bounds of errors relative to ``|c| + Σ|a·b|``, in units of 2^-24: print it, or see ``cells``.

    cells: one for each unit, algorithm, domain and length, in order: ``unit``, ``algorithm``, ``k``,
    ``domain``, ``subnormals`` (whether a and b may be subnormal numbers of the format), ``found`` (the
    largest error found; None: infinite), ``proved`` (None: no bound, see ``reason``) and ``certificate`` (the
    digest in the name of its file; "": none). failed: why others are missing, by key.
    models: the digest of each unit's graph, by its name.
    """

    cells: tuple[Mapping[str, Any], ...]
    failed: Mapping[str, str]
    models: Mapping[str, str]

    def text(self, form: str = "markdown") -> str:
        """Return the table as ``markdown``, ``latex``, ``csv`` or ``json``. Raises
        :class:`tcsmt.TcsmtError`.
        """
        match choose("form", form, FORMS):
            case "latex":
                return "\n".join(_latex(self._rows()))
            case "csv":
                file = io.StringIO()
                csv.writer(file, lineterminator="\n").writerows([_HEAD, *self._rows()])
                return file.getvalue().rstrip("\n")
            case "json":
                return json_text(self._facts())
        return "\n".join(self._lines())

    def _rows(self) -> Iterator[list[str]]:
        for cell in self.cells:
            found = "infinite" if cell["found"] is None else f"{cell['found']:.6g}"
            proved = "" if cell["proved"] is None else f"{cell['proved']:.6g}"
            shown = (cell["unit"], cell["algorithm"], cell["k"], cell["domain"], found, proved)
            yield [*map(str, shown), cell["certificate"]]

    def _lines(self) -> Iterator[str]:
        yield from markdown(_HEAD, (map(markdown_cell, row) for row in self._rows()))
        yield ""
        yield "Errors relative to |c| + Σ|a·b|, in units of 2^-24."
        for cell in self.cells:
            if cell["proved"] is None:
                yield f"no bound of {cell['algorithm']} on {cell['unit']}, K = {cell['k']}: {cell['reason']}"
        yield from (f"missing: {key}: {why}" for key, why in self.failed.items())

    def _facts(self) -> dict[str, Any]:
        cells = [dict(cell) for cell in self.cells]
        return {"in": "2^-24", "models": {**self.models}, "cells": cells, "failed": {**self.failed}}

    @property
    def _title(self) -> str:
        return f"of {len(self.cells)} bounds"

    @property
    def exit_code(self) -> Exit:
        """0: every cell has a bound; 3: some have none."""
        unknown = self.failed or any(cell["proved"] is None for cell in self.cells)
        return Exit.UNKNOWN if unknown else Exit.ANSWERED


@renamed(lengths="k")
@ieee_floats
def table(
    units: Sequence[str],
    *,
    formats: Sequence[str] = (),
    algorithms: Sequence[str] = (),
    k: Sequence[int] = (16,),
    domain: Domain = _OPEN,
    search: float = 2.0,
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(),
    progress: ProgressCallback = no_progress,
) -> BoundTable:
    """Bounds of units and algorithms, found and proved, as a table.

    >>> import tcsmt
    >>> domain = tcsmt.Domain(exponents=(0, 0))
    >>> shown = tcsmt.accuracy.table(["volta"], formats=["f16"], k=[4], domain=domain, search=0.2)
    >>> [(cell["k"], round(cell["proved"], 3)) for cell in shown.cells]
    [(4, 8.0)]

    Where the domain leaves exponents open, they are those of a format's normal numbers, all of which exist
    (f16: -14 to 15; e4m3: -6 to 7), and -15 to 14 for algorithms and for formats with binary32's exponents; a
    second line is then about all of the format's numbers, subnormal ones, too (f16: from -24; e4m3: from -9).
    A unit that does not take a format or an algorithm has no line for it.

    Args:
        units: A unit.
        formats: An operand format, for the unit by itself.
        algorithms: An algorithm, as in `accuracy bound`.
        k: Products in the dot product.
        domain: Of the inputs. [default: the normal numbers of a format; type1 for an algorithm]
        search: Time for the simulator's search, in seconds.
        output: JSON file; a run continues where it stopped.
        options: Of solvers, and the processes that compute.
        progress: Called with how far it is.

    Raises :class:`tcsmt.TcsmtError` for unknown names, and where no unit takes anything.
    """
    if not units or not (formats or algorithms):
        raise TcsmtError("expected a unit, and a format or an algorithm")
    for length in k:
        check_effort(length, search, LONGEST)
    require_sat_solver(options)
    kinds = (BoundSubject.of_format, BoundSubject.of_subnormals)
    found = (kind(name, domain) for name in formats for kind in kinds)
    subjects = [subject for subject in found if subject is not None]
    subjects += [BoundSubject.of_algorithm(name, domain) for name in algorithms]
    lines = list(lines_of(subjects, units, k, Effort(options, search / 4)))
    path = None if output is None else Path(output)
    tasks = tasks_of(lines)
    records, failed = write(path, tasks, options, progress)
    models = {unit: digest for task in tasks for unit, digest in task.models.items()}
    return BoundTable(tuple(_cells(lines, records)), failed, models)


def _cells(lines: Sequence[TableLine], records: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in lines:
        for k, task in line.tasks.items():
            if (record := records.get(task.key)) is None:
                continue
            worst, proved = record["relative"], record["proved"]
            file = (record.get("certificate") or {}).get("file")
            yield {
                "unit": line.unit,
                "algorithm": line.subject.label,
                "k": k,
                "domain": line.subject.inputs,
                "subnormals": line.subject.subnormals,
                "found": 0.0 if worst is None else worst["relative"],
                "proved": proved,
                "reason": "" if proved is not None else record.get("reason") or record["open"],
                "certificate": "" if file is None else Path(file).stem.rpartition("-")[2],
            }


def _latex(rows: Iterator[list[str]]) -> Iterator[str]:
    """A tabular environment, without packages."""
    yield r"% errors relative to |c| + \sum |a b|, in units of 2^{-24}"
    yield rf"\begin{{tabular}}{{{'l' * 2 + 'r' + 'l' + 'r' * 2 + 'l'}}}"
    yield r"\hline"
    for number, row in enumerate((list(_HEAD), *rows)):
        yield " & ".join(map(latex_text, row)) + r" \\" + (r" \hline" if not number else "")
    yield r"\hline"
    yield r"\end{tabular}"


@dataclass(frozen=True, repr=False)
class AlgorithmFindings(Result):
    """Findings about a list of algorithms: print it, or see ``entries``.

    output: the file. entries: by key, what was found. failed: why other entries are missing, by key.
    """

    output: Path
    entries: Mapping[str, Mapping[str, Any]]
    failed: Mapping[str, str]

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Return the entries that solvers were asked about."""
        return [entry for entry in self.entries.values() if "verdict" in entry]

    def _facts(self) -> dict[str, Any]:
        return {"output": str(self.output), "entries": {**self.entries}, "failed": {**self.failed}}

    def _lines(self) -> Iterator[str]:
        yield findings_table({key: {**entry} for key, entry in self.entries.items()})

    @property
    def _title(self) -> str:
        return f"{counted(len(self.entries), 'entry', 'entries')} in {self.output}"

    @property
    def exit_code(self) -> Exit:
        """0: every entry has an answer; 3: some remained unknown."""
        unknown = self.failed or any(entry["verdict"] == "unknown" for entry in self.verdicts)
        return Exit.UNKNOWN if unknown else Exit.ANSWERED


@ieee_floats
def findings(
    output: str | os.PathLike[str],
    *,
    only: str = "",
    search: float = 2.0,
    options: SolvingOptions = SolvingOptions(),
    progress: ProgressCallback = no_progress,
) -> AlgorithmFindings:
    """Return whether Ootomo-Yokota is ever worse than Markidis, and bounds of the errors of both, on every
    unit.

    >>> import tempfile, tcsmt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tcsmt.accuracy.findings(f"{folder}/accuracy.json", only="Table 5").exit_code
    <Exit.ANSWERED: 0>

    Args:
        output: JSON file; a run continues where it stopped.
        only: Only entries with this text in their keys; others stay as they are.
        search: Time for the simulator's search, in seconds.
        options: Of solvers, and the processes that compute.

    Raises :class:`tcsmt.TcsmtError` for a file that another run has, or that was written by something else.
    """
    require_sat_solver(options)
    path = Path(output)
    results, failed = write(path, list(entries(Effort(options, search))), options, progress, only)
    return AlgorithmFindings(path, results, failed)
