"""``tcsmt certificate specified``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tcsmt.interface.api import certified_books
from tcsmt.interop.exports.acl2.certification import CertifiedBook
from tcsmt.interop.exports.acl2.specification import SpecificationBook
from tests.support.command_line import done, refused

#: What certifies a book.
Certified = Callable[[SpecificationBook], CertifiedBook]


def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit that is not known, one of another shape, no unit, and no prover."""
    assert "did you mean" in refused("certificate", "specified", "volt")
    message = refused("certificate", "specified", "volta", "hopper/mma.m16n8k8.f32.tf32.tf32.f32")
    assert "hopper/mma.m16n8k8.f32.tf32.tf32.f32: the specification has no format like tf32" in message
    assert "UNITS" in refused("certificate", "specified")
    monkeypatch.setenv("PATH", str(tmp_path))
    message = refused("certificate", "specified", "volta")
    assert "on Debian it is in the packages acl2, acl2-books and acl2-books-certs" in message


def test_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a prover in the place of ACL2, which takes Volta's unit alone."""

    folders = []

    @contextmanager
    def certifying(
        books: Path | None, timeout: float
    ) -> Iterator[Callable[[SpecificationBook], CertifiedBook]]:
        folders.append(books)

        def certified(book: SpecificationBook) -> CertifiedBook:
            flaw = "" if "23 3 -131 23 :rtz" in book.text else "defthm some-lemma: not proved"
            return CertifiedBook(book.name, book.title, flaw, "(EQUAL A B)", (":a",), 2, 30, False, 1.5)

        yield certified

    monkeypatch.setattr(certified_books, "certifying", certifying)
    text = done("certificate", "specified", "volta", "--books", tmp_path / "books")
    assert text.splitlines() == [
        "volta/mma.m8n8k4.f32.f16.f16.f32: certified as the specification, 1.5 s of the processor",
        "  numbers: F = 23, carry bits = 3, exponent of zeros = -131, fraction bits of the result = 23, RTZ, "
        "NaN = 0x7fffffff",
        "  theorem: (EQUAL A B)",
        "  refutations: 2, 30 lines",
        "  trust tags: :a",
        "all certified by acl2: 1 unit",
    ]
    assert folders == [tmp_path / "books"]
    text = done("certificate", "specified", "volta", "hopper/mma.m16n8k16.f32.f16.f16.f32", code=1)
    assert "hopper/mma.m16n8k16.f32.f16.f16.f32: NOT CERTIFIED: defthm some-lemma: not proved" in text
    assert text.splitlines()[-1] == "1 of 2 units NOT CERTIFIED by acl2"
    data = json.loads(done("certificate", "specified", "volta", "--json"))
    assert data["certified"] and data["units"][0]["numbers"]["fraction_bits"] == 23
