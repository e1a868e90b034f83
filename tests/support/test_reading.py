"""Files are read as they are, compressed with xz or not."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tcsmt.support import reading
from tcsmt.support.errors import TcsmtError, TooLarge
from tcsmt.support.reading import json_of, read_bytes, uncompressed


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json.xz"
    path.write_bytes(lzma.compress(b"[1]"))
    assert read_bytes(path) == b"[1]"
    assert uncompressed(path) == uncompressed(tmp_path / "a.json") == tmp_path / "a.json"
    path.write_bytes(b"{}")
    with pytest.raises(TcsmtError, match=r"a\.json\.xz is not compressed with xz"):
        read_bytes(path)
    with pytest.raises(TcsmtError, match=r"none\.xz: No such file"):
        read_bytes(tmp_path / "none.xz")


def test_files_are_read_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is packed, the limit is about what it unpacks to; a large file may unpack to more."""
    plain, packed = tmp_path / "a", tmp_path / "a.xz"
    plain.write_bytes(bytes(1000))
    packed.write_bytes(lzma.compress(bytes(1000)))
    for path in (plain, packed):
        assert len(read_bytes(path, 1000)) == len(read_bytes(path)) == 1000
        with pytest.raises(TooLarge, match=r"more than .*999 bytes"):
            read_bytes(path, 999)
    monkeypatch.setattr(reading, "_UNPACKED", 500)
    monkeypatch.setattr(reading, "_FOLD", 2)
    with pytest.raises(TooLarge, match="unpacks to more than"):
        read_bytes(packed)
    assert reading.most_unpacked(1000) == 2000
    assert len(read_bytes(plain)) == 1000


def test_several_streams_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(b"one ") + lzma.compress(b"two"))
    assert read_bytes(path) == b"one two" == lzma.decompress(path.read_bytes())
    path.write_bytes(lzma.compress(b"one" * 1000)[:-9])
    with pytest.raises(TcsmtError, match="not to the end"):
        read_bytes(path)


def test_unpacking_takes_little_memory(tmp_path: Path) -> None:
    """A file may ask for a dictionary of gigabytes, whatever is in it."""
    path = tmp_path / "a.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    path.write_bytes(lzma.compress(b"x", filters=filters))
    with pytest.raises(TcsmtError, match="not compressed with xz"):
        read_bytes(path)


def test_what_json_says() -> None:
    assert json_of(b'{"a": [1, {"b": null}], "c": 1.5}') == {"a": [1, {"b": None}], "c": 1.5}
    assert json_of("[NaN]", parse_constant=str) == ["NaN"]
    assert json_of("1.50", parse_float=str) == "1.50"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "b": 2, "a": 1}', "'a' is given twice"),
        ('[{"x": {"y": 1, "y": 2}}]', "'y' is given twice"),
        ("[NaN]", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "digits"),
        ("{", "Expecting"),
    ],
)
def test_what_is_not_one_text(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        json_of(text)
