"""Every committed result stands in the manifest, once; and the README is made from it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from readme import entries, readme

from tests.support.results import RESULTS

#: Files that are not results.
OTHERS = {"README.md", "manifest.toml"}


def held() -> set[str]:
    """The places of all results; caches and programs are none."""
    paths = (path for path in RESULTS.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    places = {path.relative_to(RESULTS).as_posix() for path in paths if not path.name.endswith(".lock")}
    return {place for place in places if not place.startswith("make/")} - OTHERS


def named() -> Counter[str]:
    """How many entries have each file."""
    return Counter(
        path.relative_to(RESULTS).as_posix()
        for entry in entries()["result"]
        for place in entry["files"]
        for path in RESULTS.glob(place)
        if path.is_file()
    )


def test_each_result_has_one_entry() -> None:
    counts = named()
    assert held() - {*counts} == set(), "files without an entry in results/manifest.toml"
    assert [place for place, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("entry", entries()["result"], ids=lambda entry: entry["files"][0])
def test_each_entry_names_files_command_date_and_confirmation(entry: dict[str, str]) -> None:
    assert entry.keys() - {"machine"} == {"files", "command", "commit", "date", "confirmed"}
    for place in entry["files"]:
        assert any(RESULTS.glob(place)), f"results/manifest.toml: there is no file {place}"
    assert entry["command"] and entry["date"] and entry["confirmed"]


def test_the_readme_is_made_from_the_manifest() -> None:
    made = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert made == readme(entries()), "run: python results/make/readme.py"


def test_programs_that_entries_name_are_there() -> None:
    root = Path(RESULTS).parent
    for entry in entries()["result"]:
        for word in entry["command"].replace("`", " ").split():
            if word.endswith(".py"):
                assert (root / word).is_file(), word
