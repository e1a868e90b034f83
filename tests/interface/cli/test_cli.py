"""The command line, whatever the command: refusals, and how it is as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import process, refused
from tests.support.paths import ROOT

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
FIND = ("find", "--property", "carry-bits", "--arch", "volta")
F16 = "mma.m8n8k4.f32.f16.f16.f32"
BAD: dict[str, tuple[tuple[object, ...], str]] = {
    "property": (("find", "--property", "carry-bit", "--arch", "volta"), "did you mean carry-bits?"),
    "property far off": (("find", "--property", "zzz", "--arch", "volta"), "property 'zzz': nearest of "),
    "no property": (("find", "--arch", "volta"), "Missing option '--property'"),
    "architecture": (("describe", "hoper"), "unknown architecture 'hoper': did you mean hopper?"),
    "gpu": (("describe", "h201"), "unknown architecture 'h201': did you mean h20"),
    "empty architecture": (("describe", ""), "unknown architecture ''"),
    "instruction": (
        (*FIND, "--instruction", "mma.m8n8k4.f32.f61.f16.f32"),
        f"unknown instruction of volta 'mma.m8n8k4.f32.f61.f16.f32': did you mean {F16}",
    ),
    "several instructions": (("describe", "ampere", "f16"), "matches several instructions of ampere: mma."),
    "claim": (("describe", "volta", f"{F16}@valpi"), f"did you mean {F16}@valpey"),
    "solver": ((*FIND, "--solver", "bitwuzzla"), "'bitwuzzla': did you mean bitwuzla? allowed: auto, "),
    "negative timeout": ((*FIND, "--timeout", "-1"), "timeout = -1.0: must be over 0 "),
    "no timeout": ((*FIND, "--timeout", "soon"), "'soon' is not a valid float"),
    "nan timeout": ((*FIND, "--timeout", "nan"), "timeout = nan: must be over 0 "),
    "memory": ((*FIND, "--memory", "1"), "memory = 1: must be from 64 "),
    "unwritable output": ((*FIND, "--output", "/nowhere/x.json"), "cannot write /nowhere/x.json: No such"),
    "output is a folder": ((*FIND, "--output", "/tmp"), "cannot write /tmp: Is a directory"),
    "unwritable script": ((*FIND, "--dump-smt", "/nowhere/q.smt2"), "cannot write /nowhere/q.smt2: No"),
    "property folder": ((*FIND, "--folder", "/nowhere"), "no folder of property modules /nowhere"),
    "not a unit": ((*FIND, "--instruction", f"{F16}@fasi"), f"does not apply to volta/{F16}@fasi: "),
    "nothing to ask": (("find", "--property", "tf32-truncation", "--arch", "volta"), "of volta: "),
    "command": (("fnid",), "unknown command 'fnid': did you mean find?"),
    "option": ((*FIND, "--sovler", "z3"), "No such option '--sovler'"),
    "model": (("run", "voltage", "--input", "x.json"), "architecture 'voltage': did you mean volta?"),
    "missing input": (("run", VOLTA, "--input", "/nowhere/x.json"), "cannot read /nowhere/x.json: No such"),
    "suffix": (("run", VOLTA, "--input", "x.xlsx"), "unknown suffix of an input file '.xlsx'"),
    "missing data": (("validate", "/nowhere"), "/nowhere"),
    "against": (("validate", "/nowhere", "--against", "volta/none"), "unknown instruction of volta 'none'"),
    "paper": (("reproduce", "fassi"), "unknown paper 'fassi': did you mean fasi?"),
    "folder": (("reproduce", "fasi", "--output", "/dev/null/x"), "cannot make the folder /dev/null/x: "),
    "queries": (("export", "--queries", "/dev/null/x"), "cannot make the folder /dev/null/x: "),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    arguments, message = BAD[case]
    assert message in refused(*arguments)


@pytest.mark.slow
def test_processes_exit_with_their_codes_and_streams() -> None:
    version = process("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("tcsmt, version ")
    asked = process(*FIND, "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["conclusion"].startswith("3 carry bits")
    wrong = process("find", "--property", "nothing", "--arch", "volta")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("Error: unknown property 'nothing'")


def test_a_cold_start_imports_little() -> None:
    """A usage error waits neither for NumPy nor for a solver, and the list of commands for no solver."""
    solvers = {"bitwuzla", "cvc5", "z3"}
    asked = [
        (["--help"], 0, solvers),
        (["--version"], 0, solvers | {"numpy"}),
        (["fnid"], 2, solvers | {"numpy"}),
    ]
    for arguments, code, slow in asked:
        program = f"""
import sys
from tcsmt.interface.cli import main
try:
    main({arguments})
except SystemExit as end:
    print(end.code, {slow} & set(sys.modules))
"""
        command = [sys.executable, "-c", program]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert found.stdout.splitlines()[-1] == f"{code} set()"


@pytest.mark.slow
def test_closed_pipes_end_quietly() -> None:
    """``tcsmt models | head -1`` ends quietly, with the code of a closed pipe: 1 is an answer."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tcsmt", "models", "--json"]
    try:
        found = subprocess.run(
            command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (found.returncode, found.stderr) == (141, "")


@pytest.mark.parametrize("encoding", ["iso8859-9", "ascii"])
def test_a_pipe_gets_utf_8_in_every_locale(encoding: str) -> None:
    """A picture has characters that a locale's encoding may lack."""
    ended = process("explain", "volta", "--vector", "c=1", env={**os.environ, "PYTHONIOENCODING": encoding})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "╷" in ended.stdout


def test_another_folder(tmp_path: Path) -> None:
    """The shipped properties are found wherever one stands."""
    command = [sys.executable, "-m", "tcsmt", "properties"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "carry-bits " in found.stdout
