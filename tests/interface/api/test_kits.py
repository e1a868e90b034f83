"""Kits from Python and in the shell: written, and somebody's functions held against their rows."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.interface.cli import main
from tests.support.kits import built

INSTRUCTION = "mma.m8n8k4.f32.f16.f16.f32"
NAME = "volta_mma_m8n8k4_f32_f16_f16_f32"
#: What is wrong with a function, the text of one, and what is said of it.
WRONG = [
    ("a product", "void {name}(unsigned *d, unsigned *a) {{ d[5] = a[0]; }}", "lane"),
    ("another place", "void {name}(unsigned *d) {{ d[-1] = 1; }}", "writes outside of D"),
    ("an operand", "void {name}(unsigned *d, unsigned *a) {{ a[64] = 1; (void)d; }}", "writes outside of A"),
    ("an end", "#include <stdlib.h>\nvoid {name}(void) {{ abort(); }}", "ends the process"),
]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    made = tcsmt.export_kit("v100", folder, only=(INSTRUCTION,), rows=12)
    assert [function.name for function in made.functions] == [NAME]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["CMakeLists.txt", "check.c", "kit.json", "units", "vectors", "volta.c", "volta.h"]
    )
    return folder


def library(folder: Path, text: str) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    source, path = folder / "mine.c", folder / "libmine.so"
    source.write_text(text)
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", path, source], check=True)
    return path


def test_a_kit_agrees_with_itself(kit: Path, tmp_path: Path) -> None:
    made = tcsmt.export_kit("volta", only=(INSTRUCTION,), rows=12)
    own = built(made, tmp_path)
    found = tcsmt.check_kit(kit, own)
    assert found.agrees and found.compared == (NAME,) and not found.missing and found.tiles >= 1
    ran = CliRunner().invoke(main, ["check", "--kit", str(tmp_path), "--json"])  # the library in the folder
    assert ran.exit_code == 0 and json.loads(ran.output)["agrees"] is True


@pytest.mark.parametrize(("what", "text", "said"), WRONG, ids=[what for what, *_ in WRONG])
def test_a_wrong_function_is_named(what: str, text: str, said: str, kit: Path, tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        main, ["check", "--kit", str(kit), "--library", str(library(tmp_path, text.format(name=NAME)))]
    )
    assert ran.exit_code == 1 and f"{NAME}: " in ran.output and said in ran.output


def test_functions_that_are_missing_are_named(kit: Path, tmp_path: Path) -> None:
    found = tcsmt.check_kit(kit, library(tmp_path, "int other;"))
    assert not found.agrees and found.missing == (NAME,) and NAME in str(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--kit", "."], "no kit.json"),
        (["check", "--kit", "KIT"], "which shared library"),
        (["check", "--kit", "KIT", "--library", "none.so"], "no such file"),
        (["check", "--kit", "KIT", "--library", "KIT/kit.json"], "cannot be called"),
        (["check", "--kit", "KIT", "volta"], "UNIT"),
        (["check", "--library", "x.so", "volta"], "--kit"),
        (["export", "volta", "--as", "c-kit"], "--output is missing"),
        (["export", "volta", "--as", "c-kit", "--output", "x", "--name", "y"], "--name"),
        (["export", "volta", "--as", "c-kit", "--output", "x", "--only", "mma.m8"], INSTRUCTION),
    ],
)
def test_errors(
    arguments: list[str], said: str, kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, [one.replace("KIT", str(kit)) for one in arguments])
    assert ran.exit_code == 2 and said in ran.output


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "system"},
        {"name": "../../elsewhere"},
        {"arguments": ["d", "a", 0, 0]},
        {"words": {"a": 64, "b": 64, "c": 256, "d": 2}},
        {"per_thread": 0},
        {"unit": "volta/mma.m8n8k4.f16.f16.f16.f16"},
        {"unit": "volta/none"},
        {"unit": 1},
    ],
    ids=str,
)
def test_a_forged_kit_calls_nothing(forged: dict[str, Any], kit: Path, tmp_path: Path) -> None:
    """What is called, and with which arrays, is told by the instruction, and not by the file."""
    folder = tmp_path / "kit"
    shutil.copytree(kit, folder)
    manifest = json.loads((folder / "kit.json").read_text())
    manifest["functions"][0] |= forged
    (folder / "kit.json").write_text(json.dumps(manifest))
    mine = library(tmp_path, f'#include <stdio.h>\nvoid {NAME}(void) {{ fopen("{tmp_path}/called", "w"); }}')
    ran = CliRunner().invoke(main, ["check", "--kit", str(folder), "--library", str(mine)])
    assert ran.exit_code == 2 and "Traceback" not in ran.output, ran.output
    assert not (tmp_path / "called").exists()


def test_the_command_writes_what_the_call_writes(kit: Path, tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        main,
        [
            "export",
            "v100",
            "--as",
            "c-kit",
            "--only",
            INSTRUCTION,
            "--rows",
            "12",
            "--output",
            str(tmp_path / "own"),
        ],
    )
    assert ran.exit_code == 0 and "1 function" in ran.output
    for path in kit.rglob("*.*"):
        own = tmp_path / "own" / path.relative_to(kit)
        assert own.read_text() == path.read_text()
