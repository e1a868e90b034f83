"""Types as slang writes them, and where their parts lie."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.implementations import rtl
from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.interop.implementations.verilog_types import (
    DeclaredPorts,
    PortPart,
    VerilogArray,
    VerilogBits,
    VerilogRecord,
    read_type,
)
from tcsmt.matrix_units.models import Operands
from tcsmt.matrix_units.models.circuit import Circuit, Port
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done
from tests.support.simulators import command, simulated, verilator

NAMED = {
    "94001": {"kind": "TypeAlias", "target": "logic[7:4]"},
    "94002": {"kind": "TypeAlias", "target": "struct packed{94001 p::nib n;logic[0:1][2:0] y;}p::s$1"},
    "94003": {"kind": "EnumType", "members": [{"kind": "EnumValue", "value": "-3'sd1"}]},
    "94004": {"kind": "EnumType", "members": [{"kind": "EnumValue", "value": "7"}]},
    "94005": {
        "kind": "EnumType",
        "members": [{"kind": "EnumValue", "value": "2'b0"}, {"kind": "EnumValue", "value": "3'b0"}],
    },
    "m.T": {"kind": "TypeAlias", "target": "reg[0:3]"},
}


@pytest.mark.parametrize(
    ("text", "width", "packed"),
    [
        ("logic", 1, True),
        ("logic signed[3:0]", 4, True),
        ("logic[3:0]$[0:3]", 16, False),
        ("logic[0:3][1:0]$[2:1][0:4]", 80, False),
        ("int", 32, True),
        ("byte$[0:1]", 16, False),
        ("integer", 32, True),
        ("94001 p::nib", 4, True),
        ("94001 p::nib[1:0]$[0:2]", 24, False),
        ("94002 p::st", 10, True),
        ("94002 p::st[1:0]", 20, True),
        ("struct{94001 p::nib n;94002 p::st$[0:1] s;}p::s$3", 24, False),
        ("struct packed signed{logic[3:0] k;}t.s$1$[0:1]", 8, False),
        ("union packed{logic[3:0] u;94001 p::nib v;}p::u$1", 4, True),
        ("94003 m.e", 3, True),
        ("94004 m.f[1:0]", 64, True),
        ("94999 m.T$[1:0]", 8, False),
    ],
)
def test_widths(text: str, width: int, packed: bool) -> None:
    found = read_type(text, NAMED)
    assert (found.width, found.packed) == (width, packed)


@pytest.mark.parametrize(
    "text",
    ["real", "string", "logic[3:0]$[]", "94998 m.U", "94005 m.g", "union{logic u;int v;}t.u$1", "void", "",
     "logic[3:0]$[0:1][0:1] more", "struct packed{logic[3:0];}t.s$1", "logic$[0:1][1:0]x",
     "struct{logic[1:0] a;}t.s$1[1:0]", "event", "logic[3:0]$[$]"],
)  # fmt: skip
def test_types_that_are_no_bits_are_refused(text: str) -> None:
    with pytest.raises(TcsmtError, match=r"the type .* is not supported"):
        read_type(text, NAMED)


def test_where_parts_lie() -> None:
    """The left index and the first member are the most significant."""
    whole = PortPart(read_type("94002 p::st$[1:2]", NAMED), 0, "v")
    assert (whole.low, whole.high) == (0, 19)
    first = whole.element(1)
    assert (first.low, first.high, first.text) == (10, 19, "v[1]")
    assert (first.member("n").low, first.member("n").high) == (16, 19)
    assert whole.selected("[2].y[1]").low == 0 and whole.selected("[2].y[0]").low == 3
    assert whole.selected("[2].n[7:6]").low == 8 and whole.selected("[2].n[5]").low == 7
    assert whole.selected("[2].y[0:1]").high == 5
    array = read_type("logic[0:7]", {})
    assert isinstance(array, VerilogArray) and array.offset(0) == 7 and not array.descends
    record = read_type("union packed{logic[3:0] u;logic[0:3] v;}p::u$1", {})
    assert isinstance(record, VerilogRecord) and record.offset("v") == 0


@pytest.mark.parametrize(
    ("selects", "said"),
    [
        ("[3]", "v[3]: v has the elements 1 to 2"),
        (".n", "v.n: v is not a structure"),
        ("[1].z", "unknown member of v[1] 'z'"),
        ("[1].n[6:7]", "v[1].n is declared [7:4]: give [7:6]"),
        ("[1].n[7:3]", "v[1].n has the elements 4 to 7"),
        ("[1].n[4][0]", "v[1].n[4] is not an array"),
        ("[x]", "v[x]: expected [INDEX], [LEFT:RIGHT] or .MEMBER"),
        ("[1+:2]", "expected [INDEX]"),
    ],
)
def test_selects_that_choose_nothing(selects: str, said: str) -> None:
    with pytest.raises(TcsmtError) as caught:
        PortPart(read_type("94002 p::st$[1:2]", NAMED), 0, "v").selected(selects)
    assert said in str(caught.value)


needs_pyosys = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")

TYPES = """package types;
typedef logic [3:0] nibble;
typedef nibble [0:3] upward;
typedef nibble array [4];
typedef struct packed {logic sign; logic [0:2] rest;} word;
typedef struct packed {word [1:0] low, high;} halves;
typedef struct packed {nibble w, x, y, z;} four;
typedef enum logic [3:0] {ZERO, ONE} number;
endpackage
"""
#: Icarus Verilog 11 has no unpacked structures.
UNPACKED = "package more; typedef struct {types::nibble n [4]; logic [7:0] more;} mixed; endpackage\n"
#: (what a declaration has before and behind the name, the element of a lane, in Python's format language)
STYLES = {
    "size": ("logic signed [3:0]", "[4]", "[{i}]"),
    "unpacked_up": ("logic [3:0]", "[0:3]", "[{i}]"),
    "unpacked_down": ("logic [3:0]", "[3:0]", "[{i}]"),
    "unpacked_from_2": ("logic [3:0]", "[2:5]", "[2+{i}]"),
    "unpacked_to_4": ("logic [3:0]", "[7:4]", "[4+{i}]"),
    "word_up": ("logic [0:3]", "[0:3]", "[{i}]"),
    "word_from_4": ("logic [7:4]", "[3:0]", "[{i}]"),
    "packed_down": ("logic [3:0][3:0]", "", "[{i}]"),
    "packed_up": ("logic [0:3][3:0]", "", "[{i}]"),
    "packed_to_4": ("logic [7:4][3:0]", "", "[4+{i}]"),
    "packed_from_4": ("logic [4:7][3:0]", "", "[4+{i}]"),
    "packed_both_up": ("logic [0:3][0:3]", "", "[{i}]"),
    "packed_word_up": ("logic [3:0][4:7]", "", "[{i}]"),
    "vector_down": ("logic [15:0]", "", "[4*{i} +: 4]"),
    "vector_up": ("logic [0:15]", "", "[4*{i} +: 4]"),
    "vector_to_4": ("logic [19:4]", "", "[4+4*{i} +: 4]"),
    "vector_from_4": ("logic [4:19]", "", "[4+4*{i} +: 4]"),
    "two_unpacked": ("logic [3:0]", "[2][2]", "[{i}/2][{i}%2]"),
    "two_unpacked_mixed": ("logic [3:0]", "[1:0][0:1]", "[{i}/2][{i}%2]"),
    "two_packed": ("logic [1:0][1:0][3:0]", "", "[{i}/2][{i}%2]"),
    "two_packed_mixed": ("logic [0:1][1:0][3:0]", "", "[{i}/2][{i}%2]"),
    "packed_in_unpacked": ("logic [1:0][3:0]", "[0:1]", "[{i}/2][{i}%2]"),
    "packed_up_in_unpacked": ("logic [0:1][3:0]", "[1:0]", "[{i}/2][{i}%2]"),
    "vectors_in_unpacked": ("logic [7:0]", "[2]", "[{i}/2][4*({i}%2) +: 4]"),
    "pairs_down": ("logic [7:0][1:0]", "", "[2*{i} +: 2]"),
    "pairs_up": ("logic [0:7][1:0]", "", "[2*{i} +: 2]"),
    "named_word": ("types::nibble", "[4]", "[{i}]"),
    "named_packed": ("types::upward", "", "[{i}]"),
    "named_unpacked": ("types::array", "", "[{i}]"),
    "structure": ("types::word", "[0:3]", "[{i}]"),
    "structure_down": ("types::word", "[3:0]", "[{i}]"),
    "structure_packed": ("types::word [0:3]", "", "[{i}]"),
}
#: Those that Icarus Verilog 11 does not read.
NOT_ICARUS = (
    "pairs_down", "pairs_up", "named_packed", "structure", "structure_down", "structure_packed",
)  # fmt: skip
ROWS = 40
FORMATS = {"a": "s4", "b": "s4", "c": "s8", "d": "s8"}
CHAIN = {
    "kind": "integer-dot-add", "a_format": "s4", "b_format": "s4", "c_format": "s8", "d_format": "s8",
    "k": 4, "n_fma": 1, "overflow": "saturate",
}  # fmt: skip


def element(style: str, name: str, lane: int) -> str:
    return name + STYLES[style][2].format(i=lane)


def chain(style: str, order: tuple[int, ...] = (0, 1, 2, 3), name: str = "") -> str:
    """A module in which the order of lanes matters: s = clamp(s + a[i] * b[i])."""
    before, behind, _ = STYLES[style]
    ports = ", ".join(f"input {before} {operand} {behind}" for operand in "ab")
    steps = "\n".join(
        f"x = {element(style, 'a', i)}; y = {element(style, 'b', i)}; t = 10'(s) + 10'(x) * 10'(y);"
        " if (t > 127) s = 127; else if (t < -128) s = -128; else s = t[7:0];"
        for i in order
    )
    return (
        f"module {name or style}({ports}, input logic signed [7:0] c, output logic signed [7:0] d);\n"
        "logic signed [9:0] t; logic signed [7:0] s; logic signed [3:0] x, y;\n"
        f"always_comb begin s = c;\n{steps}\nd = s; end\nendmodule\n"
    )


def drawn() -> Operands[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    a, b = rng.choice([8, 7, 1, 15, 9, 2], (2, ROWS, 4)).astype(np.uint8)
    return Operands(a, b, rng.choice([127, 128, 0, 100, 156], ROWS).astype(np.uint8))


def bench(style: str, rows: Operands[np.ndarray, np.ndarray]) -> str:
    """A module whose task gives a design each row, element by element, and prints its results."""
    before, behind, _ = STYLES[style]
    text = []
    for a, b, c in zip(rows.a.tolist(), rows.b.tolist(), rows.c.tolist(), strict=True):
        text += [f"a{i} = {a[i]}; b{i} = {b[i]};" for i in range(4)]
        text.append(f'c = {c}; #1 $display("%b", d);')
    variables = " ".join(f"{before} {operand} {behind};" for operand in "ab")
    variables += f" logic [3:0] {', '.join(f'{operand}{i}' for operand in 'ab' for i in range(4))};"
    lanes = [f"{element(style, operand, i)} = {operand}{i};" for operand in "ab" for i in range(4)]
    return (
        f"module bench_{style}; {variables} logic signed [7:0] c; wire signed [7:0] d;\n"
        f"always @* begin {' '.join(lanes)} end\n"
        f"{style} u(.a(a), .b(b), .c(c), .d(d));\ntask run;\n" + "\n".join(text) + "\nendtask\nendmodule\n"
    )


def answers(folder: Path, style: str, text: str = "", **given: object) -> list[int]:
    file = folder / f"{style}.sv"
    file.write_text(TYPES + (text or chain(style)))
    model = read_design(DesignFiles(files=[file], top=style, formats=FORMATS, **given)).model
    return run_words(model, drawn()).tolist()


def expected() -> list[int]:
    """What the chain gives, in Python: the lanes from the first to the last."""

    def signed(word: int, width: int) -> int:
        return word - (word >> width - 1 << width)

    rows, results = drawn(), []
    for a, b, c in zip(rows.a.tolist(), rows.b.tolist(), rows.c.tolist(), strict=True):
        s = signed(c, 8)
        for x, y in zip(a, b, strict=True):
            s = max(-128, min(127, s + signed(x, 4) * signed(y, 4)))
        results.append(s % 256)
    return results


@needs_pyosys
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.slow_cases("structure_down")
def test_lanes_are_elements_by_ascending_index(style: str, tmp_path: Path) -> None:
    """A design that visits them in this order is the chain; one that visits them backwards is not."""
    assert answers(tmp_path, style) == expected()
    assert answers(tmp_path, style, chain(style, (3, 2, 1, 0))) != expected()


@needs_pyosys
def test_simulators_say_the_same() -> None:
    """Icarus Verilog, given the lanes element by element."""
    styles = [style for style in STYLES if style not in NOT_ICARUS]
    modules = TYPES + "".join(chain(style) + bench(style, drawn()) for style in styles)
    lines = simulated(modules, [f"bench_{style}" for style in styles])
    for number, style in enumerate(styles):
        words = [int(line, 2) for line in lines[ROWS * number : ROWS * (number + 1)]]
        assert words == expected(), style


@needs_pyosys
@pytest.mark.slow
def test_verilator_says_the_same(tmp_path: Path) -> None:
    """For every style."""
    names = [f"bench_{style}" for style in STYLES]
    top = ["module top;", *(f"{name} u_{name}();" for name in names), "initial begin"]
    top += [*(f"u_{name}.run;" for name in names), "$finish; end endmodule", ""]
    text = TYPES + "".join(chain(style) + bench(style, drawn()) for style in STYLES)
    file = tmp_path / "top.sv"
    file.write_text("`timescale 1ns/1ns\n" + text + "\n".join(top))
    said = command(verilator(tmp_path, "top", [file], strict=False)).splitlines()
    lines = [line for line in said if line and set(line) <= {*"01"}]
    for number, style in enumerate(STYLES):
        words = [int(line, 2) for line in lines[ROWS * number : ROWS * (number + 1)]]
        assert words == expected(), style


@needs_pyosys
@pytest.mark.slow
def test_the_mapping_is_shown_with_every_verdict(tmp_path: Path) -> None:
    unit = tmp_path / "chain.toml"
    unit.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in CHAIN.items()))
    file = tmp_path / "size.sv"
    file.write_text(TYPES + chain("size"))
    shown = "a0 = a[0] (bits 15:12), a1 = a[1] (bits 11:8), a2 = a[2] (bits 7:4), a3 = a[3] (bits 3:0)"
    text = done("compare", unit, file, "--top", "size")
    assert "EQUIVALENT" in text and shown in text
    found = json.loads(done("compare", unit, file, "--top", "size", "--json"))
    assert found["models"][1]["ports"]["b3"] == "b[3] (bits 3:0)"
    assert found["models"][1]["ports"]["d"] == "d" and "ports" not in found["models"][0]
    named = f"{file},top=size,like={unit}"
    assert shown in done("describe", named)
    own = tmp_path / "own.toml"
    options = [f"--format={operand}={name}" for operand, name in FORMATS.items()]
    done("design", file, "--top", "size", *options, "--output", own)
    assert shown in done("compare", unit, own)
    file.write_text(TYPES + chain("size", (3, 2, 1, 0)))
    assert "DISTINGUISHED" in done("compare", unit, file, "--top", "size", code=1)


def whole(declaration: str) -> str:
    return (
        f"module m(input {declaration}, input logic [3:0] b [4], input logic [7:0] c,"
        f" output logic [7:0] d);\nassign d = c;\nendmodule\n"
    )


@needs_pyosys
@pytest.mark.parametrize(
    ("declaration", "ports", "said"),
    [
        ("types::four a", (), "port 'a=a': the order of bits in a is not known: its members have no order"),
        ("more::mixed a", ("a=a.n", "b=b"), ""),
        ("more::mixed a", ("a=a.m",), "unknown member of a 'm': did you mean more? allowed: n, more"),
        ("types::four a", ("a0=a.w", "a1=a.x", "a2=a.y", "a3=a.z"), ""),
        ("types::halves a", ("a0=a.low[0]", "a1=a.low[1]", "a2=a.high[0]", "a3=a.high[1]"), ""),
        ("logic a [16]", (), "a word of 4 bits must be one element, and packed"),
        ("logic [1:0] a [8]", (), "a word of 4 bits must be one element, and packed"),
        ("logic [3:0] a [4]", ("a0=a[4]", "a1=a[1]"), "a[4]: a has the elements 0 to 3"),
        ("logic [3:0] a [4]", ("a0=a[7:4]", "a1=a[1]"), "a[7:4]: a has the elements 0 to 3"),
        ("logic [0:15] a", ("a0=a[3:0]", "a1=a[4:7]"), "a[3:0]: a is declared [0:15]: give [0:3]"),
        ("logic [0:15] a", ("a0=a[0:3]", "a1=a[4:7]", "a2=a[8:11]", "a3=a[12:15]"), ""),
        ("logic [3:0] a [4]", ("a0=a[0]", "a1=a[1]", "a2=a[2]", "a3=a[3]"), ""),
        ("logic [3:0] a [4]", ("a0=a[0][2:0]",), "a[0][2:0] has 3 bits, but a has 4"),
        ("logic [3:0][3:0] a", ("a0=a[3:0]", "a1=a[7:4]", "a2=a[11:8]", "a3=a[15:12]"), ""),
        ("logic [3:0][3:0] a", ("a0=a[0]", "a1=a[1]", "a2=a[2]", "a3=a[3]"), ""),
        ("logic [3:0] a [4]", ("a0=a.x",), "a.x: a is not a structure"),
        ("logic [3:0] a [4]", ("a0=a[0][0][0]",), "a[0][0][0]: a[0][0] is not an array"),
    ],
)
def test_lanes_that_are_given(declaration: str, ports: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """What SystemVerilog's selects choose; what has no order is refused by name, with what to give."""
    file = tmp_path / "m.sv"
    file.write_text(TYPES + UNPACKED + whole(declaration))
    files = DesignFiles(files=[file], top="m", formats=FORMATS, ports=ports)
    if said:
        with pytest.raises(TcsmtError) as caught:
            read_design(files)
        assert said in str(caught.value)
    else:
        assert read_design(files).model.k == 4


