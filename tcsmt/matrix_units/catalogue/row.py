"""A catalogue row."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from tcsmt.matrix_units.arithmetic.nan_words import UNKNOWN, NanWords
from tcsmt.matrix_units.models import Model

__all__ = ["EVIDENCE", "Row"]

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
        """``architecture/instruction``."""
        return f"{self.architecture}/{self.instruction}"

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain data."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **data, "measured": list(self.measured), "model": self.model.as_json(),
            "nans_outside": str(self.nans_outside),
        }  # fmt: skip
