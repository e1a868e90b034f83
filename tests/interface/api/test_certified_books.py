"""Certificates checked by ACL2; without it, what is said then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tcsmt
from tcsmt.interface.api import certified_books
from tcsmt.interface.api.certified_books import CertifiedStatement, book_of
from tcsmt.interop.c_reader import c_source
from tcsmt.interop.exports.acl2.certification import Book, CertifiedBook
from tcsmt.interop.implementations import rtl
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.parts import statement_files
from tests.support.certificates import two_products
from tests.support.paths import ROOT

acl2 = pytest.mark.skipif(
    shutil.which("acl2") is None, reason="ACL2 is not installed (Debian: acl2, acl2-books, acl2-books-certs)"
)


def test_without_acl2(certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tcsmt.TcsmtError, match="acl2-books-certs"):
        tcsmt.check_with_acl2(certificates)


def test_what_has_a_book(certificates: Path, tmp_path: Path) -> None:
    """Statements about models, bounds and comparisons; of another kind, the reason is said."""
    committed = ROOT / "results" / "certificates"
    paths = [path for path in statement_files(committed) if "about" in record_of(path)["statement"]]
    kinds = {record_of(path)["statement"]["about"] for path in paths}
    assert kinds == {"bound", "comparison"}
    for path in (*statement_files(certificates), *paths):
        assert getattr(book_of(path), "events", ()), path
    folder = shutil.copytree(committed / "models", tmp_path / "models").parent
    (folder / "statements").mkdir()
    record = record_of(paths[0])
    of_split = {"about": "split", "title": "a split", "split": "markidis"}
    (folder / "statements" / "split.json").write_text(json.dumps({**record, "statement": of_split}))
    result = book_of(folder / "statements" / "split.json")
    assert getattr(result, "flaw", "") == "no book: its argument is code of tcsmt (split)"


def test_what_is_shown_of_a_theorem() -> None:
    """The verdict above the statement, the title as a quotation, units' names beside the theorem's calls."""
    theorem = "(IMPLIES (IF (WORDS-P A0 C) (IN-DOMAIN A0 C) 'NIL) (EQUAL (UNIT.1 A0 C) (SIDE-1 A0 C)))"
    book = CertifiedBook("x", "Volta is Ampere", "", theorem, (":aig-vars",), 2, 30, True, 1.5)
    units = {"unit.1": "volta/mma", "unit.2": "turing/mma"}
    shown = CertifiedStatement("x.json", "Volta is Ampere", "", book, units, "models 1 and 2 are the same")
    assert str(shown).splitlines() == [
        "certified, 1.5 s of the processor",
        "  statement: models 1 and 2 are the same",
        '  "Volta is Ampere", in its author\'s words (x.json)',
        "  theorem:",
        "    (IMPLIES",
        "      (IF (WORDS-P A0 C) (IN-DOMAIN A0 C) 'NIL)",
        "      (EQUAL",
        "        (UNIT.1 A0 C)  ; volta/mma",
        "        (SIDE-1 A0 C)))",
        "  unit.2 is turing/mma",
        "  an inhabitant of the domain: certified",
        "  refutations: 2, 30 lines",
        "  trust tags: :aig-vars",
    ]
    flawed = CertifiedStatement("x.json", "all certified", "no book: a reason")
    assert str(flawed).startswith('NOT CERTIFIED: no book: a reason\n  "all certified", in its author\'s')


def test_what_acl2_does_is_told(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each step, with how many statements are done."""

    @contextmanager
    def certifying(
        books: Path | None, timeout: float, say: Callable[[str], None]
    ) -> Iterator[Callable[[Book], CertifiedBook]]:
        def certified(book: Book) -> CertifiedBook:
            say(f"{book.name} is certified")
            return CertifiedBook(book.name, book.title, "")

        yield certified

    monkeypatch.setattr(certified_books, "certifying", certifying)
    told: list[tuple[int, int, str]] = []
    results = list(certified_books.certified_in(certificates, None, progress=lambda *what: told.append(what)))
    assert [number for number, _, _ in told] == [0, 1, 2, 3]
    assert [what for _, _, what in told] == [f"{Path(one.file).stem} is certified" for one in results]
    assert all(one.says for one in results)


@acl2
@pytest.mark.long
def test_with_acl2(certificates: Path, tmp_path: Path) -> None:
    """The books stay, and refutations are not made again."""
    folder = tmp_path / "books"
    (result,) = tcsmt.check_with_acl2(certificates, books=folder, only="a NaN stays")
    assert (result.flaw, result.title) == ("", "a NaN stays")
    assert result.as_json()["certified"]
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.lrat")}
    (again,) = tcsmt.check_with_acl2(certificates, books=folder, only="a NaN stays")
    assert not again.flaw
    assert times == {path: path.stat().st_mtime_ns for path in folder.rglob("*.lrat")}


@acl2
@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "file", "missing"),
    [("systemverilog", "unit.sv", not rtl.available()), ("c", "unit.h", not c_source.available())],
)
def test_a_file_with_acl2(language: str, file: str, missing: bool, tmp_path: Path) -> None:
    """A unit and its file in another language: what is read of the file is the second function."""
    if missing:
        pytest.skip(f"{'clang' if language == 'c' else 'pyosys (the extra `rtl`)'} is not installed")
    path, proofs = tmp_path / file, tmp_path / "proofs"
    path.write_text(tcsmt.export("volta", language).text, encoding="utf-8")
    options = tcsmt.SolvingOptions(certificate=proofs)
    assert tcsmt.compare("volta", str(path), options=options).equal
    (result,) = tcsmt.check_with_acl2(proofs)
    assert result.flaw == ""
    assert result.book and result.book.inhabited
    first, second = result.units.values()
    assert "volta/mma.m8n8k4.f32.f16.f16.f32" in first
    assert second == "not a row of the catalogue"


def test_units_without_acl2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tcsmt.TcsmtError, match="acl2-books-certs"):
        tcsmt.specified_with_acl2("volta")


def test_a_unit_of_another_shape_is_named_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tcsmt.TcsmtError, match=r"^cdna3/\S+: the specification is of one fused sum"):
        tcsmt.specified_with_acl2("volta", "cdna3")


@acl2
@pytest.mark.long
def test_units_with_acl2(tmp_path: Path) -> None:
    """The books stay, and refutations are not made again."""
    unit, folder = two_products(zero_exponent=-3), tmp_path / "books"
    (result,) = tcsmt.specified_with_acl2(unit, books=folder)
    assert not result.flaw
    assert f"(UNIT.{unit.digest[:8].upper()} A0 A1 B0 B1 C)" in result.book.theorem
    assert result.as_json()["numbers"]["zero"] == -3
    assert "exponent of zeros = -3" in str(result)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.lrat")}
    assert len(times) >= result.book.refutations >= 5
    (again,) = tcsmt.specified_with_acl2(unit, books=folder)
    assert not again.flaw
    assert times == {path: path.stat().st_mtime_ns for path in folder.rglob("*.lrat")}
