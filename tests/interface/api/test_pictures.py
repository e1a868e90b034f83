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


def test_a_program_with_scales_a_bias_and_a_maximum(tmp_path: Path) -> None:
    """Each step is drawn with its word, and what it loses counts as often as its sum."""
    path = tmp_path / "scaled.toml"
    path.write_text(
        """a_format = "f16"
b_format = "f16"
nan = "quiet"
program = '''
t = multiply(chain(volta/mma.m8n8k4.f32.f16.f16.f32, A·B over K, +0), multiply(sa[0], sb[0], f32), f32)
d = convert(maximum(add(t, c, f32), +0:f32, nan=propagated), bf16)
'''
[inputs]
sa = "f32 A/8"
sb = "f32 B/8"
""",
        encoding="utf-8",
    )
    given = {"a0": 1.5, "b0": 0.75, "a1": 1.25, "b1": -0.5, "c": 0.25, "sa0": 3, "sb0": 0.375}
    text = str(tcsmt.explain(f"{path}@8", given))
    exact = (1.5 * 0.75 - 1.25 * 0.5) * 3 * 0.375 + 0.25
    assert exact == 0.8125
    assert f"= {exact}" in text and "none: the result is the exact sum" in text
    lossy = str(tcsmt.explain(f"{path}@8", {**given, "c": 2**-20}))
    assert "lost by    converted 5 -" in lossy
    negative = str(tcsmt.explain(f"{path}@8", {**given, "c": -5}))
    assert "computed outside 4" in negative and "0x0000" in negative
