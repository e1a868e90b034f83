"""Kept answers: what is in the file is not asked again, whatever a stop has cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.support import files
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import forget, kept_files
from tcsmt.support.kept_answers import AnswerLog


def test_answers_come_back(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with AnswerLog(path, "one") as kept:
        assert kept.get(b"a") is None
        kept.put(b"a", b"12")
        kept.put(b"b", b"")
        assert kept.get(b"a") == b"12"
    with AnswerLog(path, "one") as kept:
        assert (kept.get(b"a"), kept.get(b"b"), kept.get(b"c")) == (b"12", b"", None)
    with AnswerLog(path, "another") as kept:
        assert kept.get(b"a") is None


@pytest.mark.parametrize("cut", [1, 5, 20, 37])
def test_a_record_that_was_cut_short_is_written_anew(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with AnswerLog(path, "one") as kept:
        kept.put(b"a", b"12")
        kept.put(b"b", b"34")
    path.write_bytes(path.read_bytes()[:-cut])
    with AnswerLog(path, "one") as kept:
        assert (kept.get(b"a"), kept.get(b"b")) == (b"12", None)
        kept.put(b"b", b"56")
    with AnswerLog(path, "one") as kept:
        assert (kept.get(b"a"), kept.get(b"b")) == (b"12", b"56")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(TcsmtError, match="is not a file of kept answers"):
        AnswerLog(path, "one")
    assert path.read_text() == "precious"
    with pytest.raises(TcsmtError, match="does not exist"):
        AnswerLog(tmp_path / "no" / "kept", "one")


def test_one_run_at_a_time_has_the_file(tmp_path: Path) -> None:
    """Records of two would be mixed."""
    path = tmp_path / "kept"
    with AnswerLog(path, "one") as kept:
        kept.put(b"a", b"12")
        with pytest.raises(TcsmtError, match="is in use by another run"):
            AnswerLog(path, "one")
    with AnswerLog(path, "one") as kept:
        assert kept.get(b"a") == b"12"


def test_a_stopped_run_says_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WRITTEN", {})
    path = tmp_path / "kept"
    with AnswerLog(path, "one") as kept:
        assert str(path) not in kept_files()
        kept.put(b"a", b"12")
    assert f"{path} (1 entry; the same command goes on from there)" in kept_files()
    forget(path)
    with AnswerLog(path, "one"):
        assert f"{path} (1 entry; " in kept_files()


@pytest.mark.parametrize("cut", range(17))
def test_a_head_that_was_cut_short_is_written_anew(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with AnswerLog(path, "one"):
        pass
    path.write_bytes(path.read_bytes()[:cut])
    with AnswerLog(path, "one") as kept:
        kept.put(b"a", b"12")
    with AnswerLog(path, "one") as kept:
        assert kept.get(b"a") == b"12"
