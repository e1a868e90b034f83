"""The bench of an exported module finds mistakes, and checks that there is something to check."""

from __future__ import annotations

import re
from pathlib import Path

from tcsmt.catalogue import row_named
from tests.support.exported import decided, systemverilog
from tests.support.simulators import icarus


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
