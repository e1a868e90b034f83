"""``tcsmt probe``: what it refuses, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused, tcsmt
from tests.support.probes import VOLTA


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["volta", "--emit", "hip"], "--emit cuda, not hip"),
        (["cdna3", "--emit", "cuda"], "--emit hip, not cuda"),
        (["b200/tcgen05.mMnNk16.kind::f16.f32.f16", "--emit", "cuda"], "mma and wgmma"),
        (["volta"], "give --emit"),
        (["volta", "--run"], "give --output"),
        (["volta", "--emit", "hop"], "'cuda', 'hip', 'c', 'json', 'csv'"),
        (["ampere/mma.m8n8k4.f64", "--emit", "json"], "give --vectors FILE"),
        (["volta", "--emit", "json", "--property", "carry"], "unknown property"),
        (["volta", "--emit", "cuda", "--vectors", "none.csv"], "none.csv"),
        (["volta", "--emit", "cuda", "--vectors", "x.csv", "--property", "carry-bits"], "not both"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], said: str) -> None:
    assert said in refused("probe", *arguments)


def test_a_model_file_is_no_instruction(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'base = "{VOLTA}"\nfraction_bits = 22\n')
    assert "not an instruction of a GPU" in refused("probe", path, "--emit", "cuda")


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
