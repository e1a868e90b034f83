"""``tcsmt claims``: what it prints and writes, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tcsmt.interface.cli import main


def test_command(tmp_path: Path) -> None:
    output = tmp_path / "claims.json"
    done = CliRunner().invoke(main, ["claims", "volta-third-carry-bit", "--output", str(output)])
    assert done.exit_code == 0, done.output
    assert "CONFIRMED  volta-third-carry-bit" in done.stdout
    assert done.stderr.splitlines() == [
        "no --data: statements about hardware remain undecided; for each, solvers look for a vector that "
        "would decide it",
        "0/1 volta-third-carry-bit",
        "1/1 judged",
    ]
    assert "1 claim: 1 confirmed, 0 refuted, 0 undecided" in done.output
    (found,) = json.loads(output.read_text())["claims"]
    assert found["verdict"] == "confirmed"
    assert found["question"]["verdict"] == "distinguished"
    wrong = CliRunner().invoke(main, ["claims", "volta-third-cary-bit"])
    assert wrong.exit_code == 2
    assert "did you mean volta-third-carry-bit" in wrong.output and "no --data" not in wrong.output
