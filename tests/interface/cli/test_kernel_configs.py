"""``tcsmt kernel configs``, and functions as names in ``kernel read``: what is asked, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import done, refused

_FILE = Path(__file__).parents[2] / "data" / "triton" / "products.py"


def test_what_is_asked_wrongly_is_said() -> None:
    words = ("kernel", "configs", f"{_FILE}:plain", "--target", "h100")
    assert "'BLOCK_M': must be NAME=VALUE or NAME=VALUE,..." in refused(*words, "--set", "BLOCK_M")
    assert "rows is set twice" in refused(*words, "--set", "rows=1", "--set", "rows=2")
    read = ("kernel", "read", f"{_FILE}:plain")
    assert "needs a target, the GPU to compile for" in refused(*read)
    assert "--set rows: one value is expected" in refused(*read, "--target", "h100", "--set", "rows=16,32")
    assert "a file of PTX needs arguments" in refused("kernel", "read", "x.ptx")


@pytest.mark.slow
def test_settings_are_configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="the extra `triton` is not installed")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    text = done(
        "kernel", "configs", f"{_FILE}:plain", "--target", "a100", "--set", "rows=16,32", "--element", 3
    )
    assert "class 1: 2 configurations\n  rows=16\n  rows=32\n" in text
    assert "K = 64, elements 3 of c_ptr" in text
    read = done("kernel", "read", f"{_FILE}:plain", "--target", "a100", "--set", "rows=16")
    assert "d = chain(U, A·B over K, +0)" in read
