"""The tables of what ACL2 has certified have all that there is. ``results/make/theorems.py`` certifies it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tcsmt.interop.exports.acl2.specification import specified_numbers
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT

TAGS = {":fast-cons-memo", ":aig-vars"}


def theorems(name: str) -> list[dict[str, Any]]:
    """What ACL2 has certified, by a table."""
    table = json.loads((ROOT / "results" / "theorems" / f"{name}.json").read_text(encoding="utf-8"))
    for one in table["theorems"]:
        assert one["certified"] and set(one["trust_tags"]) <= TAGS and one["processor_seconds"] > 0
    again = table["make"]
    assert again is None or (again["theorems"] == len(table["theorems"]) and set(again["trust_tags"]) <= TAGS)
    found: list[dict[str, Any]] = table["theorems"]
    return found


def test_every_statement_of_the_certificates() -> None:
    files = {
        path.name: record_of(path)["statement"]["title"]
        for path in statement_files(ROOT / "results/certificates")
    }
    table = theorems("acl2")
    assert {one["title"] for one in table} == set(files.values()) and len(table) == len(files)
    for one in table:
        assert one["inhabited"] or "IN-DOMAIN" not in one["theorem"], one["title"]


def test_every_unit_that_the_specification_has_parameters_for() -> None:
    """With these parameters."""

    def numbers(row: Row) -> dict[str, Any] | None:
        try:
            return asdict(specified_numbers(row.model))
        except TcsmtError:
            return None

    of_rows = {row.model.digest: own for row in rows() if (own := numbers(row)) is not None}
    table = theorems("acl2_specification")
    assert {unit["model"]: unit["numbers"] for unit in table} == of_rows
    for unit in table:
        digest, own = unit["model"], unit["numbers"]
        assert row_named(unit["row"]).model.digest == digest
        assert f"(UNIT.{digest[:8].upper()} " in unit["theorem"]
        assert (
            " '".join(str(own[name]) for name in ("fraction_bits", "carry_bits", "zero")) in unit["theorem"]
        )
