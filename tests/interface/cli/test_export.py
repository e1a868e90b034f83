"""``tcsmt export``."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest

import tcsmt
from tcsmt.surveys.properties.scripts import scripts
from tests.support.command_line import done, refused
from tests.support.paths import ROOT


def test_export(tmp_path: Path) -> None:
    done("export", "--queries", tmp_path / "queries")
    written = {p.name: p.read_text() for p in (tmp_path / "queries").iterdir()}
    assert written == {f"{name}.smt2": text for name, text in scripts()}
    committed = ROOT / "queries"
    assert {p.name: p.read_text() for p in committed.glob("*.smt2")} == written


def test_exports_are_the_same_text_as_from_python(tmp_path: Path) -> None:
    """To standard output, to a file, with its bench, as JSON: the same text as from Python."""
    made = tcsmt.export("volta", "systemverilog", name="dot", pipeline=True)
    common = ("export", "volta", "--as", "systemverilog", "--pipeline", "--name", "dot")
    assert done(*common) == made.text == str(made)
    file, bench = tmp_path / "dot.sv", tmp_path / "dot_tb.sv"
    data = json.loads(done(*common, "--output", file, "--testbench", bench, "--json"))
    assert (file.read_text(), bench.read_text()) == (made.text, made.testbench)
    assert {**made.as_json(), "testbench": str(bench), "output": str(file)}.items() <= data.items()
    assert (data["latency"], data["name"]) == (4, "dot")
    for language in ("c", "btor2", "smt2"):
        data = json.loads(done("export", "volta", "--as", language.upper(), "--json"))
        assert data["text"] == tcsmt.export("volta", language).text
        assert data["name"] == "tcsmt_volta_mma_m8n8k4_f32_f16_f16_f32"


def test_a_module_is_written_with_its_loader(tmp_path: Path) -> None:
    """To files, and as JSON without them."""
    made = tcsmt.export("volta", "wasm", name="dot")
    assert made.module is not None and made.module.startswith(b"\0asm")
    common = ("export", "volta", "--as", "wasm", "--name", "dot", "--json")
    data = json.loads(done(*common, "--output", tmp_path / "my.wasm"))
    paths = {"output": "my.wasm", "loader": "my.mjs", "declarations": "my.d.mts"}
    assert {what: str(tmp_path / name) for what, name in paths.items()}.items() <= data.items()
    assert (tmp_path / "my.wasm").read_bytes() == made.module
    assert (tmp_path / "my.mjs").read_text() == made.text == str(made)
    assert (tmp_path / "my.d.mts").read_text() == made.declarations
    data = json.loads(done(*common))
    assert b64decode(data["module"]) == made.module
    assert (data["text"], data["declarations"]) == (made.text, made.declarations)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "expected one of UNIT, --queries, --benchmarks; given: none"),
        ("volta --queries q", "given: UNIT and --queries"),
        ("--queries q --pipeline", "--pipeline is of a UNIT, which is not given with --queries"),
        ("volta", "--as is missing: one of systemverilog, c, btor2, smt2, wasm"),
        ("volta --as verilog", "unknown language 'verilog'"),
        ("volta --as c --pipeline", "a pipeline is possible in systemverilog, not in c"),
        ("volta --as c --testbench t", "a test bench is possible for systemverilog, not for c"),
        ("volta --as c --name 1x", "name '1x': must be letters, digits and underscores"),
        ("volta --as wasm --pipeline", "a pipeline is possible in systemverilog, not in wasm"),
        ("volta --as wasm --name dot", "--output is missing: a module is binary; such as --output dot.wasm"),
        ("volta --as wasm --output dot.js", "dot.js: a WebAssembly module is named like tcsmt_volta_"),
        ("nowhere --as c", "unknown"),
    ],
)
def test_refused(words: str, said: str) -> None:
    assert said in refused("export", *words.split())


def test_scripts_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [("one", "(set-info :status sat)\n"), ("two", "(set-info :status unsat)\n")]
    monkeypatch.setattr("tcsmt.surveys.properties.scripts.scripts", lambda: iter(few))
    data = json.loads(done("export", "--queries", tmp_path, "--json"))["scripts"]
    assert data == [
        {"name": name, "file": str(tmp_path / f"{name}.smt2"), "status": status}
        for name, status in (("one", "sat"), ("two", "unsat"))
    ]
    assert done("export", "--queries", tmp_path).splitlines() == [one["file"] for one in data]
