"""Scripts as they are kept for people and other solvers: with a header, and stages under their names.

Solvers are asked a shorter text, without either; its digest, which proofs cite, stands in a comment.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tcsmt.language.terms import Term, substitute
from tcsmt.language.write.smtlib import script
from tcsmt.prove.engine.solvers.answer import digest
from tcsmt.prove.statements.question import Question, Side
from tcsmt.support.files import replace_text
from tcsmt.support.version import __version__

__all__ = ["Dump", "stage_labels"]


class Dump:
    """A file for scripts; the second and later ones get a number before the suffix.

    about: what is asked, for the header. labels: names of the stages that a script may have.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about = ""
        self.labels: Mapping[Term, str] = {}
        self.written: list[Path] = []
        self._numbers = itertools.count(1)

    def asks(self, question: Question) -> None:
        """What the scripts from now on are about."""
        where = f"; domain: {question.domain_text}" if question.domain_text else ""
        self.about = f"{question.title}{where}"
        self.labels = stage_labels(question.sides)

    @contextmanager
    def where(
        self, replaced: Mapping[Term, Term], about: str = "", own: Mapping[Term, str] | None = None
    ) -> Iterator[None]:
        """Scripts in which something is put for some nodes: the stages keep their names.

        about: what is asked besides. own: further names, of nodes of the scripts.
        """
        before = self.about, self.labels
        terms = substitute(list(self.labels), dict(replaced)) if replaced else self.labels
        labels = dict(own or {})
        for term, name in zip(terms, self.labels.values(), strict=True):
            if term.args:
                labels.setdefault(term, name)
        self.about, self.labels = before[0] + about, labels
        try:
            yield
        finally:
            self.about, self.labels = before

    def write(self, goal: Term, answer: str = "unknown", path: Path | None = None) -> Path:
        """Write a goal's script, and return its path; path: in place of that one.

        Raises :class:`.TcsmtError`.
        """
        if path is None:
            number = next(self._numbers)
            stem = self.path.stem if number == 1 else f"{self.path.stem}-{number}"
            path = self.path.with_name(stem + self.path.suffix)
            self.written.append(path)
        source = f"tcsmt {__version__}; {self.about}" if self.about else f"tcsmt {__version__}"
        info = [
            ("smt-lib-version", "2.6"),
            ("source", f"|{source.translate({ord('|'): '/', ord(chr(92)): '/'})}|"),
            ("license", '"https://www.apache.org/licenses/LICENSE-2.0"'),
            ("category", '"crafted"'),
            ("status", answer),
        ]
        asked = f"; SHA-256 of the script as tcsmt asks it: {digest(script(goal))}\n"
        replace_text(path, asked + script(goal, labels=self.labels, info=info))
        return path


def stage_labels(sides: Sequence[Side]) -> dict[Term, str]:
    """A name for each stage of the sides that is computed; a stage that both have is the first one's."""
    labels: dict[Term, str] = {}
    for place, side in enumerate(sides):
        name = ("left", "right")[place] if len(sides) == 2 else f"side{place}"
        for number, stage in enumerate(side.trace.stages):
            if stage.term.args:
                labels.setdefault(stage.term, f"{name}.{stage.name.replace(' ', '-')}.{number}")
    return labels
