"""What is kept between runs: only what was kept under its name, whole."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcsmt.support.cache import read, store, write
from tcsmt.support.errors import TcsmtError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_by_name() -> None:
    assert read("lemmas/one") is None
    store("lemmas/one", b"1")
    store("lemmas/two", b"")
    assert (read("lemmas/one"), read("lemmas/two"), read("lemmas/three")) == (b"1", b"", None)
    store("lemmas/one", b"another")
    assert read("lemmas/one") == b"another"


@pytest.mark.slow
@given(content=st.binary(max_size=40), place=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_is_seen(folder: Path, content: bytes, place: int, bit: int) -> None:
    store("one", content)
    stored = bytearray((folder / "one").read_bytes())
    stored[place % len(stored)] ^= 1 << bit
    (folder / "one").write_bytes(stored)
    assert read("one") is None


def test_truncated_and_misplaced_files_are_not_kept(folder: Path) -> None:
    store("one", b"content")
    stored = (folder / "one").read_bytes()
    (folder / "two").write_bytes(stored)
    assert read("two") is None
    for length in range(len(stored)):
        (folder / "one").write_bytes(stored[:length])
        assert read("one") is None


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    """Nothing is kept, and nothing is said."""
    folder.write_text("a file")
    store("one", b"content")
    assert read("one") is None
    assert folder.read_text() == "a file"


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCSMT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    store("one", b"content")
    assert (tmp_path / "xdg" / "tcsmt" / "one").is_file()
    assert read("one") == b"content"


def test_what_has_to_be_written_says_how_to_name_another_folder(folder: Path) -> None:
    folder.write_text("a file")
    said = r"cannot make the folder .*; the environment variable TCSMT_CACHE names another"
    with pytest.raises(TcsmtError, match=said):
        write("pages/index.html", b"content")


def test_no_folder_is_made_where_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody says where a user's home is, as in a container, it is not a folder ``~`` here."""
    monkeypatch.delenv("TCSMT_CACHE")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *name, **more: Path("~/.cache/tcsmt"))
    monkeypatch.chdir(tmp_path)
    store("one", b"content")
    assert read("one") is None
    with pytest.raises(TcsmtError, match=r"not absolute.*TCSMT_CACHE"):
        write("one", b"content")
    assert list(tmp_path.iterdir()) == []
