"""ACL2 saved with its books: here by a program that writes what it is told to save."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from tcsmt.outside.exports.acl2.image import is_saved, with_books
from tcsmt.support.errors import TcsmtError
from tests.support.fake_acl2 import fake_acl2, system_books

#: Notes that it was started, and saves itself where the file ``saving`` is beside it.
STARTS = 'echo started >> "HERE/starts"'
SAVING = """
    '(save-exec '*) test -e "HERE/saving" && cp "$0" acl2; exit 0 ;;
"""


@pytest.fixture
def books(tmp_path: Path) -> list[Path]:
    return system_books(tmp_path)


@pytest.fixture
def program(books: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = str(tmp_path / "bin")
    path = fake_acl2(tmp_path, monkeypatch, SAVING.replace("HERE", here), STARTS.replace("HERE", here))
    (path.parent / "saving").touch()
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    return path


def starts(program: Path) -> int:
    return (program.parent / "starts").read_text().count("started")


def works(program: Path) -> None:
    """Tried out, a program works."""


def test_saved_once(program: Path, tmp_path: Path) -> None:
    tried: list[str] = []
    saved = with_books(lambda path: tried.append(path.read_text()))
    assert is_saved(saved) and not is_saved(program)
    assert saved.parent.parent == tmp_path / "cache"
    assert saved.read_text() == program.read_text() == tried[0]
    assert with_books(works) == saved
    assert starts(program) == len(tried) == 1
    assert [path.name for path in saved.parent.parent.iterdir()] == [saved.parent.name]


def test_of_another_acl2(program: Path) -> None:
    """What an older ACL2 has saved does not count for a newer one."""
    saved = with_books(works)
    program.write_text(program.read_text() + "# newer\n")
    assert with_books(works) != saved
    assert starts(program) == 2


@pytest.mark.parametrize("suffix", [".lisp", ".cert", ".o"])
@pytest.mark.parametrize("book", [0, 4])
def test_of_other_books(program: Path, books: list[Path], book: int, suffix: str) -> None:
    """The same ACL2 with another content of a book: what was saved holds the old one, and is deleted."""
    saved = with_books(works)
    with books[book].with_suffix(suffix).open("a") as file:
        file.write("; another\n")
    again = with_books(works)
    assert again != saved and starts(program) == 2
    assert not saved.exists() and again.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"/no/such/book": "0"}'])
def test_of_which_nothing_is_known(program: Path, text: str) -> None:
    saved = with_books(works)
    (saved.parent / "books.json").write_text(text)
    assert with_books(works).exists()
    assert starts(program) == 2


def test_books_that_are_not_certified(program: Path, books: list[Path], tmp_path: Path) -> None:
    """As while they are installed: it is said, and nothing is kept; afterwards, it is made."""
    certificate = books[0].with_suffix(".cert").rename(tmp_path / "later")
    with pytest.raises(
        TcsmtError, match=r"own book centaur/gl/gl is not there as a certified.*acl2-books-certs"
    ):
        with_books(works)
    assert list((tmp_path / "cache").iterdir()) == []
    certificate.rename(books[0].with_suffix(".cert"))
    assert is_saved(with_books(works))


def test_one_that_does_not_work(program: Path, tmp_path: Path) -> None:
    """It is tried out where it was made, and not kept."""

    def fails(program: Path) -> None:
        assert not is_saved(program)
        raise TcsmtError("Value stack overflow")

    with pytest.raises(TcsmtError, match="overflow"):
        with_books(fails)
    assert list((tmp_path / "cache").iterdir()) == []
    assert is_saved(with_books(works))


def test_it_cannot_be_saved(program: Path) -> None:
    """Then a session loads the books."""
    (program.parent / "saving").unlink()
    assert with_books(works) == program


@pytest.mark.parametrize("cache", ["/dev/null/cache", ""])
def test_there_is_no_folder_for_it(cache: str, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot be made, and a user without a home: a session loads the books."""
    monkeypatch.setenv("TCSMT_CACHE", cache)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *name, **more: Path("~/.cache/tcsmt"))
    assert with_books(works) == program
    assert not is_saved(program)
