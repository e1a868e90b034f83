"""What blocks read and write, of designs that slang has read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.interop.implementations import rtl
from tcsmt.interop.implementations.rtl import read_rtl
from tcsmt.interop.implementations.verilog_blocks import VerilogBlocks

pytestmark = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")

DESIGN = """interface bus; logic [7:0] w; modport out(output w); modport in(input w); endinterface
module source(bus.out p, input logic [7:0] i); always_comb p.w = i; endmodule
module sink(bus.in p, output logic [7:0] o); assign o = p.w; endmodule
module t(input logic clk, input logic [7:0] a, b, c, output logic [7:0] d);
  logic [7:0] x, y, z, lost; bus q();
  function automatic logic [7:0] f(input logic [7:0] v); return v + c; endfunction
  source s(.p(q), .i(x)); sink k(.p(q), .o(y));
  always_comb begin x[b[2:0]] = a[0]; x = f(x); end
  always_ff @(posedge clk) z <= y;
  assign lost = b;
  assign d = z;
endmodule
"""


def test_reads_and_writes(tmp_path: Path) -> None:
    """Through functions, selects, ports and interfaces; what the result does not need stays out."""
    file = tmp_path / "t.sv"
    file.write_text(DESIGN.replace("x[b[2:0]] = a[0];", "x = a; x[b[2:0]] = a[0];"))
    design = VerilogBlocks(read_rtl([file], "t", "d").tree)
    names = design.names
    roots = [variable for variable, name in names.items() if name == "d"]
    needed = design.leading_to(roots)
    found = {
        (
            block.kind,
            *(" ".join(sorted(names[v] for v in of if v in names)) for of in (block.reads, block.writes)),
        )
        for block in needed
    }
    assert found == {
        ("combinational", "a b c x", "x"),
        ("assign", "x", "s.i"),
        ("combinational", "s.i", "q.w"),
        ("assign", "q.w", "k.o"),
        ("assign", "k.o", "y"),
        ("clocked", "y", "z"),
        ("assign", "z", "d"),
    }
    (clocked,) = (block for block in needed if block.kind == "clocked")
    assert not clocked.at_once and clocked.writes
