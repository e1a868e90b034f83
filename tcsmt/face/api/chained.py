"""All vendors' units over the same dot product: ``tcsmt.chained_atlas``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tcsmt.analysis.exactness.integers import integer_records
from tcsmt.face.api.units import UnitLike, row_of
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.prove.engine.asking import Asking
from tcsmt.prove.engine.solvers.run import Settings
from tcsmt.study.survey.chained import ChainedAtlas, chained_groups, run_chained
from tcsmt.study.survey.verdict_store import verdicts_in
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.progress import ProgressCallback, unseen

__all__ = ["SHARED", "chained_atlas", "chained_atlas_of"]

#: Formats that units of several vendors share.
SHARED = (
    "f32.f16.f16.f32", "f32.bf16.bf16.f32", "f32.e4m3.e4m3.f32", "f32.e5m2.e5m2.f32", "s32.s8.s8.s32",
)  # fmt: skip


def chained_atlas(
    units: Sequence[UnitLike] | None = None,
    *,
    types: Sequence[str] = SHARED,
    k: int | None = None,
    store: str | os.PathLike[str] | None = None,
    timeout: float = 60.0,
    confirm: bool = True,
    jobs: int = 1,
) -> ChainedAtlas:
    """Which units compute the same dot product, the smaller ones chained to the same length.

    >>> import tcsmt
    >>> units = "volta", "x86/vdpbf16ps"
    >>> atlas = tcsmt.chained_atlas(units, types=["f32.bf16.bf16.f32"], confirm=False)
    >>> atlas.integers["x86/vdpbf16ps"]["bits"]
    24

    units: names, rows, models or model files (None: every accepted row of the catalogue). types: formats of
    D, A, B and C, as in the example. k: length of the dot product (None: the shortest for all of them).
    store: a file that keeps verdicts, with which a run that was stopped goes on. timeout: seconds a query.
    confirm: a proof counts only if a second solver agrees. jobs: processes.

    The result has ``groups`` (the classes for each types), ``known`` (what is known on each domain),
    ``integers`` (up to which size each class sums integers exactly) and ``as_json()``.
    Raises :class:`tcsmt.TcsmtError` where no unit has the types, and for unknown names.
    """
    having = [row for row in rows() if row.status == "accepted"]
    having = having if units is None else [row_of(unit) for unit in units]
    asking = Asking(Settings(timeout=timeout), confirm, jobs)
    with verdicts_in(None if store is None else Path(store)) as verdicts:
        return chained_atlas_of(having, types, k, verdicts, asking)


def chained_atlas_of(
    having: Sequence[Row],
    types: Sequence[str],
    k: int | None,
    store: Checkpoint,
    asking: Asking,
    progress: ProgressCallback = unseen,
) -> ChainedAtlas:
    """:func:`chained_atlas` of rows, with a store that is open and all that can be asked."""
    groups = chained_groups(having, types, k)
    classes = [unit.rows[0] for group in groups for unit in group.units]
    classes = [row for row in classes if not isinstance(row.model, IntegerDotAdd)]
    exact = integer_records(classes, store, asking, progress)
    return replace(run_chained(groups, store, asking, progress), integers=exact)
