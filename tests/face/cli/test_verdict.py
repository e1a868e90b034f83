"""Exit codes of verdicts."""

from __future__ import annotations

from tcsmt.face.cli.verdict import EXIT
from tcsmt.support.errors import Exit, TcsmtError


def test_exit_codes_are_those_of_cmp() -> None:
    assert [*EXIT.values()] == [0, 1, 3]
    assert [code.value for code in Exit] == [0, 1, 2, 3, 4]
    assert TcsmtError("").exit_code == 2
