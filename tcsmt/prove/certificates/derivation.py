"""The structure of a proof: four kinds of steps, and what each of them needs to be sound.

A proof shows that no input satisfies a truth value, the *goal*. On the way it collects *facts*, truth values
that hold wherever the goal does, and *replacements*, nodes with other terms of the same value there. What
follows from what is decided here and nowhere else; that a formula has no solution is left to ``refute``,
which looks for its lemma (:mod:`tcsmt.prove.certificates.lemma_files`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tcsmt.language.terms import TRUE, Term, all_of, any_of, flat, operands_first, substitute, var, variables


class InvalidProof(Exception):
    """A step that does not prove what it has to."""


@dataclass(frozen=True)
class Close:
    """The goal and the facts ``using`` have no solution, not even with the nodes ``free`` as free words.

    A word that is free takes the node's value, too: what has no solution then has none with the node.
    """

    using: tuple[Term, ...] = ()
    free: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Fact:
    """``says`` is a fact from here on: that it does not hold, together with the facts, is refuted."""

    says: Term
    proof: Proof


@dataclass(frozen=True)
class Equal:
    """``node`` has the value of ``to`` and is replaced by it from here on: that they differ is refuted."""

    node: Term
    to: Term
    proof: Proof


@dataclass(frozen=True)
class Cases:
    """The goal is refuted where each case is a fact, and where none of them holds (``rest``)."""

    cases: tuple[tuple[Term, Proof], ...]
    rest: Proof


Step: TypeAlias = Fact | Equal | Close | Cases
#: Facts and replacements, then one step that refutes what is left.
Proof: TypeAlias = tuple[Step, ...]
Refute = Callable[[Term], None]


def check(goal: Term, proof: Proof, refute: Refute) -> None:
    """Check that the proof shows that no input satisfies the goal; ``refute`` is called with every formula.

    Raises :class:`InvalidProof` for a step that does not follow, and lets through what ``refute`` raises.
    """
    _check(goal, frozenset(), {}, proof, refute)


def _check(
    goal: Term, facts: frozenset[Term], replaced: Mapping[Term, Term], proof: Proof, refute: Refute
) -> None:
    """Check a proof: facts hold, and keys of ``replaced`` have their terms' values, wherever all goals around
    this proof hold; a replaced node in a fact or in a term that replaces another does no harm.
    """
    facts, replaced = facts | conjuncts([goal]), dict(replaced)
    if not proof:
        raise InvalidProof("a proof without steps")
    for number, step in enumerate(proof[:-1], 1):
        with _at(f"step {number}"):
            match step:
                case Fact():
                    _check(~_truth(step.says), facts, replaced, step.proof, refute)
                    facts |= conjuncts([step.says])  # only now: no fact rests on itself
                case Equal():
                    (now,) = substitute([step.node], replaced)
                    if now.width != step.to.width:
                        raise InvalidProof(f"a node of {now.width} bits replaced by one of {step.to.width}")
                    _check(now.ne(step.to), facts, replaced, step.proof, refute)
                    # Not a constant: every equal one of the goal, whatever it is there for, is the same node.
                    replaced |= {old: step.to for old in (step.node, now) if old.value is None}
                case _:
                    raise InvalidProof("a step after the one that ends a proof")
    with _at(f"step {len(proof)}"):
        match proof[-1]:
            case Close() as last:
                if not conjuncts(last.using) <= facts:  # anything else may have no solution by itself
                    raise InvalidProof("what is used is not among the facts")
                formula = all_of([*last.using, *substitute([_truth(goal)], replaced)])
                formula = cut(formula, last.free)
                if flat(formula).value != 0:
                    refute(characterised(formula))
            case Cases() as last:
                parts = [*last.cases, (~any_of(_truth(case) for case, _ in last.cases), last.rest)]
                for number, (case, part) in enumerate(parts, 1):  # the last is what the cases leave out
                    with _at(f"case {number}" if number < len(parts) else "none of the cases"):
                        _check(goal, facts | conjuncts([case]), replaced, part, refute)
            case _:
                raise InvalidProof("a proof that does not end")


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Let a flaw say where it is."""
    try:
        yield
    except InvalidProof as why:
        raise InvalidProof(f"{place}: {why}") from None


def _truth(term: Term) -> Term:
    if term.width != 1:
        raise InvalidProof(f"a word of {term.width} bits where a truth value belongs")
    return term


def conjuncts(terms: Iterable[Term]) -> frozenset[Term]:
    """Return what holds where all terms do: parts of an "and", and of an "or" that does not hold."""
    parts: set[Term] = set()
    pending = [_truth(term) for term in terms]
    while pending:
        term = pending.pop()
        if term.op == "and":
            pending += term.args
        elif term.op == "not" and term.args[0].op == "or":
            pending += [~part for part in term.args[0].args]
        else:
            parts.add(term)
    return frozenset(parts) - {TRUE}


def cut(formula: Term, nodes: Iterable[Term]) -> Term:
    """Return the formula with every one of the nodes a free word."""
    return substitute([formula], _words("free", formula, nodes))[0]


def characterised(formula: Term) -> Term:
    """Return the formula with each maximum a free word that is no less than any argument, and is one of them.

    There is one such word, the maximum: the formula has a solution where it had one, and no other.
    """
    maxima = [node for node in operands_first([formula]) if node.op == "umax"]
    words = _words("maximum", formula, maxima)
    parts = [formula]
    for node, word in words.items():
        parts += [all_of(arg.ule(word) for arg in node.args), any_of(word.eq(arg) for arg in node.args)]
    return all_of(substitute(parts, words))


def _words(name: str, formula: Term, nodes: Iterable[Term]) -> dict[Term, Term]:
    """Return a new word for each node."""
    words = {node: var(f"{name} {number}", node.width) for number, node in enumerate(nodes)}
    # A word that the formula has already is not free: the formula would be about fewer values.
    if set(words.values()) & set(variables([formula])):
        raise InvalidProof(f"the formula has a variable named '{name} 0' or the like")
    return words
