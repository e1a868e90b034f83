"""``tcsmt.accuracy.slices``: the largest K by bits, and what a second call takes from the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.analysis.exactness.table import record
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.prove.engine.solving import Solving

UNIT = "turing/mma.m8n8k32.s32.s4.s4.s32"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The units that were asked about, in a catalogue of one; the search for inputs beyond takes long."""
    names: list[str] = []

    def quick(family: list[Row], solving: Solving) -> dict[str, Any]:
        names.append(family[0].name)
        return record(family, solving, search=False)

    monkeypatch.setattr("tcsmt.face.api.slices.record", quick)
    monkeypatch.setattr("tcsmt.face.api.slices.rows", lambda claims: [row_named(UNIT)])
    return names


def test_sums_of_four_bits_are_exact_as_far_as_int32_reaches(made: list[str], tmp_path: Path) -> None:
    path = tmp_path / "exact.json"
    found = accuracy.slices(UNIT, output=path)
    (family,) = found.families
    assert [size["k"] for size in family["slices"]] == [(2**31 - 1) // 4**bits for bits in range(3, 0, -1)]
    assert all(one["verdict"] == "equivalent" for one in found.verdicts) and len(found.verdicts) == 3
    assert str(found).startswith("| operands | result | units | largest K by bits of the slices |")
    assert repr(found) == "<ExactSlices of 1 family of units>"
    assert accuracy.slices(UNIT, output=path).families == found.families
    assert made == [UNIT]
    assert json.loads(path.read_text())["families"] == [*found.families] == found.as_json()["families"]


def test_no_unit_is_an_empty_table(made: list[str]) -> None:
    found = accuracy.slices("no such unit")
    assert found.families == () and found.verdicts == [] and not made


@pytest.mark.usefixtures("made")
def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "exact.json").write_text("[]")
    with pytest.raises(TcsmtError, match="was not written by this command"):
        accuracy.slices("no such unit", output=tmp_path / "exact.json")
