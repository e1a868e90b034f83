"""The process in which a SAT solver refutes clauses: ``python refuting.py CNF LRAT MEMORY_MIB SECONDS``.

Reads a DIMACS file, writes CaDiCaL's refutation in the LRAT format, and prints ``unsat``, ``sat``, or why
there is no answer. It is run as a file, so that it imports the solver and nothing of this package. SECONDS
are of processor time: then the process ends by SIGPROF.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

#: LRAT as text, and no technique that adds variables or clauses that do not follow by unit propagation.
OPTIONS = {"lrat": 1, "binary": 0, "factor": 0, "block": 0, "cover": 0, "condition": 0}


def _die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, where it can (Linux); as in ``child.py``."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _limit(what: int, most: int) -> None:
    """Let this process have so much, or what it has where that is less; as in ``child.py``."""
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def main() -> None:
    """Refute the clauses of the file."""
    cnf, lrat, memory, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    _die_with_parent()
    _limit(resource.RLIMIT_AS, memory << 20)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-6))  # 0 would be no limit
    try:
        import pysolvers as library
    except ImportError as error:
        print(f"python-sat is not installed ({error})", flush=True)
        os._exit(0)
    solver = library.cadical300_new()
    for name, value in OPTIONS.items():
        library.cadical300_set(solver, name, value)
    proof = open(lrat, "w+b")  # noqa: SIM115 - the solver closes it
    library.cadical300_tracepr(solver, proof)
    with open(cnf, encoding="utf-8") as file:
        for line in file:
            if line[0] not in "cp":
                library.cadical300_add_cl(solver, [int(word) for word in line.split()[:-1]])
    satisfiable = library.cadical300_solve(solver, [], 1)
    library.cadical300_del(solver, proof)  # writes what is left of the refutation
    print("sat" if satisfiable else "unsat", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
