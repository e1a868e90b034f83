"""What every run of the tests does: slow cases are left out, and what takes long unmarked is named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

TESTS = """
import time
import pytest

def busy():
    end = time.process_time() + 0.8
    while time.process_time() < end:
        pass

def test_quick():
    time.sleep(0.9)  # of the clock

def test_busy():
    busy()

@pytest.mark.slow_cases("b-2")
@pytest.mark.parametrize(("one", "two"), [("a", 1), ("b", 2)])
def test_cases(one, two):
    if one == "b":
        busy()

@pytest.mark.slow
@pytest.mark.parametrize("case", ["slow", pytest.param("long", marks=pytest.mark.long)])
def test_sweep(case):
    assert case == "slow"
"""


def run(folder: Path, *options: str) -> str:
    """What pytest prints about those tests, with this suite's settings and fixtures."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "pyproject.toml"),
        "-p",
        "tests.conftest",
        "-v",
    ]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, str(folder / "test_these.py")], cwd=ROOT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.slow
def test_slow_tests(tmp_path: Path) -> None:
    """Processor time counts, of whatever machine; a case that its test names is left out by default."""
    (tmp_path / "test_these.py").write_text(TESTS)
    usual = run(tmp_path)
    named = usual.partition("and not marked slow")[2]
    assert re.findall(r"s \S*::(\w+)", named) == ["test_busy"]
    assert "3 passed, 3 deselected" in usual
    slow = run(tmp_path, "-m", "slow")
    assert "2 passed, 4 deselected" in slow and "and not marked slow" not in slow
