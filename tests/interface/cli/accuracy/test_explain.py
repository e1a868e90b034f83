"""``tcsmt accuracy explain``: two algorithms on one input, step by step, and where they first differ."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tests.support.paths import ROOT

NAMES = ("ootomo-halfhalf", "markidis")
#: Valpey et al.'s Table 5 with b1 = 1.998046875·2^7, where 2^-7 is printed.
TABLE_5 = (
    "a0=0x3b802000 a1=0x38a9c000 a2=0x1p-12 a3=0x1p-12 "
    "b0=255.75 b1=0x3c38e000 b2=0x1p-12 b3=0x1p-12 c=0x1p-24"
)


def tcsmt(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["accuracy", "explain", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stderr if code else result.stdout


@pytest.mark.parametrize(
    ("names", "arch", "vector", "exact", "size"),
    [
        (("single-f16",), "a100", "a0=1", "0", "0"),
        (("single-f16",), "a100", "b0=0x1p-140", "0", "0"),
        (NAMES, "volta", "a0=3 a1=5", "0", "0"),
        (("single-f16",), "a100", "a0=1 b0=1 c=-1", "0", "2^1"),
        (NAMES, "volta", "a0=1 b0=1 a1=-1 b1=1", "0", "2^1"),
        (("markidis",), "a100", "a0=0", "0", "0"),
    ],
)
def test_exact_results_and_sizes_of_zero_are_explained(
    names: tuple[str, ...], arch: str, vector: str, exact: str, size: str
) -> None:
    """The result is not read off the last step that is drawn, which may be a word of the split."""
    data = json.loads(tcsmt(*names, "--unit", arch, "--vector", vector, "--json"))
    said = data["pictures"][0]["results"]
    assert said == {"exact": exact, "size": size} | dict.fromkeys(names, "0, error 0")


DOCUMENTS = [
    ("volta", NAMES, TABLE_5),
    ("volta", NAMES, "a1=0x3f801000 b1=0x3f801000"),
    ("hopper", NAMES, "a0=0x3fc12345 b0=0x3faabcde a3=0xbdcccccd b3=0x40490fdb c=0x3dcccccd"),
    ("ampere", ("fp32-fma", "bf16x9"), "a0=0x3fc12345 b0=0x3faabcde c=-0x1p-10"),
    ("cdna3", ("ootomo-halfhalf",), "a0=0x3fc12345 b0=0x3faabcde"),
    ("volta", NAMES, "a0=65520 b0=2"),
    ("volta", NAMES, "a0=0"),
]


@pytest.mark.parametrize(
    ("arch", "names", "vector"),
    [
        pytest.param(*one, marks=pytest.mark.long if place in (1, 2, 5) else ())
        for place, one in enumerate(DOCUMENTS)
    ],
)
def test_nothing_overlaps(arch: str, names: tuple[str, ...], vector: str) -> None:
    """Texts of one line lie beside each other, and inside the picture."""
    svg = tcsmt(*names, "--unit", arch, "--vector", vector, "--format", "svg")
    root = ET.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    lines: dict[float, list[tuple[float, float]]] = {}
    for element in root.iter("{http://www.w3.org/2000/svg}text"):
        classes = element.attrib["class"].split()
        if "middle" in classes or "bit" in classes:
            continue
        character = 14 * 0.602 if "head" in classes else 10 * 0.602 if "small" in classes else 12 * 0.602
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        lines.setdefault(y, []).append((x, x + len(element.text or "") * character))
        assert x >= 0 and y <= height
    for spans in lines.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(spans)))
        assert max(end for _, end in spans) <= width


@pytest.mark.slow
def test_outputs(tmp_path: Path) -> None:
    arguments = (*NAMES, "--unit", "volta", "--vector", TABLE_5)
    text = tcsmt(*arguments)
    assert text.count("◄ they first differ here") == 2
    data = json.loads(tcsmt(*arguments, "--json"))
    table = data["pictures"][0]["panels"][0]
    (parted,) = (line for line in table["lines"] if line["parts"])
    (side,) = (n for n, name in enumerate(table["sides"]) if name == "ootomo-halfhalf")
    assert dict(zip(table["heads"], parted["cells"][side], strict=True))["loses"] == "0x1.52d1p-24"
    for suffix, start in (("svg", "<svg"), ("html", "<!doctype"), ("txt", "ootomo-halfhalf on volta")):
        target = tmp_path / f"picture.{suffix}"
        assert tcsmt(*arguments, "--output", target) == ""
        assert target.read_text().startswith(start)


@pytest.mark.parametrize(("name", "vector"), [("table-5", TABLE_5), ("volta-k4", DOCUMENTS[1][2])])
def test_results_are_what_the_command_draws(name: str, vector: str) -> None:
    found = tcsmt(*NAMES, "--unit", "volta", "--vector", vector, "--format", "svg")
    path = ROOT / "results" / "pictures" / f"ootomo-markidis-{name}.svg"
    assert found == path.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ootomo", "--unit", "volta", "--vector", ""], "unknown algorithm 'ootomo'"),
        ([*NAMES, "--unit", "vlota", "--vector", ""], "did you mean volta"),
        (["ootomo-tf32tf32", "--unit", "volta", "--vector", ""], "it needs a unit from tf32 to f32"),
        ([*NAMES, "--unit", "volta", "--vector", "a9=1"], "allowed: a0, a1, a2, a3, b0, b1, b2, b3, c"),
        ([*NAMES, "--unit", "volta", "--vector", "a0=1e40"], "'1e40' is not representable in f32"),
        ([*NAMES, "--unit", "volta", "--vector", ""], "names no input"),
        ([*NAMES, "--unit", "volta", "--vector", "a0=0", "--k", "0"], "'--k': 0 is not in the range"),
        ([*NAMES, "--unit", "volta", "--vector", "a0=0", "--output", "x.pgn"], "unknown suffix of a picture"),
        ([*NAMES, "--unit", "volta", "--vector", "a1=inf"], "a1 = inf: must be a finite number"),
        ([*NAMES, "--unit", "volta"], "Missing option '--vector'"),
    ],
)  # fmt: skip
def test_bad_input(arguments: list[str], said: str) -> None:
    assert said in tcsmt(*arguments, code=2)
