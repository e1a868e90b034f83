"""``tcsmt.explain``: pictures of one unit and of two."""

from __future__ import annotations

import pytest

import tcsmt


def test_explain() -> None:
    one = tcsmt.explain("volta", {"a0": 1.5, "b0": "0x3e00", "c": -0.25})
    assert str(one) == str(tcsmt.explain("volta", "a0=1.5 b0=0x3e00 c=-0.25"))
    assert one.as_svg().startswith("<svg") and "<html" in one.as_html() and one.as_json()["pictures"]
    two = tcsmt.explain("volta", "a0=0x3e00 b0=0x7600 c=0xbde40000", against="ampere")
    assert len(two.as_json()["pictures"]) == 2
    with pytest.raises(tcsmt.TcsmtError, match="unknown input 'z0'"):
        tcsmt.explain("volta", "z0=1")
