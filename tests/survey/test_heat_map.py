"""The atlas as a table and as a page."""

from __future__ import annotations

from tcsmt.statements.domain import Domain
from tcsmt.survey.atlas import Atlas
from tcsmt.survey.heat_map import as_page, as_table


def test_pages_of_nothing() -> None:
    nothing = Atlas((), Domain(), {})
    assert as_table(nothing) == "\n"
    assert "<table>" not in as_page(nothing)
