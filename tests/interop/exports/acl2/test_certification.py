"""Books of statements certified by ACL2, and tampered with; without ACL2, what is written."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tcsmt.interop.exports.acl2 import certification
from tcsmt.interop.exports.acl2.certification import CertifiedBook, Certifier, Refuter, files_of, write_book
from tcsmt.interop.exports.acl2.statements import StatementBook
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support import cache
from tcsmt.support.errors import TcsmtError
from tests.support.acl2_books import book_of
from tests.support.fake_acl2 import fake_acl2, system_books

acl2 = pytest.mark.skipif(
    shutil.which("acl2") is None, reason="ACL2 is not installed (Debian: acl2, acl2-books, acl2-books-certs)"
)


@pytest.mark.slow
def test_files(certificates: Path, tmp_path: Path) -> None:
    """All that ``make`` needs, and each parenthesis is closed."""
    book = book_of(certificates, "2 carry bits")
    files = files_of(book)
    assert set(files) == {
        "Makefile",
        "certify.sh",
        "clauses.lisp",
        "theorems.lisp",
        f"statements/{book.name}.lisp",
        *(f"units/{unit.name}.lisp" for unit in book.units),
    }
    for name, text in files.items():
        if name.endswith(".lisp"):
            code = re.sub(r'(?m);.*$|"[^"]*"|#\\.', "", text)
            assert code.count("(") == code.count(")") > 5, name
    write_book(book, tmp_path)
    written = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: path.read_text(encoding="utf-8") for name, path in written.items()} == files
    subprocess.run(["sh", "-n", tmp_path / "certify.sh"], check=True)


@pytest.mark.slow
def test_nothing_is_assumed(certificates: Path) -> None:
    """No axiom, no skipped proof, no trust tag but the two of the performance books that are included."""
    for title in ("2 carry bits", "zero exponent", "a NaN stays"):
        for name, text in files_of(book_of(certificates, title)).items():
            assert not re.search(r"(?i)skip-proofs|defaxiom|defttag|progn!|include-raw", text), name
            for tags in re.findall(r":ttags ([^\n]*)\)", text) if name.endswith(".lisp") else ():
                assert tags == "((:fast-cons-memo) (:aig-vars))", name


#: Takes every book as certified, proves nothing, and prints when a statement is included what a book might
#: print that wants to be taken for a theorem. FOLDER becomes that of the books.
FORGING = """
    '(ld '*certify-book*) touch "FOLDER/$(echo "$line" | cut -d '"' -f 2).cert" ;;
    '(include-book "statements/'*) printf '\\n%s\\n' "THEOREM: (EQUAL (VOLTA A B C) (TURING A B C))"
        printf '%s\\n' "TRUST-TAGS: (:AIG-VARS)" "INHABITED: T" "end-of-forms-$PPID-9" ;;
    '(mv-let (seconds'*) printf '\\nRUN-TIME: 5\\n' ;;
"""


def test_a_theorem_is_not_what_a_book_prints(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But what ACL2 says of its world when the book is there."""
    folder = tmp_path / "written"
    system_books(tmp_path)
    fake_acl2(tmp_path, monkeypatch, FORGING.replace("FOLDER", str(folder)))
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    book = book_of(certificates, "a NaN stays")
    write_book(book, folder)
    with Certifier(folder, 30) as certifier:
        result = certifier.certify(book)
    assert result.flaw == "there is no theorem no-such-input" and not result.theorem


