"""A program in the place of ACL2."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["fake_acl2"]

#: Prints the text of ``(cw "~%~s0~%" "TEXT")``, as the end of each answer.
_ECHO = """'(cw '*) printf '\\n%s\\n' "$(echo "$line" | cut -d '"' -f 4)" ;;"""


def fake_acl2(folder: Path, monkeypatch: pytest.MonkeyPatch, cases: str, first: str = "") -> Path:
    """The program, on the path. cases: of the shell, for a line that it is told; first: what it does once."""
    program = folder / "bin" / "acl2"
    program.parent.mkdir()
    loop = ["while read -r line; do", 'case "$line" in', _ECHO, cases, "esac", "done", ""]
    program.write_text("\n".join(["#!/bin/sh", first, *loop]))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return program
