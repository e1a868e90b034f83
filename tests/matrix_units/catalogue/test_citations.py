"""The bibliography: every source of the catalogue has its entries, and they are BibTeX."""

from __future__ import annotations

import re
from dataclasses import replace

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.catalogue.citations import Citation, citations


def test_every_part_of_every_source_is_in_the_bibliography() -> None:
    """And every entry is named by some source: the file has no others."""
    used: set[str] = set()
    for row in rows(claims=True):
        cited = citations(row)
        assert not cited.missing, (row.name, cited.missing)
        used |= {entry.key for entry in cited.entries}
    assert used == {entry.key for entry in _all_entries()}


def _all_entries() -> list[Citation]:
    from tcsmt.matrix_units.catalogue.citations import _bibliography

    return list(_bibliography())


def test_entries_are_bibtex() -> None:
    """Keys without blanks, fields that BibTeX knows, and braces that match."""
    fields = {"title", "author", "year", "note", "doi", "eprint", "archiveprefix", "howpublished"}
    fields |= {"journal", "booktitle", "volume", "pages", "publisher", "organization", "edition"}
    for entry in _all_entries():
        assert re.fullmatch(r"[a-z][a-z0-9-]*", entry.key)
        assert entry.type in ("article", "inproceedings", "manual", "misc")
        assert fields >= set(entry.fields), entry.key
        text = str(entry)
        assert text.startswith(f"@{entry.type}{{{entry.key},") and text.endswith("\n}")
        assert text.count("{") == text.count("}")
        assert "&" not in text.replace("\\&", "")


def test_a_source_that_is_not_in_the_bibliography_is_named() -> None:
    row = replace(row_named("volta"), source="Somebody 1999, page 3; Khattak and Mikaitis 2025, Table II")
    cited = citations(row)
    assert cited.missing == ("Somebody 1999, page 3",)
    assert [entry.key for entry in cited.entries] == ["khattak2025"]
    assert "% not in this bibliography: Somebody 1999, page 3" in str(cited)
    assert cited.as_json()["missing"] == ["Somebody 1999, page 3"]
    assert "a model without a source" in str(citations(replace(row, source="")))
