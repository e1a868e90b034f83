"""Up to which K products of slices are summed exactly, unit by unit: ``tcsmt.accuracy.slices``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcsmt.analysis.certified import certify_slices
from tcsmt.analysis.exactness.table import SOURCES, families, record, table
from tcsmt.matrix_units.catalogue import rows
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import engine_digest, has_certificate
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__

__all__ = ["ExactSlices", "slices"]


@dataclass(frozen=True, repr=False)
class ExactSlices(Result):
    """The largest K that is proved for each size of slices: print it, or see ``families``.

    families: units of the same model together: ``units``, ``formats`` and, for each number of ``bits``,
    ``slices`` with the largest ``k``, why the proof ``ends`` there, and products ``beyond`` it.
    """

    families: tuple[Mapping[str, Any], ...]

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Return what is proved of each number of bits, as records of verdicts."""
        return _proofs(self.families)

    def _facts(self) -> dict[str, Any]:
        return {"families": [*self.families]}

    def _lines(self) -> Iterator[str]:
        yield from table(self.families)

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.families), 'family', 'families')} of units"


@ieee_floats
def slices(
    only: str = "",
    *,
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(),
    progress: ProgressCallback = no_progress,
) -> ExactSlices:
    """For every unit, the largest K up to which products of slices of b bits are summed exactly, c being 0.

    >>> import tcsmt
    >>> found = tcsmt.accuracy.slices("rvv")  # doctest: +SKIP

    A slice of b bits is an integer of at most 2^b in magnitude.

    Args:
        only: Only units with this text in their names.
        output: JSON file; a run continues where it stopped.
        options: Of solvers; a proof is not confirmed where they leave it open.

    Raises :class:`tcsmt.TcsmtError` for a file that another run has, or that was written by something else.
    """
    solving = Solving(options)
    asked = engine_digest(*SOURCES) + (" confirmed" if options.confirm else "")
    wanted = [family for family in families(rows(claims=False)) if only in family[0].name]
    with Checkpoint(output, _LAYOUT, "--output") as kept:
        # what no code has proved yet comes before what other code has
        order = sorted(wanted, key=lambda family: family[0].name in kept.records)
        for number, family in enumerate(order, 1):
            name = family[0].name
            before = kept.records.get(name, {})
            models = {row.name: family[0].model.digest for row in family}
            result = before
            if (before.get("asked"), before.get("models")) != (asked, models):
                result = record(family, solving) | {"asked": asked}
            certified = all(has_certificate(proof, options.certificates) for proof in _proofs([result]))
            if solving.certificates is not None and not certified:
                result = certify_slices(solving.certificates, family[0], result)
            if result is not before:
                kept.keep(name, result)
            progress(number, len(wanted), name)
        return ExactSlices(tuple(kept.records[family[0].name] for family in wanted))


def _proofs(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{**size, "verdict": "equivalent"} for record in records for size in record["slices"] if size["k"]]


def _key(family: Record) -> str:
    return str(family["unit"])


def _head(records: Mapping[str, Record]) -> Record:
    return {
        "tcsmt": __version__,
        "question": "up to which K are products of slices summed exactly, with c = 0?",
    }


_LAYOUT = Layout("families", _key, _head)
