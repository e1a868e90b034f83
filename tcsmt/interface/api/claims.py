"""Judgements of statements in papers, packages and manuals: ``tcsmt.claims``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Unknown
from tcsmt.simulate.measured.datasets import find_datasets
from tcsmt.support.errors import Exit, UnknownName
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.surveys.claims import Judgement, judge, published


@dataclass(frozen=True, repr=False)
class ClaimsReport(Result):
    """Statements, each ``confirmed``, ``refuted`` or ``undecided``, with what decides: ``judgements``."""

    judgements: tuple[Judgement, ...]

    @property
    def summary(self) -> str:
        """Return how many there are of each verdict."""
        counts = Counter(judgement.verdict for judgement in self.judgements)
        verdicts = ", ".join(f"{counts[word]} {word}" for word in ("confirmed", "refuted", "undecided"))
        return f"{counted(len(self.judgements), 'claim')}: {verdicts}"

    @property
    def exit_code(self) -> Exit:
        """3 where a solver did not answer a question that decides, else 0."""
        findings = (judgement.finding for judgement in self.judgements)
        unknown = any(finding is not None and isinstance(finding.verdict, Unknown) for finding in findings)
        return Exit.UNKNOWN if unknown else Exit.ANSWERED

    @property
    def _title(self) -> str:
        return self.summary

    def _lines(self) -> list[str]:
        return [*map(str, self.judgements), self.summary]

    def _facts(self) -> dict[str, Any]:
        return {"claims": [judgement.as_json() for judgement in self.judgements]}


@ieee_floats
def claims(
    names: Sequence[str] = (),
    *,
    data: Sequence[str | os.PathLike[str]] = (),
    options: SolvingOptions | None = None,
    judged: Callable[[ClaimsReport], None] = lambda report: None,
    progress: ProgressCallback = no_progress,
) -> ClaimsReport:
    """Judge published statements about matrix units by measured rows and by proofs, as ``tcsmt claims`` does.

    Without data, statements about hardware stay undecided, and solvers look for a vector that would decide
    each.

    Args:
        names: Of the statements; none: all.
        data: Measured data sets, as for `tcsmt validate`.
        options: For solvers.
        judged: Told what is known by then after each statement, the last one included.
        progress: Told of each.

    Raises :class:`tcsmt.TcsmtError`; a name that is not known with the nearest ones.

    >>> import tcsmt
    >>> print(tcsmt.claims(["volta-third-carry-bit"]).summary)
    1 claim: 1 confirmed, 0 refuted, 0 undecided
    """
    by_name = {claim.name: claim for claim in published()}
    for name in names:
        if name not in by_name:
            raise UnknownName("claim", name, by_name, "tcsmt claims")
    chosen = list(dict.fromkeys(names)) or list(by_name)
    solving = Solving(options or SolvingOptions())
    datasets = list(find_datasets([Path(path) for path in data])) if data else []
    report = ClaimsReport(())
    for number, name in enumerate(chosen):
        progress(number, len(chosen), name)
        report = ClaimsReport((*report.judgements, judge(by_name[name], datasets, solving)))
        judged(report)
    progress(len(chosen), len(chosen), "judged")
    return report
