"""From a solver's model to a witness: completed, replayed on the evaluator, made short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, substitute
from tcsmt.prove.engine.shorten import shorten
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Distinguished

__all__ = ["Replayed", "narrowed", "replayed", "witness"]


class Replayed(NamedTuple):
    """An input at which a question's goal holds, by the evaluator; and who found it."""

    values: dict[str, int]
    answer: Answer


def replayed(
    question: Question, answer: Answer, replaced: Mapping[Term, Term] | None = None
) -> Replayed | None:
    """Return the input of a solver's model; None where it gives none, or the goal does not hold there.

    replaced: what was put for some inputs, a constant or another input. What neither says is 0.
    """
    if answer.answer != "sat":
        return None
    values = {name: answer.values.get(name, 0) for name in question.formats}
    for variable, put in (replaced or {}).items():
        values[str(variable.data)] = put.value if put.value is not None else values[str(put.data)]
    return Replayed(values, answer) if evaluate([question.goal], values)[0] else None


def narrowed(
    question: Question, tries: Iterable[Mapping[Term, Term]], look: Callable[[Term], Answer]
) -> Replayed | None:
    """An input in the first of some smaller sets in which ``look`` finds one that replays.

    tries: what to put for some inputs. look: a solver's answer to "is there an input at which this is 1?".
    """
    for replaced in tries:
        (goal,) = substitute([question.goal], dict(replaced))
        replay = replayed(question, look(goal), replaced) if goal.value != 0 else None
        if replay is not None:
            return replay
    return None


def witness(question: Question, replay: Replayed, seconds: float) -> Distinguished:
    """Return the verdict, with a short input that is made from the one that was found."""
    short = shorten(question.goal, question.formats, replay.values)
    return Distinguished(
        values=short, solver=replay.answer.solver, version=replay.answer.version, seconds=seconds
    )
