"""``tcsmt check``."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done, refused
from tests.support.fake_device import fake_device
from tests.support.sampling import mostly_long

pytestmark = pytest.mark.usefixtures("one_audit")
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


@pytest.mark.slow
def test_a_naive_emulator_is_shown_where_it_differs(emulator: Path) -> None:
    text = done("check", "volta", "--python", "an_emulator:naive", "--rows", 20_000, code=1)
    assert text.startswith(f"a row on which an_emulator:naive differs from {VOLTA}, ")
    assert f"an_emulator:naive is not {VOLTA}: " in text
    assert "it looks like: IEEE additions in f32, in order, k0 first, from c on; " in text
    assert "what the unit does:" in text and "aligned product 0" in text
    data = json.loads(
        done("check", "volta", "--python", "an_emulator:naive", "--rows", 2_000, "--json", code=1)
    )
    assert data["mismatches"] and data["first"]["unit"]["word"] != data["first"]["implementation"]["word"]
    assert VOLTA not in data["looks_like"]


@pytest.mark.slow
@pytest.mark.parametrize("flip", mostly_long([0, 1], [1]))
def test_devices_are_compared_and_their_answers_written(
    flip: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_device(monkeypatch, tmp_path, VOLTA, flip=flip)
    output = tmp_path / "answers.json"
    text = done("check", "volta", "--device", "--rows", 20_000, "--output", output, code=flip)
    said = f"fake is not {VOLTA}: 20,000 of 20,000 rows differ" if flip else f"fake agrees with {VOLTA}"
    assert said in text
    assert ("these rows exclude" in text) != bool(flip)
    data = json.loads(done("validate", output, "--json", code=flip))
    assert data["rows"] > 50 and bool(data["mismatches"]) == bool(flip)
    assert data["datasets"][0]["gpu"] == "fake"


@pytest.mark.slow
def test_programs_are_asked_in_lines(tmp_path: Path) -> None:
    script = tmp_path / "box.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'d': json.loads(line)['c']}), flush=True)\n"
    )
    text = done("check", "volta", "--command", f"{sys.executable} {script}", "--rows", 1, code=1)
    assert f"is not {VOLTA}" in text


#: Answers c; counts its batches in a file, and does something before.
BATCHES = """
import os, struct, sys
i, o = sys.stdin.buffer, sys.stdout.buffer
while head := i.read(4):
    (n,) = struct.unpack("<I", head)
    rows = [i.read(12)[8:] for _ in range(n)]
    with open("batches", "a") as counted: counted.write("x")
    {what}
    o.write(b"".join(rows))
    o.flush()
"""


def test_a_stop_loses_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that dies is named; the next run asks only what was not answered."""
    monkeypatch.chdir(tmp_path)
    script, count = tmp_path / "box.py", tmp_path / "batches"
    given = ["check", "x86/vpdpbusd", "--command", f"{sys.executable} {script}", "--protocol", "batches",
             "--rows", 60_000, "--resume", "kept"]  # fmt: skip
    script.write_text(BATCHES.format(
        what="if os.path.getsize('batches') > 5: sys.exit('enough')"
    ))  # fmt: skip
    assert "it ended with 1: enough (asked twice), at the row a0=" in refused(*given)
    kept = (tmp_path / "kept").stat().st_size
    assert kept > 4096
    count.write_text("")
    script.write_text(BATCHES.format(what="pass"))
    whole = json.loads(done(*given, "--json", code=1))
    asked = count.stat().st_size
    count.write_text("")
    assert json.loads(done(*given, "--json", code=1)) == whole
    assert count.stat().st_size == 1 < asked  # the rows that are asked once more


def test_exchanged_programs_are_asked_again(emulator: Path) -> None:
    """The answers of another program are not taken for its own: all rows are asked of it."""
    code = "import tcsmt\nunit = tcsmt.unit('x86/vpdpbusd')\ndef f(a, b, c):\n    return unit(a, b, c)"
    given = ["check", "x86/vpdpbusd", "--python", "an_emulator:f", "--rows", 20_000, "--resume", "kept"]
    (emulator / "an_emulator.py").write_text(f"{code}\n")
    assert "an_emulator:f agrees with x86/vpdpbusd" in done(*given)
    sys.modules.pop("an_emulator", None)
    (emulator / "an_emulator.py").write_text(f"{code} ^ 1  # another program\n")
    assert "20,000 of 20,000 rows differ" in done(*given, code=1)


