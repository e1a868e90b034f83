"""Questions put to solvers.

A witness is replayed on the evaluator, made short, and only then shown; a proof records what was proved,
where the two graphs were cut, and by which solver.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tcsmt.interpret.smtlib import script
from tcsmt.prove.solvers.answer import Answer, digest
from tcsmt.prove.solvers.run import SOLVERS, Settings, solve
from tcsmt.prove.witnesses import narrowed, replayed, witness
from tcsmt.statements.question import Question
from tcsmt.statements.verdict import Equivalent, Unknown, Verdict, joined
from tcsmt.support.errors import TcsmtError
from tcsmt.terms import Term, any_of, substitute, var

__all__ = ["Disagreement", "Solving", "proof_of"]


class Disagreement(Exception):
    """A solver has a model where another one says that there is none: nothing is proved."""


class Solving:
    """Puts questions to solvers with one set of settings; keeps the scripts where asked to.

    confirm: a proof counts only if another solver says the same of each of its scripts. dump: file for the
    scripts (the second and later ones get a number before the suffix). proved: goals without a model, for
    lemmas that several proofs need. confirming: seconds that solvers have taken to confirm others.
    """

    def __init__(
        self, settings: Settings | None = None, *, confirm: bool = False, dump: Path | None = None
    ) -> None:
        self.settings = settings or Settings()
        self.confirm = confirm
        self.dump = dump
        self.proved: dict[Term, Equivalent] = {}
        self.confirming = 0.0
        self._dumped = itertools.count(1)

    def verdict(self, question: Question) -> Verdict:
        """The verdict: a replayed, shortened witness, a proof, or the reason for neither."""
        if question.goal.value == 0:
            return Equivalent(stage="whole graph", scripts=(), solver="", version="", seconds=0.0)
        spent = [0.0]
        found = self._narrow(question, question.special(), spent)
        if found is not None:
            return found
        if question.cases:
            return self._by_cases(question, spent[0])
        for stage, differ in _cuts(question):
            answer = self._ask(question.domain & differ, spent)
            if answer.answer == "unsat":
                return self.proof(stage, question.domain & differ, answer, spent[0])
            model = replayed(question, answer)
            if model is not None:
                return witness(question, model, spent[0])
        found = self._narrow(question, question.fewer_lanes(), spent)
        if found is not None:
            return found
        answer = self._ask(question.goal, spent)
        model = replayed(question, answer)
        if model is not None:
            return witness(question, model, spent[0])
        match answer.answer:
            case "sat":
                return Unknown(reason=f"{answer.by} gave a model that does not replay", seconds=spent[0])
            case "unsat":
                return self.proof("", question.goal, answer, spent[0])
            case _:
                return Unknown(reason=answer.reason, seconds=spent[0])

    def ask(self, goal: Term, timeout: float | None = None) -> Answer:
        """The solvers' answer to "is there an input at which the term is 1?"; kept with ``dump``.

        This looks for an input: an ``unsat`` proves nothing until :meth:`proof` or :meth:`checked` has it.
        """
        return self._ask(goal, [0.0], timeout)

    def _narrow(
        self, question: Question, tries: Iterator[dict[Term, Term]], spent: list[float]
    ) -> Verdict | None:
        """A witness in one of some smaller sets of inputs, each with half of the time."""
        found = narrowed(question, tries, lambda goal: self._ask(goal, spent, self.settings.timeout / 2))
        return None if found is None else witness(question, found, spent[0])

    def _by_cases(self, question: Question, spent: float) -> Verdict:
        parts: list[Equivalent] = []
        for case in [*question.cases, ~any_of(question.cases)]:
            part = self.verdict(question.assuming(case))
            spent += part.seconds
            if not isinstance(part, Equivalent):
                return replace(part, seconds=spent)
            parts.append(part)
        return joined([(f"case {n}: {p.stage or 'result'}", p) for n, p in enumerate(parts, 1)], spent)

    def _ask(self, goal: Term, spent: list[float], timeout: float | None = None) -> Answer:
        if goal.value is not None:
            return Answer("sat" if goal.value else "unsat", "simplifier")
        text = script(goal)
        if self.dump is not None:
            number = next(self._dumped)
            stem = self.dump.stem if number == 1 else f"{self.dump.stem}-{number}"
            try:
                self.dump.with_name(stem + self.dump.suffix).write_text(text)
            except OSError as error:
                raise TcsmtError(f"cannot write {self.dump}: {error.strerror}") from None
        settings = self.settings if timeout is None else replace(self.settings, timeout=timeout)
        answer = solve(text, settings)
        spent[0] += answer.seconds
        return answer

    def proof(self, stage: str, goal: Term, answer: Answer, spent: float) -> Equivalent | Unknown:
        """What an ``unsat`` answer to a goal proves; with ``confirm``, nothing if no other solver agrees."""
        text = script(goal) if goal.value is None else ""
        try:
            answer = self.checked(text, answer) if text else answer
        except Disagreement as why:
            return Unknown(reason=str(why), seconds=spent)
        if answer.answer != "unsat":
            return Unknown(reason=answer.reason, seconds=spent)
        return proof_of(stage, answer, spent)

    def checked(self, text: str, answer: Answer) -> Answer:
        """The answer to a script as it counts: with ``confirm``, an ``unsat`` that no other solver confirms
        is unknown, and the reason says what they answered instead.

        Raises :class:`Disagreement` where another one has a model.
        """
        if answer.answer != "unsat":
            return answer
        if answer.script != digest(text):
            raise ValueError("an answer to another script")
        if not self.confirm:
            return answer
        doubts = []
        for name in SOLVERS:
            if name != answer.solver:
                second = solve(text, replace(self.settings, solver=name))
                self.confirming += second.seconds
                if second.answer == "unsat":
                    return replace(answer, confirmed=second.by)
                if second.answer == "sat":
                    raise Disagreement(f"solvers disagree: {answer.by} answers unsat, {second.by} sat")
                doubts.append(second.reason)
        reason = f"{answer.by} answers unsat; not confirmed: {'; '.join(doubts)}"
        return replace(answer, answer="unknown", reason=reason)


def proof_of(stage: str, answer: Answer, seconds: float) -> Equivalent:
    """What an ``unsat`` that counts (:meth:`Solving.checked`) proves at a stage."""
    return Equivalent(
        stage=stage, scripts=(answer.script,) if answer.script else (), solver=answer.solver,
        version=answer.version, seconds=seconds, confirmed=answer.confirmed,
    )  # fmt: skip


def _cuts(question: Question) -> Iterator[tuple[str, Term]]:
    """Stages at which it is enough to compare two models, the latest first, and "they differ" there.

    Enough means: with the stage's value replaced by one free variable on both sides, what follows
    is the same graph on both sides. The check is by construction, not by trust.
    """
    if len(question.sides) != 2:
        return
    left, right = (side.trace for side in question.sides)
    there = {stage.place: stage.term for stage in right.stages}
    for stage in reversed(left.stages):
        one, two = stage.term, there.get(stage.place)
        if two is None or one is two or one is left.output or one.width != two.width:
            continue
        cut = var(f"cut {stage.name}", one.width)
        if substitute([left.output], {one: cut})[0] is substitute([right.output], {two: cut})[0]:
            yield stage.name, one.ne(two)
