"""``tcsmt accuracy explain``: two algorithms on one input, step by step, and where they first differ."""

from __future__ import annotations

import json
import struct
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.algorithms.error import exact_dot
from tcsmt.algorithms.picture import Walked, _of, walked_sheet
from tcsmt.algorithms.search import random_rows
from tcsmt.algorithms.walk import walk
from tcsmt.arithmetic.formats import FORMATS
from tcsmt.cli import main
from tcsmt.data.vectors import vector_of
from tcsmt.interpret.exact import evaluate
from tcsmt.pictures.drawing import BitGrid, Sheet, Table
from tcsmt.recipes import algorithm_named
from tcsmt.statements.domain import Domain
from tests.support.paths import ROOT

F32 = FORMATS["f32"]
NAMES = ("ootomo-halfhalf", "markidis")
#: Valpey et al.'s Table 5 with b1 = 1.998046875·2^7, where 2^-7 is printed.
TABLE_5 = (
    "a0=0x3b802000 a1=0x38a9c000 a2=0x1p-12 a3=0x1p-12 "
    "b0=255.75 b1=0x3c38e000 b2=0x1p-12 b3=0x1p-12 c=0x1p-24"
)
MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip
VALUES = st.fixed_dictionaries(dict.fromkeys(("a0", "a1", "b0", "b1", "c"), MODERATE))


def walked(values: dict[str, int], names: tuple[str, ...] = NAMES, arch: str = "volta") -> list[Walked]:
    k = len(values) // 2
    found = [(name, *algorithm_named(name, arch, k)) for name in names]
    return [Walked.on(name, row, algorithm, values) for name, algorithm, row in found]


def table_of(sheet: Sheet) -> Table:
    (table,) = sheet.pictures[0].panels
    assert isinstance(table, Table)
    return table


