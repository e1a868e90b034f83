"""Writing certificates: statements, terms and proofs as plain data, and a refutation of each formula needed.

The steps of a proof are what the engine has derived; :func:`tcsmt.prove.certificates.derivation.check` says
which formulas they need. What cannot be refuted in time leaves no statement, and the reason is kept.
What is written here :mod:`tcsmt.prove.certificates` reads again."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tcsmt.language.terms import Term, operands_first, var, variables
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Call, Terms
from tcsmt.matrix_units.models.file_texts import has_file, parameters_toml
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, InvalidProof, Proof, Step, check
from tcsmt.prove.certificates.encoding import digest_text
from tcsmt.prove.certificates.files import FORMAT, model_name
from tcsmt.prove.certificates.lemma_files import Lemma, LemmaFiles, lemma_of
from tcsmt.prove.certificates.lrat import check_refutation
from tcsmt.prove.certificates.parts import SUFFIXES, path_of
from tcsmt.prove.certificates.statement import read_statement
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, available, refutation, strict
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support import extras
from tcsmt.support.errors import InternalError, Malformed, TcsmtError, TooLarge
from tcsmt.support.files import make_folder, replace_bytes, store_bytes
from tcsmt.support.version import __version__


@runtime_checkable
class OfUnits(Protocol):
    """A program, which applies units to terms."""

    def unit_calls(self, operands: Terms) -> Sequence[Call]:
        """Return the calls of its units."""


@runtime_checkable
class InFile(Protocol):
    """A program that a text says."""

    def in_file(self, name_of: Callable[[Model], str]) -> str:
        """Return the text; name_of: what the file of a unit's model is called."""


def calls_of(side: ComparedModel) -> list[Call]:
    """Return the calls of models that files can hold, from which, and from terms, a side's output is made."""
    calls: list[Call] = []
    for call in side.trace.calls:
        model: object = call.model
        if isinstance(model, OfUnits) and not has_file(call.model):
            calls += model.unit_calls(call.operands)
        else:
            calls.append(call)
    return calls


def written_statement(question: Question, name_of: Callable[[Model], str]) -> dict[str, Any]:
    """Return the statement that a question has the answer no; ``name_of``: what a model's file is called."""
    calls_by_side = [calls_of(side) for side in question.sides]
    calls = [call for own in calls_by_side for call in own]
    entries: dict[Term, list[Any]] = {}
    terms = TermWriter(entries)
    written = []
    for number, call in enumerate(calls):
        operands = {
            name: terms.place(part) if name == "c" else terms.places(part)
            for name, part in call.operands.named.items()
        }
        written.append({"model": name_of(call.model), **operands, "terms": terms.taken()})
        if call.output.args:
            entries.setdefault(call.output, ["output", number])
    # a format is stated where a model takes the word in it: others are what the goal's terms make of them
    taken = {
        (word, fmt)
        for call in calls
        for word, fmt in zip(call.operands.flat(), call.model.input_formats.values(), strict=True)
    }
    formats = {
        name: fmt.name for name, fmt in question.formats.items() if (var(name, fmt.width), fmt) in taken
    }
    plain = (variable for variable in variables([question.goal]) if str(variable.data) not in formats)
    record: dict[str, Any] = {
        "title": question.title,
        "inputs": formats | {str(variable.data): variable.width for variable in plain},
        "calls": written,
    }
    pairs = zip(question.sides, calls_by_side, strict=True)
    by_calls = all(own and own[-1].output is side.trace.output for side, own in pairs)
    stated = by_calls and formats.keys() == question.formats.keys()
    if question.inputs is not None and question.about_outputs and stated:
        first = len(calls_by_side[0])
        record |= {
            "domain": asdict(question.inputs),
            "also": terms.places(question.also),
            "differ": [first - 1, len(calls) - 1],
        }
    else:
        record["goal"] = terms.place(question.goal)
    return {**record, "terms": terms.taken()}


