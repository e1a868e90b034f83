"""``tcsmt.accuracy.exact``: up to where integers are multiplied exactly, with certificates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt import TcsmtError, accuracy
from tcsmt.analysis.certified import THEOREMS
from tcsmt.analysis.exactness.table import record
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.prove.certificates.checker import check_statement
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving


def test_a_certificate_of_exactness_is_checked_again(tmp_path: Path) -> None:
    pytest.importorskip("pysolvers", reason="python-sat is not installed")
    unit = "turing/mma.m8n8k16.satfinite.s32.s8.s8.s32"
    found = accuracy.exact(unit, integers=128, search=False, options=SolvingOptions(certificate=tmp_path))
    assert found.k == 131071
    assert found.certified is not None
    assert found.certified.lemmas == 1
    path = found.certified.path
    assert path is not None
    assert not check_statement(path, theorems=THEOREMS).flaw
    statement = json.loads(path.read_text())
    for key, value in (
        ("k", 131072),
        ("k", 0),
        ("integers", 129),
        ("integers", (1 << 64) + 1),
    ):
        changed = statement | {"statement": statement["statement"] | {key: value}}
        path.write_text(json.dumps(changed))
        assert check_statement(path, theorems=THEOREMS).flaw
    path.write_text(json.dumps(statement | {"statement": statement["statement"] | {"k": "many"}}))
    with pytest.raises(TcsmtError, match="it must be a number"):
        check_statement(path, theorems=THEOREMS)


UNIT = "turing/mma.m8n8k32.s32.s4.s4.s32"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The units that were asked about, in a catalogue of one; the search for inputs beyond takes long."""
    names: list[str] = []

    def quick(family: list[Row], solving: Solving) -> dict[str, Any]:
        names.append(family[0].name)
        return record(family, solving, search=False)

    monkeypatch.setattr("tcsmt.interface.api.exact.record", quick)
    monkeypatch.setattr("tcsmt.interface.api.exact.rows", lambda claims: [row_named(UNIT)])
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
