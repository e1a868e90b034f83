"""A catalogue row, and which of several rows with the same formats GEMM libraries use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN, NanWords
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, contents
from tcsmt.matrix_units.models import Model

#: How well a row is known, the best first.
EVIDENCE = ("measured here", "measured", "simulated", "published", "conjectured")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One catalogue row.

    architecture, instruction: as in ``--arch`` and ``--instruction``; a claim's instruction ends
        in ``@`` and its source. N in a shape stands for every N (and M) that PTX allows.
    source, date: where the parameters come from (year).
    evidence: ``measured`` (hardware outputs that we hold replay without a mismatch; ``measured here``: tcsmt
        itself asked the hardware), ``simulated`` (so do outputs of an emulator or of the vendor's simulator),
        ``published`` or ``conjectured``.
    measured: the data sets that replay, named as in the manifest.
    status: ``accepted``, ``refuted`` (by data or proof) or ``disputed``.
    nans_outside: which words NaN results have of additions and conversions that a kernel makes outside of the
        unit, as the vendor's documents say.
    """

    architecture: str
    instruction: str
    model: Model
    source: str
    date: int
    evidence: str
    measured: tuple[str, ...] = ()
    status: str = "accepted"
    note: str = ""
    nans_outside: NanWords = UNKNOWN

    def __post_init__(self) -> None:
        if isinstance(self.nans_outside, str):
            object.__setattr__(self, "nans_outside", NanWords.named(self.nans_outside))

    @property
    def name(self) -> str:
        """Return ``architecture/instruction``."""
        return f"{self.architecture}/{self.instruction}"

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain data."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **data, "measured": list(self.measured), "model": self.model.as_json(),
            "nans_outside": str(self.nans_outside),
        }  # fmt: skip


def by_use(rows: Iterable[Row]) -> list[Row]:
    """Return the same rows, the instruction that GEMM libraries use first; otherwise in the catalogue's
    order.
    """
    return sorted(rows, key=lambda row: not is_preferred(row))


def is_preferred(row: Row) -> bool:
    """Return whether GEMM libraries use it, and not the architecture's most used instruction, for its
    formats.
    """
    narrow = max(row.model.a_format.width, row.model.b_format.width) < 16
    if not narrow or row.architecture not in ARCHITECTURES:
        return False
    return row.instruction.partition(".")[0] in contents(row.architecture).get("preferred", ())


def of_other_arithmetic(chosen: Row, rows: Sequence[Row]) -> list[Row]:
    """Return an architecture's rows with the chosen one's formats and other arithmetic, K apart."""

    def formats(row: Row) -> tuple[object, ...]:
        m = row.model
        return m.a_format, m.b_format, m.d_format, m.scale_format

    def same(row: Row) -> bool:
        model, other = chosen.model, row.model
        if type(model) is not type(other):
            return False
        # a sequence has both from its instructions
        names = {each.name for each in fields(other) if each.init} & {"k", "c_format"}
        return model == other.replace(**{name: getattr(model, name) for name in names})

    return [
        row
        for row in rows
        if row.architecture == chosen.architecture and formats(row) == formats(chosen) and not same(row)
    ]
