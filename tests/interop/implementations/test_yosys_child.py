"""The process in which Yosys reads a design: its reply for sound designs, and for those that are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interop.implementations import rtl, yosys_child

needs_yosys = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")


def ran(folder: Path, text: str, output: str = "d") -> tuple[dict[str, Any], str]:
    """The reply, and the BTOR2 text where it has no problems."""
    (folder / "x.sv").write_text(text)
    request = {"arguments": [str(folder / "x.sv")], "top": "t", "output": output, "cut": []}
    (folder / "request").write_text(json.dumps(request))
    paths = [str(folder / name) for name in ("request", "reply", "btor2")]
    done = subprocess.run(
        [sys.executable, str(Path(yosys_child.__file__)), *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    written = folder / "btor2"
    return json.loads((folder / "reply").read_text()), written.read_text() if written.exists() else ""


def module(body: str, ports: str = "input clk, input [3:0] a, output logic [3:0] d") -> str:
    return f"module t ({ports});\n{body}\nendmodule\n"


@needs_yosys
def test_a_sound_design_is_written(tmp_path: Path) -> None:
    reply, text = ran(tmp_path, module("assign d = a + 4'd3;"))
    assert (reply["problems"], reply["top"], reply["output"]) == ([], "t", "d")
    assert reply["places"]["a"].endswith("x.sv:1") and reply["blocks"] == []
    assert " output " in text and " add " in text


@needs_yosys
def test_other_outputs_are_named(tmp_path: Path) -> None:
    reply, text = ran(tmp_path, module("assign d = a;"), output="x")
    assert reply == {"problems": [], "outputs": ["d"]} and text == ""


@needs_yosys
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("always_latch if (clk) d = a;", "x.sv:2: a latch"),
        ("logic [3:0] x; assign x = x + a; assign d = x;", "a combinational loop"),
        (
            "logic [3:0] x; always_ff @(posedge clk) x <= a; always_ff @(negedge clk) d <= x;",
            "several clocks",
        ),
        (
            "logic [3:0] m [0:99]; always_ff @(posedge clk) m[a] <= a; assign d = m[a];",
            "a memory of 100 words",
        ),
    ],
)
def test_problems_are_told_with_their_place(body: str, said: str, tmp_path: Path) -> None:
    """And nothing is written."""
    reply, text = ran(tmp_path, module(body))
    assert text == "" and reply["problems"]
    assert any(said in problem for problem in reply["problems"])
    assert all("x.sv:" in problem for problem in reply["problems"])


def test_loops_and_several_drivers_are_reported_once_each() -> None:
    """Loops and wires with several drivers, once each; other warnings are none of these."""
    loop = "found logic loop in module t:\n  cell $add (source: x.sv:3.4-5.6)\n  wire \\x [0]\n"
    drivers = "multiple conflicting drivers for t.\\d [1]:\n  source: x.sv:7\n"
    told = "start\nWarning: " + "Warning: ".join(
        [loop, loop, drivers, "Wire t.\\e is used but has no driver.\n"]
    )
    assert yosys_child.loops(told) == [
        "x.sv:3: a combinational loop through x", "x.sv:7: several drivers of one wire: d",
    ]  # fmt: skip
    assert yosys_child.loops("no warning at all") == []
    many = "".join(f"Warning: found logic loop in module t:\n source: x.sv:{n}\n" for n in range(9))
    assert len(yosys_child.loops(many)) == 3
