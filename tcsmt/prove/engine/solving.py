"""Goals put to solvers, one at a time: what their answers prove, and the scripts as they are kept.

A kept script (:class:`Dump`) has a header, and stages under their names. Solvers are asked a shorter text,
without either; its digest, which proofs cite, stands in a comment.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, substitute, variables
from tcsmt.language.write.smtlib import script
from tcsmt.prove.engine.certify import certificates_of
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, Satisfiable
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.files import replace_text
from tcsmt.support.version import __version__


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
        """Say what the scripts from now on are about."""
        where = f"; domain: {question.domain_text}" if question.domain_text else ""
        self.about = f"{question.title}{where}"
        self.labels = stage_labels(question.sides)

    @contextmanager
    def where(
        self, replaced: Mapping[Term, Term], about: str = "", own: Mapping[Term, str] | None = None
    ) -> Iterator[None]:
        """Keep scripts in which something is put for some nodes: the stages keep their names.

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
        digest_line = f"; SHA-256 of the script as tcsmt asks it: {digest(script(goal))}\n"
        replace_text(path, digest_line + script(goal, labels=self.labels, info=info))
        return path


def stage_labels(sides: Sequence[ComparedModel]) -> dict[Term, str]:
    """Return a name for each computed stage of the sides; a stage that both have is the first one's."""
    labels: dict[Term, str] = {}
    for place, side in enumerate(sides):
        name = ("left", "right")[place] if len(sides) == 2 else f"side{place}"
        for number, stage in enumerate(side.trace.stages):
            if stage.term.args:
                labels.setdefault(stage.term, f"{name}.{stage.name.replace(' ', '-')}.{number}")
    return labels


class Disagreement(Exception):
    """A solver has a model where another one says that there is none: nothing is proved."""


class Solving:
    """A door to solvers with one set of options, which keeps scripts and certificates where asked to.

    With ``confirm``, a proof counts only if another solver says the same of each of its scripts, or, of a
    goal in :meth:`proof`, it has a lemma in the certificates. dump: where the scripts go (:class:`.Dump`).
    certificates: where proofs leave theirs; the SAT solver has a minute for each lemma, at least. proved:
    goals without a model, for lemmas that several proofs need. confirming: seconds that solvers have taken
    to confirm others.

    Raises :class:`.TcsmtError` where certificates are wanted and no SAT solver is installed.
    """

    def __init__(self, options: SolvingOptions | None = None) -> None:
        self.options = options or SolvingOptions()
        self.dump = None if self.options.dump_smt is None else Dump(Path(self.options.dump_smt))
        self.certificates = certificates_of(self.options)
        self.proved: dict[Term, Equivalent] = {}
        self.confirming = 0.0

    @property
    def confirm(self) -> bool:
        """Return whether a proof counts only if another solver confirms it."""
        return bool(self.options.confirm)

    @property
    def scripts(self) -> tuple[Path, ...]:
        """Return the files of the scripts, so far."""
        return () if self.dump is None else tuple(self.dump.written)

    def ask(self, goal: Term, timeout: float | None = None, text: str = "") -> Answer:
        """Return the solvers' answer to "is there an input at which the term is 1?"; kept with ``dump``.

        This looks for an input: an ``unsat`` proves nothing until :meth:`proof` or :meth:`checked` has it.
        text: the goal's script, where it is at hand.
        """
        if goal.value is not None:
            return Answer("sat" if goal.value else "unsat", "simplifier")
        text = text or script(goal)
        path = self.dump.write(goal) if self.dump is not None else None
        options = self.options if timeout is None else replace(self.options, timeout=timeout)
        answer = solve(text, options)
        if self.dump is not None and path is not None and answer.answer in ("sat", "unsat"):
            self.dump.write(goal, answer.answer, path)
        return answer

    def verdict_on(self, goal: Term) -> Verdict:
        """Return the verdict on "is there an input at which the term is 1?"."""
        return self.judged(goal, self.ask(goal))

    def judged(self, goal: Term, answer: Answer) -> Verdict:
        """Turn a solver's answer into a verdict: an input counts only if it replays on the evaluator, a proof
        only if :meth:`proof` accepts it. The input is not shortened.
        """
        if answer.answer == "unsat":
            return self.proof("", goal, answer, answer.seconds)
        if answer.answer != "sat":
            return Unknown(reason=answer.reason, seconds=answer.seconds)
        # a variable that the script has not cannot change the goal: any word of it will do
        values = {
            str(variable.data): answer.values.get(str(variable.data), 0) for variable in variables([goal])
        }
        # nothing rests on the solver here: a model that the evaluator does not accept is no input
        if evaluate([goal], values) != [1]:
            reason = f"{answer.by} gave a model that does not replay"
            return Unknown(reason=reason, seconds=answer.seconds)
        return Distinguished(
            values=values, solver=answer.solver, version=answer.version, seconds=answer.seconds
        )

    def proof(self, stage: str, goal: Term, answer: Answer, spent: float) -> Equivalent | Unknown:
        """Return what an ``unsat`` answer to a goal proves; with ``confirm``, nothing if no other solver
        agrees and the goal has no lemma in a certificate.
        """
        try:
            if goal.value is None:
                answer = self._refuted(goal, answer) or self.checked(script(goal), answer)
        except Disagreement as why:
            return Unknown(reason=str(why), seconds=spent)
        if answer.answer != "unsat":
            return Unknown(reason=answer.reason, seconds=spent)
        return proof_of(stage, answer, spent)

    def _refuted(self, goal: Term, answer: Answer) -> Answer | None:
        """Return the answer, confirmed by the goal's lemma in a certificate, whose refutation was checked: it
        rests neither on the solver nor on how that reads the script. None where there is no lemma.

        Raises :class:`Disagreement` where the goal's clauses have a solution.
        """
        if not self.confirm or self.certificates is None or answer.answer != "unsat":
            return None
        try:
            self.certificates.checked_lemma(goal)
        except Satisfiable as why:
            raise Disagreement(f"solvers disagree: {answer.by} answers unsat; {why}") from None
        except NotRefuted:
            return None
        return replace(answer, confirmed="a refutation by CaDiCaL, which was checked")

    def checked(self, text: str, answer: Answer) -> Answer:
        """Return the answer to a script as it counts: with ``confirm``, an ``unsat`` that no other solver
        confirms is unknown, and the reason says what they answered instead.

        Raises :class:`Disagreement` where another one has a model.
        """
        if answer.answer != "unsat":
            return answer
        # an answer is bound to its text: one that went to another script would prove another goal
        if answer.script != digest(text):
            raise ValueError("an answer to another script")
        if not self.confirm:
            return answer
        doubts = []
        for name in SOLVERS:
            if name != answer.solver:
                second = solve(text, replace(self.options, solver=name))
                self.confirming += second.seconds
                if second.answer == "unsat":
                    return replace(answer, confirmed=second.by)
                # both cannot be right: no verdict is safe, whichever of them errs
                if second.answer == "sat":
                    raise Disagreement(f"solvers disagree: {answer.by} answers unsat, {second.by} sat")
                doubts.append(second.reason)
        reason = f"{answer.by} answers unsat; not confirmed: {'; '.join(doubts)}"
        return replace(answer, answer="unknown", reason=reason)


def proof_of(stage: str, answer: Answer, seconds: float) -> Equivalent:
    """Return what an ``unsat`` that counts (:meth:`Solving.checked`) proves at a stage."""
    return Equivalent(
        stage=stage,
        scripts=(answer.script,) if answer.script else (),
        solver=answer.solver,
        version=answer.version,
        seconds=seconds,
        confirmed=answer.confirmed,
    )
