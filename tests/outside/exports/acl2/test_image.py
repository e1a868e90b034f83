"""ACL2 saved with its books: here by a program that writes what it is told to save."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.outside.exports.acl2.image import with_books
from tests.support.fake_acl2 import fake_acl2

#: Notes that it was started, and saves itself where the file ``saving`` is beside it.
STARTS = 'echo started >> "$(dirname "$0")/starts"'
SAVING = """
    '(save-exec '*) test -e "$(dirname "$0")/saving" && cp "$0" acl2; exit 0 ;;
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = fake_acl2(tmp_path, monkeypatch, SAVING, STARTS)
    (path.parent / "saving").touch()
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    return path


def starts(program: Path) -> int:
    return (program.parent / "starts").read_text().count("started")


def test_saved_once(program: Path, tmp_path: Path) -> None:
    saved = with_books()
    assert saved.parent.parent == tmp_path / "cache"
    assert saved.read_text() == program.read_text()
    assert with_books() == saved
    assert starts(program) == 1
    assert [path.name for path in saved.parent.parent.iterdir()] == [saved.parent.name]


def test_of_another_acl2(program: Path) -> None:
    """What an older ACL2 has saved does not count for a newer one."""
    saved = with_books()
    program.write_text(program.read_text() + "# newer\n")
    assert with_books() != saved
    assert starts(program) == 2


def test_it_cannot_be_saved(program: Path) -> None:
    """Then a session loads the books."""
    (program.parent / "saving").unlink()
    assert with_books() == program
