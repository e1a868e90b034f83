"""Certificates as files of other languages: a folder for each statement."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import tcsmt
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.parts import statement_files
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import edited, only
from tests.support.paths import ROOT
from tests.support.scripts import ask_bitwuzla


def test_every_lemma_that_a_statement_needs_has_a_script(certificates: Path, tmp_path: Path) -> None:
    """By the names in the certificate's own record."""
    export = tcsmt.export_certificate(certificates)
    assert [one.file for one in export.statements] == [path.name for path in statement_files(certificates)]
    for path, one in zip(statement_files(certificates), export.statements, strict=True):
        assert not one.missing
        lemmas = [text for name, text in one.files.items() if "/lemma-" in name]
        assert len(one.files) == len(lemmas) + 1
        named = {found[1] for text in lemmas if (found := re.search(r"lemmas/(\w+)\.smt2, where", text))}
        assert named == set(record_of(path)["lemmas"])
    export.save(tmp_path)
    written = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.smt2")}
    assert written == {name: text for one in export.statements for name, text in one.files.items()}


@pytest.mark.slow
def test_the_comment_says_all_that_is_stated(certificates: Path) -> None:
    """And what the author calls it is one line of it, whatever it has."""
    checked = {one.path.stem: one for one in tcsmt.check_certificate(certificates)}
    for one in tcsmt.export_certificate(certificates).statements:
        stem = one.file.removesuffix(".json")
        text = one.files[f"{stem}/statement.smt2"]
        assert all(f"\n; {line}".rstrip() + "\n" in text for line in checked[stem].lines())


@pytest.mark.slow
def test_arguments_in_code_have_lemmas_alone(tmp_path: Path) -> None:
    """A bound that is kept: no file of its lemmas is read, and the argument asks for no others."""
    kept = ROOT / "results" / "certificates"
    (path,) = (kept / "statements").glob("single-bf16-on-hopper*.json")
    (tmp_path / "c" / "statements").mkdir(parents=True)
    shutil.copy(path, tmp_path / "c" / "statements")
    shutil.copytree(kept / "models", tmp_path / "c" / "models")
    export = tcsmt.export_certificate(tmp_path / "c")
    (one,) = export.statements
    assert "its argument is code of tcsmt" in one.missing and "the whole statement is missing" in str(export)
    assert len(one.files) == len(record_of(path)["lemmas"])
    shortest = sorted(one.files.values(), key=len)[:2]
    assert {ask_bitwuzla(text) for text in shortest} == {"unsat"}


def test_lean(certificates: Path) -> None:
    export = tcsmt.export_certificate(certificates, "lean")
    assert all(len(one.files) == 1 and not one.missing for one in export.statements)
    for one in export.statements:
        (text,) = one.files.values()
        assert text.startswith("-- NOT RUN: ") and f'-- "{one.title}", in its author\'s words\n' in text


def test_refused(certificates: Path, tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="did you mean smtlib"):
        tcsmt.export_certificate(certificates, "smt")
    with pytest.raises(TcsmtError, match="is not a certificate"):
        tcsmt.export_certificate(tmp_path)
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record["statement"].update(calls=None))
    with pytest.raises(TcsmtError, match="cannot be read"):
        tcsmt.export_certificate(tmp_path / "c")


def test_json(certificates: Path) -> None:
    data = json.loads(json.dumps(tcsmt.export_certificate(certificates).as_json()))
    assert data["language"] == "smtlib" and len(data["statements"]) == 4
    assert all(one["missing"] is None and len(one["files"]) > 1 for one in data["statements"])


def test_books_of_acl2(certificates: Path, tmp_path: Path) -> None:
    """Each statement's book, with the books that it includes, below one folder."""
    export = tcsmt.export_certificate(certificates, "acl2")
    export.save(tmp_path)
    for one in export.statements:
        book = tmp_path / "statements" / one.file.replace(".json", ".lisp")
        included = re.findall(r'\(include-book "([^"]+)"', book.read_text(encoding="utf-8"))
        assert included
        assert all((book.parent / f"{name}.lisp").is_file() for name in included)
    assert (tmp_path / "certify.sh").is_file()
