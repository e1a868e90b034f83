"""The exit codes of verdicts."""

from __future__ import annotations

from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import Exit

__all__ = ["EXIT"]

EXIT: dict[type[Verdict], Exit] = {
    Equivalent: Exit.ANSWERED, Distinguished: Exit.DIFFERS, Unknown: Exit.UNKNOWN
}  # fmt: skip
