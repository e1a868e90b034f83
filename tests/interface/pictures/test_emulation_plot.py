"""The picture of what products lose: a bar for each, and a sentence for those who cannot see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.interface.pictures.emulation_plot import emulation_plot

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


def test_bars_and_their_parts(tmp_path: Path) -> None:
    """The same bytes for the same bars; a negative share is not drawn; none at all is a picture, too."""
    bars = [
        ("up, forward", 0.03, {"operands": 1.01, "accumulation": -0.01}),
        ("down, forward", 0.01, {"operands": 0.25, "accumulation": 0.75}),
    ]
    files = [tmp_path / name for name in ("one.svg", "two.svg", "none.svg")]
    for file in files[:2]:
        emulation_plot(file, bars, "Most is lost in up & down.")
    emulation_plot(files[2], [], "nothing")
    drawn = files[0].read_text()
    assert drawn == files[1].read_text() and "nothing" in files[2].read_text()
    assert "Most is lost in up &amp; down." in drawn
    assert drawn.index("up, forward") < drawn.index("down, forward") and "accumulation" in drawn
