"""Exported SystemVerilog and BTOR2, read back as a design: proved to be the model, and mistakes are found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tcsmt.arithmetic.formats import Format
from tcsmt.catalogue import Row, row_named
from tcsmt.exports.languages import exported
from tcsmt.implementations import rtl
from tcsmt.implementations.designs import DesignFiles, read_design
from tcsmt.models import FusedDotAdd, Model
from tcsmt.prove.engine import compare_models
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain
from tcsmt.statements.verdict import Distinguished, Equivalent
from tests.support.exported import one_of_each_kind

#: Formats of one's own, so that proofs are quick.
NARROW = Format(name="s3m1", exponent_bits=3, fraction_bits=1, bias=3)
WIDE = Format(name="s4m3", exponent_bits=4, fraction_bits=3, bias=7)


def small() -> Row:
    row = row_named("volta")
    assert isinstance(row.model, FusedDotAdd)
    changes = {"a_format": NARROW, "b_format": NARROW, "c_format": WIDE, "d_format": WIDE, "k": 2, "n_fma": 2}
    return replace(row, model=replace(row.model, fraction_bits=4, zero_exponent=-20, **changes))


def read(file: Path, model: Model, cycles: int = 0) -> Model:
    """What the file says, as a unit of the model's formats."""
    return read_design(DesignFiles(files=[file], cycles=cycles).like(model)).model


def verdict(one: Model, two: Model) -> object:
    solving = Solving(Settings("bitwuzla", 120, 4096))
    return compare_models(("one", one), ("two", two), Domain(finite=False), solving).verdict


@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
@pytest.mark.parametrize("pipeline", [pytest.param(False, marks=pytest.mark.long), True])
def test_systemverilog_is_the_model(pipeline: bool, tmp_path: Path) -> None:
    row, file = small(), tmp_path / "unit.sv"
    made = exported(row, "systemverilog", name="unit", pipeline=pipeline)
    file.write_text(made.text)
    assert isinstance(verdict(row.model, read(file, row.model, made.latency or 0)), Equivalent)


@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
def test_one_alignment_bit_less_is_found(tmp_path: Path) -> None:
    row, file = small(), tmp_path / "unit.sv"
    text = str(exported(row, "systemverilog", name="unit"))
    changed, count = re.subn(r"(wire \[(\d+):0\] aligned_c = .*);", r"\1 & ~1;", text)
    assert count == 1
    file.write_text(changed)
    assert isinstance(verdict(row.model, read(file, row.model)), Distinguished)


def test_btor2_is_the_model(tmp_path: Path) -> None:
    row, file = small(), tmp_path / "unit.btor2"
    text = str(exported(row, "btor2"))
    file.write_text(text)
    assert isinstance(verdict(row.model, read(file, row.model)), Equivalent)
    changed, count = re.subn(r"^(\d+) add (\d+ \d+ \d+ sum)$", r"\1 sub \2", text, flags=re.MULTILINE)
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