def test_programs_that_change_their_answers_are_reported(emulator: Path) -> None:
    (emulator / "an_emulator.py").write_text(
        "import tcsmt\n"
        "unit, calls = tcsmt.unit('x86/vpdpbusd'), []\n"
        "def f(a, b, c):\n"
        "    calls.append(1)\n"
        "    d = unit(a, b, c)\n"
        "    d[:3] ^= len(calls) > 2 and len(d) < 1000\n"
        "    return d\n"
    )
    given = ["check", "x86/vpdpbusd", "--python", "an_emulator:f", "--rows", 20_000]
    text = done(*given, code=1)
    assert "gives the answers of x86/vpdpbusd on 20,000 rows, but not every time" in text
    assert "its answers change: " in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "give one of --device, --command, --python and --data"),
        (["--device", "--python", "a:b"], "give one of --device, --command, --python and --data"),
        (["--python", "an_emulator:naive", "--protocol", "batches"], "--protocol needs --command"),
        (["--data", "x.csv", "--solve"], "--data asks nothing: --solve is not allowed"),
        (["--data", "x.csv"], "there is no file or folder x.csv"),
        (["--python", "an_emulator:naive", "--resume", "an_emulator.py"], "is not a file of kept answers"),
        (["--python", "nothing"], "--python nothing: expected MODULE:FUNCTION"),
        (["--python", "no_such_module:f"], "--python no_such_module:f: No module named 'no_such_module'"),
        (["--python", "an_emulator:missing"], "unknown function of module an_emulator 'missing'"),
        (["--python", "an_emulator:short"], "the implementation's result has shape (1,): must be ("),
        (["--python", "an_emulator:broken"], "--python an_emulator:broken: IndexError: index "),
        (["--python", "an_emulator:number"], "--python an_emulator:number: not a function"),
        (["--python", "an_emulator:naive", "--output", "x.csv"], "--output x.csv: allowed suffix: .json"),
    ],
)
def test_bad_input(given: list[str], said: str, emulator: Path) -> None:
    assert said in refused("check", "volta", *given)


def test_solvers_work_where_they_are_told_to(emulator: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How the rows are looked for that exclude more: by whom, and how many at a time."""
    asked: list[SolvingOptions | None] = []

    def check(*given: Any, options: SolvingOptions | None, **more: Any) -> Any:
        asked.append(options)
        raise TcsmtError("enough")

    monkeypatch.setattr(import_module("tcsmt.interface.api.check"), "checked", check)
    given = ("check", "volta", "--python", "an_emulator:naive", "--store", emulator / "store.json")
    refused(*given, "--solve", "--jobs", 3, "--scheduler", "tcp://host:8786", "--timeout", 5)
    refused(*given, "--jobs", 3)
    expected = SolvingOptions(
        timeout=5.0, jobs=3, scheduler="tcp://host:8786", store=emulator / "store.json"
    )  # fmt: skip
    assert asked == [expected, None]


@pytest.mark.slow
def test_functions_get_block_scales_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come by name; a function that does not take them is told so."""
    unit = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"
    (tmp_path / "scaled.py").write_text(
        "import tcsmt\n"
        f"unit = tcsmt.unit('{unit}')\n"
        "def right(a, b, c, scale_a, scale_b):\n"
        "    assert scale_a.shape == (len(c), 1) and scale_a.dtype.name == 'float8_e8m0fnu'\n"
        "    return unit(a, b, c, scale_a=scale_a, scale_b=scale_b)\n"
        "def none(a, b, c):\n"
        "    return c\n"
    )
    monkeypatch.chdir(tmp_path)
    text = done("check", unit, "--python", "scaled:right", "--rows", 100)
    assert f"scaled:right agrees with {unit}" in text
    message = refused("check", unit, "--python", "scaled:none", "--rows", 100)
    assert "--python scaled:none: TypeError" in message and "'scale_a'" in message
