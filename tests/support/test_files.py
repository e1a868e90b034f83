"""Files are written in one step, or not at all."""

from __future__ import annotations

import lzma
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tcsmt.support import files
from tcsmt.support.errors import TcsmtError, TooLarge
from tcsmt.support.files import (
    forget,
    json_of,
    kept_files,
    make_folder,
    read_bytes,
    replace_bytes,
    replace_text,
    store_bytes,
    uncompressed,
    wrote,
)


def test_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    replace_text(path, "µ\n")
    assert path.read_bytes() == b"\xc2\xb5\n"
    replace_bytes(path, b"\x00")
    assert path.read_bytes() == b"\x00"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_text_is_compressed_where_the_name_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json.xz"
    replace_text(path, "µ\n" * 1000)
    assert lzma.decompress(path.read_bytes()) == read_bytes(path) == "µ\n".encode() * 1000


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_what_the_umask_leaves(umask: int, mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    before = os.umask(umask)
    try:
        replace_text(path, "new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_file_that_is_replaced_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    replace_text(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_links_stay_links(tmp_path: Path) -> None:
    """Of a link, what it names is written, there or not; of a file with two names, both."""
    (tmp_path / "elsewhere").mkdir()
    named = tmp_path / "elsewhere" / "a.txt"
    link = tmp_path / "a.txt"
    link.symlink_to(Path("elsewhere", "a.txt"))
    for text in ("one", "two"):
        replace_text(link, text)
        assert link.is_symlink() and named.read_text() == link.read_text() == text
        assert not named.is_symlink()
    second = tmp_path / "second.txt"
    second.hardlink_to(named)
    replace_text(link, "three")
    assert second.read_text() == named.read_text() == "three" and second.samefile(named)
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["a.txt"]


def test_a_pipe_and_a_device_are_written_where_they_are(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_text(pipe, "new")
    assert os.read(reading, 10) == b"new" and pipe.is_fifo()
    os.close(reading)
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    replace_text(link, "new")
    assert Path(os.devnull).is_char_device() and link.is_symlink()


@pytest.mark.parametrize("step", ["chmod", "replace"])
def test_an_error_on_the_way_leaves_the_old_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(TcsmtError, match=r"a\.txt: No space left on device"):
        replace_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_folders(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(TcsmtError, match=r"file/c: Not a directory"):
        make_folder(tmp_path / "file" / "c")
    with pytest.raises(TcsmtError, match=r"none/x: No such file"):
        replace_text(tmp_path / "none" / "x", "")


def test_written_files_are_named_in_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WRITTEN", {})
    assert kept_files() == ""
    a, b, c, d, e = (tmp_path / name for name in "abcde")
    store_bytes(a, b"for tcsmt itself")
    assert kept_files() == ""
    replace_text(b, "1", "1 finding")
    replace_text(b, "2", "2 findings")
    assert kept_files() == f"{b} (2 findings)"
    for path in (c, d, e):
        replace_bytes(path, b"")
    assert kept_files() == f"{b} (2 findings), {c}, {d} and 1 more file"
    forget(b)
    wrote(a)
    (tmp_path / "f").touch()
    wrote(tmp_path / "f")
    assert kept_files() == f"{c}, {d}, {e} and 2 more files"


def test_files_that_are_gone_are_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a folder that a command deletes when a signal ends it."""
    monkeypatch.setattr(files, "_WRITTEN", {})
    with TemporaryDirectory(dir=tmp_path) as folder:
        replace_text(Path(folder, "a"), "")
        replace_text(tmp_path / "b", "")
        assert str(folder) in kept_files()
    assert kept_files() == str(tmp_path / "b")


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
    monkeypatch.setattr(files, "_UNPACKED", 500)
    monkeypatch.setattr(files, "_FOLD", 2)
    with pytest.raises(TooLarge, match="unpacks to more than"):
        read_bytes(packed)
    assert files.most_unpacked(1000) == 2000
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
