"""``tcsmt.units``, and the list that ``tcsmt models`` prints."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt.interface.api.catalogue import unit_list


def test_units_are_filtered() -> None:
    """By architecture, GPU, format, K and evidence."""
    all_of_them = tcsmt.units()
    assert len(all_of_them) < len(tcsmt.units(claims=True))
    measured = tcsmt.units("h200", a_format="e4m3", evidence="measured here")
    assert measured and all(u.a_format == "e4m3" and u.evidence == "measured here" for u in measured)
    assert {u.name for u in all_of_them if u.k == 4} == {u.name for u in tcsmt.units(k=4)}
    with pytest.raises(tcsmt.TcsmtError, match="unknown evidence 'sure'"):
        tcsmt.units(evidence="sure")


def test_a_list_has_the_units_that_the_call_gives() -> None:
    listed = unit_list("hopper", d_format="f16")
    units = tcsmt.units("hopper", d_format="f16")
    assert [row.name for row in listed.rows] == [unit.name for unit in units]
    assert [line.split()[0] for line in str(listed).splitlines()[1:]] == [unit.name for unit in units]
    names = [row["instruction"] for row in listed.as_json()["units"]]
    assert names == [unit.row.instruction for unit in units] and [*listed.as_json()] == ["tcsmt", "units"]
    assert repr(listed) == f"<UnitList of {len(units)} of {len(tcsmt.units('hopper'))} units>"
    assert listed.as_markdown().splitlines()[0].startswith("| architecture | instructions |")


def test_sequences_are_those_of_one_architecture() -> None:
    assert not unit_list(claims=True).sequences and not unit_list("ieee").sequences
    wormhole = unit_list("wormhole")
    assert wormhole.sequences
    assert str(wormhole).count("sequences of these instructions") == 1
    names = {row.instruction for row in wormhole.sequences}
    assert {row["instruction"] for row in wormhole.as_json()["sequences"]} == names
