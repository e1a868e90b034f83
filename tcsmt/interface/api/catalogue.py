"""The catalogue as a list: units with their parameters and evidence, as text, Markdown and plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tcsmt.interface.api.units import Unit, rows_listed
from tcsmt.matrix_units.catalogue import Row, selected, sequences_of, status_text
from tcsmt.matrix_units.catalogue.description import as_markdown, as_text, row_as_json
from tcsmt.matrix_units.catalogue.row import EVIDENCE
from tcsmt.programs.kernels.units import ARCHITECTURE
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted

__all__ = ["EVIDENCE", "UnitList", "unit_list", "units"]


@dataclass(frozen=True, repr=False)
class UnitList(Result):
    """Units of the catalogue, and the sequences of their instructions that are units, too.

    rows: of the units that were selected, of so many: ``count``.
    """

    rows: tuple[Row, ...]
    sequences: tuple[Row, ...]
    count: int

    def as_markdown(self) -> str:
        """A table of the units for documents, and, where there are any, one of the claims about them."""
        return as_markdown(self.rows)

    def _facts(self) -> dict[str, Any]:
        listed = {"units": self.rows} | ({"sequences": self.sequences} if self.sequences else {})
        return {name: [row_as_json(row) for row in rows] for name, rows in listed.items()}

    def _lines(self) -> Iterator[str]:
        yield from as_text(self.rows)
        if self.sequences:
            yield "\nsequences of these instructions, which are units, too:"
            listed = ((row.name, status_text(row), row.note.partition("; ")[0]) for row in self.sequences)
            yield from columns([*listed])

    @property
    def _title(self) -> str:
        return f"of {len(self.rows)} of {counted(self.count, 'unit')}"


def unit_list(
    arch: str | None = None,
    *,
    a_format: str | None = None,
    b_format: str | None = None,
    c_format: str | None = None,
    d_format: str | None = None,
    k: int | None = None,
    evidence: str | None = None,
    claims: bool = False,
) -> UnitList:
    """Return the units that :func:`tcsmt.units` gives, as a list to print, with an architecture's
    sequences.

    Args:
        arch: Only this architecture, GPU or processor (cpu: this machine's).
        a_format: Only units that take a in this format, e.g. e4m3.
        b_format: Only units that take b in this format.
        c_format: Only units that take c in this format.
        d_format: Only units with results in this format.
        k: Only units with this number of products.
        evidence: Only units with this evidence: measured here, measured, simulated, published, conjectured.
    """
    formats = {"a_format": a_format, "b_format": b_format, "c_format": c_format, "d_format": d_format}
    rows = rows_listed(arch, claims=claims)
    whole = [] if arch is None or arch == ARCHITECTURE else sequences_of(arch, claims=claims)
    chosen, sequences = (selected(some, formats=formats, k=k, evidence=evidence) for some in (rows, whole))
    return UnitList(tuple(chosen), tuple(sequences), len(rows))


@ieee_floats
def units(
    arch: str | None = None,
    *,
    a_format: str | None = None,
    b_format: str | None = None,
    c_format: str | None = None,
    d_format: str | None = None,
    k: int | None = None,
    evidence: str | None = None,
    claims: bool = False,
) -> list[Unit]:
    """Return the catalogue's units, an architecture's most used instruction first.

    arch: an architecture, a GPU, a processor (``cpu`` is this machine's), or ``ieee``. The others: only units
    with these formats, this K, this evidence.
    claims: include published models that are refuted or disputed.

    Raises :class:`tcsmt.TcsmtError` for unknown names.

    >>> import tcsmt
    >>> [u.name for u in tcsmt.units("volta", d_format="f32")]
    ['volta/mma.m8n8k4.f32.f16.f16.f32', 'volta/mma.m8n8k4.f32.f16.f16.f16']
    """
    wanted = {"a_format": a_format, "b_format": b_format, "c_format": c_format, "d_format": d_format}
    return [Unit(row) for row in unit_list(arch, **wanted, k=k, evidence=evidence, claims=claims).rows]
