"""Rows of MVMUL from the vendor's simulator: read, replayed, held against the oracle, and broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt.matrix_units.catalogue import rows
from tcsmt.simulate.measured.datasets import explaining_row, replay
from tcsmt.simulate.measured.mvmul_files import mvmul_datasets
from tcsmt.support.errors import TcsmtError
from tests.oracles.mvmul import mvmul
from tests.support.paths import ROOT

GIVEN = ROOT.parent / "shared" / "units" / "tenstorrent_mvmul_ttsim.json"
CALLED = {"BF16": "bf16", "TF32": "tf32", "FP16": "f16", "FP32": "f32"}


@pytest.fixture
def simulated() -> Path:
    """The simulator's rows beside the repository."""
    if not GIVEN.is_file():
        pytest.skip(f"there is no {GIVEN}")
    return GIVEN


@pytest.mark.slow
def test_every_row_replays(simulated: Path) -> None:
    found, total = set(), 0
    for dataset in mvmul_datasets(simulated):
        row = explaining_row(dataset)
        assert (row.architecture, row.instruction) == (dataset.architecture, dataset.interface)
        result = replay(dataset, row.model)
        assert (result.mismatches, result.examples) == (0, ()), dataset.name
        assert dataset.provenance["evidence"] == "vendor simulator"
        total += result.rows
        found.add(row.name)
    assert total == len(json.loads(simulated.read_text())["rows"])
    assert found == {row.name for name in ("wormhole", "blackhole") for row in rows(name, claims=False)}


def test_the_oracle_has_every_row(simulated: Path) -> None:
    for row in json.loads(simulated.read_text())["rows"]:
        unit = row["arch"].lower(), CALLED[row["src"]], CALLED[row["dst"]], row["phase"]
        a, b = ([int(word, 16) for word in row[side]] for side in "ab")
        assert mvmul(*unit, a, b, int(row["c"], 16)) == int(row["d"], 16), row


#: 2·3 + 1 in FP16, each word by hand: 2 has exponent field 16, 3 the same and half a unit more.
ROW: dict[str, Any] = {
    "arch": "Blackhole", "src": "FP16", "dst": "FP16", "phase": 0,
    "a": ["04000", *["0"] * 15], "b": ["04200", *["0"] * 15], "c": "07800000", "d": "08e00000",
}  # fmt: skip


def written(path: Path, *rows: object, **others: object) -> Path:
    path.write_text(json.dumps({"rows": rows, **others}))
    return path


def test_words_by_hand(tmp_path: Path) -> None:
    """2·3 + 1 = 7 in FP16 words."""
    (found,) = mvmul_datasets(written(tmp_path / "rows.json", ROW, simulator="by hand"))
    assert (found.architecture, found.interface) == ("blackhole", "mvmul.f16.f16.phase0")
    operands = found.operands
    assert [int(x) for x in (operands.a[0, 0], operands.b[0, 0], operands.c[0])] == [0x4000, 0x4200, 0x3C00]
    assert int(found.d[0]) == 0x4700
    assert found.provenance == {"simulator": "by hand"}
    assert replay(found, explaining_row(found).model).mismatches == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"arch": 3}, "'arch' is missing or is not text"),
        ({"arch": "Grayskull"}, "unknown architecture 'Grayskull'"),
        ({"src": "FP8"}, "src = 'FP8': must be one of BF16, TF32, FP16, FP32"),
        ({"phase": 4}, "'mvmul.f16.f16.phase4'"),
        ({"dst": "BF16"}, "'mvmul.bf16.f16.phase0'"),
        ({"a": ["0"]}, "a must be a list of 16 words"),
        ({"b": None}, "b must be a list of 16 words"),
        ({"c": None}, "None is not a hexadecimal word of 32 bits"),
        ({"c": "1ffffffff"}, "'1ffffffff' is not a hexadecimal word of 32 bits"),
        ({"b": ["80000", *["0"] * 15]}, "'80000' is not a hexadecimal word of 19 bits"),
        ({"d": "one"}, "'one' is not a hexadecimal word of 32 bits"),
        ({"d": "08e00001"}, "'08e00001' has bits that a word of e5m10fn has no place for"),
        ({"a": ["08000", *["0"] * 15]}, "'08000' has bits that a word of e5m10fn has no place for"),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    path = written(tmp_path / "rows.json", ROW, ROW | change)
    with pytest.raises(TcsmtError) as caught:
        list(mvmul_datasets(path))
    assert str(caught.value).startswith(f"{path}: rows[1]: ")
    assert expected in str(caught.value)


@pytest.mark.parametrize("text", ['{"rows": []}', "[1]", '{"rows": 3}'])
def test_files_that_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(TcsmtError, match='must be an object with a list "rows", not empty'):
        list(mvmul_datasets(path))


def test_a_row_that_is_not_an_object(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.json", ROW, 7)
    with pytest.raises(TcsmtError, match=r"rows\[1\]: not an object"):
        list(mvmul_datasets(path))
