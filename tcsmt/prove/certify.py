"""Writing certificates: for each formula that a proof needs, clauses and their refutation.

The steps of a proof are what the engine has derived; :func:`tcsmt.certificates.derivation.check` says which
formulas they need. What cannot be refuted in time leaves no statement, and the reason is kept.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcsmt import __version__
from tcsmt.certificates.derivation import Flaw, Proof, check
from tcsmt.certificates.encoding import TermWriter, named, written_proof
from tcsmt.certificates.files import FORMAT
from tcsmt.certificates.lemmas import SUFFIXES, Lemma, lemma_of, path_of
from tcsmt.certificates.lrat import check_refutation
from tcsmt.certificates.statement import read_statement, written_statement
from tcsmt.data.model_files import parameters_toml
from tcsmt.models import Model
from tcsmt.prove.refutations import NotRefuted, refutation
from tcsmt.prove.solvers.run import Settings
from tcsmt.statements.certified import Certified
from tcsmt.statements.question import Question
from tcsmt.support.errors import InternalError
from tcsmt.support.files import make_folder, replace_bytes, store_bytes
from tcsmt.terms import Term

__all__ = ["Certificates"]

#: Seconds for the refutation of one lemma.
LIMIT = 60.0


@dataclass
class Certificates:
    """A folder for certificates. limit: seconds for each lemma. done: what was asked for so far."""

    folder: Path
    settings: Settings = field(default_factory=lambda: Settings(timeout=LIMIT))
    done: list[Certified] = field(default_factory=list)
    _names: dict[Term, str] = field(default_factory=dict)

    def add(self, question: Question, proof: Proof) -> Certified:
        """Write the certificate of a proof that no input satisfies the question's goal.

        Raises :class:`.TcsmtError` where a file cannot be written.
        """
        try:
            path, lemmas = self._written(question, proof)
            result = Certified(question.title, path, lemmas)
        except NotRefuted as why:
            result = Certified(question.title, None, why=str(why))
        except Flaw as why:
            result = Certified(question.title, None, why=f"the steps do not fit together: {why}")
        self.done.append(result)
        return result

    def _written(self, question: Question, proof: Proof) -> tuple[Path, int]:
        """The statement is written last, so that none is there without its lemmas."""
        models: dict[str, Model] = {}

        def name_of(model: Model) -> str:
            text = parameters_toml(model).encode()
            name = f"{hashlib.sha256(text).hexdigest()[:16]}.toml"
            if name not in models:
                make_folder(self.folder / "models")
                store_bytes(self.folder / "models" / name, text)
                models[name] = model
            return name

        statement = written_statement(question, name_of)
        if read_statement(json.loads(json.dumps(statement)), models.__getitem__).goal is not question.goal:
            raise InternalError(f"{question.title}: the statement that was written is another one")
        used: dict[str, None] = {}

        def refute(formula: Term) -> None:
            if formula not in self._names:
                self._names[formula] = self._lemma(lemma_of(formula))
            used[self._names[formula]] = None

        check(question.goal, proof, refute)
        terms = TermWriter(named([question.goal]))
        steps = written_proof(proof, terms)
        record = {
            "certificate": FORMAT, "tcsmt": __version__, "statement": statement,
            "terms": terms.taken(), "proof": steps, "lemmas": list(used),
        }  # fmt: skip
        path = self._path(question.title, statement)
        make_folder(path.parent)
        replace_bytes(path, json.dumps(record).encode(), "a certificate")
        return path, len(used)

    def _path(self, title: str, statement: Mapping[str, Any]) -> Path:
        """By the title, and what tells statements of one title apart."""
        words = re.sub(r"[^A-Za-z0-9.-]+", "-", title).strip("-")[:80]
        digest = hashlib.sha256(json.dumps(statement).encode()).hexdigest()[:8]
        return self.folder / "statements" / f"{words}-{digest}.json"

    def _lemma(self, lemma: Lemma) -> str:
        """Write the lemma's files, unless they are there, and return its name."""
        paths = {suffix: path_of(self.folder, lemma.name, suffix) for suffix in SUFFIXES}
        if not all(path.is_file() for path in paths.values()):
            lrat = refutation(lemma.cnf, self.settings)
            check_refutation(lemma.clauses.clauses, lrat.splitlines())
            make_folder(paths["cnf"].parent)
            for suffix, text in (("smt2", lemma.smt2), ("cnf", lemma.cnf), ("lrat", lrat)):
                store_bytes(paths[suffix], lzma.compress(text.encode(), preset=6))
        return lemma.name
