"""``tcsmt.find``: reports, their progress, and unknown properties."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tcsmt
from tcsmt.interface.api.find import property_list
from tcsmt.prove.statements.verdict import Unknown


def test_find_tells_its_progress() -> None:
    seen: list[int] = []
    report = tcsmt.find("product-normalization", "volta", progress=lambda r: seen.append(len(r.findings)))
    assert seen == [0, 1] and not report.unknown
    assert report.exit_code == 0
    unknown = replace(report.findings[0], verdict=Unknown(reason="timeout", seconds=1.0))
    assert replace(report, findings=(unknown,)).exit_code == 3
    assert report.conclusion in str(report) and report.as_json()["property"] == "product-normalization"
    with pytest.raises(tcsmt.TcsmtError, match="unknown property 'carry'"):
        tcsmt.find("carry", "volta")


def test_properties_are_listed_with_titles_and_files() -> None:
    found = property_list()
    lines = str(found).splitlines()
    assert {line.split()[0]: line.split(maxsplit=1)[1] for line in lines} == tcsmt.properties()
    listed = found.as_json()["properties"]
    assert [one["name"] for one in listed] == [*tcsmt.properties()]
    assert repr(found) == f"<PropertyList of {len(lines)} properties>"


def test_a_folder_of_ones_own_is_listed_too(tmp_path: Path) -> None:
    (tmp_path / "my_own.py").write_text('"""Mine: of one unit."""\n')
    assert tcsmt.properties([tmp_path]) == tcsmt.properties() | {"my-own": "Mine: of one unit."}
    with pytest.raises(tcsmt.TcsmtError, match="there is no folder of property modules"):
        tcsmt.properties([tmp_path / "none"])
