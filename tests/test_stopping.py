"""Stopping the command line by a signal: one line, its exit code, and nothing left running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.cli import describe, main

ROOT = Path(__file__).parents[1]
LINE = "tcsmt: interrupted; what was finished is on disk\n"
#: Asks for two primes of 32 bits by their product.
HARD = '''"""Hard."""
from tcsmt.prove.solvers.run import Settings, solve

def investigate(ask):
    solve("""(set-logic QF_BV)
(declare-const x (_ BitVec 64))
(declare-const y (_ BitVec 64))
(assert (and (bvult #x0000000000000001 x) (bvult x #x0000000100000000) (bvule x y)
  (bvult y #x0000000100000000) (= (bvmul x y) #x7eb7c0ec9f492ab9)))
(check-sat)
""", Settings())
    return "answered"
'''
FIND = ("find", "--property", "hard", "--arch", "volta", "--properties")


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


def until(holds: Callable[[], object], seconds: float = 20) -> None:
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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_importing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    with start("models", path=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (code, LINE)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and only Linux tells children")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_no_solver_is_left(number: signal.Signals, code: int, tmp_path: Path) -> None:
    (tmp_path / "hard.py").write_text(HARD)
    with start(*FIND, tmp_path) as process:
        until(lambda: children(process.pid))
        (solver,) = children(process.pid)
        # once it has set its limits, it has told the kernel whose child it is
        until(lambda: re.search(r"Max cpu time +61 ", Path(f"/proc/{solver}/limits").read_text()))
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (code, "" if number is signal.SIGKILL else LINE)
    until(lambda: not runs(solver))


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    """As a shell's background jobs and nohup ask for."""
    (tmp_path / "click.py").write_text(
        "import signal, sys\nprint(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)\nsys.exit()\n"
    )
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start("models", path=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.communicate(timeout=20)[0] == "True\n"


def test_an_interrupt_where_python_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(describe, "row_given", interrupted)
    result = CliRunner().invoke(main, ["describe", "volta"])
    assert (result.exit_code, result.output) == (130, "")
