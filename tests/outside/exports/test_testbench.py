"""The bench of an exported module finds mistakes, and checks that there is something to check."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tcsmt.matrix_units.catalogue import row_named
from tests.support.exported import decided, systemverilog
from tests.support.simulators import bench, ended, icarus, verilator


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
