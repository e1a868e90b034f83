"""``tcsmt explain``: text, pictures and JSON, against another unit, from files; refusals."""

from __future__ import annotations

import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tests.support.paths import ROOT

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
ADJACENT = "a0=1.5 b0=24576 c=-0.111328125"


def tcsmt(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["explain", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stderr if code else result.stdout


def test_text() -> None:
    text = tcsmt(VOLTA, "--vector", ADJACENT)
    assert "a0·b0        + ···│10.01000000000000000000···  2.25·2^14" in text
    assert "rounded      + ···│10.0011111111111111100011₁" in text
    assert "result     0x470fffe3: sign 0 | exponent 10001110 | fraction 00011111111111111100011" in text
    assert "\x1b" not in text


def test_against_marks_the_stage() -> None:
    text = tcsmt(VOLTA, "--vector", ADJACENT, "--against", f"{VOLTA}@valpey")
    assert "they first differ at 'largest exponent': 2^14  |  2^15" in text
    assert text.count("  ◄ first difference") == 2
    data = json.loads(tcsmt(VOLTA, "--vector", ADJACENT, "--against", f"{VOLTA}@valpey", "--json"))
    left, _ = (p["panels"][0]["rows"] for p in data["pictures"])
    assert [r["differs_at"] for r in left] == [[], [-9], [-6, -7, -8, -9], [-6, -7, -8, -9]]
    assert "both give 0x3f800000  1" in tcsmt(VOLTA, "--vector", "a0=1 b0=1", "--against", "hopper")
    fewer = tcsmt("hopper", "--vector", "a9=1 b9=1", "--against", "volta", code=2)
    assert "has no input a9, which is 1" in fewer


@pytest.mark.parametrize(
    "vector", [ADJACENT, "a0=inf b0=1", "a0=0", "a0=1 b0=0x0001 a1=65504 b1=65504 c=0x1p-149"]
)
def test_well_formed(vector: str) -> None:
    svg = tcsmt(VOLTA, "--vector", vector, "--against", f"{VOLTA}@valpey", "--format", "svg")
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")  # no external resources
    width = float(root.attrib["width"])
    assert all(0 <= float(e.attrib["x"]) < width for e in root.iter() if "x" in e.attrib)
    page = tcsmt(VOLTA, "--vector", vector, "--format", "html")
    assert page.startswith("<!doctype html>") and page.count("<svg") == 1
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


def test_decimals_are_rounded_and_said(tmp_path: Path) -> None:
    said = "a0: 0.1 is not an exact f16 value: the nearest is 0x2e66 (1.599609375·2^-4)\n"
    found = CliRunner().invoke(main, ["explain", VOLTA, "--vector", "a0=0.1 b0=1"])
    assert (found.exit_code, found.stderr) == (0, f"--vector: {said}")
    assert "a0 = 0x2e66" in found.stdout
    source = tmp_path / "rows.csv"
    source.write_text("a0,a1,a2,a3,b0,b1,b2,b3\n0.1,0,0,0,0.2,0.3,0.4,0.6\n" + "0.1,0,0,0,1,1,1,1\n" * 2)
    found = CliRunner().invoke(main, ["explain", VOLTA, "--input", str(source)])
    assert found.exit_code == 0
    assert found.stderr.startswith(f"{source}:2: {said}")
    assert found.stderr.endswith("and 2 more values rounded to nearest\n")
    assert "a0 = 0x2e66" in found.stdout


def test_files(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    header = ",".join([*(f"a{i}" for i in range(4)), *(f"b{i}" for i in range(4)), "c"])
    source.write_text(f"{header}\n1,0,0,0,1,0,0,0,0\n1.5,0,0,0,24576,0,0,0,-0.111328125\n")
    assert tcsmt(VOLTA, "--input", source, "--row", 1) == tcsmt(VOLTA, "--vector", ADJACENT)
    for suffix, start in (("svg", "<svg"), ("html", "<!doctype"), ("txt", VOLTA)):
        target = tmp_path / f"picture.{suffix}"
        assert tcsmt(VOLTA, "--input", source, "--output", target) == ""
        assert target.read_text().startswith(start)
    assert "row 2" in tcsmt(VOLTA, "--input", source, "--row", 2, code=2)
    assert "rows 0 to 1" in tcsmt(VOLTA, "--input", source, "--row", -1, code=2)
    assert "--row chooses" in tcsmt(VOLTA, "--vector", "", "--row", 0, code=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([VOLTA], "give one of --input and --vector"),
        ([VOLTA, "--vector", "c=1", "--input", "x.csv"], "give one of --input and --vector"),
        ([VOLTA, "--vector", "a00=1"], "unknown input 'a00': did you mean a0"),
        ([VOLTA, "--vector", "a9=1"], "allowed: a0, a1, a2, a3, b0, b1, b2, b3, c"),
        ([VOLTA, "--vector", "a0"], "'a0' does not have the form NAME=VALUE"),
        ([VOLTA, "--vector", "a0=1 a0=2"], "a0 is given twice"),
        ([VOLTA, "--vector", "a0=one"], "--vector: a0: 'one' is neither"),
        ([VOLTA, "--vector", "a0=1e5"], "'1e5' is not representable in f16, whose largest value is"),
        ([VOLTA, "--vector", ""], "names no input; give at least one, such as a0=1.5 (zeros: a0=0)"),
        ([VOLTA, "--vector", " , "], "names no input"),
        ([VOLTA, "--vector", "c=1", "--against", "ampere/mma.m16n8k8.f32.bf16"], "cannot take the same"),
        ([VOLTA, "--vector", "c=1", "--against", "vlota"], "did you mean volta"),
        ([VOLTA, "--vector", "c=1", "--format", "png"], "png"),
        ([VOLTA, "--vector", "c=1", "--output", "/no/such/folder/x.svg"], "cannot write"),
        ([VOLTA, "--vector", "c=1", "--output", "x.pgn"], "unknown suffix of a picture '.pgn'"),
        (["vlota", "--vector", "c=1"], "did you mean volta"),
    ],
)  # fmt: skip
def test_bad_input(arguments: list[str], said: str) -> None:
    assert said in tcsmt(*arguments, code=2)


def test_pictures_of_the_guide() -> None:
    """The pictures of the how-to guide are what its commands print."""
    page = (ROOT / "docs" / "howto" / "explain.md").read_text()
    console = re.search(r"^\$ tcsmt explain (.*)\n((?:.*\n)*?)```$", page, re.MULTILINE)
    assert console is not None
    assert tcsmt(*shlex.split(console[1])) == console[2]
    for command in re.findall(r"^tcsmt explain ((?:.*\n)*?)```$", page, re.MULTILINE):
        arguments = shlex.split(command.replace("\\\n", " "))
        place = arguments.index("--output")
        target = ROOT / arguments[place + 1]
        assert tcsmt(*arguments[:place], *arguments[place + 2 :], "--format", "svg") == target.read_text()
