"""What is asked of Yosys, and what is said of its failures; designs that it reads are in ``test_designs``."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interop.implementations import rtl
from tcsmt.interop.implementations.rtl import read_rtl, require_parameters
from tcsmt.interop.implementations.verilog_tree import VerilogTree
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tests.oracles import btor2

SOURCE = """module t #(parameter N = 4, parameter logic [3:0] W = 1, localparam L = N)
 (input logic [3:0] a, output logic [3:0] d); assign d = a + 4'(N) + W; endmodule
"""


def tree(**values: str) -> VerilogTree:
    parameters = [{"kind": "Parameter", "name": name, "value": value} for name, value in values.items()]
    local = {"kind": "Parameter", "name": "L", "value": "3", "isLocal": True}
    return VerilogTree({"kind": "Instance", "body": {"members": [*parameters, local, {"kind": "Port"}]}})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("3", "3"), ("-3", "-3"), ("4'hF", "4'b1111"), ("32'hFFFF_FFFF", "32'd4294967295"), ("'h1f", "31"),
        ("4'sb1111", "-1"), ("2*3", "6"), ('"abc"', '"abc"'), ("'x", "32'bx"), ("1.5", "1.5"),
    ],
)  # fmt: skip
def test_values_that_are_kept(given: str, kept: str) -> None:
    require_parameters(tree(N=kept), {"N": given})


@pytest.mark.parametrize(
    ("given", "kept"),
    [("300", "4'b1100"), ("16", "4'b0"), ("-1", "4'b1111"), ("8'h1F", "4'b1111")],
)
def test_values_that_are_cut_off(given: str, kept: str) -> None:
    with pytest.raises(TcsmtError, match="its type does not have this value"):
        require_parameters(tree(N=kept), {"N": given})


@pytest.mark.parametrize("name", ["M", "n", "L"])
def test_names_that_the_module_does_not_have(name: str) -> None:
    """A front end passes over them; a local parameter is not for users."""
    with pytest.raises(TcsmtError, match=f"unknown parameter '{name}'"):
        require_parameters(tree(N="3"), {name: "3"})


@pytest.mark.slow
@pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
def test_as_slang_says_it(tmp_path: Path) -> None:
    path = tmp_path / "t.sv"
    path.write_text(SOURCE)
    read = rtl.read_rtl([path], "t", "d", parameters={"N": "2*3", "W": "4'hF"})
    assert btor2.evaluate(read.btor2, {"a": 1}) == {"d": (1 + 6 + 15) % 16}
    for given in ({"W": "300"}, {"W": "-1"}, {"L": "3"}, {"M": "3"}):
        with pytest.raises(TcsmtError, match=r"unknown parameter|its type does not have"):
            rtl.read_rtl([path], "t", "d", parameters=given)


SUM = (
    "module half #(parameter N = 4) (input [N-1:0] a, b, output [N-1:0] d, output e);\n"
    "assign d = a + b `ifdef MORE + 1 `endif ;\nassign e = a[0];\nendmodule\n"
)
needs_yosys = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / 'a "quoted" name.sv'
    path.write_text(SUM)
    return path


@needs_yosys
def test_the_text_that_yosys_writes_is_the_design(source: Path) -> None:
    """With a parameter and a macro; the other output is left out."""
    text = read_rtl([source], "half", "d", parameters={"N": "3"}, define=["MORE"]).btor2
    for a in range(8):
        for b in range(8):
            assert btor2.evaluate(text, {"a": a, "b": b}) == {"d": (a + b + 1) % 8}
    assert btor2.evaluate(read_rtl([source], "", "d").btor2, {"a": 9, "b": 9}) == {"d": 2}


@needs_yosys
def test_unknown_outputs_are_refused(source: Path) -> None:
    with pytest.raises(TcsmtError, match="unknown output 'f': allowed: e, d"):
        read_rtl([source], "half", "f")


@pytest.mark.parametrize("name", ["a b", "x;y", "1x", "-top"])
def test_names_that_are_no_names(name: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be options, or commands, of Yosys: none is started."""
    monkeypatch.setattr(rtl, "available", lambda: True)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("started"))
    for given in ({"top": name}, {"top": "half", "parameters": {name: "1"}}):
        with pytest.raises(TcsmtError, match="must be a name of Verilog"):
            read_rtl([source], output="d", **given)
    with pytest.raises(TcsmtError, match="no such file"):
        read_rtl([source.with_name("no.sv")], "half", "d")


