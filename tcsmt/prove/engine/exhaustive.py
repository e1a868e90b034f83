"""Two models compared by running all inputs, where solvers give no answer."""

from __future__ import annotations

from tcsmt.matrix_units.models import Model
from tcsmt.prove.engine.boundary_inputs import search
from tcsmt.prove.engine.engine import Decision, decide, finite_part, question_of_models
from tcsmt.prove.engine.enumeration import Enumeration
from tcsmt.prove.engine.proof_steps import LemmaAnswer, Lemmas, Proving
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Disagreement, Solving
from tcsmt.prove.engine.witnesses import replayed, witness
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Unknown, joined
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.version import __version__


def compare_exhaustively(
    left: tuple[str, Model],
    right: tuple[str, Model],
    domain: Domain,
    solving: Solving,
    lemmas: Lemmas,
    *,
    k: int | None = None,
    lanes: int | None = None,
    kept: Checkpoint | None = None,
    jobs: int = 1,
    seen: ProgressCallback = no_progress,
) -> Decision:
    """Compare two models as :func:`.compare_models` does; every finite input is run (:class:`.Enumeration`).

    Solvers are asked for the inputs with a NaN or an infinity; where they give no answer, those are run, too.
    kept: how far the run has come. jobs: threads. Raises :class:`.TcsmtError` also where inputs are too many.
    """
    if solving.dump is not None or solving.certificates is not None:
        raise TcsmtError("running all inputs leaves no scripts and no certificate")
    question = question_of_models(left, right, domain, k=k, lanes=lanes)
    if question.goal.value is not None:
        return decide(question, solving, lemmas)
    proving, before = Proving(question, solving, lemmas), lemmas.seconds
    finite = question if domain.finite else finite_part(question)
    values = search(finite)
    if values is not None:
        certain = not_none(replayed(question, Answer("sat", "evaluator", __version__, values=values)))
        return Decision(question, witness(question, certain, 0.0))
    try:
        run = _but_for_the_others(proving, finite)
    except Disagreement as why:
        return Decision(question, Unknown(reason=str(why), seconds=lemmas.seconds - before))
    if isinstance(run, Decision):
        return run
    enumeration = Enumeration(run, confirm=solving.confirm)
    answer = enumeration.run(kept, jobs, seen)
    seconds = lemmas.seconds - before + answer.seconds
    replay = replayed(question, answer)
    if replay is not None:
        return Decision(question, witness(question, replay, seconds))
    finite_only = run.inputs is not None and run.inputs.finite
    what = "every finite input" if finite_only else "every input"
    again = "all" if solving.confirm else "a sample"
    how = f"{enumeration.said}: {enumeration.rows:.3g} rows, {again} by NumPy, too"
    proving.proved(what, how, LemmaAnswer(answer))
    steps = tuple(proving.steps)
    return Decision(question, joined([(step.what, step.proof) for step in steps], seconds), steps)


def _but_for_the_others(proving: Proving, finite: Question) -> Question | Decision:
    """Return what is to be run: the finite inputs, where solvers can say that no others differ; or an
    answer.
    """
    question = proving.question
    if finite is question:
        return finite
    others = question.assuming(~finite.domain)
    if others.goal.value == 0:
        return finite
    lemma = proving.lemmas.prove(others.goal, proving.limit)
    if lemma.holds:
        proving.proved("inputs with a NaN or an infinity", "nothing free", lemma)
        return finite
    replay = replayed(question, lemma.answer)
    if replay is not None:
        return Decision(question, witness(question, replay, lemma.answer.seconds))
    return question
