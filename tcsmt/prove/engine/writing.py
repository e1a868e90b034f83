"""Statements, terms and proofs written as plain data, which :mod:`tcsmt.prove.certificates` reads again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from tcsmt.language.terms import Term, operands_first, variables
from tcsmt.matrix_units.models import Model
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, Proof, Step
from tcsmt.prove.certificates.encoding import digest_text
from tcsmt.prove.statements.question import Question

__all__ = ["TermWriter", "named", "written_proof", "written_statement"]


def written_statement(question: Question, name_of: Callable[[Model], str]) -> dict[str, Any]:
    """Return the statement that a question has the answer no; ``name_of``: what a model's file is called."""
    calls = [call for side in question.sides for call in side.trace.calls]
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
    inputs: dict[str, str | int] = {name: fmt.name for name, fmt in question.formats.items()}
    plain = (variable for variable in variables([question.goal]) if str(variable.data) not in inputs)
    record: dict[str, Any] = {
        "title": question.title,
        "inputs": inputs | {str(variable.data): variable.width for variable in plain},
        "calls": written,
    }
    by_calls = all(side.trace.output is side.trace.calls[-1].output for side in question.sides)
    if question.inputs is not None and question.about_outputs and by_calls:
        first = len(question.sides[0].trace.calls)
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
        """Where the term stands in the table; it is added if it is new."""
        for node in self._missing(term):
            entry = self._known.get(node)
            if entry is None:
                data = f"{node.data:x}" if node.op == "const" else node.data
                entry = [node.op, node.width, data, [self._places[arg] for arg in node.args]]
            self._places[node] = len(self._places)
            self._entries.append(entry)
        return self._places[term]

    def taken(self) -> list[list[Any]]:
        """The entries since they were last taken."""
        entries, self._entries = self._entries, []
        return entries

    def places(self, terms: Iterable[Term]) -> list[int]:
        """Where each of the terms stands."""
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
