"""``tcsmt.find``: reports, their progress, and unknown properties."""

from __future__ import annotations

import pytest

import tcsmt


def test_find_tells_its_progress() -> None:
    seen: list[int] = []
    report = tcsmt.find("product-normalization", "volta", progress=lambda r: seen.append(len(r.findings)))
    assert seen == [0, 1] and not report.unknown
    assert report.conclusion in str(report) and report.as_json()["property"] == "product-normalization"
    with pytest.raises(tcsmt.TcsmtError, match="unknown property 'carry'"):
        tcsmt.find("carry", "volta")
