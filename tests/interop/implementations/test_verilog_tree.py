"""The syntax tree that slang writes, between the lines that Yosys prints."""

from __future__ import annotations

import json

import pytest

from tcsmt.interop.implementations.verilog_tree import read_verilog_tree, tree_in
from tcsmt.interop.implementations.verilog_types import VerilogArray
from tcsmt.support.errors import TcsmtError


def variable(name: str, kind: str = "logic[3:0]") -> dict[str, object]:
    return {"name": name, "kind": "Variable", "addr": 1, "type": kind}


def instance(name: str, module: str, *members: object) -> dict[str, object]:
    body = {"name": module, "kind": "InstanceBody", "addr": 3, "members": list(members)}
    return {"name": name, "kind": "Instance", "addr": 2, "body": body}


def block(name: str, kind: str, *members: object) -> dict[str, object]:
    return {"name": name, "kind": kind, "addr": 4, "members": list(members)}


def index(value: int) -> dict[str, object]:
    return {"name": "k", "kind": "Parameter", "addr": 5, "value": str(value)}


ROOT = {
    "name": "$root", "kind": "Root", "addr": 0,
    "members": [
        instance(
            "t", "t", variable("x"), {"name": "n", "kind": "Net", "addr": 6, "type": "m.T"},
            variable("r", "real"),
            instance("u", "m", {"name": "T", "kind": "TypeParameter", "addr": 7, "type": "logic[0:1]"},
                     variable("y", "94000000 m.T$[0:2]")),
            block("g", "GenerateBlockArray", block("", "GenerateBlock", index(0), variable("z")),
                  block("", "GenerateBlock", index(1), variable("z"))),
            block("h", "GenerateBlock", variable("w")),
            block("a", "InstanceArray", instance("", "m")),
        )
    ],
}  # fmt: skip


def test_variables_have_the_names_of_the_netlist() -> None:
    types = read_verilog_tree(json.dumps(ROOT), "t").types
    assert list(types) == ["x", "u.y", "g[0].z", "g[1].z", "h.w"]
    found = types["u.y"]
    assert isinstance(found, VerilogArray) and found.width == 6 and not found.packed


@pytest.mark.parametrize(("text", "top"), [("{", "t"), ("", "t"), (json.dumps(ROOT), "m")])
def test_trees_that_cannot_be_read(text: str, top: str) -> None:
    with pytest.raises(TcsmtError, match="the syntax tree of the design"):
        read_verilog_tree(text, top)


def test_the_tree_is_taken_out_of_what_is_printed() -> None:
    tree = json.dumps({"message": 'x.sv:1: ERROR: of a "display"'}, indent=2)
    said = f"-- Running\n{tree}\nx.sv:3: ERROR: syntax error\n"
    assert tree_in(said) == (tree, "-- Running\nx.sv:3: ERROR: syntax error")
    assert tree_in("no tree\n") == ("", "no tree\n")
    assert tree_in("a\n{\n  cut off") == ("{\n  cut off", "a")
