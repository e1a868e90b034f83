"""``tcsmt.probe``: its vectors, its program, and the device of this machine."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

import tcsmt
from tcsmt.matrix_units.catalogue.processors import CPUINFO
from tests.support.cpu_programs import compiler

UNIT = "x86/vpdpbusds"


def total(words: list[int]) -> int:
    """The saturated sum of a row of words, by integers."""
    a, b, c = words[:4], words[4:8], words[8]
    signed = [x - (x >> 7 << 8) for x in b]
    whole = sum(x * y for x, y in zip(a, signed, strict=True)) + c - (c >> 31 << 32)
    return min(max(whole, -(1 << 31)), (1 << 31) - 1) % (1 << 32)


def test_where_no_property_applies_its_vectors_decide(tmp_path: Path) -> None:
    said: list[str] = []
    made = tcsmt.probe(UNIT, say=said.append)
    assert len(made) == len(made.vectors) > 0
    assert said[0].startswith(f"no property applies to {UNIT}")
    for vector in made.vectors:
        assert vector.predictions[UNIT] == total(list(vector.words))
    assert any("not x86/vpdpbusd;" in vector.asks for vector in made.vectors)
    assert len(list(csv.reader(io.StringIO(made.text("csv"))))) == len(made) + 1
    path = tmp_path / "rows.json"
    path.write_text(made.text("json"))
    again = tcsmt.probe(UNIT, vectors=path)
    assert [one.words for one in again.vectors] == [one.words for one in made.vectors]
    assert json.loads(again.text("json"))["rows"][0]["predictions"]


def test_the_program_is_in_the_devices_language() -> None:
    made = tcsmt.probe("volta", "carry-bits")
    assert (made.language, len(made)) == ("cuda", 1)
    assert made.text() == made.text("cuda")
    assert "mma.sync" in made.text()
    assert repr(made) == "<Probe of volta/mma.m8n8k4.f32.f16.f16.f32: 1 vector>"
    with pytest.raises(tcsmt.TcsmtError, match="--emit cuda, not hip"):
        made.text("hip")
    with pytest.raises(tcsmt.TcsmtError, match="unknown form of a probe 'cudo': did you mean cuda"):
        made.text("cudo")


def test_run_asks_the_cpu(tmp_path: Path) -> None:
    compiler()
    made = tcsmt.probe(UNIT)
    if "avx512_vnni" not in CPUINFO.read_text():
        with pytest.raises(tcsmt.TcsmtError, match="has no avx512_vnni"):
            made.run()
        return
    answers = made.run(tmp_path / "answers.json")
    assert (answers.rows, answers.mismatches) == (len(made), 0)
    assert answers.exit_code == 0 and replace(answers, said={**answers.said, "mismatches": 2}).exit_code == 1
    assert answers.as_json()["output"] == str(tmp_path / "answers.json")
    assert f"{len(made)} rows, 0 mismatches with {UNIT}" in str(answers)
    assert tcsmt.validate(tmp_path / "answers.json").mismatches == 0


def test_contradictory_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tcsmt.TcsmtError, match="not both"):
        tcsmt.probe("volta", "carry-bits", vectors=tmp_path / "x.csv")
    with pytest.raises(tcsmt.TcsmtError, match="unknown property"):
        tcsmt.probe("volta", "carry")
    with pytest.raises(tcsmt.TcsmtError, match=r"give FILE\.json"):
        tcsmt.probe("volta", "carry-bits").run("answers.csv")


def test_impossible_probes_are_refused_before_solvers_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcsmt.interface.api.probe.from_properties", None)
    with pytest.raises(tcsmt.TcsmtError, match="--emit cuda, not hip"):
        tcsmt.probe("volta", emit="hip")
    with pytest.raises(tcsmt.TcsmtError, match="unknown form of a probe"):
        tcsmt.probe("volta", emit="cudo")
    monkeypatch.setenv("TCSMT_NVCC", "/nowhere/nvcc")
    with pytest.raises(tcsmt.TcsmtError, match="'/nowhere/nvcc' is not a program"):
        tcsmt.probe("volta", run=True)


def test_a_program_names_what_it_was_made_by(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n")
    made = tcsmt.probe("volta", vectors=rows, made_by="a script of mine")
    made.save(tmp_path / "probe.cu")
    assert (tmp_path / "probe.cu").read_text() == made.text("cuda")
    assert "a script of mine" in made.text()
