"""The exit codes of verdicts."""

from __future__ import annotations

from tcsmt.face.api.terminal import Exit
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict

__all__ = ["EXIT"]

EXIT: dict[type[Verdict], Exit] = {
    Equivalent: Exit.ANSWERED, Distinguished: Exit.DIFFERS, Unknown: Exit.UNKNOWN
}  # fmt: skip
