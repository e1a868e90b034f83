"""Identify catalogue rows from boxes that only answer; writes results/identify.json as it goes.

Without rows: one for each distinct arithmetic of the fused dot-product-add family. Rows on file are
left out, so that a sweep goes on where it stopped.
Usage: python benchmarks/identify_sweep.py [--timeout SECONDS] [--again] [--table] [--file FILE] [ROW...]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from tcsmt.catalogue import row_named, rows
from tcsmt.identification.boxes import model_box
from tcsmt.identification.family import Family
from tcsmt.identification.search import Identification
from tcsmt.models import FusedDotAdd
from tcsmt.prove.solvers.run import Settings
from tcsmt.support.files import replace_text

SHOWN = ("verdict", "right", "questions", "floor", "equal", "seconds")


def distinct() -> list[str]:
    """A catalogue row for every arithmetic without block scales, instructions of one format first."""
    found: dict[FusedDotAdd, str] = {}
    for row in rows():
        if isinstance(row.model, FusedDotAdd) and row.model.scale_format is None:
            found.setdefault(row.model, row.name)
    return sorted(
        found.values(), key=lambda n: (row_named(n).model.a_format != row_named(n).model.b_format, n)
    )


def identified(name: str, timeout: float) -> dict[str, Any]:
    model = row_named(name).model
    family = Family(model.a_format, model.b_format, model.c_format, model.d_format, model.k)
    truth = family.row(model)
    start = time.monotonic()
    outcome = Identification(family, model_box(model), settings=Settings(timeout=timeout)).run()
    return {
        "model": name, "verdict": outcome.verdict, "reason": outcome.reason,
        "questions": len(outcome.exchanges), "hypotheses": family.count, "floor": round(family.floor, 2),
        "equal": len(outcome.rows), "proved_by_solver": outcome.proofs, "unproved": len(outcome.unproved),
        "right": bool(truth is not None and (outcome.rows == truth).all(axis=1).any()),
        "left_after_each": outcome.counts, "seconds": round(time.monotonic() - start, 1),
    }  # fmt: skip


def table(found: list[dict[str, Any]]) -> str:
    """Markdown, a line for each row."""
    lines = [("model", *SHOWN), ("---",) * (1 + len(SHOWN))]
    lines += [(f"`{one['model']}`", *(str(one[name]) for name in SHOWN)) for one in found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--file", type=Path, default=Path("results/identify.json"))
    given = parser.parse_args()
    old = json.loads(given.file.read_text())["rows"] if given.file.exists() else []
    found = {one["model"]: one for one in old}
    names = [] if given.table else [n for n in given.rows or distinct() if given.again or n not in found]
    for name in names:
        found[name] = identified(name, given.timeout)
        kept = sorted(found.values(), key=lambda one: str(one["model"]))
        data = {"command": "benchmarks/identify_sweep.py", "seed": 1, "rows": kept}
        replace_text(given.file, json.dumps(data, indent=1) + "\n")
        print(name, *(f"{key} {found[name][key]}" for key in SHOWN), flush=True)
    if given.table:
        print(table(sorted(found.values(), key=lambda one: str(one["model"]))))


if __name__ == "__main__":
    main()
