"""The verdict on a question: a witness that replays, a proof, or the reason for neither.

One driver for all questions, the cheapest way first. Witnesses are looked for where they are likely or short:
among boundary inputs, by evaluation alone; then by solvers with all lanes of one kind, and with few lanes.
Whether two models differ is decided stage by stage (:class:`.StageByStage`); anything else, and what is left
of two models then, is one query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import FALSE, Term, any_of
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.certificates.derivation import Cases, Close, Proof, Step
from tcsmt.prove.engine.boundary_inputs import search
from tcsmt.prove.engine.proof_steps import Lemmas, ProofStep, Proving
from tcsmt.prove.engine.sat_sweeping import Sweeping
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Disagreement, Solving
from tcsmt.prove.engine.stage_by_stage import StageByStage
from tcsmt.prove.engine.witnesses import Replayed, narrowed, replayed, witness
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.question import Question, difference_of_sides
from tcsmt.prove.statements.shared_inputs import shared
from tcsmt.prove.statements.verdict import Certified, Distinguished, Equivalent, Unknown, Verdict, joined
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none
from tcsmt.support.version import __version__

#: What is left has no solution.
_REFUTED = Close()


@dataclass(frozen=True)
class Decision:
    """A question, its verdict, and every step of a proof.

    derived: the proof as a certificate has it, where the verdict is ``Equivalent``. certified: what became
    of its certificate, if there was to be one.
    """

    question: Question
    verdict: Verdict
    steps: tuple[ProofStep, ...] = ()
    derived: Proof = ()
    certified: Certified | None = None

    @property
    def sure(self) -> bool:
        """Return whether it is a proof for which no solver stands alone."""
        return isinstance(self.verdict, Equivalent) and self.verdict.sure


def compare_models(
    left: tuple[str, Model],
    right: tuple[str, Model],
    domain: Domain,
    solving: Solving,
    *,
    k: int | None = None,
    lanes: int | None = None,
    lemmas: Lemmas | None = None,
) -> Decision:
    """Compare two models, given with their names, on a domain: see :func:`question_of_models`.

    With NaNs and infinities in the domain, finite inputs come first: a witness among them says more.
    Raises :class:`.TcsmtError` where the models have no inputs or results in common, and for an empty domain.
    """
    question = question_of_models(left, right, domain, k=k, lanes=lanes)
    if not domain.finite and question.goal.value is None:
        values = search(finite_part(question))
        if values is not None:
            verdict = Distinguished(values=values, solver="evaluator", version=__version__, seconds=0.0)
            return Decision(question, verdict)
    return decide(question, solving, lemmas)


def question_of_models(
    left: tuple[str, Model],
    right: tuple[str, Model],
    domain: Domain,
    *,
    k: int | None = None,
    lanes: int | None = None,
) -> Question:
    """Do two models, by their names, differ on a domain? ``lanes``: only so many products, the others zero.

    k: length of the dot product; None: the shortest one to which both can be chained. An operand that
    they take in two formats is given in the narrower one (:mod:`tcsmt.prove.statements.shared_inputs`).
    Raises :class:`.TcsmtError` where the models have no inputs or results in common.
    """
    inputs = shared(left, right, k, finite=domain.finite)
    trace = inputs.sides[0].trace
    length = len(trace.a)
    if lanes is not None and not 1 <= lanes <= length:
        raise TcsmtError(f"lanes = {lanes}: must be from 1 to k = {length}")
    also = [t.eq(0) for t in (*trace.a[lanes:], *trace.b[lanes:])] if lanes is not None else []
    sides, formats = inputs.sides, inputs.input_formats
    question = difference_of_sides(f"{left[0]} against {right[0]}", sides, formats, domain, also=also)
    more = [inputs.widened] if inputs.widened else []
    more += [f"{lanes} of {length} lanes"] if lanes is not None else []
    return replace(question, domain_text=", ".join([question.domain_text, *more]))


def finite_part(question: Question) -> Question:
    """Return a question of :func:`question_of_models`, for finite inputs only."""
    finite = replace(not_none(question.inputs), finite=True)
    return difference_of_sides(
        question.title, question.sides, question.formats, finite, lanes=(), also=question.also
    )


def finding_of(decision: Decision) -> Finding:
    """Return the decision as a finding, which knows how a witness is shown."""
    return Finding(decision.question, decision.verdict, certified=decision.certified)


def decide(question: Question, solving: Solving, lemmas: Lemmas | None = None) -> Decision:
    """Return the verdict on a question, and how it was reached.

    Raises :class:`.TcsmtError` where the domain holds no input at all.
    """
    lemmas = lemmas or Lemmas(solving)
    if solving.dump is not None:
        solving.dump.asks(question)
    deciding = _Deciding(Proving(question, solving, lemmas), lemmas.seconds, len(lemmas.refused))
    try:
        deciding.refuse_an_empty_domain()
        decision = deciding.run()
        if solving.certificates is not None and decision.derived:
            decision = replace(decision, certified=solving.certificates.add(question, decision.derived))
        return decision
    except Disagreement as why:
        return Decision(question, Unknown(reason=str(why), seconds=deciding.seconds))


@dataclass
class _Deciding:
    """rest: what of the goal is left to ask; reason: why that had no answer."""

    proving: Proving
    before: float
    refused_before: int

    def __post_init__(self) -> None:
        self.rest = self.question.goal
        self.reason = ""
        self.stages = _merging(self.proving) if self.question.about_outputs else None

    @property
    def question(self) -> Question:
        return self.proving.question

    @property
    def seconds(self) -> float:
        return self.proving.lemmas.seconds - self.before

    def refuse_an_empty_domain(self) -> None:
        """Refuse a domain without inputs: nothing differs there, and that says nothing."""
        question = self.question
        # zeros are tried first: most domains hold them, and no solver is needed then
        if question.domain.value == 1 or _zeros_lie_in(question):
            return
        if self.proving.lemmas.prove(question.domain, self.proving.limit).holds:
            raise TcsmtError(f"the domain is empty: no input is {question.domain_text}")

    def run(self) -> Decision:
        if self.rest.value == 0:
            same = "both models are the same graph" if self.question.about_outputs else "no input, simplified"
            self.proving.steps.append(ProofStep(what="result", how=same))
            return self._proved()
        return self._by_cases() if self.question.cases else self._in_turn()

    def _by_cases(self) -> Decision:
        """Decide each case by itself, and last that none of them holds."""
        cases = self.question.cases
        proofs: list[Proof] = []
        # the last case makes them exhaustive, whatever the question's own leave out
        for number, case in enumerate([*cases, ~any_of(cases)], 1):
            proving = replace(self.proving, question=self.question.assuming(case), steps=[], derived=[])
            decision = replace(self, proving=proving).run()
            if not isinstance(decision.verdict, Equivalent):
                return replace(decision, question=self.question)
            self.proving.steps += [replace(s, what=f"case {number}: {s.what}") for s in decision.steps]
            proofs.append(decision.derived)
        return self._proved(Cases(tuple(zip(cases, proofs[:-1], strict=True)), proofs[-1]))

    def _in_turn(self) -> Decision:
        """Try each way in turn, until one finds a witness or leaves nothing to ask."""
        ways = [self._at_boundaries, self._shallow, self._smaller, self._deep, self._whole]
        if self.proving.solving.dump is not None:  # only solvers are asked, with the shortest scripts first
            ways[:3] = [self._smaller, self._shallow]
        for way in ways:
            replay = way()
            if replay is not None:
                return self._witness(replay)
            if self.rest.value == 0:
                return self._proved()
        return self._unknown()

    def _at_boundaries(self) -> Replayed | None:
        values = search(self.question)
        return None if values is None else Replayed(values, Answer("sat", "evaluator", __version__))

    def _smaller(self) -> Replayed | None:
        """Look in sets of inputs that are smaller than the domain."""
        return narrowed(self.question, self._noted(self.question.smaller()), self._look)

    def _shallow(self) -> Replayed | None:
        return self._by_stages(deep=False)

    def _deep(self) -> Replayed | None:
        return self._by_stages(deep=True)

    def _by_stages(self, *, deep: bool) -> Replayed | None:
        """Return what is left to ask once the second model's stages are merged with the first's."""
        if self.stages is None:
            return None
        left, _ = self.question.sides
        # what was merged is equal on the whole domain: this goal holds where the question's does
        self.rest = self.question.domain & left.trace.output.ne(self.stages.run(deep))
        return self.stages.witness

    def _whole(self) -> Replayed | None:
        """Return what is left, in one query."""
        lemma = self.proving.lemmas.prove(self.rest, self.proving.limit)
        if lemma.holds:
            self.proving.proved("result", "nothing free", lemma)
            self.rest = FALSE
        self.reason = lemma.answer.reason or f"{lemma.answer.by} gave a model that does not replay"
        return replayed(self.question, lemma.answer)

    def _noted(self, tries: Iterable[Mapping[Term, Term]]) -> Iterator[Mapping[Term, Term]]:
        """Yield what is put for some inputs, in turn; where scripts are kept, their stages keep their
        names.
        """
        dump = self.proving.solving.dump
        for replaced in tries:
            with dump.where(replaced) if dump is not None else nullcontext():
                yield replaced

    def _look(self, goal: Term) -> Answer:
        return self.proving.lemmas.find_model(goal, self.proving.limit / 4)

    def _unknown(self) -> Decision:
        refused = self.proving.lemmas.refused[self.refused_before :]  # what no other solver confirmed
        why = "; ".join(dict.fromkeys([self.reason, *refused]))
        return Decision(self.question, Unknown(reason=why, seconds=self.seconds), tuple(self.proving.steps))

    def _witness(self, replay: Replayed) -> Decision:
        return Decision(self.question, witness(self.question, replay, self.seconds))

    def _proved(self, last: Step = _REFUTED) -> Decision:
        """Return the proof that the steps are, closed by the last one."""
        steps = self.proving.steps
        if not steps:  # a stranger's graph, put together as the other one is
            steps.append(ProofStep(what="result", how="both models are the same graph"))
        proof = joined([(step.what, step.proof) for step in steps], self.seconds)
        return Decision(self.question, proof, tuple(steps), (*self.proving.derived, last))


def _merging(proving: Proving) -> StageByStage | Sweeping:
    """Return how two graphs are merged: by their stages, or word by word where one is a circuit, which has
    none.
    """
    if any(isinstance(side.model, Circuit) for side in proving.question.sides):
        return Sweeping(proving)
    return StageByStage(proving)


def _zeros_lie_in(question: Question) -> bool:
    """Return whether the simplest input lies in the domain: every word 0, which is a finite number in any
    format.
    """
    return bool(evaluate([question.domain], dict.fromkeys(question.formats, 0))[0])
