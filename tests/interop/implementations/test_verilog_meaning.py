"""SystemVerilog on whose meaning tools do not agree is refused; what is read is what a simulator says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.implementations import rtl
from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.simulators import simulated

pytestmark = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")

HEAD = "module {name}(input logic clk, input logic [7:0] a, b, c, output logic [7:0] d);\nlogic [7:0] x, y;\n"
PARTS = (
    "module dff(input clk, input [7:0] i, output reg [7:0] o); always @(posedge clk) o <= i; endmodule\n"
    "module bff(input clk, input [7:0] i, output reg [7:0] o); always @(posedge clk) o = i; endmodule\n"
)
EVENTS = "but not in the list of events of this block"
FUNCTION = "is read by a function alone, which does not start always @*"
TASK = "is read by a task alone, which does not start this block"
RACE = "is assigned by = and read by a block with a clock, which may run before or after"
OVERLAP, MISSING, UNKNOWN = (
    "its conditions overlap",
    "no condition may hold",
    "exclude each other is not known",
)
X = "bits that are x or z are supported as a result alone"
#: Read by all who read the rest: one or two of each kind.
REFUSED = [
    (0, "always @(a) d = a + b;", f"m.sv:5: b is read, {EVENTS}"),
    (0, "always @(a) x = a; always @(x) d = x + b;", f"m.sv:5: b is read, {EVENTS}"),
    (0, "always @(*) d = f(a); function [7:0] f(input [7:0] v); f = v + b; endfunction", f"b {FUNCTION}"),
    (2, "always @(posedge clk) x = a;\nalways @(posedge clk) d <= x;", f"m.sv:5: x {RACE}"),
    (0, "always_comb begin d = c;\nunique if (a[0]) d = 1; else if (a[1]) d = 2; end", "unique if: whether"),
    (0, "always_comb unique case (a[1:0]) 0: d = a; 1: d = b; 2: d = c; endcase", MISSING),
    (0, "always_comb begin d = c; priority case (a[1:0]) 0: d = a; 1: d = b; endcase end", MISSING),
    (0, "assign d = a == 8'bx ? b : c;", f"8'bxxxxxxxx: {X}"),
    (1, "wire g = clk & c[0]; always @(posedge g) d <= a;", "m.sv:5: the clock, g, is not an input"),
]
MORE = [
    (0, "always @(a[3:0], b) d = a + b;", "a list of events has only names"),
    (0, "always @(a or b) if (a[0]) d = b; else d = a + c;", f"c is read, {EVENTS}"),
    (1, "always @(clk) d = a;", f"a is read, {EVENTS}"),
    (0, "always @* d = 8'd5;", "nothing starts this block"),
    (0, "assign d = f(a); function [7:0] f(input [7:0] v); f = v + b; endfunction", "uses b, which starts"),
    (0, "task t; d = a; endtask always @* t;", f"a {FUNCTION}"),
    (0, "task t; d = a; endtask always_comb t;", f"a {TASK}"),
    (0, "always_comb d <= a + b;", "d is assigned by <= in a block without a clock"),
    (2, "always @(posedge clk) x = a; assign y = x + 1; always @(posedge clk) d <= y;", f"x {RACE}"),
    (2, "always @(posedge clk) begin x = a; d <= y; end assign y = x + 1;", f"x {RACE}"),
    (2, "bff u1(clk, a, x); dff u2(clk, x, d);", f"u1.o {RACE}"),
    (2, "always @(posedge clk) t(a); task t(input [7:0] v); x = v; endtask"
     " always @(posedge clk) d <= x;", RACE),
    (2, "reg k; always @(clk) k <= clk; always @(posedge k) d <= a;", "k is assigned by <= in a block"),
    (1, "always @(posedge clk or posedge c[0]) if (c[0]) d <= 0; else d <= a;",
     "are posedge or negedge of names"),
    (1, "wire r = c[0]; always @(posedge clk or posedge r) if (r) d <= b; else d <= a;",
     "an asynchronous load"),
    (0, "assign d = a === 8'b1x00 ? b : c;", X),
    (0, "always_comb if (1'bx) d = a; else d = b;", X),
    (0, "always_comb case (a[1:0]) 2'b1?: d = b; default: d = c; endcase", X),
    (0, "always_comb unique case (a[1:0]) 0: d = a; 0, 1: d = b; default: d = c; endcase", OVERLAP),
    (0, "always_comb unique case (1'b1) a[0]: d = a; a[1]: d = b; default: d = c; endcase", UNKNOWN),
    (0, "always_comb unique casez (a[2:0]) 3'b1??: d = a; 3'b?1?: d = b; default: d = c; endcase", OVERLAP),
    (0, "always_comb begin d = 0; priority if (a[0]) d = 1; else if (a[1]) d = 2; end", UNKNOWN),
    (0, "always_comb unique if (a[1:0] == 0) d = 1; else if (a[1:0] == 0) d = 2; else d = c;", OVERLAP),
    (0, "always_comb begin d = c; (* full_case *) case (a[1:0]) 0: d = a; 1: d = b; endcase end", MISSING),
    (0, "always_comb begin d = c; (* parallel_case *) casez (a[1:0]) 2'b1?: d = a; 2'b?1: d = b; endcase end",
     OVERLAP),
    (0, "wire [7:0] #2 q = a; assign d = q;", "a delay or a strength is not supported"),
    (0, "and #1 g(d[0], a[0], b[0]); assign d[7:1] = c[6:0];", "a delay or a strength is not supported"),
    (0, "wand [7:0] q; assign q = a; assign q = b; assign d = q;", "q: a net of type wand is not supported"),
    (0, "wire q; pullup p(q); assign d = {7'b0, q};", "the primitive pullup is not supported"),
    (0, "specify (a => d) = 3; endspecify assign d = a;", "specify block is not supported"),
    (0, "always_comb begin x = a; d = x++ + x; end", "an assignment within an expression is not supported"),
    (0, "function [7:0] f(input [7:0] v); x = v; f = v; endfunction"
     " always_comb begin x = 0; d = f(a) + x; end",
     "f, which changes variables, is called within an expression"),
    (0, "function [7:0] f(input [7:0] v); begin : q static int n = 0; n = n + 1; f = n; end endfunction"
     " assign d = f(a);", "f: the static variable n keeps its value"),
    (1, "always @(posedge clk) begin wait (a[0]); d <= a; end", "wait is not supported"),
]  # fmt: skip
READ = [
    (0, "always @(a, b) d = a + b;"),
    (0, "always @(a or b or c) begin x = a + b; d = x; end"),
    (0, "always @(x) d = x; assign x = a + b;"),
    (0, "always_comb d = 8'd5;"),
    (0, "always_comb d = f(a); function [7:0] f(input [7:0] v); f = v + b; endfunction"),
    (0, "always @(*) d = f(a, b); function [7:0] f(input [7:0] v, w); f = v + w; endfunction"),
    (0, "task t; input [7:0] v; d = v; endtask always @* t(a);"),
    (0, "always_comb casez (a[1:0]) 2'b1?: d = b; default: d = c; endcase"),
    (0, "always_comb casex (a[1:0]) 2'b1x: d = b; default: d = c; endcase"),
    (0, "assign d = a ==? 8'b1xxx0000 ? b : c;"),
    (0, "wire [7:0] k = a; assign d = b + k;"),
    (0, "logic [7:0] k = 8'd3; assign d = a + k;"),
    (0, "initial x = 3; assign d = a + x;"),
    (0, "reg [7:0] q[0:15]; initial for (int i = 0; i < 16; i = i + 1) q[i] = i * 3; assign d = q[a[3:0]];"),
    (0, "always_comb unique case (a[1:0]) 0: d = a; 1: d = b; 2: d = c; 3: d = 0; endcase"),
    (0, "always_comb unique case (a[1:0]) 0: d = a; 1: d = b; default: d = c; endcase"),
    (0, "always_comb unique casez (a[2:0]) 3'b1??: d = a; 3'b01?: d = b; 3'b00?: d = c; endcase"),
    (0, "always_comb priority casez (a[2:0]) 3'b1??: d = a; 3'b?1?: d = b; default: d = c; endcase"),
    (0, "always_comb begin d = c; case (a[1:0]) // synopsys full_case parallel_case\n 0: d = a; endcase end"),
    (0, "\n`ifdef SYNTHESIS\nassign d = a;\n`else\nassign d = b;\n`endif\n"),
    (0, "assign x = a; // synopsys translate_off\nassign d = x + 1;\n// synopsys translate_on\n"),
    (0, "not n[7:0](d, a);"),
    (0, "nand g(d[0], a[0], b[0]); assign d[7:1] = c[6:0];"),
    (0, "assign d = $signed(a) >>> $signed(b[2:0]);"),
    (0, "assign d = a << $signed(b[2:0]);"),
    (0, "assign d = ($signed(a) >>> 1) + b;"),
    (0, "assign d = $signed(a) < b;"),
    (0, "assign d = 2 ** a[2:0];"),
    (0, "always_comb begin x = a; x[b[3:0] -: 2] = 3; d = x; end"),
    (0, "integer i; always @(a) begin d = 0; for (i = 0; i < 8; i = i + 1) d[i] = a[7-i]; end"),
    (0, "function [7:0] f(input [7:0] v); integer i; for (i = 0; i < 8; i = i + 1) f[i] = v[7-i]; endfunction"
     " assign d = f(a);"),
    (0, "always_comb begin x = a; x++; d = x; end"),
    (0, "assign {d, x} = {a, b};"),
    (0, "always @(a, b) begin : q reg [7:0] t; t = a ^ b; d = t; end"),
    (1, "always @(posedge clk) begin x = a + b; d <= x; end"),
    (2, "always @(posedge clk) begin d <= x; x = a; end"),
    (1, "always @(posedge clk) x = a; assign d = x + 1;"),
    (1, "always @(posedge clk) d = a;"),
    (1, "wire g = clk; always @(posedge g) d <= a;"),
    (1, "integer i; always @(posedge clk) for (i = 0; i < 8; i = i + 1) x[i] <= a[7-i];"
     " always @(posedge clk) for (i = 0; i < 8; i = i + 1) y[i] <= b[i]; assign d = x ^ y;"),
    (2, "dff u1(clk, a, x); dff u2(clk, x, d);"),
    (1, "bff u1(clk, a, d);"),
    (1, "always @(posedge clk) t(a); task t(input [7:0] v); d <= v; endtask"),
    (2, "reg [7:0] q[0:1]; always @(posedge clk) begin q[1] = q[0]; q[0] = a; end assign d = q[1];"),
    (2, "always @(posedge clk) x <= a; always @(posedge clk) y = x; assign d = y;"),
    (1, "always @(posedge clk) begin d <= a; assert(a == a); end"),
]  # fmt: skip
ROWS = np.random.default_rng(5).integers(0, 256, (30, 3), np.uint8)


def read(folder: Path, cycles: int, body: str) -> list[int]:
    file = folder / "m.sv"
    file.write_text(PARTS + HEAD.format(name="m") + body + "\nendmodule\n")
    files = DesignFiles(files=[file], top="m", cycles=cycles, formats=dict.fromkeys("abcd", "u8"))
    a, b, c = np.concatenate([ROWS, ROWS[::-1]]).T
    return run_words(read_design(files).model, Operands(a[:, None], b[:, None], c)).tolist()


def _refused(case: tuple[int, str, str], folder: Path) -> None:
    cycles, body, said = case
    with pytest.raises(TcsmtError, match=re.escape(said)) as caught:
        read(folder, cycles, body)
    assert re.match(r"\S*m\.sv:\d: |the design", str(caught.value)), str(caught.value)


@pytest.mark.parametrize("case", REFUSED, ids=[body for _, body, _ in REFUSED])
def test_refused_by_name_and_line(case: tuple[int, str, str], tmp_path: Path) -> None:
    _refused(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE, ids=[body for _, body, _ in MORE])
def test_more_that_is_refused(case: tuple[int, str, str], tmp_path: Path) -> None:
    _refused(case, tmp_path)


@pytest.mark.slow
def test_what_is_read_is_what_icarus_says(tmp_path: Path) -> None:
    """Of rows one after the other, and backwards: nothing of the row before is left."""
    modules, names = [PARTS], []
    for number, (cycles, body) in enumerate(READ):
        modules.append(HEAD.format(name=f"m{number}") + body + "\nendmodule\n")
        steps = []
        for a, b, c in np.concatenate([ROWS, ROWS[::-1]]).tolist():
            steps.append(f"a = {a}; b = {b}; c = {c}; #1;")
            for cycle in range(cycles):
                steps.append("clk = 1; #1 clk = 0; #1;" + (f"a = {cycle}; #1;" if cycle + 1 < cycles else ""))
            steps.append('$display("%b", d);')
        modules.append(
            f"module b{number}; logic clk = 0; logic [7:0] a, b, c; wire [7:0] d; m{number} u(.*);\n"
            f"task run; {' '.join(steps)} endtask endmodule\n"
        )
        names.append(f"b{number}")
    lines = simulated("".join(modules), names)
    rows = 2 * len(ROWS)
    lines = [line for line in lines if line and set(line) <= {*"01x"}]  # others are reports of violations
    assert len(lines) == rows * len(READ)
    for number, (cycles, body) in enumerate(READ):
        words = lines[rows * number : rows * (number + 1)]
        assert words == [f"{word:08b}" for word in read(tmp_path, cycles, body)], body


def test_only_what_the_result_needs_is_checked(tmp_path: Path) -> None:
    """Other outputs may be anything."""
    assert read(tmp_path, 0, "assign d = a; always @(b) x = b + c; wand q; assign q = b[0];")[0] == ROWS[0, 0]
