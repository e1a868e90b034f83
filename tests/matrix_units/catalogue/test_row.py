"""Rows say where they come from; claims are rows with changed parameters."""

from __future__ import annotations

import json

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.catalogue.row import EVIDENCE


def test_every_row_says_where_it_comes_from() -> None:
    for row in rows():
        assert row.source and row.evidence in EVIDENCE, row.name
        if row.architecture.startswith("cdna"):
            assert row.evidence == "published" and row.note, row.name
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
