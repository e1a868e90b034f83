"""What is asked of Yosys, and what is said of its failures; designs that it reads are in ``test_designs``."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tcsmt.outside.implementations import rtl
from tcsmt.outside.implementations.rtl import read_rtl
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tests.oracles import btor2

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
