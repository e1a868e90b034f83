"""The command line in a process that a test stops, and what is left of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.paths import ROOT

#: What an interrupted command says that has written nothing.
LINE = "tcsmt: interrupted; nothing was written\n"


def start(*arguments: object, path: object = ROOT) -> subprocess.Popen[str]:
    """``python -m tcsmt``, with ``path`` before the package's folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "tcsmt", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{path}:{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(holds: Callable[[], object], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def runs(process: int) -> bool:
    """Whether it is there, and not just waiting to be counted as dead."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
