"""Sources count by their text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tcsmt.support import sources
from tcsmt.support.sources import digest_of_sources


def test_sources_count_by_their_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text in a room, or another name of a file, is another digest; other rooms do not matter."""
    (tmp_path / "support").mkdir()
    (tmp_path / "prove" / "solvers").mkdir(parents=True)
    (tmp_path / "terms.py").write_text("terms")
    file = tmp_path / "prove" / "solvers" / "run.py"

    def now(*rooms: str) -> str:
        digest_of_sources.cache_clear()
        return digest_of_sources(*rooms)

    def written(text: str) -> Any:
        file.write_text(text)
        return now("terms", "prove"), now("terms")

    with monkeypatch.context() as patched:
        patched.setattr(sources, "__file__", str(tmp_path / "support" / "sources.py"))
        (one, terms), (two, same) = written("first"), written("second")
        assert one != two and terms == same
        assert written("first") == (one, terms)
        file.rename(file.with_name("other.py"))
        assert now("terms", "prove") != one
    digest_of_sources.cache_clear()


def test_a_module_and_a_room_are_named_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order counts, and so does every file of code and every table; other files do not."""
    (tmp_path / "support").mkdir()
    (tmp_path / "room").mkdir()
    (tmp_path / "terms.py").write_text("terms")
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "support" / "sources.py"))
    found = set()
    for name, text in (("a.py", "1"), ("b.py", "1"), ("b.py", "2"), ("t.toml", "1"), ("c.txt", "3")):
        (tmp_path / "room" / name).write_text(text)
        digest_of_sources.cache_clear()
        found.add(digest_of_sources("terms", "room"))
    assert len(found) == 4
    assert digest_of_sources("room", "terms") not in found
    with pytest.raises(FileNotFoundError):
        digest_of_sources("no_such_room")
    digest_of_sources.cache_clear()
