"""Prove multiplication and multiply-add at full width equal to SMT-LIB's, lemma by lemma.

    python results/make/ieee.py [--only TEXT] [--limit 120] [--solver NAME] [--output FILE]

The lemmas are those of ``ieee_lemmas.py``; none may have a solution. Goes on where it
stopped: what stands in the file for the same script and solver is not asked again. Seconds are for a clock on
the wall. The exit code is 1 if a lemma has a solution.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from ieee_lemmas import IeeeLemmas
from machine import machine

import tcsmt
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers.answer import digest
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.support.checkpoint import Checkpoint, Layout, Record

#: Which format's multiplication, and which format's multiply-add.
MULTIPLICATIONS = ("f16", "bf16", "f32", "f64")
MULTIPLY_ADDS = ("f16",)


def lemmas() -> Iterator[tuple[str, str]]:
    """(name, script) of every lemma, each script once."""
    for name in MULTIPLICATIONS:
        for lemma, text in IeeeLemmas(FORMATS[name]).multiplication():
            yield f"multiplication {name}: {lemma}", text
    for name in MULTIPLY_ADDS:
        for lemma, text in IeeeLemmas(FORMATS[name]).multiply_add():
            yield f"multiply-add {name}: {lemma}", text


def head(records: Mapping[str, Record]) -> Record:
    """What the file says about all of them."""
    proved = Counter(name.partition(":")[0] for name, one in records.items() if one["answer"] == "unsat")
    return {"tcsmt": tcsmt.__version__, "machine": machine(), "proved": dict(proved)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="only lemmas whose names contain this")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each lemma")
    parser.add_argument("--solver", default="bitwuzla", choices=SOLVERS)
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "comparisons" / "ieee.json")
    chosen = parser.parse_args()
    with Checkpoint(chosen.output, Layout("lemmas", head=head), "--output") as kept:
        listed = dict(lemmas())
        for name, text in listed.items():
            known = kept.records.get(name, {})
            done = known.get("script") == digest(text) and known.get("answer") != "unknown"
            if chosen.only not in name or done:
                continue
            found = solve(text, SolvingOptions(chosen.solver, chosen.limit))
            record: Record = {"answer": found.answer, "solver": f"{found.solver} {found.version}".strip()}
            record |= {"seconds": round(found.seconds, 2), "script": digest(text)}
            record |= {"reason": found.reason} if found.reason else {}
            kept.keep(name, record)
            print(f"{name}: {found.answer} {found.reason} {found.seconds:.2f} s", flush=True)
        kept.arrange(name for name in listed if name in kept.records)
        return int(any(record["answer"] == "sat" for record in kept.records.values()))


if __name__ == "__main__":
    sys.exit(main())
