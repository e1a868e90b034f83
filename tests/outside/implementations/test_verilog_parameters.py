"""Parameters of a module: those that it has, with the values given, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.outside.implementations import rtl
from tcsmt.outside.implementations.verilog_parameters import require_parameters
from tcsmt.outside.implementations.verilog_tree import VerilogTree
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