def tcsmt(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["accuracy", "explain", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stderr if code else result.stdout


def nearest(x: Fraction) -> Fraction:
    """To binary16, by Python's own conversion."""
    (found,) = struct.unpack("<e", struct.pack("<e", float(x)))
    return Fraction(found)


@given(values=VALUES)
@settings(max_examples=12, deadline=None)
def test_left_out_is_what_the_definition_leaves_out(values: dict[str, int]) -> None:
    """Of Ootomo-Yokota ΔA·ΔB and the words' residues, of Markidis the residues: from the definitions."""
    out = {name: Fraction(0) for name in NAMES}
    for lane in range(2):
        x, y = F32.value(values[f"a{lane}"]), F32.value(values[f"b{lane}"])
        big = nearest(x), nearest(y)
        plain = [nearest(v - w) for v, w in zip((x, y), big, strict=True)]
        scaled = [nearest((v - w) * 2**11) / 2**11 for v, w in zip((x, y), big, strict=True)]
        out["markidis"] += x * y - (big[0] + plain[0]) * (big[1] + plain[1])
        out["ootomo-halfhalf"] += x * y - big[0] * big[1] - scaled[0] * big[1] - big[0] * scaled[1]
    for one in walked(values):
        assert one.left_out(values) == out[one.name]


@given(values=VALUES)
@settings(max_examples=6, deadline=None)
def test_words_are_the_evaluators(values: dict[str, int]) -> None:
    sides = walked(values)
    lines = {line.label: line for line in table_of(walked_sheet(sides, values)).lines}
    for number, one in enumerate(sides):
        (word,) = evaluate([one.algorithm.trace.output], values)
        if word & 0x7FFFFFFF:
            cells = lines["result"].sides[number]
            assert cells is not None and cells[0] == F32.hex(word)


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
def test_an_exact_result_or_a_size_of_zero(
    names: tuple[str, ...], arch: str, vector: str, exact: str, size: str
) -> None:
    """The result is not read off the last step that is drawn, which may be a word of the split."""
    data = json.loads(tcsmt(*names, "--arch", arch, "--vector", vector, "--json"))
    said = data["pictures"][0]["results"]
    assert said == {"exact": exact, "size": size} | dict.fromkeys(names, "0, error 0")


def test_any_loss_is_infinite_relative_to_a_sum_of_zeros() -> None:
    assert (_of(Fraction(1), Fraction(0)), _of(Fraction(0), Fraction(0))) == ("infinite", "0")


def test_steps_keep_the_order_of_each_side() -> None:
    values = {"a0": 0x3F8FFFFF, "a1": 0x40490FDB, "b0": 0x3FB504F3, "b1": 0xBF317218, "c": 0x3DCCCCCD}
    for names in (NAMES, ("markidis", "markidis,order=reversed"), ("fp32-fma", "bf16x9")):
        sides = walked(values, names, "ampere")
        lines = [line for line in table_of(walked_sheet(sides, values)).lines if line.label != "left out"]
        for number, one in enumerate(sides):
            assert [n.label for n in lines if n.sides[number]] == [move.name for move in one.moves]


def test_table_five_parts_where_c_enters() -> None:
    """Valpey et al., section 6, steps 3 to 7: the sum 1 + 2^-24 is cut; with c inside it is 1 + 2^-23."""
    values = vector_of(TABLE_5, algorithm_named("markidis", "volta", 4)[0])
    sheet = walked_sheet(walked(values), values)
    table = table_of(sheet)
    (parted,) = (line for line in table.lines if line.parts)
    assert parted.label == "A0·B0, lanes 0 to 3"
    assert [side and side[0] for side in parted.sides] == ["0x3f800000", "0x3f800001"]
    left, right = (picture.panels[0] for picture in sheet.pictures[1:])
    assert isinstance(left, BitGrid) and isinstance(right, BitGrid)
    sums = [grid.sums[0].value() for grid in (left, right)]
    assert sums == [1 + Fraction(1, 2**24), 1 + Fraction(1, 2**23)]
    assert [row.label for row in right.rows if row.parts] == ["c"]


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
    svg = tcsmt(*names, "--arch", arch, "--vector", vector, "--format", "svg")
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


def test_outputs(tmp_path: Path) -> None:
    arguments = (*NAMES, "--arch", "volta", "--vector", TABLE_5)
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
    found = tcsmt(*NAMES, "--arch", "volta", "--vector", vector, "--format", "svg")
    path = ROOT / "results" / "pictures" / f"ootomo-markidis-{name}.svg"
    assert found == path.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ootomo", "--arch", "volta", "--vector", ""], "unknown algorithm 'ootomo'"),
        ([*NAMES, "--arch", "vlota", "--vector", ""], "did you mean volta"),
        (["ootomo-tf32tf32", "--arch", "volta", "--vector", ""], "it needs a unit from tf32 to f32"),
        ([*NAMES, "--arch", "volta", "--vector", "a9=1"], "allowed: a0, a1, a2, a3, b0, b1, b2, b3, c"),
        ([*NAMES, "--arch", "volta", "--vector", "a0=1e40"], "'1e40' is not representable in f32"),
        ([*NAMES, "--arch", "volta", "--vector", ""], "names no input"),
        ([*NAMES, "--arch", "volta", "--vector", "a0=0", "--k", "0"], "'--k': 0 is not in the range"),
        ([*NAMES, "--arch", "volta", "--vector", "a0=0", "--output", "x.pgn"], "unknown suffix of a picture"),
        ([*NAMES, "--arch", "volta", "--vector", "a1=inf"], "a1 = inf: must be a finite number"),
        ([*NAMES, "--arch", "volta"], "Missing option '--vector'"),
    ],
)  # fmt: skip
def test_bad_input(arguments: list[str], said: str) -> None:
    assert said in tcsmt(*arguments, code=2)


def test_walk_accounts_for_the_whole_error() -> None:
    """What the steps after the split lose, and what no step adds, is the error."""
    for name in ("ootomo-halfhalf-4", "markidis"):
        algorithm, _ = algorithm_named(name, "ampere", 2)
        rows = random_rows(Domain(exponents=(0, 14), bits=(22, 22)), F32, 2, 12, np.random.default_rng(2))
        results = rows.run(algorithm)
        for row in range(len(rows)):
            values = rows.values(row)
            lost = Fraction(0)
            shifts = {
                f"A{i}·B{j}, lanes {p.start} to {p.stop - 1}": shift
                for shift, steps in algorithm.chains(2) for i, j, p in steps
            }  # fmt: skip
            for move in walk(algorithm, values):
                if move.kind != "split":
                    assert move.lost is not None
                    lost += move.lost / 2 ** shifts.get(move.name, 0)
            assert exact_dot(values) - Fraction(float(results[row])) == lost
