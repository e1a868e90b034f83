"""``tcsmt.properties``: the list, with the modules of a folder of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcsmt
from tcsmt.interface.api.properties import property_list


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
