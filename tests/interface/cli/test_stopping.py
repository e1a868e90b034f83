"""Stopping the command line by a signal: one line, its exit code, and nothing left running."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tests.support.paths import ROOT
from tests.support.processes import LINE, children, runs, start, until

#: Asks for two primes of 32 bits by their product.
HARD = '''"""Hard."""
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import solve

def investigate(ask):
    solve("""(set-logic QF_BV)
(declare-const x (_ BitVec 64))
(declare-const y (_ BitVec 64))
(assert (and (bvult #x0000000000000001 x) (bvult x #x0000000100000000) (bvule x y)
  (bvult y #x0000000100000000) (= (bvmul x y) #x7eb7c0ec9f492ab9)))
(check-sat)
""", SolvingOptions())
    return "answered"
'''
FIND = ("find", "--property", "hard", "--arch", "volta", "--folder")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_importing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    with start("models", path=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (code, LINE)


@pytest.mark.slow
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
        limits = Path(f"/proc/{solver}/limits")
        until(lambda: re.search(r"Max address space +8589934592 ", limits.read_text()))
        process.send_signal(number)
        _, errors = process.communicate(timeout=300)
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
    assert process.communicate(timeout=300)[0] == "True\n"


def test_interrupts_in_python_exit_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("tcsmt.interface.api.units.side_of", interrupted)
    result = CliRunner().invoke(main, ["describe", "volta"])
    assert (result.exit_code, result.output) == (130, "")


SLEEPS = '''"""Sleeps."""
import time

def investigate(ask):
    print("asking", flush=True)
    time.sleep(60)
'''


@pytest.mark.slow
def test_stopped_commands_without_output_say_so(tmp_path: Path) -> None:
    """``probe --output`` writes when it has everything."""
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    vectors = tmp_path / "vectors.json"
    common = ("--property", "sleeps", "--folder", tmp_path, "--emit", "json", "--output", vectors)
    with start("probe", "volta", *common) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors, vectors.exists()) == (130, LINE, False)


#: What it answers as.
TINY = ("--formats", "e2m1,e2m1,f16,f16", "--k", 1)
#: Answers two questions as a unit does, then says so and sleeps.
ANSWERS = """
import json, pathlib, sys, time
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.models import FusedDotAdd
model = FusedDotAdd.of(
    a_format="e2m1", b_format="e2m1", c_format="f16", d_format="f16", k=1, n_fma=1, fraction_bits=6,
    rounding="RTZ", zero_exponent=None,
)
for number, line in enumerate(sys.stdin):
    if number == 2:
        pathlib.Path(sys.argv[1]).touch()
        time.sleep(60)
    given = json.loads(line)
    words = [int(word, 16) for word in (*given["a"], *given["b"], given["c"])]
    (d,) = evaluate([model.trace.output], dict(zip(model.input_names, words)))
    print(json.dumps({"d": hex(d)}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [True, pytest.param(False, marks=pytest.mark.long)])
def test_stopped_identify_keeps_its_transcript_alone(keeps: bool, tmp_path: Path) -> None:
    """The answers so far with --transcript; nothing without it."""
    script, asked, transcript = (tmp_path / name for name in ("box.py", "asked", "t.jsonl"))
    script.write_text(ANSWERS)
    kept = ("--transcript", transcript) if keeps else ()
    command = f"{sys.executable} {script} {asked}"
    with start("identify", *TINY, "--command", command, *kept) as process:
        until(asked.exists, 300)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    holds = "2 answers; the same command goes on from there"
    assert process.returncode == 130
    assert errors == (f"tcsmt: interrupted; kept: {transcript} ({holds})\n" if keeps else LINE)
    assert not keeps or len(transcript.read_text().splitlines()) == 2


def interrupted_once(holds: Callable[[], object], *arguments: object, path: object = ROOT) -> tuple[str, str]:
    """Standard output and error of a command that is interrupted once something holds."""
    with start(*arguments, path=path) as process:
        try:
            until(lambda: holds() or process.poll() is not None, 300)
        except AssertionError:
            process.kill()
            raise
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    return output, errors


def kept_pairs(store: Path) -> int:
    return len(json.loads(store.read_text())["verdicts"]) if store.exists() else 0


QUICK = ("--solver", "bitwuzla", "--timeout", 2, "--jobs", 1)
#: An emulator that notes how many rows it is asked each time; one that sleeps when it is asked again.
COUNTS = """
import pathlib, tcsmt
unit = tcsmt.unit("volta")
def f(a, b, c):
    with pathlib.Path(__file__).with_name("asked").open("a") as file:
        file.write(f"{len(c)} ")
    return unit(a, b, c)
"""
SLOW = """
import pathlib, time, tcsmt
unit, count = tcsmt.unit("volta"), 0
def f(a, b, c):
    global count
    count += 1
    if count == 2:
        pathlib.Path(__file__).with_name("asked").touch()
        for _ in range(600):  # a signal just before a sleep does not end it
            time.sleep(0.1)
    return unit(a, b, c)
"""


@pytest.mark.slow
def test_a_stopped_audit_says_what_it_knows_and_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "store.json"
    command = ("audit", "--published", "fasi", "--unit", "volta", "--no-confirm", *QUICK, "--store", store)
    output, errors = interrupted_once(lambda: kept_pairs(store) >= 2, *command)
    count = kept_pairs(store)
    assert errors.endswith(f"kept: {store} ({count} entries; the same command goes on from there)\n")
    assert output.startswith("26 vectors for volta/mma.m8n8k4.f32.f16.f16.f32\n")
    assert output.endswith("STOPPED before every pair was decided\n")
    output, errors = interrupted_once(lambda: kept_pairs(store) > count, *command, "--json")
    assert re.match(rf"{count}/\d+ kept from before\n", errors)
    data = json.loads(output)
    assert data["stopped"] is True
    decided = [gap for gap in data["gaps"] if gap["verdict"] != "unknown"]
    assert 0 <= len(decided) - kept_pairs(store) <= 1  # the last one may not be in the file yet
    assert len(decided) < len(data["gaps"])


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_stopped_check_says_what_it_knows_and_goes_on(keeps: bool, tmp_path: Path) -> None:
    """The answers in one file, the verdicts in another; the second run asks the program no row twice."""
    asked, resume, store = (tmp_path / name for name in ("asked", "answers", "store.json"))
    (tmp_path / "an_emulator.py").write_text(COUNTS)
    command: tuple[object, ...] = ("check", "volta", "--python", "an_emulator:f", "--rows", 5000)
    command += ("--solve", *QUICK, "--store", store, *(("--resume", resume) if keeps else ()))
    output, errors = interrupted_once(lambda: kept_pairs(store) >= 1, *command, path=tmp_path)
    count, rows = kept_pairs(store), sum(map(int, asked.read_text().split()))
    assert f"{store} ({count} entr" in errors
    assert (str(resume) in errors) == keeps
    assert "these rows exclude" in output
    hint = "" if keeps else "; --resume FILE keeps answers"
    assert re.search(rf"\nSTOPPED after \d+ rows: every answer was the unit's{hint}\n$", output)
    if not keeps:
        return
    asked.write_text("")
    interrupted_once(lambda: kept_pairs(store) > count, *command, path=tmp_path)
    again = sum(map(int, asked.read_text().split()))  # some rows are asked once more
    assert 0 < again <= 512 < rows


@pytest.mark.slow
def test_a_stopped_check_counts_its_rows(tmp_path: Path) -> None:
    """Before anything else is known."""
    (tmp_path / "slow_emulator.py").write_text(SLOW)
    command = ("check", "volta", "--python", "slow_emulator:f", "--rows", 100_000)
    output, _ = interrupted_once((tmp_path / "asked").exists, *command, path=tmp_path)
    assert re.fullmatch(
        r"STOPPED after \d+ rows: every answer was the unit's; --resume FILE keeps answers\n", output
    )


@pytest.mark.slow
def test_stopped_vectors_leave_those_that_decide(tmp_path: Path) -> None:
    """The file is whole, and shorter; the same command makes all of it."""
    file, whole = tmp_path / "rows.json", tmp_path / "whole.json"
    command = ("vectors", "x86/vpdpbusd", "--output", file, "--rows")
    _, errors = interrupted_once(file.exists, *command, 200_000)
    found = re.search(r"kept: \S+rows\.json \((\d+) vectors?, those that decide; the same command", errors)
    assert found is not None, errors
    few = json.loads(file.read_text())["rows"]
    assert 0 < len(few) == int(found[1]) < 200
    made = CliRunner().invoke(
        main, ["vectors", "x86/vpdpbusd", "--output", str(whole), "--rows", "2000", "--json"]
    )
    assert made.exit_code == 0
    rows = json.loads(whole.read_text())["rows"]
    assert rows[: len(few)] == few and len(rows) == 2000
