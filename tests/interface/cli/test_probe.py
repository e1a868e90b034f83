"""``tcsmt probe``: what it refuses, and its exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tcsmt.matrix_units.catalogue.processors import CPUINFO
from tests.support.command_line import done, refused, tcsmt
from tests.support.cpu_programs import compiler
from tests.support.probes import VOLTA


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["volta", "--emit", "hip"], "--emit cuda, not hip"),
        (["cdna3", "--emit", "cuda"], "--emit hip, not cuda"),
        (["b200/tcgen05.mMnNk16.kind::f16.f16.f16.f16", "--emit", "cuda"], "mma and wgmma"),
        (["volta"], "give --emit"),
        (["volta", "--run", "--emit", "json"], "leave out --emit json"),
        (["volta", "--run", "--output", "answers.csv"], "give FILE.json"),
        (["volta", "--emit", "hop"], "'cuda', 'hip', 'c', 'json', 'csv'"),
        (["volta", "--emit", "json", "--property", "carry"], "unknown property"),
        (["volta", "--emit", "cuda", "--vectors", "none.csv"], "none.csv"),
        (["volta", "--emit", "cuda", "--vectors", "x.csv", "--property", "carry-bits"], "not both"),
    ],
)
def test_contradictory_options_are_refused(arguments: list[str], said: str) -> None:
    assert said in refused("probe", *arguments)


def test_a_model_file_is_no_instruction(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'base = "{VOLTA}"\nfraction_bits = 22\n')
    assert "not an instruction of a GPU" in refused("probe", path, "--emit", "cuda")


def test_where_no_property_applies_the_vectors_are_those_that_decide() -> None:
    result = tcsmt("probe", "x86/vpdpbusds", "--emit", "json")
    assert result.exit_code == 0
    assert "no property applies to x86/vpdpbusds" in result.stderr
    data = json.loads(result.stdout)
    assert "deciding: not x86/vpdpbusd;" in data["rows"][0]["asks"]
    # the largest number is the result of the saturating unit alone
    assert {row["predictions"]["x86/vpdpbusds"] for row in data["rows"]} & {"0x7fffffff", "0x80000000"}


@pytest.mark.slow
def test_run_asks_the_cpu(tmp_path: Path) -> None:
    """With --output, the answers are kept and replayed; without it, they are said alone."""
    compiler()
    if "avx512_bf16" not in CPUINFO.read_text():
        assert "has no avx512_bf16" in refused("probe", "x86/vdpbf16ps", "--run")
        return
    lines = done("probe", "x86/vdpbf16ps", "--run").splitlines()
    assert re.fullmatch(r".+, [0-9]+ rows, 0 mismatches with x86/vdpbf16ps", lines[0])
    assert all(line.endswith(": x86/vdpbf16ps") for line in lines[1:])
    data = json.loads(done("probe", "x86/vdpbf16ps", "--run", "--json"))
    assert (data["output"], data["mismatches"]) == (None, 0)
    answers = tmp_path / "answers.json"
    assert done("probe", "x86/vdpbf16ps", "--run", "--output", answers).startswith(f"{answers}: ")
    assert "0 mismatches" in done("validate", answers).splitlines()[-1]


def test_help_names_the_exit_codes() -> None:
    assert "Exit code" in tcsmt("probe", "--help").output


def test_json_says_what_was_written(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0.5\n")
    common = ("probe", "volta", "--vectors", rows, "--json", "--emit")
    out = tmp_path / "probe.cu"
    data = json.loads(done(*common, "cuda", "--output", out))
    assert (data["output"], data["emitted"], data["vectors"]) == (str(out), "cuda", 1)
    assert len(json.loads(done(*common, "json"))["rows"]) == 1
    assert "--json describes what was written: give --output FILE" in refused(*common, "cuda")
