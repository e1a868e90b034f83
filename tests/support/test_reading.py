"""Files are read as they are, compressed with xz or not."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tcsmt.support.errors import TcsmtError
from tcsmt.support.reading import read_bytes, uncompressed


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json.xz"
    path.write_bytes(lzma.compress(b"[1]"))
    assert read_bytes(path) == b"[1]"
    assert uncompressed(path) == uncompressed(tmp_path / "a.json") == tmp_path / "a.json"
    path.write_bytes(b"{}")
    with pytest.raises(TcsmtError, match=r"a\.json\.xz is not compressed with xz"):
        read_bytes(path)
    with pytest.raises(TcsmtError, match=r"cannot read .*none\.xz: No such file"):
        read_bytes(tmp_path / "none.xz")
