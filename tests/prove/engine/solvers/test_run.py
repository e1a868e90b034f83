"""Solvers as child processes: their answers, and what is left when they fail."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tcsmt.prove.engine.options import CHOICES, SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers import run
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solvers.run import Child, solve
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long


def x_is(word: int) -> str:
    return f"(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (= x #x{word:02x}))\n(check-sat)\n"


def solved(word: int) -> bool:
    return solve(x_is(word), SolvingOptions()).values == {"x": word}


def warm() -> list[int]:
    """The numbers of the processes that this one keeps, to fork solvers off."""
    return [each.process.pid for (process, _), each in run._WARM.items() if process == os.getpid()]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(run, "_WARM", {})
    yield
    run._end()


@pytest.mark.usefixtures("alone")
def test_one_process_stays() -> None:
    assert solved(1) and len(warm()) == 1
    process = warm()
    assert solved(2) and warm() == process


@pytest.mark.usefixtures("alone")
def test_processor_time_of_forks_counts() -> None:
    assert solved(1)  # the library is loaded
    before, own = run.spent(), sum(os.times()[:4])
    assert solved(2)
    assert run.spent() - before > sum(os.times()[:4]) - own


@pytest.mark.usefixtures("alone")
def test_one_that_was_killed_is_started_again() -> None:
    assert solved(1)
    (before,) = warm()
    os.kill(before, signal.SIGKILL)
    assert solved(2) and warm() != [before]


@pytest.mark.usefixtures("alone")
def test_nothing_is_forked_where_another_library_may_be_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert solved(3) and not warm()


@pytest.mark.usefixtures("alone")
def test_threads_do_not_mix_up_their_answers() -> None:
    right: list[bool] = []
    threads = [threading.Thread(target=lambda n=n: right.append(solved(n))) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 6


@pytest.mark.usefixtures("alone")
def test_a_reply_that_nobody_waited_for_is_not_another_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert solved(4)
    (before,) = warm()
    send = socket.send_fds

    def interrupted(*arguments: object) -> int:
        send(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(socket, "send_fds", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solved(5)
    assert solved(6) and warm() != [before]


@pytest.mark.usefixtures("alone")
def test_a_process_that_was_forked_off_has_its_own() -> None:
    assert solved(7)
    process = warm()
    fork = os.fork()
    if not fork:
        alone = not warm() and solved(8) and warm() != process
        os._exit(0 if alone else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert solved(9) and warm() == process


@pytest.mark.usefixtures("alone")
def test_no_process_is_left_behind() -> None:
    program = (
        "from tcsmt.prove.engine.options import SolvingOptions\n"
        "from tcsmt.prove.engine.solvers import run\n"
        f"from tcsmt.prove.engine.solvers.run import solve\nsolve({x_is(1)!r}, SolvingOptions())\n"
        "print(*(each.process.pid for each in run._WARM.values()))"
    )
    process = int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


SAT = """(set-logic QF_BV)
(declare-const x (_ BitVec 8))
(declare-const b Bool)
(declare-const |a name| (_ BitVec 4))
(assert (and b (= (bvadd x #x01) #x43) (= |a name| #xa)))
(check-sat)
(get-value (x))
(exit)
"""
UNSAT = "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (bvult x x))\n(check-sat)\n"
#: The product of two primes of 32 bits: no solver finds them in a few seconds.
HARD = """(set-logic QF_BV)
(declare-const x (_ BitVec 64))
(declare-const y (_ BitVec 64))
(assert (and (bvult #x0000000000000001 x) (bvult x #x0000000100000000) (bvule x y)
  (bvult y #x0000000100000000) (= (bvmul x y) #x7eb7c0ec9f492ab9)))
(check-sat)
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Child]]:
    """The child processes that were started; none may be left afterwards."""
    children: list[Child] = []
    start = run._start

    def record(*arguments: object) -> Child:
        children.append(start(*arguments))
        return children[-1]

    monkeypatch.setattr(run, "_start", record)
    yield children
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)


Stub = Callable[[str], None]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stub:
    """Run this Python code in place of the solver ``bitwuzla``; the others stay as they are."""
    real = run._CHILD

    def install(code: str) -> None:
        path = tmp_path / "child.py"
        head = f"""
            import json, os, runpy, signal, sys, time
            if sys.argv[1] != "bitwuzla":
                runpy.run_path({str(real)!r}, run_name="__main__")
                sys.exit()
            """
        path.write_text(textwrap.dedent(head) + textwrap.dedent(code))
        monkeypatch.setattr(run, "_CHILD", path)

    return install


@pytest.mark.parametrize("solver", CHOICES)
def test_sat(solver: str, started: list[Child]) -> None:
    answer = solve(SAT, SolvingOptions(solver, timeout=30))
    assert answer.answer == "sat"
    assert answer.values == {"x": 0x42, "b": 1, "a name": 10}
    assert answer.solver in SOLVERS
    assert answer.version[0].isdigit()
    assert len(started) == (len(SOLVERS) if solver == "portfolio" else 1)


@pytest.mark.parametrize("solver", CHOICES)
def test_unsat(solver: str, started: list[Child]) -> None:
    answer = solve(UNSAT, SolvingOptions(solver, timeout=30))
    assert (answer.answer, answer.values) == ("unsat", {})


def test_auto_is_one_solver() -> None:
    assert SolvingOptions().team == SOLVERS[:1]
    assert SolvingOptions("z3").team == ("z3",)
    assert SolvingOptions("portfolio").team == SOLVERS


@pytest.mark.slow
@pytest.mark.parametrize("solver", mostly_long([*SOLVERS, "portfolio"], ["portfolio"]))
def test_timeout_kills(solver: str, started: list[Child]) -> None:
    """A solver ends itself, after processor time."""
    answer = solve(HARD, SolvingOptions(solver, timeout=0.4))
    assert answer.answer == "unknown"
    team = SOLVERS if solver == "portfolio" else (solver,)
    assert len(started) == len(team)
    assert {child.returncode for child in started} == {-signal.SIGPROF}
    assert set(answer.reason.split("; ")) == {f"{name}: timeout" for name in team}


def test_waiting_is_not_limited(stub: Stub) -> None:
    """A busy machine, on which a solver waits for a processor, takes no answer away."""
    stub(
        "time.sleep(1); runpy.run_path({real!r}, run_name='__main__')".replace(
            "{real!r}", repr(str(run._CHILD))
        )
    )
    assert solve(UNSAT, SolvingOptions("bitwuzla", timeout=0.9)).answer == "unsat"


@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_are_limited(solver: str) -> None:
    """By the solver's own count, so that every machine gives the same answer."""
    few = solve(HARD, SolvingOptions(solver, steps=1000))
    assert few.answer == "unknown" and "timeout" not in few.reason
    assert solve(UNSAT, SolvingOptions(solver, steps=1000000)).answer == "unsat"
    assert solve(SAT, SolvingOptions(solver, steps=1000000)).answer == "sat"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that uses no processor time hangs after 0.3 s."""
    monkeypatch.setattr(run, "_HANGING", (0.0, 0.3))


def test_interrupts_kill_the_solver(started: list[Child], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> Answer:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(SAT, SolvingOptions("bitwuzla", timeout=30))
    assert started


@pytest.mark.slow
@pytest.mark.parametrize("solver", mostly_long(SOLVERS, SOLVERS[:1]))
def test_memory_limit(solver: str, started: list[Child]) -> None:
    text = HARD.replace("BitVec 64", "BitVec 2048")
    text = re.sub(r"#x(\w+)", lambda m: f"#x{m[1]:0>512}", text)
    answer = solve(text, SolvingOptions(solver, timeout=30, memory=256))
    assert answer.answer == "unknown"
    assert "timeout" not in answer.reason


def test_out_of_memory(stub: Stub, started: list[Child]) -> None:
    stub(
        f"""
        sys.modules["bitwuzla"] = type(sys)("bitwuzla")
        sys.modules["bitwuzla"].Options = lambda: bytearray(1 << 40)
        runpy.run_path({str(run._CHILD)!r}, run_name="__main__")
        """
    )
    answer = solve(UNSAT, SolvingOptions("bitwuzla", timeout=30, memory=512))
    assert answer.reason == "bitwuzla: out of memory (512 MiB)"


FAILURES = {
    "segfault": ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed (SIGSEGV)"),
    "abort": ("os.abort()", "crashed (SIGABRT)"),
    "garbage": ("print('sat, I think')", "wrote not JSON: 'sat, I think'"),
    "nothing": ("sys.exit(7)", "crashed (exit code 7)"),
    "array": ("print('[1, 2]')", "wrote no object with the fields answer, reason, script, "),
    "half a line": ('print(\'{"answer": "un\'); sys.exit(3)', "crashed (exit code 3)"),
    "not installed": (
        "sys.modules['bitwuzla'] = None; runpy.run_path({real!r}, run_name='__main__')",
        "bitwuzla is not installed (",
    ),
    "exception": (
        "sys.modules['bitwuzla'] = type(sys)('x'); runpy.run_path({real!r}, run_name='__main__')",
        "bitwuzla failed: ",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failing_solvers_are_unknown_with_a_reason(failure: str, stub: Stub, started: list[Child]) -> None:
    code, reason = FAILURES[failure]
    stub(code.replace("{real!r}", repr(str(run._CHILD))))
    answer = solve(SAT, SolvingOptions("bitwuzla", timeout=30))
    assert answer.answer == "unknown"
    assert answer.reason.startswith(f"bitwuzla: {reason}")


@pytest.mark.parametrize("failure", mostly_long(FAILURES, ["segfault", "garbage"]))
def test_the_portfolio_goes_on_without_a_failing_solver(failure: str, stub: Stub) -> None:
    stub(FAILURES[failure][0].replace("{real!r}", repr(str(run._CHILD))))
    others = solve(SAT, SolvingOptions("portfolio", timeout=30))
    assert (others.answer, others.values["x"]) == ("sat", 0x42)
    assert others.solver in ("z3", "cvc5")


@pytest.mark.long
def test_every_reason_is_told(stub: Stub) -> None:
    stub("sys.exit(7)")
    reason = solve(HARD, SolvingOptions("portfolio", timeout=2)).reason
    assert set(reason.split("; ")) == {
        "bitwuzla: crashed (exit code 7)", "z3: timeout", "cvc5: timeout",
    }  # fmt: skip


def test_a_solver_that_does_not_read(stub: Stub, impatient: None, started: list[Child]) -> None:
    """A script longer than a pipe holds, to a child that never reads it."""
    stub("time.sleep(60)")
    answer = solve(";" * (1 << 20) + "\n" + SAT, SolvingOptions("bitwuzla"))
    assert answer.reason == "bitwuzla: hangs"
    assert [child.returncode for child in started] == [-signal.SIGKILL]


def test_a_solver_that_does_not_end(stub: Stub, impatient: None, started: list[Child]) -> None:
    """One that prints something and hangs."""
    stub("print('warning', flush=True); time.sleep(60)")
    answer = solve(SAT, SolvingOptions("bitwuzla"))
    assert answer.reason == "bitwuzla: hangs"
    assert [child.returncode for child in started] == [-signal.SIGKILL]


def test_a_solver_that_dies_unread(stub: Stub) -> None:
    stub("os._exit(1)")
    answer = solve(";" * (1 << 20) + "\n" + SAT, SolvingOptions("bitwuzla", timeout=20))
    assert answer.reason == "bitwuzla: crashed (exit code 1)"


def test_text_that_is_no_script() -> None:
    answer = solve("(set-logic QF_BV)\n(assert nonsense)\n(check-sat)", SolvingOptions(timeout=20))
    assert answer.answer == "unknown"
    assert answer.reason.startswith("bitwuzla: bitwuzla failed: ")


@pytest.mark.long
def test_solvers_end_though_their_parent_was_killed(tmp_path: Path) -> None:
    """The solver ends by its own limit where nobody is left to end it."""
    program = (
        f"from tcsmt.prove.engine.solvers import run; run.solve({HARD!r}, run.SolvingOptions(timeout=1))"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        if not children.parent.exists():
            pytest.skip("no /proc")
        while not (found := children.read_text().split()):
            time.sleep(0.05)
        parent.kill()
    solver = Path("/proc", found[0])
    for _ in range(100):
        if not solver.exists() or "\nState:\tZ" in (solver / "status").read_text():
            return
        time.sleep(0.1)
    os.kill(int(found[0]), signal.SIGKILL)
    pytest.fail("the solver goes on")


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e7])
def test_bad_timeouts(timeout: float) -> None:
    with pytest.raises(TcsmtError, match=r"timeout = .*: .*over 0 .*1000000"):
        SolvingOptions(timeout=timeout)


@pytest.mark.parametrize("steps", [0, -1, 1 << 32])
def test_bad_steps(steps: int) -> None:
    with pytest.raises(TcsmtError, match=r"steps = .*: must be from 1 to 4294967295"):
        SolvingOptions(steps=steps)


@pytest.mark.parametrize("memory", [-1, 63, 1 << 50])
def test_bad_memory(memory: int) -> None:
    with pytest.raises(TcsmtError, match=r"memory = .*: must be from 64 to 1048576 MiB"):
        SolvingOptions(memory=memory)


def test_bad_solver() -> None:
    with pytest.raises(TcsmtError, match=r"'bitwuzzla': .*bitwuzla"):
        SolvingOptions("bitwuzzla")


@pytest.mark.parametrize("name", ["child.py", "refuting.py"])
def test_a_limit_that_is_lower_already_stays(name: str) -> None:
    """As ``ulimit -v`` sets it: who is not the superuser cannot raise it, and solvers crashed."""
    program = (
        "import resource, runpy\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        f"limit = runpy.run_path({str(run._CHILD.with_name(name))!r})['_limit']\n"
        "for most in (8 << 30, 2 << 30):\n"
        "    limit(resource.RLIMIT_AS, most)\n"
        "    print(*(bound >> 30 for bound in resource.getrlimit(resource.RLIMIT_AS)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["4 4", "2 2"]
