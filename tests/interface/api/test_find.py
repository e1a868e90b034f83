"""``tcsmt.find``: reports, their progress, and unknown properties."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tcsmt
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
