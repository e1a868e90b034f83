"""The process in which one solver answers one script: ``python child.py SOLVER MEMORY_MIB SECONDS STEPS``.

Reads an SMT-LIB script from standard input, puts its first ``(check-sat)`` to the solver, and writes one line
of JSON: what :mod:`tcsmt.prove.engine.solvers.answer` says. It is run as a file, so that it imports the
solver and nothing of this package. SECONDS are of processor time: then the process ends by SIGPROF. STEPS are
the solver's own (0: no limit).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Sequence

Reply = dict[str, object]


def bitwuzla(text: str, names: Sequence[str], steps: int) -> Reply:
    """Ask Bitwuzla, through its SMT-LIB parser."""
    import bitwuzla as library

    options = library.Options()
    options.set(library.Option.PRODUCE_MODELS, True)
    parser = library.Parser(library.TermManager(), options)
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    if steps:
        checks = itertools.count(1)
        solver.configure_terminator(lambda: next(checks) > steps)
    start = time.process_time()
    answer = str(solver.check_sat()).lower()
    seconds = time.process_time() - start
    values = {}
    if answer == "sat":
        for name in names:
            value = solver.get_value(parser.parse_term(name))
            boolean = value.sort().is_bool()
            values[name.strip("|")] = int(value.value()) if boolean else int(value.value(2), 2)
    reason = f"stopped after {steps} steps" if answer == "unknown" and steps else ""
    version = library.version()
    return {"answer": answer, "values": values, "seconds": seconds, "version": version, "reason": reason}


def z3(text: str, names: Sequence[str], steps: int) -> Reply:
    """Ask Z3, through its SMT-LIB parser."""
    import z3 as library

    solver = library.SolverFor("QF_BV") if "(set-logic QF_BV)" in text else library.Solver()
    solver.set("rlimit", steps)
    solver.from_string(text)
    start = time.process_time()
    answer = str(solver.check())
    seconds = time.process_time() - start
    values = {}
    if answer == "sat":
        model, plain = solver.model(), {name.strip("|") for name in names}
        for declaration in (d for d in model.decls() if d.name() in plain):
            value = model[declaration]
            boolean = library.is_bool(value)
            values[declaration.name()] = int(library.is_true(value)) if boolean else value.as_long()
    reason = solver.reason_unknown() if answer == "unknown" else ""
    version = library.get_version_string()
    return {"answer": answer, "values": values, "seconds": seconds, "version": version, "reason": reason}


def cvc5(text: str, names: Sequence[str], steps: int) -> Reply:
    """Ask cvc5, with eager bit-blasting of pure bit-vectors, through its SMT-LIB parser."""
    import cvc5 as library

    manager = library.TermManager()
    solver = library.Solver(manager)
    solver.setOption("produce-models", "true")
    solver.setOption("rlimit", str(steps))
    if "(set-logic QF_BV)" in text:
        solver.setOption("bitblast", "eager")
    else:
        solver.setOption("fp-exp", "true")  # binary16, too
    parser = library.InputParser(solver)
    parser.setStringInput(library.InputLanguage.SMT_LIB_2_6, text, "query")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    start = time.process_time()
    result = solver.checkSat()
    seconds = time.process_time() - start
    answer = "sat" if result.isSat() else "unsat" if result.isUnsat() else "unknown"
    values = {}
    if answer == "sat":
        plain = {name.strip("|") for name in names}
        for term in (t for t in symbols.getDeclaredTerms() if t.getSymbol() in plain):
            value = solver.getValue(term)
            boolean = value.isBooleanValue()
            number = int(value.getBooleanValue()) if boolean else int(value.getBitVectorValue(10))
            values[term.getSymbol()] = number
    reason = str(result.getUnknownExplanation()) if answer == "unknown" else ""
    version = library.__version__
    return {"answer": answer, "values": values, "seconds": seconds, "version": version, "reason": reason}


def _die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, where it can (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _limit(what: int, most: int) -> None:
    """Let this process have so much; less, where it has less: who started it may not be allowed more."""
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def main() -> None:
    """Answer the script on standard input."""
    name, memory, seconds, steps = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    _die_with_parent()
    _limit(resource.RLIMIT_AS, memory << 20)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(
        signal.ITIMER_PROF, max(seconds, 1e-6)
    )  # of processor time: a busy machine changes no answer
    query = sys.stdin.buffer.read()
    text = re.split(r"^\(check-sat\)", query.decode(), maxsplit=1, flags=re.MULTILINE)[0]
    names = re.findall(r"^\(declare-const (\|[^|]*\||\S+)", text, re.MULTILINE)
    try:
        outcome = {"bitwuzla": bitwuzla, "z3": z3, "cvc5": cvc5}[name](text, names, steps)
    except ImportError as error:
        outcome = {"reason": f"{name} is not installed ({error})"}
    except MemoryError:
        outcome = {"reason": f"out of memory ({memory} MiB)"}
    except Exception as error:
        why = " ".join(str(error).split())
        outcome = {"reason": f"{name} failed: {why[:200]}"}
    reply = {"answer": "unknown", "values": {}, "seconds": 0.0, "version": "", "reason": ""}
    print(json.dumps({"script": hashlib.sha256(query).hexdigest(), **reply, **outcome}), flush=True)
    os._exit(0)  # the solver is gone by now; taking down the interpreter would cost 20 ms for each query


if __name__ == "__main__":
    main()
