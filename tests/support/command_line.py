"""Running the command line: in this process, or in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tcsmt.interface.cli import main
from tests.support.paths import ROOT


def tcsmt(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def done(*arguments: object, code: int = 0) -> str:
    """Standard output; the exit code must be this one."""
    result = tcsmt(*arguments)
    assert result.exit_code == code, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    """The error: exit code 2, no result on standard output, no traceback."""
    result = tcsmt(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert len(result.stdout.splitlines()) <= 1  # the head of a table, at most
    assert "Traceback" not in result.stderr
    return result.stderr


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tcsmt", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, encoding="utf-8", capture_output=True, check=False, timeout=600, **options
    )


def reproduced(paper: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """What ``tcsmt reproduce`` prints, and the data that it leaves in a folder."""
    text = done("reproduce", paper, "--output", folder)
    return text, json.loads((folder / f"{paper}.json").read_text())
