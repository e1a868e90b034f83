"""SystemVerilog as units: a fused dot-add of our own, mutants of it, and designs that are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.interop.implementations import rtl
from tcsmt.interop.implementations.designs import DesignFiles, design_side, named_values, read_design
from tcsmt.interop.implementations.sides import is_design
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.model_files import model_toml
from tcsmt.matrix_units.models import FusedDotAdd, Model, Operands
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.matrix_units.resolve import reference
from tcsmt.prove.engine.engine import Decision, compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.simulate.rows import run_words
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import replace_text
from tests.support.command_line import done
from tests.support.paths import ROOT
from tests.support.simulators import simulated

pytestmark = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")

FUSED = ROOT / "tests" / "support" / "fused_dot_add.sv"
#: Small formats, so that proofs are quick.
NARROW = Format(name="s3m1", exponent_bits=3, fraction_bits=1, bias=3)
WIDE = Format(name="s4m3", exponent_bits=4, fraction_bits=3, bias=7)


def design(mutant: int = 0, cycles: int = 0, k: int = 2) -> Model:
    parameters = {
        "K": k, "EXPONENT": 3, "FRACTION": 1, "C_EXPONENT": 4, "C_FRACTION": 3, "GRID": 4,
        "PIPELINE": f"1'b{int(cycles > 0)}", "MUTANT": mutant,
    }  # fmt: skip
    files = DesignFiles(
        files=[FUSED], top="fused_dot_add", cycles=cycles,
        formats={"a": NARROW, "b": NARROW, "c": WIDE, "d": WIDE},
        parameters={name: str(value) for name, value in parameters.items()},
    )  # fmt: skip
    return read_design(files).model


def unit(k: int = 2) -> FusedDotAdd:
    from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

    return FusedDotAdd.of(
        a_format=NARROW, b_format=NARROW, c_format=WIDE, d_format=WIDE, k=k, n_fma=k, fraction_bits=4,
        zero_exponent=-32, rounding=ROUNDINGS["RTZ"], nan=0x7F,
    )  # fmt: skip


def compared(one: Model, two: Model) -> Decision:
    solving = Solving(SolvingOptions("bitwuzla", 30, 4096))
    return compare_models(("one", one), ("two", two), Domain(finite=False), solving)


def answers(model: Model, rows: Operands) -> np.ndarray:
    return run_words(model, rows)


@pytest.mark.slow
def test_the_design_is_the_unit(no_luck: None) -> None:
    model = design()
    assert isinstance(model, Circuit) and model.k == 2
    found = compared(unit(), model)
    assert isinstance(found.verdict, Equivalent), found.verdict
    assert found.steps


def test_with_registers() -> None:
    """The pipelined design is, three edges later, the same graph."""
    assert design(cycles=3).trace.output is design().trace.output


@pytest.mark.parametrize("mutant", [1, 2, 3, 4])
def test_mutants(mutant: int) -> None:
    """Each is told apart, by a witness on which both give what the verdict says."""
    one, two = unit(), design(mutant)
    found = compared(one, two)
    assert isinstance(found.verdict, Distinguished)
    words = [found.verdict.values[name] for name in one.input_names]
    row = Operands(
        np.array([words[:2]], np.uint8), np.array([words[2:4]], np.uint8), np.array(words[4:], np.uint8)
    )
    assert run_words(one, row) != run_words(two, row)


@pytest.mark.long
@pytest.mark.parametrize("cycles", [0, 3])
def test_voltas_unit_in_systemverilog_is_proved_equal(cycles: int) -> None:
    """Volta's unit at full width."""
    volta = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
    parameters = {
        "K": 4, "FRACTION": 10, "C_EXPONENT": 8, "C_FRACTION": 23, "GRID": 23, "ZERO_EXPONENT": -131,
        "PIPELINE": f"1'b{int(cycles > 0)}",
    }  # fmt: skip
    files = DesignFiles(files=[FUSED], cycles=cycles, parameters={n: str(v) for n, v in parameters.items()})
    found = compared(volta.model, read_design(files.like(volta.model)).model)
    assert isinstance(found.verdict, Equivalent), found.verdict


