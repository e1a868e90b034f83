"""``tcsmt.explain``: pictures of one unit and of two."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcsmt


def test_explain() -> None:
    one = tcsmt.explain("volta", {"a0": 1.5, "b0": "0x3e00", "c": -0.25})
    assert str(one) == str(tcsmt.explain("volta", "a0=1.5 b0=0x3e00 c=-0.25"))
    assert one.as_svg().startswith("<svg") and "<html" in one.as_html() and one.as_json()["pictures"]
    narrow = one.as_text(80)
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, str(one).splitlines()))
    assert "\x1b[" in one.as_text(colour=True) and "\x1b[" not in one.as_text()
    two = tcsmt.explain("volta", "a0=0x3e00 b0=0x7600 c=0xbde40000", against="ampere")
    assert len(two.as_json()["pictures"]) == 2
    with pytest.raises(tcsmt.TcsmtError, match="unknown input 'z0'"):
        tcsmt.explain("volta", "z0=1")


def test_a_row_of_a_file_is_the_vector_of_its_words(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a0,a1,a2,a3,b0,b1,b2,b3,c\n1,0,0,0,1,0,0,0,0\n0.1,0,0,0,1,0,0,0,0.5\n")
    rounded: list[str] = []
    drawn = tcsmt.explain("volta", path, "ampere", row=1, rounded=rounded.append)
    assert str(drawn) == str(tcsmt.explain("volta", "a0=0x2e66 b0=1 c=0.5", "ampere"))
    assert len(rounded) == 1 and "0.1 is not an exact f16 value" in rounded[0]
    assert str(tcsmt.explain("volta", path, rounded=rounded.append)) == str(
        tcsmt.explain("volta", "a0=1 b0=1")
    )
    with pytest.raises(tcsmt.TcsmtError, match=r"row 2: .*rows\.csv has rows 0 to 1"):
        tcsmt.explain("volta", path, row=2, rounded=rounded.append)
    with pytest.raises(tcsmt.TcsmtError, match="row chooses a row of a file"):
        tcsmt.explain("volta", "a0=1", row=0)
