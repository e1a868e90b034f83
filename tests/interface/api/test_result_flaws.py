"""``tcsmt.accuracy.find``: flaws of algorithms."""

from __future__ import annotations

import json

import pytest

import tcsmt


@pytest.mark.slow
def test_flaws() -> None:
    found = tcsmt.accuracy.find("sign", "markidis", "hopper", k=2, search=0.5)
    assert found.has_flaw is True and found.witness is not None and "WRONG SIGN" in str(found)
    data = json.loads(json.dumps(found.as_json()))
    assert data["unit"] == found.row.name and data["short"]["inputs"]["a0"]["word"] in str(found)
    assert "<svg" in found._repr_html_() and repr(found).endswith("distinguished>")
    with pytest.raises(tcsmt.TcsmtError, match="unknown question 'sing': did you mean sign"):
        tcsmt.accuracy.find("sing", "markidis", "volta")
    with pytest.raises(tcsmt.TcsmtError, match="k = 65: must be from 1 to 64"):
        tcsmt.accuracy.find("sign", "markidis", "volta", k=65)