@pytest.mark.long
def test_certificates_of_designs_need_no_files_of_theirs(tmp_path: Path) -> None:
    """Its checker needs neither the design's files nor Yosys, nor a solver."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    volta = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
    parameters = {
        "K": 4, "FRACTION": 10, "C_EXPONENT": 8, "C_FRACTION": 23, "GRID": 23, "ZERO_EXPONENT": -131,
    }  # fmt: skip
    files = DesignFiles(files=[FUSED], parameters={n: str(v) for n, v in parameters.items()})
    own = tmp_path / "own.toml"
    replace_text(own, model_toml(read_design(files.like(volta.model))))
    folder = tmp_path / "certificate"
    assert "certificate:" in done("compare", "volta", own, "--certificate", folder)
    assert "all proved: 1 statement" in done("certificate", "check", folder)


HEAD = "module m(input logic clk, input logic [7:0] a, b, c, output logic [7:0] d, output logic [7:0] e);\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("always_latch if (a[0]) d = b;", ":2: a latch; only registers with a clock"),
        ("logic [7:0] x; assign x = d + 8'd1; assign d = x;", ":2: a combinational loop"),
        ("assign d = a; assign d = b;", "several drivers of one wire: "),
        ("n n(.a, .d);", "m.sv:2: unknown module 'n'"),
        ("assign d = a +;", "m.sv:2: "),
        ("assign d = a / b;", "m.sv:2: a division (udiv) is not supported"),
        ("assign d[3:0] = a[3:0];", "d depends on an undriven bit or a don't-care"),
        ("always_comb case (a) 0: d = b; 1: d = c; default: d = 'x; endcase", "a don't-care"),
        (
            "logic [7:0] x; always_ff @(posedge clk) x <= a; always_ff @(negedge clk) d <= x;",
            "m.sv:2: several clocks: falling clk (",
        ),
        (
            "logic [7:0] f [0:255]; always_ff @(posedge clk) f[a] <= b; assign d = f[c];",
            "m.sv:2: f is a memory of 256 words; up to 64 are read as registers",
        ),
        (
            "logic [7:0] f [0:3], x; always_ff @(posedge clk) f[a[1:0]] <= b;"
            " always_comb begin d = f[x[1:0]]; x = c; end",
            "m.sv:2: x is read in this block before it is assigned: its previous value would matter",
        ),
        ("always_ff @(posedge clk) d <= a + b + c;", "(btor2:"),
        ("always_ff @(posedge clk) d <= a + b + c;", "; cycles = 1 would do"),
    ],
)
def test_refused(tmp_path: Path, body: str, said: str) -> None:
    file = tmp_path / "m.sv"
    file.write_text(f"{HEAD}{body}\nendmodule\n")
    with pytest.raises(TcsmtError) as caught:
        read_design(DesignFiles(files=[file], formats=dict.fromkeys("abcd", "u8")))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_dont_cares_that_cannot_matter(tmp_path: Path) -> None:
    """A default that no value reaches is in the graph, and proved not to matter; one that is reached does."""
    file = tmp_path / "m.sv"
    cases = "2'b00, 2'b01: d = b; 2'b10: d = c;"
    formats = dict.fromkeys("abcd", "u8")
    body = "always_comb unique case (a[1:0]) {} default: d = 'x; endcase\nendmodule\n"
    file.write_text(HEAD + body.format(cases + " 2'b11: d = a;"))
    model = read_design(DesignFiles(files=[file], formats=formats)).model
    assert isinstance(model, Circuit) and model.undriven == "zero"
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (2, 64, 1), np.uint8)
    c = rng.integers(0, 256, 64, np.uint8)
    wanted = np.choose(a[:, 0] % 4, [b[:, 0], b[:, 0], c, a[:, 0]])
    assert (run_words(model, Operands(a, b, c)) == wanted).all()
    file.write_text(HEAD + body.format(cases))
    with pytest.raises(TcsmtError, match="don't-care"):
        read_design(DesignFiles(files=[file], formats=formats))


SELECTED = [
    # (what d is, whether a bit of it can be x)
    ("v[c +: 8]", True),
    ("v[c[3:0] +: 8]", True),
    ("v[c -: 8]", True),
    ("v[i + 8 -: 4]", True),
    ("{7'b0, a[c]}", True),
    ("t[c[2:0]]", True),
    ("v[c[2:0] +: 8]", False),
    ("c < 9 ? v[c +: 8] : 8'd1", False),
    ("i > -1 ? v[i +: 4] : 0", False),
    ("c[3:0] > 6 && c[3:0] < 12 ? v[c[3:0] -: 8] : 8'd1", False),
    ("v[c[2:0] + 2 +: 8] & 8'h7f", False),
    ("{7'b0, a[c[2:0]]}", False),
    ("c[2:0] < 5 ? t[c[2:0]] : 8'd0", False),
]


@pytest.mark.parametrize(("expression", "undefined"), SELECTED)
def test_parts_beyond_a_vector(expression: str, undefined: bool, tmp_path: Path) -> None:
    """They are x: refused where they can be, and else what a simulator says."""
    file = tmp_path / "m.sv"
    file.write_text(
        "module m(input logic [7:0] a, b, c, output logic [7:0] d);\n"
        "wire [15:0] v = {a, b}; wire signed [3:0] i = c[3:0]; wire [4:0][7:0] t = {8'd7, a, b, a + b, c};\n"
        f"assign d = {expression};\nendmodule\n"
    )
    given = DesignFiles(files=[file], formats=dict.fromkeys("abcd", "u8"))
    rng = np.random.default_rng(4)
    a, b, c = rng.integers(0, 256, (3, 300), np.uint8)
    c[:150] %= 16
    drawn = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    bench = "\n".join(f'a = {x}; b = {y}; c = {z}; #1 $display("%b", d);' for x, y, z in drawn)
    module = (
        f"module bench; logic [7:0] a, b, c; wire [7:0] d; m u(.*); task run; {bench} endtask endmodule\n"
    )
    simulated_words = simulated(file.read_text() + module, ["bench"])
    assert any("x" in word for word in simulated_words) == undefined
    if undefined:
        with pytest.raises(TcsmtError, match="undriven bit or a don't-care"):
            read_design(given)
    else:
        found = run_words(read_design(given).model, Operands(a[:, None], b[:, None], c))
        assert [int(word, 2) for word in simulated_words] == found.tolist()


BLOCKS = [
    # (the body of a module, what is read before it is assigned)
    ("always_comb begin d = x; x = b; end", "x"),
    ("always @(*) begin d = x + a; x = b; end", "x"),
    ("always_comb begin if (a[0]) x = c; d = x; x = b; end", "x"),
    ("always_comb begin d = 0; if (x[0]) d = a; x = b; end", "x"),
    ("always_comb begin d = a; d[3] = x[2]; x = b; end", "x"),
    ("always_comb begin x[3:0] = a[3:0]; d = x; x[7:4] = b[3:0]; end", "x"),
    ("always_comb begin y = x; d = y; x = 8'd3 ^ b; end", "x"),
    ("always_comb begin case (x[1:0]) 0: d = a; 1: d = b; default: d = c; endcase x = b; end", "x"),
    ("function [7:0] f(input [7:0] v); f = v + x; endfunction always_comb begin d = f(a); x = b; end", "x"),
    ("always_comb begin : p logic [7:0] q; d = q; q = b; end", "p.q"),
    ("always_comb begin d = m[a[0]]; m[0] = b; m[1] = c; end", "m"),
    ("always_comb begin for (int i = 0; i < 4; i++) begin d[2*i +: 2] = x[1:0]; x = a >> i; end end", "x"),
    ("assign d = y; always_comb begin y = x + a; x = b; end", "x"),
    ("always_comb begin x = b; d = x; end", ""),
    ("always_comb begin d = a; case (b[1:0]) 1: d = c; 2: d = a + c; endcase end", ""),
    ("always_comb case (b[1:0]) 0: d = a; 1: d = b; 2: d = c; 3: d = a ^ b; endcase", ""),
    ("always_comb begin d = 0; for (int i = 0; i < 8; i++) d = d + a[i]; end", ""),
    ("always @(*) begin x = 0; for (int i = 0; i < 8; i++) x = {x[6:0], b[i]}; d = x; end", ""),
    ("always_comb begin if (a[0]) begin if (b[0]) x = c; else x = a; end else x = b; d = x + 1; end", ""),
    ("always_comb begin x[0] = a[0]; for (int i = 1; i < 8; i++) x[i] = x[i-1] ^ b[i]; d = x; end", ""),
    ("always_comb begin x = a; if (b[0]) x = x + c; if (x > 8'd9) x[7:4] = 0; d = x; end", ""),
    ("always_comb begin x = a; x[b[2:0]] = c[0]; d = x; end", ""),
    ("always_comb begin m[0] = a; m[1] = b; d = m[c[0]]; end", ""),
    ("always_comb begin {x, y} = {a, b}; {x, y} = {y, x}; d = x - y; end", ""),
    ("function [7:0] f(input [7:0] v); f = v; if (v[0]) f = f + x; endfunction"
     " always_comb begin x = a; d = f(b); end", ""),
    ("always_comb begin x = b; d = y; end assign y = x + a;", ""),
    ("always_comb begin d = y; x = b; end always_comb y = x;", ""),
    ("always_comb begin : p logic [7:0] t; t = a; t = t * b; d = t; end", ""),
    ("task t(input [7:0] i, output [7:0] o); o = i; if (o[0]) o = o + 1; endtask"
     " always_comb begin t(a, x); t(x ^ b, d); end", ""),
    ("struct packed {logic [3:0] h, l;} p;"
     " always_comb begin p.h = a[3:0]; p.l = p.h; d = p; end", ""),
    ("always_ff @(posedge clk) y <= a; always_comb begin d = x; x = b; end", "x"),
    ("assign {x, d} = {a, x};", ""),
    ("always_ff @(posedge clk) y <= a; assign {x, d} = {a, x};", ""),
    ("always_comb begin d = x & 0; d = b; x = a; end", ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "variable"), BLOCKS)
def test_read_before_assigned(body: str, variable: str, tmp_path: Path) -> None:
    """Refused where what a simulator says of a row depends on the row before; else read as it says."""
    file = tmp_path / "m.sv"
    file.write_text(
        "module m(input logic clk, input logic [7:0] a, b, c, output logic [7:0] d);\n"
        f"logic [7:0] x, y; logic [7:0] m [0:1];\n{body}\nendmodule\n"
    )
    rows = np.random.default_rng(5).integers(0, 256, (60, 3), np.uint8)
    rows = np.concatenate([rows, rows[::-1]])
    bench = "\n".join(f'a = {a}; b = {b}; c = {c}; #1 $display("%b", d);' for a, b, c in rows.tolist())
    module = "module bench; logic clk = 0; logic [7:0] a, b, c; wire [7:0] d; m u(.*);"
    words = simulated(f"{file.read_text()}{module} task run; {bench} endtask endmodule\n", ["bench"])
    assert (words[1:60] != words[:59:-1][1:60]) == bool(variable)
    given = DesignFiles(files=[file], formats=dict.fromkeys("abcd", "u8"))
    if variable:
        said = rf"m\.sv:3: {re.escape(variable)} is read in this block before it is assigned"
        with pytest.raises(TcsmtError, match=said):
            read_design(given)
    else:
        a, b, c = rows.T
        found = run_words(read_design(given).model, Operands(a[:, None], b[:, None], c))
        assert [int(word, 2) for word in words] == found.tolist()


@pytest.mark.slow
def test_other_outputs_may_be_anything(tmp_path: Path) -> None:
    file = tmp_path / "with space.sv"
    file.write_text(HEAD + "assign d = a * b + c;\nalways_latch if (a[0]) e = b / c;\nendmodule\n")
    files = DesignFiles(files=[file], formats=dict.fromkeys("abcd", "u8"))
    row = read_design(files)
    assert (row.name, row.source) == ("design/with space", str(file))
    words = Operands(np.array([[3]], np.uint8), np.array([[100]], np.uint8), np.array([7], np.uint8))
    assert run_words(row.model, words) == [51]
    with pytest.raises(TcsmtError, match="a latch"):
        read_design(replace(files, ports=["d=e"]))
    block = "always_comb begin e = x; x = a; end"
    file.write_text(f"{HEAD}logic [7:0] x; assign d = a * b + c; {block} endmodule\n")
    assert run_words(read_design(files).model, words) == [51]
    with pytest.raises(TcsmtError, match=r"with space\.sv:2: x is read in this block before"):
        read_design(replace(files, ports=["d=e"]))
    with pytest.raises(TcsmtError, match="unknown output 'f'"):
        read_design(replace(files, ports=["d=f"]))


def test_sources_parameters_and_macros(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "more.svh").write_text("`define MORE 8'd5\n")
    (tmp_path / "pkg.sv").write_text("package p; localparam logic [7:0] ONE = 1; endpackage\n")
    file = tmp_path / "m.sv"
    ports = "input logic [7:0] a, b, c, output logic [7:0] d"
    text = f'`include "more.svh"\nmodule m #(parameter int N = 1)({ports});'
    file.write_text(f"{text}\nassign d = a * b + c * p::ONE + 8'(N) + `MORE + `EVEN;\nendmodule\n")
    files = DesignFiles(
        files=[tmp_path / "pkg.sv", file], top="m", formats=dict.fromkeys("abcd", "u8"),
        include=[tmp_path / "inc"], define=["EVEN=8'd20"], parameters={"N": "100"},
    )  # fmt: skip
    words = Operands(np.array([[3]], np.uint8), np.array([[10]], np.uint8), np.array([7], np.uint8))
    assert run_words(read_design(files).model, words) == [3 * 10 + 7 + 100 + 5 + 20]


def test_how_designs_are_given(tmp_path: Path) -> None:
    assert [is_design(name) for name in ("a.sv", "B.V", "c.btor2", "d.toml", "volta")] == [True] * 3 + [
        False
    ] * 2
    file = tmp_path / "m.btor2"
    file.write_text("1 sort bitvec 8\n2 input 1 a\n3 input 1 b\n4 input 1 c\n5 add 1 2 3\n6 output 5 d\n")
    for files, said in (
        (DesignFiles(files=[file]), "no format for a, b, c, d: give --format a=f16"),
        (DesignFiles(files=[file], formats=dict.fromkeys("abcd", "u9")), "unknown format 'u9'"),
        (
            DesignFiles(files=[file], top="m", formats=dict.fromkeys("abcd", "u8")),
            "a BTOR2 file is read as it is",
        ),
        (DesignFiles(files=[tmp_path / "n.sv"], formats=dict.fromkeys("abcd", "u8")), "n.sv: no such file"),
        (DesignFiles(files=[], formats=dict.fromkeys("abcd", "u8")), "a design needs a file"),
        (
            DesignFiles(files=[FUSED], top="a b", formats=dict.fromkeys("abcd", "u8")),
            "must be a name of Verilog",
        ),
    ):
        with pytest.raises(TcsmtError) as caught:
            read_design(files)
        assert said in str(caught.value)


def test_without_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl, "available", lambda: False)
    with pytest.raises(TcsmtError, match=re.escape(extras.install("rtl"))):
        design()


PIPE = """module pipe(
  input logic clk, input logic rst_n, input logic [7:0] a, b, c, output logic [7:0] d
);
  logic [7:0] product, held, sum;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin product <= 0; held <= 0; sum <= 0; end
    else begin product <= a * b; held <= c; sum <= product + held; end
  assign d = sum;
