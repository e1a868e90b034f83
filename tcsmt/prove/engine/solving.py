"""Goals put to solvers, one at a time, and what their answers prove."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, variables
from tcsmt.language.write.smtlib import script
from tcsmt.prove.engine.certify import certificates_of
from tcsmt.prove.engine.dumping import Dump
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted, Satisfiable
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict

__all__ = ["Disagreement", "Solving", "proof_of"]


class Disagreement(Exception):
    """A solver has a model where another one says that there is none: nothing is proved."""


class Solving:
    """Puts goals to solvers with one set of options; keeps the scripts and certificates where asked to.

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
        """The solvers' answer to "is there an input at which the term is 1?"; kept with ``dump``.

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

    def settled(self, goal: Term) -> Verdict:
        """The verdict on "is there an input at which the term is 1?"."""
        return self.judged(goal, self.ask(goal))

    def judged(self, goal: Term, answer: Answer) -> Verdict:
        """Turn a solver's answer into a verdict: an input counts only if it replays on the evaluator, a proof
        only if :meth:`proof` accepts it. The input is not shortened.
        """
        if answer.answer == "unsat":
            return self.proof("", goal, answer, answer.seconds)
        if answer.answer != "sat":
            return Unknown(reason=answer.reason, seconds=answer.seconds)
        values = {
            str(variable.data): answer.values.get(str(variable.data), 0) for variable in variables([goal])
        }
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