def test_a_program_that_was_kept_and_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to delete."""
    books = system_books(tmp_path)
    fake_acl2(tmp_path, monkeypatch, "")
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(TcsmtError, match=r"does not work: clauses\.lisp: not certified") as error:
        certification._session(tmp_path)
    assert "delete" not in str(error.value)
    monkeypatch.setattr(certification, "with_books", lambda try_out: cache.folder() / "acl2-1" / "acl2")
    kept = cache.folder() / "acl2-1"
    kept.mkdir(parents=True)
    shutil.copy(tmp_path / "bin" / "acl2", kept)
    with pytest.raises(TcsmtError, match=re.escape(f"; delete {kept}, and it is saved again")):
        certification._session(tmp_path)
    books[0].with_suffix(".cert").unlink()
    with pytest.raises(TcsmtError, match=r"centaur/gl/gl .*certified"):
        certification._session(tmp_path)


@dataclass(frozen=True)
class Books:
    """A folder with three books and the refutations of their lemmas, and a session that certifies them."""

    folder: Path
    books: list[StatementBook]
    certifier: Certifier

    def certified(self) -> CertifiedBook:
        """What becomes of the first book, as it is in the folder."""
        return self.certifier.certify(self.books[0])


@pytest.fixture(scope="module")
def unchanged(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Books]:
    folder = tmp_path_factory.mktemp("books")
    made = [book_of(certificates, title) for title in ("2 carry bits", "zero exponent", "a NaN stays")]
    with Refuter(folder, SolvingOptions(timeout=100)) as refuter, Certifier(folder, 300) as certifier:
        for book in made:
            write_book(book, folder)
            refuter.refute(book)
        yield Books(folder, made, certifier)


@pytest.fixture
def books(unchanged: Books) -> Iterator[Books]:
    """The folder as it was, whatever the test before has changed."""
    texts = {
        path: path.read_bytes() for path in unchanged.folder.rglob("*") if path.suffix in (".lisp", ".lrat")
    }
    yield unchanged
    for path, text in texts.items():
        if path.read_bytes() != text:
            path.write_bytes(text)


def test_a_folder_keeps_what_is_not_ours(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither refutations of another text nor books are written over, or deleted with, a user's files."""
    book = book_of(certificates, "2 carry bits")
    write_book(book, tmp_path)
    home = tmp_path / "statements" / book.name
    home.mkdir()
    mine = [home / "notes.txt", home / "mine.lrat", tmp_path / "statements" / "other.lisp", tmp_path / "todo"]
    for path in mine:
        path.write_text("mine")
    (tmp_path / "refutations").mkdir()
    kept = tmp_path / "refutations" / "0.lrat"
    kept.write_text("1 0 1 0")
    old = home / "lemma.lrat"
    old.hardlink_to(kept)
    monkeypatch.setattr(Refuter, "_started", lambda self: self)
    monkeypatch.setattr(Refuter, "_refute", lambda self, book, prover: True)
    monkeypatch.setattr(Refuter, "megabytes", 0, raising=False)
    with Refuter(tmp_path, SolvingOptions()) as refuter:
        refuter.refute(book)
    assert [path.read_text() for path in mine] == ["mine"] * 4
    assert kept.is_file() and not old.exists() and (home / "refuted").is_file()
    (tmp_path / "Makefile").write_text("all:\n\tmine\n")
    with pytest.raises(TcsmtError, match="Makefile was not written by tcsmt"):
        write_book(book, tmp_path)
    assert (tmp_path / "Makefile").read_text() == "all:\n\tmine\n"


@acl2
@pytest.mark.long
def test_three_statements(books: Books) -> None:
    results = [books.certifier.certify(book) for book in books.books]
    assert [result.flaw for result in results] == ["", "", ""]
    assert [result.inhabited for result in results] == [True, True, False]
    assert all(result.tags == (":fast-cons-memo", ":aig-vars") for result in results)
    assert all(result.refutations for result in results)
    assert "(EQUAL (UNIT." in results[0].theorem
    assert "(NOT (CLAIM " in results[2].theorem


@acl2
@pytest.mark.long
def test_a_session_that_has_grown_is_followed_by_another(
    books: Books, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certification, "_MEGABYTES", 0)
    with Refuter(tmp_path, SolvingOptions(timeout=100)) as refuter, Certifier(tmp_path, 300) as certifier:
        for book in books.books[:2]:
            write_book(book, tmp_path)
            refuter.refute(book)
            assert certifier.certify(book).flaw == ""
            assert certifier._prover is None and refuter._prover is None


