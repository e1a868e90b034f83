"""Running a probe: compilers and programs that do what they should, or fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.hardware import run as module
from tcsmt.interop.hardware.run import Device
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done, refused
from tests.support.fake_device import fake_device
from tests.support.probes import VOLTA
from tests.support.sampling import mostly_long


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n1,1,0,0,2,0,0,0,0\n")
    return path


def fake_compiler(path: Path, body: str) -> Path:
    """A compiler whose programs are Python scripts with this body, which may read the source."""
    program = f"#!{sys.executable}\nimport json, sys\nsource = open(sys.argv[0] + '.cu').read()\n{body}\n"
    path.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "target = sys.argv[sys.argv.index('-o') + 1]\n"
        "assert sys.argv[-1] == target + '.cu'\n"
        f"open(target, 'w').write({program!r})\n"
        "os.chmod(target, 0o755)\n"
    )
    path.chmod(0o755)
    return path


def answers(flip: int = 0) -> str:
    """A GPU that answers as the embedded predictions say, one bit flipped in the last row."""
    return f"""
import re
about = re.findall(r'^(".*"),$', source[source.index("about[VECTORS + 1]"):], re.M)
table = source[source.index("vectors[VECTORS + 1]"):source.index("// What each")]
table = re.findall(r"^\\{{(.*)\\}},$", table, re.M)
rows = []
for line, words in zip(about, table):
    said = json.loads("{{" + json.loads(line) + "}}")
    words = [w.replace("0x", "").zfill(4) for w in words.split(", ")]
    rows.append({{"a": words[:4], "b": words[4:8], "c": words[8].zfill(8),
                 "d": said["predictions"]["{VOLTA}"], **said}})
rows[-1]["d"] = hex(int(rows[-1]["d"], 16) ^ {flip})
print(json.dumps({{"model": "{VOLTA}", "gpu": "fake", "driver": "1", "rows": rows}}))"""


@pytest.mark.parametrize("flip", [0, 1])
def test_run_compiles_runs_and_judges(
    flip: int, tmp_path: Path, rows_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCSMT_NVCC", str(fake_compiler(tmp_path / "nvcc", answers(flip))))
    output = tmp_path / "answers.json"
    text = done("probe", "volta", "--vectors", rows_file, "--run", "--output", output, code=flip)
    assert f"fake, 2 rows, {flip} mismatches with {VOLTA}" in text
    assert ("NO HYPOTHESIS" in text) == bool(flip)
    assert f"  {2 - flip} of 2 answers are those of: {VOLTA}\n" in text
    data = json.loads(done("validate", output, "--json", code=flip))
    assert data["mismatches"] == flip
    assert data["datasets"][0]["provenance"] == {"driver": "1"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "sys.exit('find a GPU: no CUDA-capable device')",
            "this machine has no usable GPU (no CUDA-capable device); tcsmt probe --emit writes the program",
        ),
        ("print('nonsense')", "did not print JSON"),
        ("print('[]')", "not an object"),
        ("print('{}')", "is not a data set"),
    ],
)
def test_a_program_that_fails_is_named(
    body: str, said: str, tmp_path: Path, rows_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCSMT_NVCC", str(fake_compiler(tmp_path / "nvcc", body)))
    arguments = ("probe", "volta", "--vectors", rows_file, "--run", "--output", tmp_path / "answers.json")
    assert said in refused(*arguments)


def test_a_compiler_that_fails_or_is_missing_is_named(
    tmp_path: Path, rows_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("probe", "volta", "--vectors", rows_file, "--run", "--output", tmp_path / "answers.json")
    failing = tmp_path / "nvcc"
    failing.write_text("#!/bin/sh\necho \"Unsupported gpu architecture 'compute_70'\" >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("TCSMT_NVCC", str(failing))
    assert "1: Unsupported gpu architecture 'compute_70'" in refused(*arguments)
    monkeypatch.setenv("TCSMT_NVCC", str(tmp_path / "none"))
    assert "is not a program" in refused(*arguments)
    monkeypatch.delenv("TCSMT_NVCC")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "no nvcc on PATH" in refused(*arguments)
    assert not (tmp_path / "answers.json").exists()


UNIT = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"


@pytest.mark.slow
@pytest.mark.parametrize("unit", mostly_long(["volta/mma.m8n8k4.f32.f16.f16.f32", UNIT], [UNIT]))
def test_rows_go_in_batches_and_answers_come_back_in_order(
    unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_device(monkeypatch, tmp_path, unit)
    monkeypatch.setattr(module, "_ROWS", 100)
    row = row_named(unit)
    words = words_of(row.model, rows(row.model.input_formats, 250, np.random.default_rng(0)))
    with Device(row) as device:
        assert (device.run(words) == run_words(row.model, words)).all()
        assert device.provenance == {"gpu": "fake", "date": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("sys.exit('vector 3: element 1 of D differs')", "ended with 1: vector 3: element 1 of D differs"),
        ("sys.exit('find a GPU: none')", "this machine has no usable GPU (none)"),
        ("import time; time.sleep(60)", "no answer within 0.2 s"),
    ],
)
def test_a_device_that_fails_is_named(
    before: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_named("volta")
    fake_device(monkeypatch, tmp_path, row.name, before=before)
    monkeypatch.setattr(module, "_PATIENCE_FOR_ROWS", 0.2 if "sleep" in before else 30.0)
    words = words_of(row.model, rows(row.model.input_formats, 5, np.random.default_rng(0)))
    with Device(row) as device, pytest.raises(TcsmtError) as caught:
        device.run(words)
    assert said in str(caught.value)
