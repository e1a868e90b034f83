"""``tcsmt.triton`` is loaded on its first use, and needs Triton only where a kernel is compiled."""

from __future__ import annotations

import sys

import pytest

import tcsmt
from tcsmt.support import extras


def test_the_core_does_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton.backends.compiler", None)
    with pytest.raises(tcsmt.TcsmtError) as error:
        tcsmt.triton.capture(print, "h100")
    assert f"Triton is needed: {extras.install('triton')}" in str(error.value)
    assert "triton" not in tcsmt.__all__ and {*tcsmt.triton.__all__} <= {*dir(tcsmt.triton)}
