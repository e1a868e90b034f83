"""Verdicts on the command line: exit codes, as cmp(1) has them."""

from __future__ import annotations

from tcsmt.query import Distinguished, Equivalent, Unknown, Verdict

__all__ = ["EXIT"]

#: Exit codes of commands that compare.
EXIT: dict[type[Verdict], int] = {Equivalent: 0, Distinguished: 1, Unknown: 3}