@pytest.mark.parametrize(
    "value", ["1\n", "\n1", "1;", "1//x", "1/*", "`X", '`include "x"', "1\t", "\x1b[2J", "3;assign d=0"]
)
def test_values_that_are_no_values(value: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl, "available", lambda: True)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("started"))
    with pytest.raises(TcsmtError, match="is not a value of Verilog"):
        read_rtl([source], "half", "d", parameters={"N": value})


#: Names that SystemVerilog takes behind a backslash, and that mean something elsewhere.
ESCAPED = [
    "$x", 'b"x', "q'x", "a.b", "x=y", "(y)", "-o", "#", "*", "a,b", "%s", "true", "always", "x/y", "{a}",
    "`x", "`include", "N" * 3000, "//x", "/*", "$(touch",
]  # fmt: skip


@needs_yosys
@pytest.mark.slow
def test_escaped_names_are_names(tmp_path: Path) -> None:
    """On the way through Yosys's passes and BTOR2, names of ports stay names, each of its own port."""
    path = tmp_path / "n.sv"
    ports = "".join(f"input [7:0] \\{name} , " for name in ESCAPED)
    total = " + ".join(f"8'd{number + 1} * \\{name} " for number, name in enumerate(ESCAPED))
    path.write_text(f"module t ({ports} output [7:0] result);\nassign result = {total}; endmodule\n")
    text = read_rtl([path], "t", "result").btor2
    for number, name in enumerate(ESCAPED):
        inputs = dict.fromkeys(ESCAPED, 0) | {name: 1}
        assert btor2.evaluate(text, inputs) == {"result": number + 1}


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize(
    "ports", ["input [3:0] \\a;x , output [3:0] d", "input [3:0] a, output [3:0] \\d;x "]
)
def test_a_semicolon_in_a_name_is_refused(ports: str, tmp_path: Path) -> None:
    """In BTOR2 a comment begins there: the port would have another one's name."""
    path = tmp_path / "n.sv"
    output, given = ("\\d;x ", "a") if "d;x" in ports else ("d", "\\a;x ")
    path.write_text(f"module t ({ports});\nassign {output} = {given}; endmodule\n")
    with pytest.raises(TcsmtError, match=r"n\.sv:1: .;x: a name with a semicolon"):
        read_rtl([path], "t", output.strip("\\ "))


def test_without_yosys(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl, "find_spec", lambda name: None)
    assert not rtl.available()
    with pytest.raises(TcsmtError, match=re.escape(extras.install("rtl"))):
        read_rtl([source], "half", "d")


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("1. Executing\nx.sv:3: ERROR: syntax error\nERROR: stop\n", "x.sv:3: syntax error"),
        ("ERROR: Module `\\x' not found!\n", "Yosys: Module `\\x' not found!"),
        ("a:1: ERROR: 1\nb:2: ERROR: 2\nc:3: ERROR: 3\nd:4: ERROR: 4\n", "a:1: 1; b:2: 2; c:3: 3"),
        ("Segmentation fault\n\n", "Yosys: Segmentation fault"),
        ("", "Yosys: no answer"),
    ],
)
def test_failures_of_yosys_are_reported_with_their_lines(log: str, said: str) -> None:
    assert rtl._error(log) == said


@pytest.mark.parametrize("why", ["slow", "dead", "silent"])
def test_a_process_that_gives_no_answer(why: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl, "available", lambda: True)

    def run(command: list[str], **options: Any) -> Any:
        if why == "slow":
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return subprocess.CompletedProcess(command, -9 if why == "dead" else 0, "it went wrong")

    monkeypatch.setattr(subprocess, "run", run)
    said = "Yosys has not read the design in 2.5 s" if why == "slow" else "Yosys: it went wrong"
    with pytest.raises(TcsmtError, match=said):
        read_rtl([source], "half", "d", timeout=2.5)
