"""The processor time of a question that takes a solver no time: solvers forked, and started anew.

    python benchmarks/solver_start.py [--count N]

Puts the same trivial question N times to each solver, both ways. Prints the milliseconds of a processor, and
their ratio. A solver is started anew where PYTHONPATH is set (``tcsmt.prove.engine.solvers``).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers.run import solve, spent

QUESTION = "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (= x #x2a))\n(check-sat)\n"


def milliseconds(solver: str, count: int) -> float:
    """Return those of one question."""
    solve(QUESTION, SolvingOptions(solver))  # what is loaded once is loaded
    before = spent()
    for _ in range(count):
        assert solve(QUESTION, SolvingOptions(solver)).values == {"x": 42}
    return 1000 * (spent() - before) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=30)
    count = parser.parse_args().count
    for solver in SOLVERS:
        os.environ.pop("PYTHONPATH", None)
        forked = milliseconds(solver, count)
        os.environ["PYTHONPATH"] = ""
        anew = milliseconds(solver, count)
        print(f"{solver:8} forked {forked:5.1f} ms, started anew {anew:5.1f} ms: ratio {anew / forked:.1f}")


if __name__ == "__main__":
    main()
