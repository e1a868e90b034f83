"""ACL2 saved with its books: here by a program that writes what it is told to save."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.outside.exports.acl2.image import with_books

#: Notes that it was started, and saves itself where the file ``saving`` is beside it.
SAVING = """#!/bin/sh
echo started >> "$(dirname "$0")/starts"
while read -r line; do
  case "$line" in
    '(cw '*) printf '\\n%s\\n' "$(echo "$line" | cut -d '"' -f 4)" ;;
    '(save-exec '*) test -e "$(dirname "$0")/saving" && cp "$0" acl2; exit 0 ;;
    *) ;;
  esac
done
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "bin" / "acl2"
    path.parent.mkdir()
    path.write_text(SAVING)
    path.chmod(0o755)
    (path.parent / "saving").touch()
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    return path


def starts(program: Path) -> int:
    return (program.parent / "starts").read_text().count("started")


def test_saved_once(program: Path, tmp_path: Path) -> None:
    saved = with_books()
    assert saved.parent.parent == tmp_path / "cache"
    assert saved.read_text() == SAVING
    assert with_books() == saved
    assert starts(program) == 1
    assert [path.name for path in saved.parent.parent.iterdir()] == [saved.parent.name]


def test_of_another_acl2(program: Path) -> None:
    """What an older ACL2 has saved does not count for a newer one."""
    saved = with_books()
    program.write_text(SAVING + "# newer\n")
    assert with_books() != saved
    assert starts(program) == 2


def test_it_cannot_be_saved(program: Path) -> None:
    """Then a session loads the books."""
    (program.parent / "saving").unlink()
    assert with_books() == program
