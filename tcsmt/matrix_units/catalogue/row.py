"""A catalogue row, and the sources that rows cite."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from tcsmt.matrix_units.models import Model

__all__ = ["EVIDENCE", "FASI", "KHATTAK", "MMASIM", "PACKAGE", "VALPEY", "Row", "claim"]

FASI = "Fasi et al. 2020"
VALPEY = "Valpey et al. 2025"
KHATTAK = "Khattak and Mikaitis 2025"
MMASIM = "MMA-Sim (Xie et al. 2025)"
PACKAGE = "mmasim 2.1.1"
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

    @property
    def name(self) -> str:
        """``architecture/instruction``."""
        return f"{self.architecture}/{self.instruction}"

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        data = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**data, "measured": list(self.measured), "model": self.model.as_json()}


def claim(row: Row, tag: str, source: str, status: str, note: str, **changes: object) -> Row:
    """Another reading of a row's unit: the row with changed parameters, ``refuted`` or ``disputed``."""
    return replace(
        row, instruction=f"{row.instruction}@{tag}", source=source, status=status, note=note,
        evidence="published", model=replace(row.model, **changes), measured=(),  # type: ignore[arg-type]
    )  # fmt: skip