@needs_pyosys
@pytest.mark.parametrize(
    ("declaration", "ports", "elements"),
    [
        ("types::four", ("a0=a.w", "a1=a.x", "a2=a.y", "a3=a.z"), (".w", ".x", ".y", ".z")),
        ("more::mixed", ("a=a.n",), (".n[0]", ".n[1]", ".n[2]", ".n[3]")),
        (
            "types::halves",
            ("a0=a.low[0]", "a1=a.low[1]", "a2=a.high[0]", "a3=a.high[1]"),
            (".low[0]", ".low[1]", ".high[0]", ".high[1]"),
        ),
    ],
)  # fmt: skip
def test_members_of_structures(
    declaration: str, ports: tuple[str, ...], elements: tuple[str, ...], tmp_path: Path
) -> None:
    """Each lane of a by itself is the element that its port names."""
    for lane, chosen in enumerate(elements):
        file = tmp_path / f"m{lane}.sv"
        file.write_text(
            f"{TYPES}{UNPACKED}module m(input {declaration} a, input logic [3:0] b [4], input logic [7:0] c,"
            f" output logic [7:0] d);\nassign d = {{4'b0, a{chosen}}};\nendmodule\n"
        )
        given = [*ports, *(["c=c"] if lane else [])]
        files = DesignFiles(files=[file], top="m", formats=FORMATS, ports=given)
        rows = drawn()
        assert run_words(read_design(files).model, rows).tolist() == rows.a[:, lane].tolist()


