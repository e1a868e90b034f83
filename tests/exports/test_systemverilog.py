"""The module and its bench, simulated: against the simulator's rows, as they are and with a mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcsmt.catalogue import Row, row_named, rows
from tcsmt.exports.languages import exported
from tests.support.exported import OWN, decided, one_of_each_kind, own_formats, systemverilog
from tests.support.simulators import icarus, verilator, verilator_lint


def check(row: Row, count: int, folder: Path, *, pipeline: bool) -> None:
    inputs, d = decided(row, count)
    files = systemverilog(row, inputs, d, folder, pipeline=pipeline)
    said = icarus(folder, "unit_tb", files, f"+vectors={folder / 'unit.mem'}")
    assert f"unit: {count} rows, 0 mismatches" in said


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_kinds(row: Row, pipeline: bool, tmp_path: Path) -> None:
    check(row, 100, tmp_path, pipeline=pipeline)


@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, tmp_path: Path) -> None:
    check(own_formats(name, tmp_path), 1000, tmp_path, pipeline=name == "floats")


def test_verilator_has_no_warning(tmp_path: Path) -> None:
    for pipeline in (False, True):
        file = tmp_path / "unit.sv"
        file.write_text(str(exported(row_named("volta"), "systemverilog", name="unit", pipeline=pipeline)))
        verilator_lint(file)


def test_a_pipeline_has_registers_behind_each_stage() -> None:
    """Products and largest exponent, aligned terms, sum, result."""
    row = row_named("volta")
    assert exported(row, "systemverilog", pipeline=True).latency == 4
    assert exported(row, "systemverilog").latency == 0


def test_the_bench_finds_mistakes(tmp_path: Path) -> None:
    """In the results, in the module; and it does not call an empty file good."""
    row = row_named("volta")
    inputs, d = decided(row, 50)
    memory = f"+vectors={tmp_path / 'unit.mem'}"
    d[30] ^= 1
    files = systemverilog(row, inputs, d, tmp_path)
    said = icarus(tmp_path, "unit_tb", files, memory, code=1)
    assert "row 30: d = " in said
    assert "50 rows, 1 mismatches" in said
    d[30] ^= 1
    files = systemverilog(row, inputs, d, tmp_path)
    text = files[0].read_text()
    changed, count = re.subn(r"(wire \[\d+:0\] aligned_c = ).*;", r"\g<1>0;", text)
    assert count == 1
    files[0].write_text(changed)
    assert "50 rows, 0 mismatches" not in icarus(tmp_path, "unit_tb", files, memory, code=1)
    files[0].write_text(text)
    (tmp_path / "unit.mem").write_text("// nothing\n")
    assert "0 rows" in icarus(tmp_path, "unit_tb", files, memory, code=1)


@pytest.mark.long
@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_verilator(row: Row, pipeline: bool, tmp_path: Path) -> None:
    inputs, d = decided(row, 4000)
    files = systemverilog(row, inputs, d, tmp_path, pipeline=pipeline)
    said = verilator(tmp_path, "unit_tb", files, f"+vectors={tmp_path / 'unit.mem'}")
    assert "unit: 4000 rows, 0 mismatches" in said


@pytest.mark.long
def test_the_catalogue(tmp_path: Path) -> None:
    """Every graph of the catalogue, combinational and as a pipeline."""
    for row in {row.model.digest: row for row in rows(claims=True)}.values():
        for pipeline in (False, True):
            check(row, 200, tmp_path, pipeline=pipeline)
        verilator_lint(tmp_path / "unit.sv")