class TermWriter:
    """A table of terms that grows. known: terms that are named and not written out, and their names."""

    def __init__(self, entries: Mapping[Term, list[Any]]) -> None:
        self._entries: list[list[Any]] = []
        self._known = entries
        self._places: dict[Term, int] = {}

    def place(self, term: Term) -> int:
        """Return where the term stands in the table; it is added if it is new."""
        for node in self._missing(term):
            entry = self._known.get(node)
            if entry is None:
                data = f"{node.data:x}" if node.op == "const" else node.data
                entry = [node.op, node.width, data, [self._places[arg] for arg in node.args]]
            self._places[node] = len(self._places)
            self._entries.append(entry)
        return self._places[term]

    def taken(self) -> list[list[Any]]:
        """Return the entries since they were last taken."""
        entries, self._entries = self._entries, []
        return entries

    def places(self, terms: Iterable[Term]) -> list[int]:
        """Return where each of the terms stands."""
        return [self.place(term) for term in terms]

    def _missing(self, term: Term) -> list[Term]:
        """Return what has to be written for a term, arguments first."""
        order: list[Term] = []
        seen = set(self._places)
        stack = [(term, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                if node not in self._known:
                    stack += [(arg, False) for arg in node.args]
        return order


def named(roots: Iterable[Term]) -> dict[Term, list[Any]]:
    """Return the nodes of graphs that a reader has already, by their digests."""
    return {node: ["node", digest_text(node)] for node in operands_first(roots) if node.args}


def written_proof(proof: Proof, terms: TermWriter) -> list[dict[str, Any]]:
    """Return the steps as plain data."""
    return [_written(step, terms) for step in proof]


def _written(step: Step, terms: TermWriter) -> dict[str, Any]:
    match step:
        case Fact():
            return {"fact": terms.place(step.says), "proof": written_proof(step.proof, terms)}
        case Equal():
            node, to = terms.places([step.node, step.to])
            return {"replace": node, "by": to, "proof": written_proof(step.proof, terms)}
        case Close():
            return {"using": terms.places(step.using), "free": terms.places(step.free)}
        case Cases():
            cases = [
                {"case": terms.place(case), "proof": written_proof(proof, terms)}
                for case, proof in step.cases
            ]
            return {"cases": cases, "otherwise": written_proof(step.rest, terms)}


#: Seconds for the refutation of one lemma.
LIMIT = 60.0
#: A file of more bytes is compressed in a tenth of the time, to a third more.
_LARGE = 4 << 20


@dataclass
class Certificates:
    """A folder for certificates. options: of the SAT solver. done: what was asked for so far."""

    folder: Path
    options: SolvingOptions = field(default_factory=lambda: SolvingOptions(timeout=LIMIT))
    done: list[Certified] = field(default_factory=list)
    _lemmas: dict[Term, str] = field(default_factory=dict)
    _refused: dict[Term, NotRefuted] = field(default_factory=dict)
    _models: dict[str, Model] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)

    def add(self, question: Question, proof: Proof) -> Certified:
        """Write the certificate of a proof that no input satisfies the question's goal.

        Raises :class:`.TcsmtError` where a file cannot be written.
        """
        for model in (call.model for side in question.sides for call in calls_of(side)):
            if not has_file(model):
                return self.failed(question.title, f"{model.title} has no file of its own")
        statement = written_statement(question, self.model) | self._programs(question)
        try:
            again = read_statement(json.loads(json.dumps(statement)), self._models.__getitem__)
        except Malformed as why:
            return self.failed(question.title, str(why))
        if again.goal is not question.goal:
            raise InternalError(f"{question.title}: the statement that was written is another one")
        used: dict[str, None] = {}

        def refute(formula: Term) -> None:
            used[self.lemma(formula)] = None

        try:
            check(question.goal, proof, refute)
        except NotRefuted as why:
            return self.failed(question.title, str(why))
        except InvalidProof as why:
            return self.failed(question.title, f"the steps do not fit together: {why}")
        terms = TermWriter(named([question.goal]))
        steps = written_proof(proof, terms)
        return self.keep({"statement": statement, "terms": terms.taken(), "proof": steps}, list(used))

    def model(self, model: Model) -> str:
        """Write a model's file and return its name."""
        name = self._store("models", parameters_toml(model))
        self._models[name] = model
        return name

    def _programs(self, question: Question) -> dict[str, Any]:
        """Return what the statement says of programs in files, whose texts are written; else nothing."""
        models = [side.model for side in question.sides]
        texts = [model.in_file(self.model) if isinstance(model, InFile) else None for model in models]
        domain, whole = question.inputs, question.about_outputs and not question.also
        known = all(text or has_file(model) for text, model in zip(texts, models, strict=True))
        if domain is None or not (any(texts) and known and whole):
            return {}
        sides: list[dict[str, Any]] = []
        for text, model in zip(texts, models, strict=True):
            program = {} if text is None else {"program": self._store("programs", text), "k": model.k}
            sides.append(program or {"model": self.model(model)})
        length = len(question.sides[0].trace.a)
        return {"programs": {"sides": sides, "domain": asdict(domain), "k": length}}

    def _store(self, folder: str, text: str) -> str:
        """Write a file that is named after its content, unless it is there; return the name."""
        content = text.encode()
        name = model_name(content)
        if name not in self._models:
            make_folder(self.folder / folder)
            store_bytes(self.folder / folder / name, content)
        return name

    def lemma(self, formula: Term) -> str:
        """Write the files of the lemma that a formula has no solution, unless they are there; its name.

        Raises :class:`.NotRefuted` where the SAT solver finds no refutation; it is not asked a second time.
        """
        if formula in self._refused:
            raise self._refused[formula]
        if formula not in self._lemmas:
            try:
                lemma = lemma_of(formula)
            except TooLarge as why:
                raise NotRefuted(str(why)) from None
            paths = {suffix: path_of(self.folder, lemma.name, suffix) for suffix in SUFFIXES}
            if not all(path.is_file() for path in paths.values()):
                try:
                    lrat = self._refuted(lemma)
                except NotRefuted as why:
                    self._refused[formula] = why
                    raise
                make_folder(paths["cnf"].parent)
                for suffix, text in (("smt2", lemma.smt2), ("cnf", lemma.cnf), ("lrat", lrat)):
                    store_bytes(paths[suffix], _packed(text.encode()))
                self._checked.add(lemma.name)
            self._lemmas[formula] = lemma.name
        return self._lemmas[formula]

    def checked_lemma(self, formula: Term) -> str:
        """Return the lemma's name as :meth:`lemma` does; files that were there before are checked.

        Raises :class:`.NotRefuted` for files that do not refute the formula, too.
        """
        name = self.lemma(formula)
        if name not in self._checked:
            try:
                LemmaFiles(self.folder).check(formula)
            except (InvalidProof, TcsmtError) as why:
                raise NotRefuted(str(why)) from None
            self._checked.add(name)
        return name

    def _refuted(self, lemma: Lemma) -> str:
        """Return a refutation of the lemma's clauses that is right."""
        lrat, clauses = refutation(lemma.cnf, self.options), lemma.clauses.clauses
        try:
            check_refutation(clauses, lrat.splitlines())
        except InvalidProof:  # a hint too many, as a rule
            lrat = strict(lrat, clauses)
            check_refutation(clauses, lrat.splitlines())
        return lrat

    def keep(self, record: Mapping[str, Any], lemmas: Sequence[str]) -> Certified:
        """Write a statement's file: last, so that no statement is there without its models and lemmas."""
        statement = record["statement"]
        title = statement["title"]
        words = re.sub(r"[^A-Za-z0-9.-]+", "-", title).strip(".-")[:80] or "statement"
        digest = hashlib.sha256(json.dumps(statement).encode()).hexdigest()[:8]
        path = self.folder / "statements" / f"{words}-{digest}.json"
        make_folder(path.parent)
        content = {"certificate": FORMAT, "tcsmt": __version__, **record, "lemmas": list(lemmas)}
        replace_bytes(path, json.dumps(content).encode(), "a certificate")
        return self._noted(Certified(title, path, len(lemmas)))

    def failed(self, title: str, why: str) -> Certified:
        """Note that a proof has no certificate."""
        return self._noted(Certified(title, None, why=why))

    def _noted(self, result: Certified) -> Certified:
        self.done.append(result)
        return result


def require_sat_solver(options: SolvingOptions) -> None:
    """Raise :class:`.TcsmtError` where certificates are wanted and no SAT solver is installed."""
    if options.certificates is not None and not available():
        raise TcsmtError(f"certificates need a SAT solver: {extras.install('certificates')}")


def certificates_of(options: SolvingOptions) -> Certificates | None:
    """Return the folder that the options name, if any; each lemma has :data:`LIMIT` seconds, or a query's if
    more.

    Raises :class:`.TcsmtError` as :func:`require_sat_solver`.
    """
    require_sat_solver(options)
    if options.certificates is None:
        return None
    return Certificates(options.certificates, replace(options, timeout=max(LIMIT, options.timeout)))


def _packed(text: bytes) -> bytes:
    return lzma.compress(text, preset=1 if len(text) > _LARGE else 6)