@needs_pyosys
def test_parameters_and_registers_that_are_cut(tmp_path: Path) -> None:
    """Types that parameters change, and a register as a port."""
    file = tmp_path / "m.sv"
    file.write_text(
        "module m #(parameter int N = 3, parameter type T = logic [0:3]) (input logic clk,"
        " input T a [N], input logic [0:N-1][3:0] b, input logic [7:0] c, output logic [7:0] d);\n"
        "logic [0:15] held; always_ff @(posedge clk) held <= {a[0], a[1], a[2], a[3]};\n"
        "assign d = {held[4:7], a[2]};\nendmodule\n"
    )
    given = DesignFiles(files=[file], formats=FORMATS, parameters={"N": "4"})
    cut = replace(given, cut=["held"], ports=["a=held"], constants=["a=0"])
    model = read_design(cut).model
    assert isinstance(model, Circuit)
    assert model.port_map["a1"] == "held[4:7] (bits 11:8)" and model.port_map["b0"] == "b[0] (bits 15:12)"
    assert run_words(model, drawn()).tolist() == (drawn().a[:, 1] << 4).tolist()
    stage = read_design(replace(given, cut=["held"], ports=["d=held[4:11]"])).model
    rows = drawn()
    assert run_words(stage, rows).tolist() == (rows.a[:, 1] << 4 | rows.a[:, 2]).tolist()


@needs_pyosys
def test_what_has_no_declaration_is_refused(tmp_path: Path) -> None:
    """Where a type cannot be told, each lane must be given as bits."""
    declared = DeclaredPorts({"a": 16}, {})
    with pytest.raises(TcsmtError, match=r"declared.* not known.* a0=a\[3:0\]"):
        declared.spelled(Port.read("a=a"), 4, 4)
    assert declared.spelled(Port.read("a2=a[7:4]"), 4, 1) == ["a2=a[7:4]"]
    with pytest.raises(TcsmtError, match="how a is declared is not known"):
        DeclaredPorts({"a": 16}, {"a": VerilogBits(1)}).spelled(Port.read("a=a"), 4, 4)
