"""Verdicts on the command line: the exit code, as data, and for people."""

from __future__ import annotations

from typing import Any

from tcsmt.query import Distinguished, Equivalent, Unknown, Verdict

__all__ = ["EXIT", "verdict_json", "verdict_text"]

#: Exit codes, as cmp(1) has them.
EXIT: dict[type[Verdict], int] = {Equivalent: 0, Distinguished: 1, Unknown: 3}


def verdict_json(verdict: Verdict, found: str, absent: str) -> dict[str, Any]:
    """The verdict as plain data, with what a witness and a proof are called."""
    match verdict:
        case Distinguished():
            return {"verdict": found, "solver": verdict.solver, "version": verdict.version}
        case Equivalent():
            proof = {"stage": verdict.stage, "scripts": list(verdict.scripts), "confirmed": verdict.confirmed}
            return {"verdict": absent, "solver": verdict.solver, "version": verdict.version, **proof}
        case Unknown():
            return {"verdict": "unknown", "reason": verdict.reason}


def verdict_text(verdict: Verdict, found: str, absent: str) -> str:
    """The verdict in one line, with what a witness and a proof are called."""
    match verdict:
        case Distinguished():
            return f"{found}: found by {verdict.by} in {verdict.seconds:.2f} s, replayed in exact fractions"
        case Equivalent():
            where = f"; {verdict.stage}" if verdict.stage else ""
            confirmed = f", confirmed by {verdict.confirmed}" if verdict.confirmed else ""
            return f"{absent}: proved by {verdict.by} in {verdict.seconds:.2f} s{where}{confirmed}"
        case Unknown():
            return f"UNKNOWN: {verdict.reason}; {verdict.seconds:.1f} s"
