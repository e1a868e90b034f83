"""Identify catalogue rows from boxes that only answer; writes results/identify.json as it goes.

Usage: python benchmarks/identify_sweep.py [--limit SECONDS] ROW...
"""

import argparse
import json
import time
from pathlib import Path

from tcsmt.catalogue import row_named
from tcsmt.files import replace_text
from tcsmt.identify.boxes import model_box
from tcsmt.identify.family import Family
from tcsmt.identify.search import Identification
from tcsmt.solvers.run import Settings

RESULTS = Path("results/identify.json")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--timeout", type=float, default=5.0)
    given = parser.parse_args()
    found = {r["model"]: r for r in json.loads(RESULTS.read_text())["rows"]} if RESULTS.exists() else {}
    for name in given.rows:
        m = row_named(name).model
        family = Family(m.a_format, m.b_format, m.c_format, m.d_format, m.k)
        truth = family.row(m)
        start = time.monotonic()
        search = Identification(family, model_box(m), settings=Settings(timeout=given.timeout), kept=True)
        outcome = search.run()
        found[name] = {
            "model": name, "verdict": outcome.verdict, "reason": outcome.reason,
            "questions": len(outcome.exchanges), "hypotheses": family.count, "floor": round(family.floor, 2),
            "equal": len(outcome.rows), "proved_by_solver": outcome.proofs, "unproved": len(outcome.unproved),
            "right": bool(truth is not None and (outcome.rows == truth).all(axis=1).any()),
            "left_after_each": outcome.counts, "seconds": round(time.monotonic() - start, 1),
        }  # fmt: skip
        data = {
            "command": "benchmarks/identify_sweep.py",
            "seed": 1,
            "rows": sorted(found.values(), key=lambda r: r["model"]),
        }
        replace_text(RESULTS, json.dumps(data, indent=1) + "\n")
        print({k: v for k, v in found[name].items() if k != "left_after_each"}, flush=True)


if __name__ == "__main__":
    main()
