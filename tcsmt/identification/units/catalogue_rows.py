"""Identify the catalogue's rows from boxes that only answer: does the search find what it cannot see?"""

from __future__ import annotations

import time

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.kinds import FusedHypotheses, hypotheses_of
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.verdict import engine_digest
from tcsmt.support.checkpoint import Record
from tcsmt.support.invariants import checked_cast
from tcsmt.support.jobs.processes import Task

__all__ = ["distinct_rows", "identified", "task_for"]


def distinct_rows() -> list[str]:
    """A catalogue row for every arithmetic without block scales, instructions of one format first."""
    names: dict[FusedDotAdd, str] = {}
    for row in rows():
        if isinstance(row.model, FusedDotAdd) and row.model.scale_format is None:
            names.setdefault(row.model, row.name)
    named = {name: model for model, name in names.items()}
    return sorted(named, key=lambda name: (named[name].a_format != named[name].b_format, name))


def task_for(name: str, timeout: float) -> Task:
    """Return the identification of a row, with so many seconds for each query."""
    code = engine_digest("identification", "simulate")
    digest = row_named(name).model.digest
    return Task(name, digest, identified, (name, timeout), code, {name: digest})


def identified(name: str, timeout: float) -> Record:
    """Return what a search finds that may only ask the row's model; ``right``: whether it is among what is
    left.
    """
    model = row_named(name).model
    model = checked_cast(model, FusedDotAdd)
    kinds = hypotheses_of((model.a_format, model.b_format, model.c_format, model.d_format), model.k)
    fused = kinds[0]
    fused = checked_cast(fused, FusedHypotheses)
    truth = fused.family.row(model)
    start = time.monotonic()
    outcome = Identification(kinds, model_box(model), options=SolvingOptions(timeout=timeout)).run()
    return {
        "model": name, "verdict": outcome.verdict, "reason": outcome.reason,
        "questions": len(outcome.exchanges), "hypotheses": outcome.count, "floor": round(outcome.floor, 2),
        "equal": len(outcome.left), "proved_by_solver": outcome.proofs, "unproved": len(outcome.unproved),
        "right": bool(truth is not None and (outcome.left.of(fused) == truth).all(axis=1).any()),
        "left_after_each": outcome.counts, "seconds": round(time.monotonic() - start, 1),
    }  # fmt: skip
