"""The module and its bench, simulated: against the simulator's rows, as they are and with a mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tcsmt.interop.exports.languages import exported
from tcsmt.interop.implementations import rtl
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tests.support.exported import OWN, decided, one_of_each_kind, own_formats, systemverilog
from tests.support.read_back import read, small, verdict
from tests.support.simulators import bench, ended, icarus, verilator, verilator_lint


def check(row: Row, count: int, folder: Path, *, pipeline: bool) -> None:
    inputs, d = decided(row, count)
    files = systemverilog(row, inputs, d, folder, pipeline=pipeline)
    said = bench(icarus(folder, "unit_tb", files), folder / "unit.mem", count // 2)
    assert f"unit: {count} rows, 0 mismatches" in said


@pytest.mark.parametrize("pipeline", [pytest.param(False, marks=pytest.mark.long), True])
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


@pytest.mark.long
@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("row", one_of_each_kind(), ids=lambda row: row.model.kind)
def test_verilator(row: Row, pipeline: bool, tmp_path: Path) -> None:
    inputs, d = decided(row, 4000)
    files = systemverilog(row, inputs, d, tmp_path, pipeline=pipeline)
    said = bench(verilator(tmp_path, "unit_tb", files), tmp_path / "unit.mem", 1234)
    assert "unit: 4000 rows, 0 mismatches" in said


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
def test_every_graph_of_the_catalogue_is_right_in_systemverilog(part: int, tmp_path: Path) -> None:
    """Every graph of the catalogue, combinational and as a pipeline."""
    for row in list({row.model.digest: row for row in rows(claims=True)}.values())[part::12]:
        for pipeline in (False, True):
            check(row, 200, tmp_path, pipeline=pipeline)
        verilator_lint(tmp_path / "unit.sv")


@pytest.mark.slow
@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
@pytest.mark.parametrize("pipeline", [pytest.param(False, marks=pytest.mark.long), True])
def test_systemverilog_is_the_model(pipeline: bool, tmp_path: Path) -> None:
    row, file = small(), tmp_path / "unit.sv"
    made = exported(row, "systemverilog", name="unit", pipeline=pipeline)
    file.write_text(made.text)
    assert isinstance(verdict(row.model, read(file, row.model, made.latency or 0)), Equivalent)


@pytest.mark.slow
@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
def test_block_scales_are_read_back(tmp_path: Path) -> None:
    row, file = own_formats("scaled", tmp_path), tmp_path / "unit.sv"
    file.write_text(str(exported(row, "systemverilog", name="unit")))
    assert isinstance(verdict(row.model, read(file, row.model)), Equivalent)


@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
def test_one_alignment_bit_less_is_found(tmp_path: Path) -> None:
    row, file = small(), tmp_path / "unit.sv"
    text = str(exported(row, "systemverilog", name="unit"))
    changed, count = re.subn(r"(wire \[(\d+):0\] aligned_c = .*);", r"\1 & ~1;", text)
    assert count == 1
    file.write_text(changed)
    assert isinstance(verdict(row.model, read(file, row.model)), Distinguished)


@pytest.mark.long
@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
@pytest.mark.parametrize("row", one_of_each_kind()[:4], ids=lambda row: row.model.kind)
def test_units(row: Row, tmp_path: Path) -> None:
    """Whole units, but the one with multiplications of 53 bits."""
    file = tmp_path / "unit.sv"
    file.write_text(str(exported(row, "systemverilog", name="unit")))
    assert isinstance(verdict(row.model, read(file, row.model)), Equivalent)


@pytest.mark.slow_cases("verilator")
@pytest.mark.parametrize("build", [icarus, verilator], ids=lambda build: build.__name__)
def test_benches_find_mistakes(build: Callable[[Path, str, Sequence[Path]], Path], tmp_path: Path) -> None:
    """In the results, in the module; and it does not call an empty file good."""
    row = row_named("volta")
    inputs, d = decided(row, 50)
    files, memory = systemverilog(row, inputs, d, tmp_path), tmp_path / "unit.mem"
    built = build(tmp_path, "unit_tb", files)
    for wrong in (0, 30, 49):
        assert "50 rows, 0 mismatches" in bench(built, memory, wrong)
    memory.write_text("// nothing\n")
    assert "0 rows" in ended(built, f"+vectors={memory}", fails=True)
    files = systemverilog(row, inputs, d, tmp_path)
    text = files[0].read_text()
    changed, count = re.subn(r"(wire \[\d+:0\] aligned_c = ).*;", r"\g<1>0;", text)
    assert count == 1
    files[0].write_text(changed)
    assert "50 rows, 0 mismatches" not in ended(
        build(tmp_path, "unit_tb", files), f"+vectors={memory}", fails=True
    )
