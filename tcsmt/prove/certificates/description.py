"""The description of a certificate in words: its statement, and the proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, InvalidProof, Proof
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.parts import in_file, statement_files
from tcsmt.prove.certificates.stated import Names, Stated, of_models, of_theorem
from tcsmt.prove.certificates.statement import Statement
from tcsmt.prove.certificates.theorems import NONE, Theorem, TheoremStatement, theorem_statement
from tcsmt.support.errors import Malformed
from tcsmt.support.text import counted, one_line, quotation


@dataclass(frozen=True)
class Description:
    """One statement of a certificate: its file, its title, all that it says, and the steps of its proof.

    about: what it was read as.
    """

    path: Path
    title: str
    about: Statement | TheoremStatement
    stated: Stated
    steps: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the description as plain data."""
        return {
            "file": self.path.name,
            "title": self.title,
            **self.stated.as_json(),
            "steps": list(self.steps),
        }

    def __str__(self) -> str:
        return self.text([*self.stated.lines(), *self.stated.table()])

    def text(self, stated: Iterable[str]) -> str:
        """Return the text for people. stated: the lines about what it says."""
        lines = [f"file: {self.path}", *stated, "proof:", *(f"  {step}" for step in self.steps)]
        # names and texts are whatever the author wrote: none of them may look like a line of its own
        title = f"{quotation(self.title)}, in its author's words"
        return "\n".join(map(one_line, [title, *(f"  {line}" for line in lines)]))


def described(folder: Path, theorems: Mapping[str, Theorem] = NONE) -> list[Description]:
    """Return every statement of a certificate; theorems: kinds whose argument is code, as for the checker.

    Raises :class:`.Malformed` for what cannot be read as a certificate.
    """
    descriptions = []
    for path in statement_files(folder):
        record = record_of(path)
        with in_file(path):
            try:
                descriptions.append(_described(path, record, theorems))
            except InvalidProof as why:
                raise Malformed(str(why)) from None
    return descriptions


def _described(path: Path, record: Mapping[str, Any], theorems: Mapping[str, Theorem]) -> Description:
    content = record["statement"]
    title = str(content.get("title"))
    about = theorem_statement(path, record, theorems)
    if about is None:
        statement, proof = opened(path, record)
        names = Names(statement)
        return Description(
            path, title, statement, of_models(statement, names), tuple(_steps(proof, names, ""))
        )
    lemmas, losses = record["lemmas"], content.get("losses")
    count = counted(len(lemmas), "lemma")
    lost = [f"{name}: {loss}" for name, loss in losses.items()] if isinstance(losses, dict) else []
    return Description(path, title, about, of_theorem(about), (f"by {count}, as the file says", *lost))


def _steps(proof: Proof, names: Names, indent: str) -> Iterator[str]:
    deeper = f"{indent}  "
    for step in proof:
        match step:
            case Fact():
                yield f"{indent}fact: {names.of(step.says)}"
                yield from _steps(step.proof, names, deeper)
            case Equal():
                yield f"{indent}{names.of(step.node)} is {names.of(step.to)}"
                yield from _steps(step.proof, names, deeper)
            case Close():
                free = f", with {counted(len(step.free), 'node')} free" if step.free else ""
                used = f", using {counted(len(step.using), 'fact')}" if step.using else ""
                yield f"{indent}refuted{used}{free}"
            case Cases():
                for number, (case, part) in enumerate(step.cases, 1):
                    yield f"{indent}case {number}: {names.of(case)}"
                    yield from _steps(part, names, deeper)
                yield f"{indent}none of these cases:"
                yield from _steps(step.rest, names, deeper)
