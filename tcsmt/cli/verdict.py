"""Verdicts on the command line: the exit code, and for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown, Verdict, said_by
from tcsmt.support.errors import Exit

__all__ = ["EXIT", "record_text", "verdict_text"]

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


def record_text(record: Mapping[str, Any], found: str) -> str:
    """A recorded verdict on a lemma, with what a witness against it is called, and who says so."""
    match record["verdict"]:
        case "equivalent":
            return f"proved by {said_by(record)}"
        case "distinguished":
            return f"{found} by {record['solver']} {record['version']}"
    return f"unknown: {record['reason']}"
