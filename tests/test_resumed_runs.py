"""Runs that go on from a file: killed at a write, and after other inputs, they give what they give alone."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.killed_runs import JOBS
from tests.support.paths import ROOT

#: What keeps a file from which a run goes on.
KEEPERS = {"Checkpoint", "AnswerLog", "Transcript", "verdicts_in"}
#: Modules whose stores are tested by another one's job: they open a store of verdicts, as an atlas does.
ALIKE = {"interface/api/atlas": "atlas", "interface/api/audit": "atlas"}


def keepers() -> set[str]:
    """The modules that open such a file."""
    found = set()
    for path in (ROOT / "tcsmt").rglob("*.py"):
        calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        if any(isinstance(call, ast.Name) and call.id in KEEPERS for call in calls):
            found.add(path.relative_to(ROOT / "tcsmt").with_suffix("").as_posix())
    return found


@pytest.mark.slow
def test_every_module_that_keeps_a_file_has_a_job() -> None:
    assert keepers() == {job.module for job in JOBS.values()} | {*ALIKE}
    assert {*ALIKE.values()} <= {*JOBS}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long if job.long else pytest.mark.slow])
        for name, job in JOBS.items()
    ],
)
def test_killed_runs_go_on_to_the_same_result(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.killed_runs", name]
    environment = {**os.environ, "TCSMT_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
