"""A session with a prover: here a program that repeats what it is told."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import platformdirs
import pytest

from tcsmt.interop.exports.acl2 import prover
from tcsmt.interop.exports.acl2.prover import (
    Prover,
    ProverStopped,
    is_saved,
    laid_out,
    prover_path,
    with_books,
)
from tcsmt.support.errors import TcsmtError
from tests.support.fake_acl2 import fake_acl2, system_books

#: Sleeps at ``(sleep)``, ends at ``(good-bye)``, and forgets what comes after ``(error)``.
REPEATING = """
    '(sleep)') sleep 60 ;;
    '(good-bye)') exit 0 ;;
    '(error)') echo '*** ABORTING from raw Lisp ***'; read -r lost ;;
    *) echo "told $line" ;;
"""


@pytest.fixture
def repeating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fake_acl2(tmp_path, monkeypatch, REPEATING)
    return tmp_path


def test_answers(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session:
        assert session.send("(first)\n(second)", 30).split("\n")[:2] == ["told (first)", "told (second)"]
        assert "told (third)" in session.send("(third)", 30)


def test_the_memory_that_it_has(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session:
        session.send("(first)", 30)
        assert 0 < session.megabytes < 100


def test_an_error_in_lisp(repeating: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ACL2 forgets what it has not read by then: it is asked once more whether it is done."""
    monkeypatch.setattr(prover, "_LOST", 0.1)
    with Prover(repeating, prover_path()) as session:
        assert "ABORTING" in session.send("(error)", 30)
        assert "told (next)" in session.send("(next)", 30)


def test_it_takes_too_long(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session, pytest.raises(ProverStopped, match=r"within 0\.5 s"):
        session.send("(sleep)", 0.5)


def test_it_ends(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session:
        with pytest.raises(ProverStopped, match="or ended"):
            session.send("(good-bye)", 30)
        with pytest.raises(ProverStopped):
            session.send("(more)", 30)


def test_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TcsmtError, match=r"not installed.*Debian.* acl2, acl2-books"):
        prover_path()


def test_files_of_the_folder_are_not_run(tmp_path: Path) -> None:
    """Lisp runs ``init.lsp``, and ACL2 its own such file, of the folder in which they start."""
    if shutil.which("acl2") is None:
        pytest.skip("ACL2 is not installed (Debian: acl2)")
    for name in ("init.lsp", "acl2-init.lsp", "acl2-customization.lsp", ".acl2rc"):
        (tmp_path / name).write_text('(sys-call "touch" (list "ran"))\n(si::system "touch ran")\n')
    with Prover(tmp_path, Path(prover_path())) as session:
        assert str(tmp_path) in session.send("(cbd)", 60)
        start = session.start
        assert not [*tmp_path.glob("ran"), *start.iterdir()]
    assert not start.exists()


def test_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ACL2 stops where its home is no folder; it gets an empty one, so that no file of a user's is run."""
    fake_acl2(tmp_path, monkeypatch, '*home*) ls -a "$HOME" | wc -l ;;')
    monkeypatch.setenv("HOME", "/dev/null")
    with Prover(tmp_path, Path(prover_path())) as prover:
        assert prover.send("home", 60).split() == ["2"]


def test_a_folder_with_another_name(repeating: Path) -> None:
    """A quotation mark in it ends no text of Lisp."""
    folder = repeating / 'a")(sys-call "touch" (list "b\\'
    folder.mkdir()
    with Prover(folder, Path(prover_path())) as session:
        assert "told (first)" in session.send("(first)", 30)


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
    with pytest.raises(TcsmtError, match=r"centaur/gl/gl .*certified.*acl2-books-certs"):
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


LONG = (
    f"(IMPLIES (IF (WORDS-P {' '.join(f'A{i}' for i in range(40))}) (IN-DOMAIN A0 C) 'NIL) "
    "(EQUAL (UNIT.1 A0 C) (SIDE-1 (UNIT.2 C '(5 10 :IEEE)))))"
)


@pytest.mark.parametrize(
    "theorem", [LONG, "(NOT (CLAIM A B))", "T", '(EQUAL "a (b" \'(1 2))', "((LAMBDA (X) X) Y)"]
)
def test_the_text_is_the_same(theorem: str) -> None:
    lines = laid_out(theorem, {"unit.1": "volta; with (a) parenthesis"})
    whole = " ".join(line.split("  ; ")[0] for line in lines)
    assert re.sub(r"\s+", " ", re.sub(r"\(\s+", "(", whole)) == re.sub(r"\s+", " ", theorem)


def test_units_have_their_names() -> None:
    lines = laid_out(LONG, {"unit.1": "volta", "unit.2": "turing", "unit.3": "ampere"})
    assert "    (UNIT.1 A0 C)  ; volta" in lines
    assert "      (UNIT.2 C '(5 10 :IEEE)))))  ; turing" in lines
    assert not any("ampere" in line for line in lines)
