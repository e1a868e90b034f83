"""What a long run keeps: whole after each record, on a full disk too; one run at a time."""

from __future__ import annotations

import errno
import io
import json
import multiprocessing as mp
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tcsmt.support import files
from tcsmt.support.checkpoint import AnswerLog, Checkpoint, Layout, Record
from tcsmt.support.errors import Contradiction, InternalError, TcsmtError
from tcsmt.support.files import forget, kept_files


def counted(records: Mapping[str, Record]) -> Record:
    return {"count": len(records)}


#: An object by keys, an array, and each with other fields beside it.
LAYOUTS = {
    "object": Layout(),
    "array": Layout(key=lambda record: str(record["name"])),
    "object in a field": Layout("entries", head=counted),
    "array in a field": Layout("rows", key=lambda record: str(record["name"]), head=counted),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_file_reads_back(layout: Layout, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    with Checkpoint(file, layout) as kept:
        for name, value in (("one", 1), ("zwei", 2), ("drei", "ß"), ("one", 11)):
            kept.keep(name, {"name": name, "value": value})
    with Checkpoint(file, layout) as again:
        assert again.records == kept.records
        assert [*again.records] == ["one", "zwei", "drei"]
        assert again.records["one"]["value"] == 11
        assert again.before == ({"count": 3} if layout.name else {})
        again.arrange(["drei", "one"])
    with Checkpoint(file, layout) as last:
        assert [*last.records] == ["drei", "one"]
    # a record a line, so that versions of a file can be compared
    assert sum('"value"' in line for line in file.read_text().splitlines()) == 2


def test_without_a_path_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Checkpoint(None, Layout()) as kept:
        kept.keep("one", {"value": 1})
    assert kept.records == {"one": {"value": 1}}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("when", ["opening", "writing", "renaming"])
def test_a_full_disk_leaves_what_was_there(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.json"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fails(*arguments: Any, **options: Any) -> Any:
        raise full

    class Full(io.FileIO):
        def write(self, content: Any) -> int:
            raise full

    with Checkpoint(file, Layout()) as kept:
        kept.keep("one", {"value": 1})
        before = file.read_bytes()
        with monkeypatch.context() as patched:
            match when:
                case "opening":
                    patched.setattr(os, "open", fails)
                case "writing":
                    patched.setattr(os, "fdopen", Full)
                case _:
                    patched.setattr(os, "replace", fails)
            with pytest.raises(TcsmtError, match="No space left on device; what was finished before is kept"):
                kept.keep("two", {"value": 2})
        assert file.read_bytes() == before
        assert {path.name for path in tmp_path.iterdir()} == {"a.json", "a.json.lock"}
        kept.keep("three", {"value": 3})
    assert json.loads(file.read_text()).keys() == {"one", "two", "three"}


def test_finished_checkpoints_leave_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    with Checkpoint(file, Layout()) as kept:
        kept.keep("one", {})
        kept.finish()
        assert list(tmp_path.iterdir()) == []
    with Checkpoint(file, Layout()) as again:
        assert again.records == {}
        with pytest.raises(TcsmtError, match="in use by another run"):
            Checkpoint(file, Layout())


def test_one_run_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    with Checkpoint(file, Layout()) as kept:
        kept.keep("one", {})
        context = mp.get_context("fork")
        for _ in range(2):  # asking does not take anything from who has it
            ours, theirs = context.Pipe()
            process = context.Process(target=opened, args=(file, theirs))
            process.start()
            assert ours.recv() == f"{file} is in use by another run (process {os.getpid()})"
            process.join()
    with Checkpoint(file, Layout()) as again:
        assert again.records == {"one": {}}


def opened(file: Path, answer: Any) -> None:
    try:
        with Checkpoint(file, Layout()):
            answer.send("opened")
    except TcsmtError as error:
        answer.send(str(error))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(
    "text", ["", "no JSON", "7", '{"entries": 7}', '{"rows": [7]}', '["a"]', '{"a": 1}', '"text"', "\x00"]
)
def test_a_file_of_something_else_is_refused(layout: Layout, text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    for _ in range(2):  # and nobody is left holding it
        with pytest.raises(TcsmtError) as error:
            Checkpoint(file, layout, "--output")
        expected = f"--output {file} was not written by this command: expected {layout.expected}"
        assert str(error.value) == expected
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (Layout(), "[]"),
        (Layout(), '[["one", {}]]'),
        (Layout(key=str), "{}"),
        (Layout("entries"), '{"entries": []}'),
        (Layout("entries", key=str), '{"entries": {}}'),
    ],
)
def test_an_array_is_no_object(layout: Layout, text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(TcsmtError, match="was not written by this command"):
        Checkpoint(file, layout)


def test_errors_name_the_expected_layout() -> None:
    assert Layout().expected == "a JSON object of records"
    assert Layout(key=str).expected == "a JSON array of records"
    assert Layout("entries").expected == "a JSON object with an object of records in 'entries'"
    assert Layout("entries", key=str).expected == "a JSON object with an array of records in 'entries'"


def test_unreadable_checkpoints_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a.json"
    folder.mkdir()
    with pytest.raises(TcsmtError, match=f"cannot read {folder}: Is a directory"):
        Checkpoint(folder, Layout(), "--output")


def test_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="does not exist"):
        Checkpoint(tmp_path / "none" / "a.json", Layout())
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "error", [TcsmtError("bad"), InternalError("two results"), Contradiction("at most 1", "2")]
)
def test_errors_travel_between_processes(error: TcsmtError) -> None:
    import pickle

    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), str(arrived), arrived.exit_code) == (type(error), str(error), error.exit_code)


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
