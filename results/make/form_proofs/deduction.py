"""Facts about a graph, deduced one from the other by lemmas that solvers decide.

A fact is a term of one bit that is 1 for all inputs that satisfy the hypotheses, and whatever a processor's
instruction gives where that is left open (:mod:`tcsmt.matrix_units.arithmetic.native`). Every rule looks at
what it needs, and raises :class:`ProofFailed` if that is not a fact: an error here can lose a proof, never
produce a false one. The lemmas are goals that must have no solution; if none has one, the facts hold. Steps
are those of a certificate (:mod:`tcsmt.prove.certificates.derivation`), whose checker takes them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from form_proofs.unspecified import unspecified, written_out
from tcsmt.language.terms import Term, all_of, any_of, operands_first, substitute, total, umax, var
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, Proof, Step

__all__ = ["FormDerivation", "Implication", "Obligation", "ProofFailed", "with_terms"]

#: The operations of which a node with more arguments is that of two, one after the other.
_JOINING: Mapping[str, Callable[..., Term]] = {"add": total, "umax": umax}


#: What variables that are left free are called here, and by what opens what processors leave open.
_CUT, _OPEN = "cut", "open"


class ProofFailed(Exception):
    """Why a rule does not apply."""


@dataclass(frozen=True)
class Obligation:
    """A goal that must have no solution, and what it stands for."""

    what: str
    goal: Term


@dataclass(frozen=True)
class Implication:
    """What was deduced from hypotheses, for all values of their variables, and how."""

    hypotheses: tuple[Term, ...]
    facts: frozenset[Term]
    steps: Proof


@dataclass
class FormDerivation:
    """What is deduced from hypotheses. lemmas: what solvers have to say, each once. steps: in order.
    conclusions: of the theorem.
    """

    hypotheses: tuple[Term, ...]
    lemmas: dict[Term, Obligation] = field(default_factory=dict)
    facts: set[Term] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    conclusions: tuple[Term, ...] = ()

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
        # what contains another one is replaced before it, so that each is still the node of its fact
        outermost = [node for node in reversed(list(operands_first(equal))) if node in equal]
        replaced = [Equal(node, equal[node], (Close((node.eq(equal[node]),)),)) for node in outermost]
        self._note(conclusion, *replaced, Close(tuple(premises), tuple(cuts)))
        free = [var(f"{_CUT} {number}", node.width) for number, node in enumerate(cuts)]
        goal = all_of(premises) & ~conclusion
        _refuse_taken_names([goal, *equal, *equal.values(), *cuts])
        if any(node.op == "macro" for node in operands_first([_cut(goal, equal, cuts, free)])):
            goal, *nodes = unspecified([goal, *equal, *equal.values(), *cuts])
            count = len(equal)
            equal = dict(zip(nodes[:count], nodes[count : 2 * count], strict=True))
            cuts = nodes[2 * count :]
        goal = _renamed(_cut(goal, equal, cuts, free))
        if goal.value == 1:
            raise ProofFailed(f"{what}: not so")
        if goal.value is None:
            self.lemmas.setdefault(goal, Obligation(what, goal))
        self.facts.add(conclusion)

    def at_most(self, node: Term) -> None:
        """No argument of a largest word is larger than it."""
        if node.op != "umax":
            raise ProofFailed(f"{node} is not the largest of several words")
        for arg in node.args:
            self._note(arg.ule(node), Close((), node.args))
            self.facts.add(arg.ule(node))

    def joined(self, whole: Term, part: Term, last: Term) -> None:
        """A sum (or a largest word) is that of two parts, which together have its arguments."""
        args = [arg for own in (part, last) for arg in (own.args if own.op == whole.op else (own,))]
        if whole.op not in _JOINING or Counter(whole.args) != Counter(args):
            raise ProofFailed(f"{whole} is not {part} and {last}")
        fact = whole.eq(_JOINING[whole.op](part, last))
        self._note(fact, Close((), whole.args))
        self.facts.add(fact)

    def by_cases(
        self, cases: Sequence[Term], conclusion: Term, deduce: Callable[[FormDerivation, int], None]
    ) -> None:
        """A conclusion that holds in each of some cases, one of which is there by a fact.

        deduce: adds to what is known in a case, of a number, what leads to the conclusion.
        """
        self._require([any_of(cases)])
        proofs: list[tuple[Term, Proof]] = []
        for number, case in enumerate(cases):
            within = FormDerivation((*self.hypotheses, case), self.lemmas, set(self.facts))
            deduce(within, number)
            within._require([conclusion])
            proofs.append((case, (*within.steps, Close((conclusion,)))))
        none = (any_of(cases), ~any_of(cases))
        self._note(conclusion, Cases(tuple(proofs), (Close(none),)))
        self.facts.add(conclusion)

    def apply(self, theorem: Implication, values: Mapping[Term, Term]) -> None:
        """The facts of a theorem for these values of its variables, by which its hypotheses are facts."""
        count, terms = len(theorem.hypotheses), [*theorem.hypotheses, *theorem.facts]
        if any(node.op != "var" or node.width != value.width for node, value in values.items()):
            raise ProofFailed("values of what is no variable, or of another width")
        terms = substitute(terms, dict(values))
        self._require(terms[:count])
        self.facts.update(terms[count:])
        self.steps += with_terms(
            theorem.steps, lambda nodes: substitute(nodes, dict(values)), tuple(values.values())
        )

    def theorem(self, *conclusions: Term) -> Implication:
        """What was deduced: these facts, from the hypotheses."""
        self._require(conclusions)
        self.conclusions = conclusions
        return Implication(self.hypotheses, frozenset(conclusions), tuple(self.steps))

    def certificate(self) -> tuple[Term, Proof]:
        """What no input satisfies: that the hypotheses hold and the theorem does not; and the proof of it.

        What processors leave open are inputs, too; their operations are written out.
        """
        whole = all_of(self.conclusions)
        goal = all_of(self.hypotheses) & ~whole
        steps = with_terms((Close((goal,)), *self.steps, Close((whole,))), written_out)
        first = steps[0]
        assert isinstance(first, Close)
        return first.using[0], steps[1:]

    def _note(self, conclusion: Term, *proof: Step) -> None:
        self.steps.append(Fact(conclusion, proof))

    def _require(self, terms: Iterable[Term]) -> None:
        for term in terms:
            if (
                term.value != 1
                and term not in self.facts
                and not self.facts.issuperset(_parts(term)[1:] or [term])
            ):
                raise ProofFailed(f"{term} is not among the facts")


def with_terms(
    proof: Proof, change: Callable[[list[Term]], list[Term]], free: tuple[Term, ...] = ()
) -> Proof:
    """A proof with its terms changed, all at once; free: nodes that each of its lemmas leaves free, too."""
    terms = list(dict.fromkeys(_terms(proof)))
    changed = dict(zip(terms, change(terms), strict=True))

    def again(steps: Proof) -> Proof:
        return tuple(map(step_again, steps))

    def step_again(step: Step) -> Step:
        match step:
            case Fact():
                return Fact(changed[step.says], again(step.proof))
            case Equal():
                return Equal(changed[step.node], changed[step.to], again(step.proof))
            case Close():
                own = tuple(changed[term] for term in step.free)
                return Close(tuple(changed[term] for term in step.using), (*own, *free))
            case Cases():
                cases = tuple((changed[case], again(steps)) for case, steps in step.cases)
                return Cases(cases, again(step.rest))

    return again(proof)


def _terms(proof: Proof) -> Iterator[Term]:
    for step in proof:
        match step:
            case Fact():
                yield step.says
                yield from _terms(step.proof)
            case Equal():
                yield from (step.node, step.to)
                yield from _terms(step.proof)
            case Close():
                yield from (*step.using, *step.free)
            case Cases():
                for case, steps in step.cases:
                    yield case
                    yield from _terms(steps)
                yield from _terms(step.rest)


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


def _refuse_taken_names(nodes: Iterable[Term]) -> None:
    """Raises :class:`ProofFailed` for a variable that has the name of a free one: it would be that one."""
    for node in operands_first(nodes):
        if node.op == "var" and str(node.data).startswith((_CUT, _OPEN)):
            raise ProofFailed(f"a variable is called {node.data}")


def _renamed(goal: Term) -> Term:
    """The goal with other names: most that differ in names alone are the same one then."""
    names = [node for node in operands_first([goal]) if node.op == "var"]
    (renamed,) = substitute(
        [goal], {node: var(f"x{number}", node.width) for number, node in enumerate(names)}
    )
    return renamed
