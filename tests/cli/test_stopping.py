"""Stopping the command line by a signal: one line, its exit code, and nothing left running."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.cli import describe, main
from tests.support.processes import LINE, children, runs, start, until

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
