"""Rows say where they come from; claims are rows with changed parameters."""

from __future__ import annotations

import json

import pytest

from tcsmt.matrix_units.catalogue import row_named, rows, sequences_of
from tcsmt.matrix_units.catalogue.row import EVIDENCE, by_use, is_preferred, of_other_arithmetic


def test_every_row_says_where_it_comes_from() -> None:
    for row in rows():
        assert row.source and row.evidence in EVIDENCE, row.name
        if row.architecture.startswith("cdna"):
            assert (row.evidence == "measured") == bool(row.measured) and row.note, row.name
        if row.status != "accepted":
            assert row.note, row.name
            # what its own maker contradicts has a claim beside it
            assert "@" in row.instruction or any(c.name.startswith(f"{row.name}@") for c in rows()), row.name


def test_plain_data_has_every_field_and_the_parameters() -> None:
    row = row_named("volta")
    data = json.loads(json.dumps(row.as_json()))
    assert (data["architecture"], data["instruction"]) == ("volta", row.instruction)
    assert data["measured"] == list(row.measured)
    assert data["model"]["fraction_bits"] == 23 and data["model"]["a_format"] == "f16"


@pytest.mark.parametrize(("name", "preferred"), [
    ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", True), ("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", False),
    ("hopper/wgmma.m64nNk16.f32.f16.f16", False), ("ada/mma.m16n8k32.f32.e4m3.e4m3.f32", False),
])  # fmt: skip
def test_fp8_on_data_centre_gpus_alone(name: str, preferred: bool) -> None:
    assert is_preferred(row_named(name)) is preferred


def test_rows_by_use_are_the_same_rows_and_stay_in_order_otherwise() -> None:
    for architecture in ("hopper", "blackwell", "volta"):
        listed = rows(architecture, claims=False)
        sorted_rows = by_use(reversed(listed))
        assert {row.name for row in sorted_rows} == {row.name for row in listed}
        first = [row for row in reversed(listed) if is_preferred(row)]
        assert sorted_rows == first + [row for row in reversed(listed) if row not in first]
        assert bool(first) == (architecture != "volta")


def test_other_arithmetic_is_of_the_same_formats_and_another_datapath() -> None:
    chosen = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3")
    others = of_other_arithmetic(chosen, rows("hopper", claims=False))
    assert [row.instruction for row in others] == [
        row.instruction for row in rows("hopper", claims=False)
        if row.instruction.startswith("mma.") and ".f32.e4m3.e4m3" in row.instruction
    ]  # fmt: skip
    assert others
    # K apart: two shapes of one arithmetic are no others
    f16 = row_named("ampere/mma.m16n8k16.f32.f16.f16.f32")
    assert "ampere/mma.m16n8k8.f32.f16.f16.f32" not in {
        row.name for row in of_other_arithmetic(f16, rows("ampere", claims=False))
    }
    assert of_other_arithmetic(chosen, rows("blackwell", claims=False)) == []
    # a sequence is none of its instructions, and not a shorter one
    sequences = sequences_of("wormhole")
    whole, *shorter = sequences
    names = {row.name for row in of_other_arithmetic(whole, [*sequences, *rows("wormhole", claims=False)])}
    assert whole.name not in names
    assert {row.name for row in shorter if row.model.d_format == whole.model.d_format} & names
