"""Facts about a graph, deduced one from the other by lemmas that solvers decide.

A fact is a term of one bit that is 1 for all inputs that satisfy the hypotheses, and whatever a processor's
instruction gives where that is left open (:mod:`tcsmt.matrix_units.arithmetic.native`). Every rule looks at
what it needs, and raises :class:`NotDeduced` if that is no fact: what is wrong here costs a proof, and cannot
make one. The lemmas are goals that must have no solution; the facts hold if all of them have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tcsmt.language.terms import Term, all_of, any_of, operands_first, substitute, total, umax, var
from tcsmt.matrix_units.arithmetic.native import unspecified

__all__ = ["Deduction", "Implication", "NotDeduced", "Obligation"]

#: The operations of which a node with more arguments is that of two, one after the other.
_JOINING: Mapping[str, Callable[..., Term]] = {"add": total, "umax": umax}


class NotDeduced(Exception):
    """Why a rule does not apply."""


@dataclass(frozen=True)
class Obligation:
    """A goal that must have no solution, and what it stands for."""

    what: str
    goal: Term


@dataclass(frozen=True)
class Implication:
    """What was deduced from hypotheses, for all values of their variables."""

    hypotheses: tuple[Term, ...]
    facts: frozenset[Term]


@dataclass
class Deduction:
    """What is deduced from hypotheses. lemmas: what solvers have to say, each once."""

    hypotheses: tuple[Term, ...]
    lemmas: dict[Term, Obligation] = field(default_factory=dict)
    facts: set[Term] = field(default_factory=set)

    def __post_init__(self) -> None:
        for term in self.hypotheses:
            self.facts.update(_parts(term))

    def lemma(
        self,
        what: str,
        conclusion: Term,
        premises: Iterable[Term] = (),
        *,
        cuts: Sequence[Term] = (),
        equal: Mapping[Term, Term] | None = None,
    ) -> None:
        """A conclusion from premises, for all values of what is cut: each of these nodes is left free.

        equal: nodes that are replaced by others, to which they are equal by a fact; a replacement may be cut.
        """
        premises, equal = list(premises), equal or {}
        self._require([*premises, *(node.eq(other) for node, other in equal.items())])
        free = [var(f"cut {number}", node.width) for number, node in enumerate(cuts)]
        goal = all_of(premises) & ~conclusion
        if any(node.op == "macro" for node in operands_first([_cut(goal, equal, cuts, free)])):
            goal, *nodes = unspecified([goal, *equal, *equal.values(), *cuts])
            count = len(equal)
            equal = dict(zip(nodes[:count], nodes[count : 2 * count], strict=True))
            cuts = nodes[2 * count :]
        goal = _renamed(_cut(goal, equal, cuts, free))
        if goal.value == 1:
            raise NotDeduced(f"{what}: not so")
        if goal.value is None:
            self.lemmas.setdefault(goal, Obligation(what, goal))
        self.facts.add(conclusion)

    def at_most(self, node: Term) -> None:
        """No argument of a largest word is larger than it."""
        if node.op != "umax":
            raise NotDeduced(f"{node} is not the largest of several words")
        self.facts.update(arg.ule(node) for arg in node.args)

    def joined(self, whole: Term, part: Term, last: Term) -> None:
        """A sum (or a largest word) is that of two parts, which together have its arguments."""
        args = [arg for own in (part, last) for arg in (own.args if own.op == whole.op else (own,))]
        if whole.op not in _JOINING or Counter(whole.args) != Counter(args):
            raise NotDeduced(f"{whole} is not {part} and {last}")
        self.facts.add(whole.eq(_JOINING[whole.op](part, last)))

    def by_cases(
        self, cases: Sequence[Term], conclusion: Term, deduce: Callable[[Deduction, int], None]
    ) -> None:
        """A conclusion that holds in each of some cases, one of which is there by a fact.

        deduce: adds to what is known in a case, of a number, what leads to the conclusion.
        """
        self._require([any_of(cases)])
        for number, case in enumerate(cases):
            within = Deduction((*self.hypotheses, case), self.lemmas, set(self.facts))
            deduce(within, number)
            within._require([conclusion])
        self.facts.add(conclusion)

    def apply(self, theorem: Implication, values: Mapping[Term, Term]) -> None:
        """The facts of a theorem for these values of its variables, by which its hypotheses are facts."""
        count, terms = len(theorem.hypotheses), [*theorem.hypotheses, *theorem.facts]
        if any(node.op != "var" or node.width != value.width for node, value in values.items()):
            raise NotDeduced("values of what is no variable, or of another width")
        terms = substitute(terms, dict(values))
        self._require(terms[:count])
        self.facts.update(terms[count:])

    def theorem(self, *conclusions: Term) -> Implication:
        """What was deduced: these facts, from the hypotheses."""
        self._require(conclusions)
        return Implication(self.hypotheses, frozenset(conclusions))

    def _require(self, terms: Iterable[Term]) -> None:
        for term in terms:
            if (
                term.value != 1
                and term not in self.facts
                and not self.facts.issuperset(_parts(term)[1:] or [term])
            ):
                raise NotDeduced(f"{term} is not among the facts")


def _parts(term: Term) -> list[Term]:
    """Facts that together are one: of a conjunction, its arguments."""
    if term.op == "and":
        return [term, *term.args]
    if term.op == "not" and term.args[0].op == "or":
        return [term, *(~arg for arg in term.args[0].args)]
    return [term]


def _cut(goal: Term, equal: Mapping[Term, Term], cuts: Sequence[Term], free: Sequence[Term]) -> Term:
    """The goal with some nodes replaced, and then others by variables."""
    (goal,) = substitute([goal], dict(equal))
    (goal,) = substitute([goal], dict(zip(cuts, free, strict=True)))
    return goal


def _renamed(goal: Term) -> Term:
    """The goal with other names: most that differ in names alone are the same one then."""
    names = [node for node in operands_first([goal]) if node.op == "var"]
    (renamed,) = substitute(
        [goal], {node: var(f"x{number}", node.width) for number, node in enumerate(names)}
    )
    return renamed
