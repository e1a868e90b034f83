"""Identify catalogue rows from boxes that only answer; writes results/identify/catalogue.json as it goes.

Without rows: one for each distinct arithmetic of the fused dot-product-add family. Rows on file, identified
by the same code, are left out, so that a sweep goes on where it stopped.
Usage: python results/make/identify_sweep.py [--timeout SECONDS] [--jobs N] [--scheduler ADDRESS] [--again]
       [--table] [--file FILE] [ROW...]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.kinds import FusedHypotheses, hypotheses_of
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.verdict import engine_digest
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.invariants import checked_cast
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Workers, computed
from tcsmt.support.progress import progress_bar

SHOWN = ("verdict", "right", "questions", "floor", "equal", "seconds")
LAYOUT = Layout(
    "rows",
    key=lambda record: str(record["model"]),
    head=lambda records: {"command": "results/make/identify_sweep.py", "seed": 1},
)


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
    truth = fused.row(model)
    start = time.monotonic()
    outcome = Identification(kinds, model_box(model), options=SolvingOptions(timeout=timeout)).run()
    return {
        "model": name, "verdict": outcome.verdict, "reason": outcome.reason,
        "questions": len(outcome.exchanges), "hypotheses": outcome.count, "floor": round(outcome.floor, 2),
        "equal": len(outcome.left), "proved_by_solver": outcome.proofs, "unproved": len(outcome.unproved),
        "right": bool(truth is not None and (outcome.left.of(fused) == truth).all(axis=1).any()),
        "left_after_each": outcome.counts, "seconds": round(time.monotonic() - start, 1),
    }  # fmt: skip


def table(found: Iterable[Record]) -> str:
    """Markdown, a line for each row."""
    lines = [("model", *SHOWN), ("---",) * (1 + len(SHOWN))]
    lines += [(f"`{one['model']}`", *(str(one[name]) for name in SHOWN)) for one in found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--scheduler", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--file", type=Path, default=Path("results/identify/catalogue.json"))
    given = parser.parse_args()
    with Checkpoint(given.file, LAYOUT) as kept, progress_bar() as progress:
        if not given.table:
            tasks = [task_for(name, given.timeout) for name in given.rows or distinct_rows()]
            workers = Workers(max(1, given.jobs), given.scheduler)
            found = computed(
                tasks, kept, workers,
                lambda task, record: not given.again and record.get("code") == task.code, progress,
            )  # fmt: skip
            kept.arrange(sorted(kept.records))
            if found.failed:
                sys.exit(3)
            return
    print(table(kept.records.values()))


if __name__ == "__main__":
    from identify_sweep import main as importable  # workers import it by that name

    importable()
