"""Lemmas: formulas without a solution, each with its clauses and their refutation in files.

A lemma is known by its clauses (SHA-256 of the DIMACS file). Its variables are called ``x0``, ``x1``, … in
the order in which the formula uses them, so most formulas that differ only in the names of their variables
are one lemma; not all are, as the order of operands may depend on the names. The files, in the folder
``lemmas``, are compressed with xz:

    NAME.smt2   the formula, for any SMT solver
    NAME.cnf    its clauses (:mod:`tcsmt.language.write.cnf`), with the variables' bits in comments
    NAME.lrat   the refutation (:mod:`tcsmt.prove.certificates.lrat`)
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tcsmt.language.terms import Term, operands_first, substitute, var
from tcsmt.language.write.cnf import Cnf, as_clauses
from tcsmt.language.write.smtlib import script
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lrat import check_refutation
from tcsmt.prove.certificates.parts import SUFFIXES, path_of, require_shape
from tcsmt.support.files import read_bytes

#: So many bytes are unpacked of a refutation, and of all lemmas of a folder.
_MOST, _MOST_OF_ALL = 1 << 28, 1 << 32


class Missing(InvalidProof):
    """A certificate has no refutation of a formula."""


@dataclass(frozen=True)
class Lemma:
    """A formula with its clauses, before anybody has refuted them. cnf: the text of the DIMACS file."""

    formula: Term
    clauses: Cnf
    cnf: str

    @property
    def name(self) -> str:
        """Return what its files are called."""
        return hashlib.sha256(self.cnf.encode()).hexdigest()[:32]

    @property
    def smt2(self) -> str:
        """Return the formula as a benchmark for SMT solvers."""
        info = [
            ("smt-lib-version", "2.6"),
            ("source", "|a lemma of a certificate of tcsmt|"),
            ("license", '"https://www.apache.org/licenses/LICENSE-2.0"'),
            ("category", '"crafted"'),
            ("status", "unsat"),
        ]
        return script(self.formula, info=info, values=False)


def lemma_of(formula: Term) -> Lemma:
    """Return the lemma that a formula has no solution, its variables renamed."""
    inputs = [node for node in operands_first([formula]) if node.op == "var"]
    names = {node: var(f"x{number}", node.width) for number, node in enumerate(inputs)}
    (plain,) = substitute([formula], names)
    clauses = as_clauses(plain)
    return Lemma(plain, clauses, clauses.dimacs())


@dataclass
class LemmaFiles:
    """The lemmas of a certificate's folder, each checked once."""

    folder: Path
    _names: dict[Term, str] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)
    _left: int = _MOST_OF_ALL

    def check(self, formula: Term) -> str:
        """Return the name of the lemma that refutes a formula; its files are checked.

        Raises :class:`Missing` for no refutation, :class:`.InvalidProof` for a wrong one, and
        :class:`.TcsmtError` for files that cannot be read as these.
        """
        if formula not in self._names:
            lemma = lemma_of(formula)
            if lemma.name not in self._checked:
                self._check(lemma)
                self._checked.add(lemma.name)
            self._names[formula] = lemma.name
        return self._names[formula]

    def can_be_read(self, names: Iterable[str]) -> None:
        """Raise :class:`.Malformed` where a file of one of these lemmas, which nothing needs, is none."""
        for name in names:
            for suffix in SUFFIXES:
                self._read(path_of(self.folder, name, suffix), suffix)

    def _check(self, lemma: Lemma) -> None:
        path = path_of(self.folder, lemma.name, "lrat")
        if not path.is_file():
            raise Missing(f"{path} is missing")
        for suffix, expected in (("smt2", lemma.smt2), ("cnf", lemma.cnf)):
            of_suffix = path_of(self.folder, lemma.name, suffix)
            if self._read(of_suffix, suffix) != expected.encode():
                raise InvalidProof(f"{of_suffix}: not the formula of the step that needs it")
        lines = io.TextIOWrapper(io.BytesIO(self._read(path, "lrat")), "ascii", "replace")
        try:
            check_refutation(lemma.clauses.clauses, lines)
        except InvalidProof as why:
            raise InvalidProof(f"{path}: {why}") from None

    def _read(self, path: Path, suffix: str) -> bytes:
        content = read_bytes(path, min(_MOST, self._left))
        self._left -= len(content)
        require_shape(path, suffix, content)
        return content
