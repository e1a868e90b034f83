"""The formulas that a proof refutes, each with what its variables are: inputs, stages, and maxima."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tcsmt.language.terms import Term, all_of, any_of, flat, operands_first, substitute, variables
from tcsmt.prove.certificates.derivation import (
    Cases,
    Close,
    Equal,
    Fact,
    Proof,
    characterised,
    check,
    cut,
)
from tcsmt.support.errors import InternalError

__all__ = ["Refuted", "refuted_formulas", "steps_of"]


@dataclass(frozen=True)
class Refuted:
    """A formula without a solution. stands_for: of each of its variables that is no input, the node that may
    have any value in its place.
    """

    formula: Term
    stands_for: Mapping[Term, Term]


def refuted_formulas(goal: Term, proof: Proof) -> list[Refuted]:
    """Return the formulas of a proof in the order of its steps: those that :func:`.derivation.check` asks
    for.

    Raises :class:`.InvalidProof` as that does.
    """
    derived: list[Term] = []
    check(goal, proof, derived.append)
    formulas = [refuted for refuted in _refuted(goal, {}, proof) if refuted is not None]
    if [refuted.formula for refuted in formulas] != derived:
        raise InternalError("the formulas of a proof are not those that its check derives")
    return formulas


def steps_of(proof: Proof) -> Iterator[tuple[str, Term]]:
    """Yield what a proof shows on its way, where its goal holds: facts, equalities and cases, in order."""
    for step in proof:
        match step:
            case Fact():
                yield "a fact", step.says
            case Equal():
                yield "an equality", step.node.eq(step.to)
            case Cases():
                yield "one of the cases, or none", any_of(case for case, _ in step.cases)


def _refuted(goal: Term, replaced: dict[Term, Term], proof: Proof) -> Iterator[Refuted | None]:
    replaced = dict(replaced)
    for step in proof:
        match step:
            case Fact():
                yield from _refuted(~step.says, replaced, step.proof)
            case Equal():
                (now,) = substitute([step.node], replaced)
                yield from _refuted(now.ne(step.to), replaced, step.proof)
                replaced |= {old: step.to for old in (step.node, now) if old.value is None}
            case Close():
                yield _closed(goal, replaced, step)
            case Cases():
                for _, part in step.cases:
                    yield from _refuted(goal, replaced, part)
                yield from _refuted(goal, replaced, step.rest)


def _closed(goal: Term, replaced: dict[Term, Term], step: Close) -> Refuted | None:
    """Return the formula of a step, if one is left, and what its free words stand for."""
    whole = all_of([*step.using, *substitute([goal], replaced)])
    formula = cut(whole, step.free)
    if flat(formula).value == 0:
        return None
    plain = set(variables([whole]))
    words = {str(word.data): word for word in variables([formula]) if word not in plain}
    stands_for = {
        words[f"free {number}"]: node for number, node in enumerate(step.free) if f"free {number}" in words
    }
    largest = characterised(formula)
    chosen = {str(word.data): word for word in variables([largest])}
    for number, node in enumerate(node for node in operands_first([formula]) if node.op == "umax"):
        if f"maximum {number}" in chosen:
            (stands_for[chosen[f"maximum {number}"]],) = substitute([node], stands_for)
    return Refuted(largest, stands_for)
