"""``tcsmt check``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.fake_device import fake_device

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
EMULATOR = """
import numpy as np
def naive(a, b, c):
    with np.errstate(all="ignore"):
        for x, y in zip(a.astype(np.float32).T, b.astype(np.float32).T):
            c = c + x * y
    return c
def short(a, b, c):
    return c[:1]
def broken(a, b, c):
    return a[len(a)]
number = 3
"""


@pytest.fixture
def emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "an_emulator.py").write_text(EMULATOR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "an_emulator", raising=False)
    return tmp_path


def test_a_naive_emulator_is_shown_where_it_differs(emulator: Path) -> None:
    text = done("check", "volta", "--python", "an_emulator:naive", "--rows", 20_000, code=1)
    assert text.startswith(f"an_emulator:naive is not {VOLTA}: ")
    assert "what the unit does:" in text and "aligned product 0" in text
    data = json.loads(
        done("check", "volta", "--python", "an_emulator:naive", "--rows", 20_000, "--json", code=1)
    )
    assert data["mismatches"] and data["first"]["unit"]["word"] != data["first"]["implementation"]["word"]
    assert VOLTA not in data["looks_like"]


@pytest.mark.parametrize("flip", [0, 1])
def test_a_device(flip: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_device(monkeypatch, tmp_path, VOLTA, flip=flip)
    output = tmp_path / "answers.json"
    text = done("check", "volta", "--device", "--rows", 20_000, "--output", output, code=flip)
    said = f"fake is not {VOLTA}: 20,000 of 20,000 rows differ" if flip else f"fake agrees with {VOLTA}"
    assert said in text
    assert ("these rows exclude" in text) != bool(flip)
    data = json.loads(done("validate", output, "--json", code=flip))
    assert data["rows"] > 50 and bool(data["mismatches"]) == bool(flip)
    assert data["datasets"][0]["gpu"] == "fake"


def test_a_program_that_is_asked_in_lines(tmp_path: Path) -> None:
    script = tmp_path / "box.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'d': json.loads(line)['c']}), flush=True)\n"
    )
    text = done("check", "volta", "--command", f"{sys.executable} {script}", "--rows", 1, code=1)
    assert f"is not {VOLTA}" in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "give one of --device, --command and --python"),
        (["--device", "--python", "a:b"], "give one of --device, --command and --python"),
        (["--python", "nothing"], "--python nothing: expected MODULE:FUNCTION"),
        (["--python", "no_such_module:f"], "--python no_such_module:f: No module named 'no_such_module'"),
        (["--python", "an_emulator:missing"], "module an_emulator has no missing"),
        (["--python", "an_emulator:short"], "the implementation's result has shape (1,): must be ("),
        (["--python", "an_emulator:broken"], "--python an_emulator:broken: IndexError: index "),
        (["--python", "an_emulator:number"], "--python an_emulator:number: not a function"),
        (["--python", "an_emulator:naive", "--output", "x.csv"], "--output x.csv: allowed suffix: .json"),
    ],
)
def test_bad_input(given: list[str], said: str, emulator: Path) -> None:
    assert said in refused("check", "volta", *given)
