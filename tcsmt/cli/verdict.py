"""Verdicts on the command line: the exit code, and for people."""

from __future__ import annotations

from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import Exit

__all__ = ["EXIT", "verdict_text"]

EXIT: dict[type[Verdict], Exit] = {
    Equivalent: Exit.ANSWERED, Distinguished: Exit.DIFFERS, Unknown: Exit.UNKNOWN
}  # fmt: skip


def verdict_text(verdict: Verdict, found: str, absent: str) -> str:
    """The verdict in one line, with what a witness and a proof are called."""
    match verdict:
        case Distinguished():
            return f"{found}: found by {verdict.by} in {verdict.seconds:.2f} s, replayed in exact fractions"
        case Equivalent():
            where = f"; {verdict.stage}" if verdict.stage else ""
            return f"{absent}: proved by {verdict.by_whom}, {verdict.seconds:.2f} s{where}"
        case Unknown():
            return f"UNKNOWN: {verdict.reason}; {verdict.seconds:.1f} s"
