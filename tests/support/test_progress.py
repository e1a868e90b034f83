"""How far a run is: lines where there is no terminal, a bar on one; never on standard output."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tcsmt.support.progress import no_progress, progress_bar, progress_line
from tests.support.paths import ROOT

PROGRAM = """
import time
from tcsmt.support.progress import progress_bar
with progress_bar() as step:
    step(1, 3, "[bold]first[/bold]")
    time.sleep(0.3)
    step(3, 3, "last")
print("result")
"""


@pytest.mark.parametrize("lines", [True, False])
def test_lines_where_there_is_no_terminal(lines: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(lines=lines) as step:
        step(0, 2, "")
        step(2, 2, "two units")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == ("0/2 \n2/2 two units\n" if lines else "")


def test_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    no_progress(1, 2, "x")
    assert capsys.readouterr() == ("", "")


def on_a_terminal(program: str) -> tuple[str, str]:
    """Standard output, and what a terminal gets as standard error."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stderr=theirs, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
    ) as process:  # fmt: skip
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 4096):
                said += part
        except OSError:  # the other side is closed
            pass
        assert process.stdout is not None
        out = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    return out, said.decode()


def test_terminals_show_progress_and_the_result_apart() -> None:
    """What was done is shown as it is, without the markup that it might hold; the result is apart."""
    out, text = on_a_terminal(PROGRAM)
    assert out == "result\n"
    assert "1/3" in text and "[bold]first[/bold]" in text
    assert "3/3" in text and "last" in text


SAYING = """
import time
from tcsmt.support.progress import progress_line
with progress_line() as say:
    for text in ("[bold]2 questions[/bold]", "3 questions"):
        say(text)
        time.sleep(0.3)
print("result")
"""


def test_a_line_that_changes_on_a_terminal() -> None:
    out, text = on_a_terminal(SAYING)
    assert out == "result\n"
    assert "[bold]2 questions[/bold]" in text and "3 questions" in text


@pytest.mark.parametrize("how", ["progress_bar", "progress_line"])
def test_results_that_are_printed_on_the_way_stay_apart(how: str) -> None:
    """Such as one of many, in a pipe or a file."""
    out, text = on_a_terminal(
        f"from tcsmt.support.progress import {how}\nwith {how}():\n    print('one of many')\n"
    )
    assert out == "one of many\n"
    assert "one of many" not in text


def test_no_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line() as say:
        say("3 questions")
    assert capsys.readouterr() == ("", "")
