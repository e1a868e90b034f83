"""The page at the end of a check."""

from __future__ import annotations

from pathlib import Path

from tcsmt.analysis.certified import THEOREMS
from tcsmt.interface.api.certificate_summary import summary_of_books, summary_of_checks
from tcsmt.interface.api.certificates import CheckedStatement
from tcsmt.interface.api.certified_books import CertifiedStatement
from tcsmt.interop.exports.acl2.certification import CertifiedBook
from tcsmt.prove.certificates.theorems import TheoremStatement


def test_statements_that_are_not_proved_are_named_by_their_files() -> None:
    about = TheoremStatement(THEOREMS["bound"], {"about": "bound"}, {})
    done = [CheckedStatement(Path(f"{i}.json"), "all is well", about, "no lemma") for i in range(12)]
    lines = list(summary_of_checks(done))
    assert lines[0] == "summary: 12 statements (about: bound: 12)"
    assert lines[1] == f"NOT PROVED: {', '.join(f'{i}.json' for i in range(10))} and 2 more"
    assert not any("all is well" in line for line in lines)
    assert len(lines) < 50


def test_trust_tags_of_all_books() -> None:
    books = [
        CertifiedBook("a", "", "", "T", tags) for tags in ((":aig-vars",), (":fast-cons-memo", ":aig-vars"))
    ]
    done = [CertifiedStatement("a.json", "", "", book) for book in books]
    lines = list(summary_of_books([*done, CertifiedStatement("b.json", "", "no book")]))
    assert lines[0] == "summary: 3 statements (2 certified)"
    assert lines[1] == "NOT CERTIFIED: b.json"
    assert "trust tags :aig-vars, :fast-cons-memo;" in lines[2]
    assert "specification.lisp" in lines[3]