@acl2
@pytest.mark.long
def test_the_script(books: Books, tmp_path: Path) -> None:
    """A shell and ACL2 do it, too, without tcsmt, wherever the folder is."""
    folder = shutil.copytree(books.folder, tmp_path / "copy")
    name = books.books[0].name
    done = subprocess.run(["make"], cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("THEOREM: ") == done.stdout.count("TRUST-TAGS: ") == 3
    (folder / "statements" / name / "lemma-1.lrat").write_text("")
    done = subprocess.run(["make"], cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"NOT CERTIFIED: statements/{name}.lisp" in done.stdout
    assert done.stdout.count("THEOREM: ") == 2


def _refutation(folder: Path, book: StatementBook) -> Path:
    return max((folder / "statements" / book.name).glob("*.lrat"), key=lambda path: path.stat().st_size)


def _text(change: Callable[[str], str]) -> Callable[[Path, StatementBook], None]:
    """A change to the book of the statement."""
    return _changed(lambda book: Path("statements") / f"{book.name}.lisp", change)


def _unit(change: Callable[[str], str]) -> Callable[[Path, StatementBook], None]:
    """A change to the book of the second unit."""
    return _changed(lambda book: Path("units") / f"{book.units[1].name}.lisp", change)


def _changed(
    file: Callable[[StatementBook], Path], change: Callable[[str], str]
) -> Callable[[Path, StatementBook], None]:
    def tamper(folder: Path, book: StatementBook) -> None:
        path = folder / file(book)
        text = path.read_text(encoding="utf-8")
        changed = change(text)
        assert changed != text
        path.write_text(changed, encoding="utf-8")

    return tamper


def _hint(folder: Path, book: StatementBook) -> None:
    path = _refutation(folder, book)
    lines = path.read_text().splitlines()
    place = max(range(len(lines)), key=lambda i: len(lines[i].partition(" 0 ")[2]))
    words = lines[place].split()
    lines[place] = " ".join([*words[:-3], words[-1]])
    path.write_text("\n".join([*lines, ""]))


def _line(folder: Path, book: StatementBook) -> None:
    path = _refutation(folder, book)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def _other_refutation(folder: Path, book: StatementBook) -> None:
    """That of a lemma of another statement."""
    other = next(path for path in (folder / "statements").glob("*/*.lrat") if path.parent.name != book.name)
    shutil.copy(other, _refutation(folder, book))


def _order(text: str) -> str:
    """What follows from a lemma comes before it."""
    closed = re.search(r"\(defthm closed-1\n.*?\n\n", text, re.DOTALL)
    assert closed
    return text.replace(closed.group(), "").replace(
        "(with-refutation", closed.group() + "(with-refutation", 1
    )


def _domain(text: str) -> str:
    """Infinities and NaNs are in it."""
    return re.sub(r"(\(defun in-domain .*?\(declare [^\n]*\n).*?(\n\n)", r"\1  t)\2", text, flags=re.DOTALL)


def _assumed(text: str) -> str:
    """An assumption that no input satisfies: then the domain has no inhabitant."""
    return re.sub(r"(\(defun in-domain .*?\(declare [^\n]*\n).*?(\n\n)", r"\1  nil)\2", text, flags=re.DOTALL)


def _swapped(text: str) -> str:
    """The theorem is about two other units: the first, and the first with one bit of its word inverted."""
    unit = re.search(r"unit\.[0-9a-f]{8}", text.partition("(defthm same-word")[2])
    assert unit
    start, theorem = text[: text.index("(defthm same-word")], text[text.index("(defthm same-word") :]
    second = re.findall(r"\(unit\.[0-9a-f]{8} [^)]*\)", theorem)[1]
    return start + theorem.replace(second, f"(logxor 1 {second})")


def _parameter(text: str) -> str:
    """Each sum of the unit is one more."""
    return re.sub(r"\(loghead (\d+) \(\+ ", r"(loghead \1 (+ 1 ", text)


def _before(event: str, more: str) -> Callable[[str], str]:
    return lambda text: text.replace(event, f"{more}\n\n{event}", 1)


def _skipped(text: str) -> str:
    """The proof of the theorem."""
    start, theorem = text[: text.index("(defthm same-word")], text[text.index("(defthm same-word") :]
    return f"{start}(skip-proofs {theorem.rstrip()})\n"


_axiom = _before("(defun words-p", "(defaxiom all-units-are-the-same nil :rule-classes nil)")
_tag = _before("(defun words-p", "(defttag :trust-me)")


#: What is changed, and what ACL2 says then.
TAMPERED: dict[str, tuple[Callable[[Path, StatementBook], None], str]] = {
    "a hint is missing": (_hint, "lemma"),
    "a line is missing": (_line, "lemma"),
    "a lemma of another statement": (_other_refutation, "lemma"),
    "the order of the lemmas": (_text(_order), "closed-1"),
    "a wider domain": (_text(_domain), "reading"),
    "an assumption that is false": (_text(_assumed), "inhabited"),
    "another unit": (_text(_swapped), "same-word"),
    "a parameter": (_unit(_parameter), "reading"),
    "a proof that is skipped": (_text(_skipped), "skip-proofs"),
    "an axiom": (_text(_axiom), "defaxiom"),
    "another trust tag": (_text(_tag), "ttag"),
}


@acl2
@pytest.mark.long
@pytest.mark.parametrize("way", TAMPERED)
def test_tampered(way: str, books: Books) -> None:
    """ACL2 does not certify the book, and says where it stopped."""
    tamper, where = TAMPERED[way]
    tamper(books.folder, books.books[0])
    result = books.certified()
    assert where in result.flaw.lower()


@acl2
@pytest.mark.long
def test_a_stale_book(books: Books) -> None:
    """A certificate of ACL2 for another text does not count: the book is certified again, and refused."""
    assert not books.certified().flaw
    certificate = books.folder / "statements" / f"{books.books[0].name}.cert"
    assert certificate.exists()
    _text(_domain)(books.folder, books.books[0])
    assert books.certified().flaw
    assert not certificate.exists()


@acl2
@pytest.mark.long
def test_another_title(books: Books) -> None:
    """It is a comment: what is certified, and shown, is the theorem."""
    before = books.certified()
    _text(lambda text: text.replace("2 carry bits against 3 carry bits", "all units are the same"))(
        books.folder, books.books[0]
    )
    after = books.certified()
    assert not after.flaw
    assert after.theorem == before.theorem


@acl2
@pytest.mark.long
def test_no_inhabitant(books: Books) -> None:
    """A false assumption, and no theorem that the domain has an inhabitant: that is what is shown."""
    _text(_assumed)(books.folder, books.books[0])
    _text(lambda text: re.sub(r"\(defthm inhabited\n.*?\n\n", "", text, flags=re.DOTALL))(
        books.folder, books.books[0]
    )
    result = books.certified()
    assert not result.flaw
    assert not result.inhabited


def test_as_data() -> None:
    refused = CertifiedBook("one", "One", "no refutation")
    assert refused.as_json() == {
        "file": "one.json",
        "title": "One",
        "certified": False,
        "flaw": "no refutation",
    }
