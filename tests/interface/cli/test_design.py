"""``tcsmt design``, and designs in ``tcsmt compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused, tcsmt

#: d = c + a * b, modulo 256; and with a + b for a | b, where both have a bit.
MAC = """1 sort bitvec 8
2 input 1 x
3 input 1 b
4 input 1 c
5 mul 1 2 3
6 add 1 5 4
7 output 6 sum
"""
FORMATS = [f"--format={name}=u8" for name in "abcd"]
PORTS = ["--port", "a=x", "--port", "d=sum"]


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "mac.btor2"
    file.write_text(MAC)
    return file


def test_written_designs_are_units_of_every_command(mac: Path, tmp_path: Path) -> None:
    unit = tmp_path / "mac.toml"
    assert 'kind = "circuit"' in done("design", mac, *PORTS, *FORMATS)
    assert done("design", mac, *PORTS, *FORMATS, "--output", unit) == ""
    report = json.loads(done("design", mac, *PORTS, *FORMATS, "--json"))
    assert report["model"]["kind"] == "circuit" and report["model"]["ports"] == ["a=x", "d=sum"]
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,b0,c\n3,100,7\n0xff,2,0\n")
    assert [line.split()[2] for line in done("run", unit, "--input", rows).splitlines()[1:]] == ["51", "254"]
    assert "result" in done("explain", unit, "--vector", "a0=3 b0=5 c=1")
    assert "same graph" in done("compare", unit, mac, *PORTS)
    assert "result: mac" not in done("describe", unit)


def test_a_design_is_recorded_checked_and_identified(mac: Path, tmp_path: Path) -> None:
    unit, rows, wrong = tmp_path / "mac.toml", tmp_path / "rows.json", tmp_path / "wrong.toml"
    done("design", mac, *PORTS, *FORMATS, "--output", unit)
    done("vectors", unit, "--kind", "edge", "--rows", "40", "--output", rows)
    assert "agrees with custom/mac on 40 rows" in done("check", unit, "--data", rows)
    assert "40 rows, 0 mismatches" in done("validate", rows, "--against", unit)
    assert "0 pairs" in done("audit", rows, "--unit", unit, "--no-solve")
    assert "overflow = wrap" in done("identify", "--box", unit)
    mac.write_text(MAC.replace("add", "or"))
    done("design", mac, *PORTS, *FORMATS, "--output", wrong)
    assert "rows.json differs from custom/wrong" in done("check", wrong, "--data", rows, code=1)


def test_a_design_has_no_sums(mac: Path, tmp_path: Path) -> None:
    """What is proved about fused sums is not claimed of a graph without stages."""
    unit = tmp_path / "mac.toml"
    formats = [f"--format={name}={text}" for name, text in zip("abcd", ("e4m3",) * 4, strict=True)]
    done("design", mac, *PORTS, *formats, "--output", unit)
    text = done("accuracy", "exact", unit, "--k", "4", code=1)
    assert "no stage of the unit is a sum" in text
    assert "4 x 1·1: the result is 0, exactly 4" in text


def test_compare_two_designs(mac: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.btor2"
    other.write_text(MAC.replace("5 mul 1 2 3", "8 not 1 3\n9 inc 1 8\n10 mul 1 2 9\n5 neg 1 10"))
    text = done("compare", mac, other, *PORTS, *FORMATS, "--no-confirm")
    assert "EQUIVALENT" in text
    other.write_text(MAC.replace("add", "or"))
    assert "DISTINGUISHED" in done("compare", mac, other, *PORTS, *FORMATS, code=1)


def test_certificates_of_designs_hold_the_circuits(mac: Path, tmp_path: Path) -> None:
    """The statement holds the circuits, so that the checker needs no file of the designs."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    other, own, folder = tmp_path / "other.btor2", tmp_path / "own.toml", tmp_path / "certificate"
    narrow = MAC.replace("bitvec 8", "bitvec 4")
    mac.write_text(narrow)
    other.write_text(narrow.replace("5 mul 1 2 3", "8 neg 1 3\n9 mul 1 2 8\n5 neg 1 9"))
    done("design", mac, *PORTS, *[f"--format={name}=u4" for name in "abcd"], "--output", own)
    assert "certificate:" in done("compare", own, other, *PORTS, "--no-confirm", "--certificate", folder)
    mac.unlink()
    other.unlink()
    assert "all proved: 1 statement" in done("certificate", "check", folder)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no format for a, b, c, d: give --format a=f16"),
        (["--format", "a"], "--format a: expected NAME=VALUE"),
        (["--format", "a=u8", "--format", "a=u8"], "--format a=u8: a is given twice"),
        (FORMATS, "no port for d, and no output of that name: give --port d=NAME; outputs: sum"),
        ([*FORMATS, "--port", "d=sum"], "no port for a, and no input of that name"),
        ([*FORMATS, *PORTS, "--top", "m"], "a BTOR2 file is read as it is"),
        (["--like", "volta", *PORTS], "port 'd=sum': 8 bits, but the result is f32: 32 bits"),
    ],
)
def test_bad_options(mac: Path, options: list[str], said: str) -> None:
    assert said in refused("design", mac, *options)


def test_options_without_a_design(mac: Path) -> None:
    assert "the options of a design need a file of one" in refused(
        "compare", "volta", "ampere", "--cycles", "1"
    )
    assert "no such file" in refused("compare", "volta", mac.with_name("none.sv"))
    assert tcsmt("design").exit_code == 2
