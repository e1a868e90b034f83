"""Identify catalogue rows from boxes that only answer; writes results/identify/catalogue.json as it goes.

Without rows: one for each distinct arithmetic of the fused dot-product-add family. Rows on file, identified
by the same code, are left out, so that a sweep goes on where it stopped.
Usage: python results/make/identify_sweep.py [--timeout SECONDS] [--jobs N] [--scheduler ADDRESS] [--again]
       [--table] [--file FILE] [ROW...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from tcsmt.identification.units.catalogue_rows import distinct_rows, task_for
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.jobs.tasks import Workers, computed
from tcsmt.support.progress import progress_bar

SHOWN = ("verdict", "right", "questions", "floor", "equal", "seconds")
LAYOUT = Layout(
    "rows",
    key=lambda record: str(record["model"]),
    head=lambda records: {"command": "results/make/identify_sweep.py", "seed": 1},
)


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
    main()
