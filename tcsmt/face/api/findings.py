"""Every comparison and bound of the project's list of algorithms and units: ``tcsmt.accuracy.findings``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.analysis.sweeps.findings import Effort, entries, table, write
from tcsmt.prove.engine.certify import require_sat_solver
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import Exit
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted

__all__ = ["AlgorithmFindings", "findings"]


@dataclass(frozen=True, repr=False)
class AlgorithmFindings(Result):
    """What is known of the list: print it, or see ``entries``.

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
        yield table({key: {**entry} for key, entry in self.entries.items()})

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