endmodule
"""


def test_cut_registers(tmp_path: Path) -> None:
    """A stage of a pipeline by itself, with registers that have an asynchronous reset."""
    file = tmp_path / "pipe.sv"
    file.write_text(PIPE)
    given = DesignFiles(files=[file], formats=dict.fromkeys("abcd", "u8"), constants=["rst_n=1"])
    cut = replace(given, cut=["product", "held", "sum"], ports=["a=product", "c=held", "d=sum"])
    values = {"a0": 200, "b0": 3, "c": 100}
    assert evaluate([read_design(cut).model.trace.output], values) == [300 % 256]
    product = replace(given, cut=["product"], ports=["d=product"])
    assert evaluate([read_design(product).model.trace.output], values) == [600 % 256]
    with pytest.raises(TcsmtError, match=r"'prod': .*product.* sum, "):
        read_design(replace(given, cut=["prod"]))
    with pytest.raises(TcsmtError, match="--cut NAME makes a register a port"):
        read_design(given)


BTOR2 = "1 sort bitvec 8\n2 input 1 in_a\n3 input 1 b\n4 input 1 c\n5 add 1 2 3\n6 add 1 5 4\n7 output 6 d\n"
FORMATS = ",".join(f"format={name}=u8" for name in "abcd")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.btor2"
    path.write_text(BTOR2)
    return path


def test_options_of_a_text_are_those_of_the_command(file: Path) -> None:
    side = side_of(f"{file},port=a=in_a,{FORMATS}")
    files = DesignFiles(files=[file], ports=("a=in_a",), formats=dict.fromkeys("abcd", "u8"))
    assert side.row.model == read_design(files).model
    assert reference(side.text, side.row) == f"{file},port=a=in_a,{FORMATS}"
    assert design_side(f"{file},{FORMATS}", DesignFiles(files=(), ports=("a=in_a",))).row == side.row


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("prt=a=in_a", "unknown option of a design 'prt': did you mean port?"),
        ("port=a=in_a,lke=volta", "unknown option of a design 'lke': did you mean like?"),
        ("cycles=two", "cycles=two: must be a number"),
        ("hold=1", "hold=1: expected hold"),
        ("port", "port: expected port=VALUE"),
        ("format=a", "format a: expected NAME=VALUE"),
        ("like=hoper", "unknown architecture 'hoper': did you mean hopper?"),
    ],
)
def test_a_wrong_option_is_named(options: str, message: str, file: Path) -> None:
    with pytest.raises(TcsmtError, match=re.escape(message)):
        side_of(f"{file},{options}")


def test_pairs_are_given_once() -> None:
    assert named_values("--param", ["A=1", "B=x=y"]) == {"A": "1", "B": "x=y"}
    with pytest.raises(TcsmtError, match="--param A=2: A is given twice"):
        named_values("--param", ["A=1", "A=2"])
