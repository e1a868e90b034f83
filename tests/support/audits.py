"""The audit of the rows that are asked first, made once for many implementations of a unit."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.surveys.units.audit import Audit, Vectors, audit_of

_MADE: dict[tuple[Row, bytes], Audit] = {}


def audit_once(row: Row, vectors: Vectors, progress: ProgressCallback = no_progress) -> Audit:
    """As :func:`.audit_of`, which builds and compiles hundreds of hypotheses; the answer is the same."""
    key = (row, b"".join(part.tobytes() for part in vectors.inputs.named.values()))
    if key not in _MADE:
        _MADE[key] = audit_of(row, vectors, progress)
    return _MADE[key]
