"""Plots, where there is no matplotlib."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError
from tcsmt.support.plots import save_svg


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TcsmtError, match=re.escape(extras.install("plot"))):
        save_svg(tmp_path / "plot.svg", (1, 1), lambda figure: None, "nothing")
