"""What a function is made of: a change of anything that is known changes its mark."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcsmt.support import fingerprints
from tcsmt.support.errors import TcsmtError
from tcsmt.support.fingerprints import (
    digest_of_sources,
    fingerprint,
    fingerprint_of_command,
    fingerprint_so_far,
)


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
        patched.setattr(fingerprints, "__file__", str(tmp_path / "support" / "fingerprints.py"))
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
    monkeypatch.setattr(fingerprints, "__file__", str(tmp_path / "support" / "fingerprints.py"))
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


FILES = {
    "top.py": "from inner import helper\nimport math\n\n"
    "def function(a, b, c):\n    import late\n    return helper(a)\n"
    "def closed(n, other=None):\n    def inside(a, b, c, m=2):\n        return n, other\n    return inside\n",
    "inner.py": "from package.part import VALUE\n\ndef helper(a):\n    return VALUE in {'x', 'y', 'z'}\n",
    "late.py": "X = 1\n",
    "package/__init__.py": "",
    "package/part.py": "from . import sibling\nVALUE = 1\n",
    "package/sibling.py": "Y = 1\n",
    "apart.py": "Z = 1\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("top", "inner", "late", "package", "package.part", "package.sibling"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return tmp_path


def mark(folder: Path) -> Any:
    return fingerprint(importlib.import_module("top").function)


def test_a_change_of_any_file_that_is_imported_counts(folder: Path) -> None:
    first = mark(folder)
    assert first is not None and mark(folder) == first
    for name, text in FILES.items():
        (folder / name).write_text(text + "\n# changed\n")
        assert (mark(folder) == first) == (name == "apart.py"), name
        (folder / name).write_text(text)
    assert mark(folder) == first


def test_it_is_the_same_in_another_process(folder: Path) -> None:
    program = (
        "import top; from tcsmt.support.fingerprints import fingerprint; print(fingerprint(top.function))"
    )
    environment = {"PYTHONPATH": f"{folder}:{Path.cwd()}", "PYTHONHASHSEED": "7", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == mark(folder)


def test_values_that_a_function_holds_count(folder: Path) -> None:
    closed = importlib.import_module("top").closed
    helper = importlib.import_module("inner").helper
    marks = [fingerprint(closed(n, other)) for n, other in ((1, None), (2, None), (1, helper))]
    assert len({*marks, None}) == 4
    assert fingerprint(closed(1)) == marks[0]
    for unknown in (
        closed([1]),
        closed(1, object()),
        functools.partial(helper, 1),
        functools.wraps(helper)(closed(1)),
        len,
        3,
    ):
        assert fingerprint(unknown) is None
    exec("def made(a, b, c): return c", space := {"__name__": "nowhere"})
    assert fingerprint(space["made"]) is None  # of no file


def test_what_is_known_counts_where_something_is_not(folder: Path) -> None:
    """A function that holds a list has no whole mark; its code and files count all the same."""
    closed = importlib.import_module("top").closed
    first = fingerprint_so_far(closed([1]))
    assert fingerprint(closed([1])) is None and fingerprint_so_far(closed([2])) == first
    (folder / "inner.py").write_text(FILES["inner.py"] + "\n# changed\n")
    assert fingerprint_so_far(closed([1])) != first


def test_a_command_is_its_words_and_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that is found on the path, and each file that a word names."""
    program, data = tmp_path / "emulator", tmp_path / "table"
    monkeypatch.setenv("PATH", str(tmp_path))
    seen = set()
    for code, table, options in (("1", "1", ""), ("2", "1", ""), ("2", "2", ""), ("2", "2", "--slow")):
        program.write_text(code)
        program.chmod(0o755)
        data.write_text(table)
        command = f"emulator {data} {options}"
        seen.add(fingerprint_of_command(command))
        assert fingerprint_of_command(command) in seen
    assert len(seen) == 4
    with pytest.raises(TcsmtError, match="No closing quotation"):
        fingerprint_of_command("emulator 'x")
