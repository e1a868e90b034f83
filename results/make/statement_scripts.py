"""How long SMT solvers take for certificates' statements as a whole: ``results/benchmarks/statements.json``.

    python results/make/statement_scripts.py [FOLDER] [--seconds 20] [--output FILE]

FOLDER is a certificate. Each solver is asked every script of a whole statement that ``tcsmt certificate
export --as smtlib`` writes. ``seconds`` is the limit of a script; of each answer the file has the time of the
clock and that of the processor, as the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tcsmt
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.support.files import replace_text


def scripts(folder: Path) -> Iterator[tuple[str, str]]:
    """The script of each statement that has one as a whole, by the name of its file."""
    for statement in tcsmt.export_certificate(folder).statements:
        for name, text in statement.files.items():
            if name.endswith("/statement.smt2"):
                yield statement.file, text


def asked(text: str, solver: str, seconds: float) -> dict[str, Any]:
    """The solver's answer and how long it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    answer = solve(text, SolvingOptions(solver=solver, timeout=seconds))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {
        "solver": solver,
        "version": answer.version,
        "answer": answer.answer,
        "reason": answer.reason,
        "seconds": round(time.monotonic() - start, 2),
        "processor_seconds": round(processor, 2),
    }


def main() -> None:
    """Ask, and write the file after each statement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results/certificates"))
    parser.add_argument("--seconds", type=float, default=20.0, help="for each script and solver")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/statements.json"))
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    for file, text in scripts(options.folder):
        answers = [asked(text, solver, options.seconds) for solver in SOLVERS]
        records.append({"statement": file, "bytes": len(text), "answers": answers})
        print(
            file, *(f"{a['solver']}: {a['answer']}, {a['seconds']} s" for a in answers), sep="; ", flush=True
        )
        data = {
            "tcsmt": tcsmt.__version__,
            "limit_seconds": options.seconds,
            "processors": os.cpu_count(),
            "load": [round(load, 1) for load in os.getloadavg()],
            "statements": records,
        }
        replace_text(options.output, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
