"""``tcsmt accuracy slices``: the table, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcsmt.analysis.exactness.table import record
from tcsmt.interface.api.certificates import check_certificate
from tcsmt.matrix_units.catalogue import Row
from tcsmt.prove.engine.solving import Solving
from tests.support.command_line import done, refused

FLOATS = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
INTEGERS = "turing/mma.m8n8k16.s32.s8.s8.s32"


@pytest.mark.long
def test_proved_slices_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """(2^31 - 1) / 2^14 products of two bytes; without the search for inputs beyond, which takes long."""
    made: list[str] = []

    def quick(family: list[Row], solving: Solving) -> dict[str, Any]:
        made.append(family[0].name)
        return record(family, solving, search=False)

    monkeypatch.setattr("tcsmt.interface.api.exact.record", quick)
    command = ["accuracy", "slices", "--only", INTEGERS, "--output", tmp_path / "exact.json"]
    text = done(*command)
    assert text.startswith("| operands | result | units | largest K by bits of the slices |\n")
    assert f"7: {(2**31 - 1) // 2**14}" in text
    (one,) = json.loads(done(*command, "--json"))["families"]
    assert one["unit"] == INTEGERS and INTEGERS in one["models"]
    assert [size["k"] for size in one["slices"]] == [(2**31 - 1) // 4**bits for bits in range(7, 0, -1)]
    assert made == [INTEGERS]  # the second run has it from its file
    kept = tmp_path / "exact.json"
    kept.write_text(kept.read_text().replace(one["models"][INTEGERS], "0" * 32))
    assert done(*command) == text
    assert made == [INTEGERS] * 2  # another model is asked about again
    assert "exact.json was not written by this command" in _refused_file(tmp_path, command)


@pytest.mark.long
def test_each_largest_k_leaves_a_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was proved without one is not proved again; a certificate that is lost is written again."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    made: list[str] = []

    def quick(family: list[Row], solving: Solving) -> dict[str, Any]:
        made.append(family[0].name)
        found = record(family, solving, search=False)
        return found | {"slices": [one for one in found["slices"] if one["bits"] in (4, 1)]}

    monkeypatch.setattr("tcsmt.interface.api.exact.record", quick)
    command = ["accuracy", "slices", "--only", FLOATS, "--output", tmp_path / "exact.json"]
    assert "certificate" not in (done(*command) and (tmp_path / "exact.json").read_text())
    folder = tmp_path / "proofs"
    (one,) = json.loads(done(*command, "--certificate", folder, "--json"))["families"]
    assert [size["certificate"]["certified"] for size in one["slices"]] == [True, True]
    checked = check_certificate(folder)
    assert [two.flaw for two in checked] == ["", ""]
    titles = {f"{FLOATS}: {size['k']} products of integers up to {1 << size['bits']} are summed exactly"
              for size in one["slices"]}  # fmt: skip
    assert {two.title for two in checked} == titles
    checked[0].path.unlink()
    done(*command, "--certificate", folder)
    assert checked[0].path.is_file()
    assert made == [FLOATS]


def _refused_file(folder: Path, command: list[Any]) -> str:
    (folder / "exact.json").write_text("[]")
    return refused(*command)


@pytest.mark.long
def test_the_table_goes_on(tmp_path: Path) -> None:
    command = ["accuracy", "slices", "--only", INTEGERS, "--output", tmp_path / "exact.json"]
    first = done(*command)
    assert "| s8 | s32 |" in first
    assert "7: **131071**" in first
    written = (tmp_path / "exact.json").read_text()
    assert done(*command) == first
    assert (tmp_path / "exact.json").read_text() == written
    (one,) = json.loads(written)["families"]
    assert one["slices"][0]["beyond"]["exact"] == 2**31
