"""A certificate's statements as SMT-LIB 2.6: each as a whole, and the formulas that its proof refutes.

Each formula has names for its variables: inputs, stages, and maxima.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcsmt.language.terms import (
    TRUE,
    Term,
    all_of,
    any_of,
    expand,
    flat,
    operands_first,
    substitute,
    var,
    variables,
)
from tcsmt.language.write.operators import distinct
from tcsmt.language.write.smtlib import declarations, definitions, script
from tcsmt.matrix_units.models import Trace
from tcsmt.prove.certificates.derivation import (
    Cases,
    Close,
    Equal,
    Fact,
    Proof,
    characterised,
    check,
    conjuncts,
    cut,
)
from tcsmt.prove.certificates.lemma_files import lemma_of
from tcsmt.prove.certificates.statement import Statement, input_words
from tcsmt.support.errors import InternalError, TcsmtError
from tcsmt.support.escaping import comment


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
    negated = all_of([*step.using, *substitute([goal], replaced)])
    formula = cut(negated, step.free)
    if flat(formula).value == 0:
        return None
    plain = set(variables([negated]))
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


#: The status is what the certificate says: whether it is right is for its check, and for the solver.
_INFO = [
    ("smt-lib-version", "2.6"),
    ("source", "|a statement of a certificate of tcsmt, as it stands there|"),
    ("category", '"crafted"'),
    ("status", "unsat"),
]


class StageNames(dict[Term, str]):
    """Names of the stages of a statement's models: ``m2_sum`` is the sum of model 2.

    A stage that all models share has no number. None of the names is an input's.
    """

    def __init__(self, statement: Statement) -> None:
        texts: dict[Term, str] = {}
        users: Counter[Term] = Counter()
        plain: dict[Term, str] = {}
        for number, call in enumerate(statement.calls, 1):
            stages = {s.term: s.name for s in call.model.apply(call.operands).stages if s.term.args}
            users.update(stages.keys())
            for term, name in stages.items():
                texts.setdefault(term, f"m{number} {name}")
                plain.setdefault(term, name)
        shared = {term for term, count in users.items() if count == len(statement.calls) > 1}
        chosen = {term: plain[term] if term in shared else text for term, text in texts.items()}
        super().__init__(distinct(chosen, [*statement.widths, *_OURS]))


#: Names of inputs that no language has for anything else, nor do we.
_PLAIN = re.compile(r"[A-Za-z]|(?!umax)[A-Za-z]+[0-9]+")
#: What scripts define beside stages, some with numbers, which no stage has behind such a word.
_OURS = ("in_domain", "results_differ")


def statement_script(statement: Statement, proof: Proof, about: Iterable[str]) -> str:
    """Return the whole statement as a script that has no model: inputs, stages, what is assumed, what is to
    differ.

    What the proof shows on its way is defined as ``lemma_1``, ``lemma_2``, … and not assumed: each holds
    wherever the assertions do, so that a solver may be told so. about: lines of comment.
    """
    conditions = asserted(statement)
    lemmas = list(steps_of(proof))
    roots = [term for _, term in (*conditions, *lemmas)]
    lines, texts = definitions(roots, StageNames(statement))
    unused = {var(name, width) for name, width in statement.widths.items()} - set(_variables(roots))
    lines = [*declarations(sorted(unused, key=lambda x: str(x.data))), *lines]
    defined = [
        f"(define-fun {name} () Bool {text})"
        for (name, _), text in zip(conditions, texts[: len(conditions)], strict=True)
    ]
    shown = []
    for number, ((kind, _), text) in enumerate(zip(lemmas, texts[len(conditions) :], strict=True), 1):
        shown += [f"; {kind}", f"(define-fun lemma_{number} () Bool {text})"]
    if shown:
        note = "; Shown by the certificate's proof: each holds wherever the assertions do."
        shown = [note, "; (assert lemma_1) and so on may be added, and are not needed.", *shown]
    return "\n".join(
        [
            *_head(about),
            "(set-logic QF_BV)",
            *lines,
            *defined,
            *shown,
            *(f"(assert {name})" for name, _ in conditions),
            "(check-sat)",
            "(exit)",
            "",
        ]
    )


def lemma_script(refuted: Refuted, names: Mapping[Term, str], about: Iterable[str]) -> str:
    """Return a formula that a proof refutes, whose variables have names for what they are.

    The certificate's own script of it has ``x0``, ``x1``, … in their place: the comment says which is which.
    """
    words = [node for node in operands_first([refuted.formula]) if node.op == "var"]
    texts = {
        word: names.get(node, f"word of {node.op}")
        for word, node in refuted.stands_for.items()
        if word in set(words)
    }
    called = distinct(texts, [str(word.data) for word in words if word not in texts])
    renamed = {word: var(called.get(word, str(word.data)), word.width) for word in words}
    (formula,) = substitute([refuted.formula], renamed)
    notes = [f"x{number} is {renamed[word].data}" for number, word in enumerate(words)]
    free = [str(renamed[word].data) for word in words if word in texts]
    if free:
        notes.append(f"may have any value: {', '.join(free)}")
    notes = [f"lemmas/{lemma_of(refuted.formula).name}.smt2, where", *(f"  {text}" for text in notes)]
    return "\n".join(
        [*(f"; {comment(line)}" for line in (*about, *notes)), script(formula, info=_INFO, values=False)]
    )


def asserted(statement: Statement) -> list[tuple[str, Term]]:
    """Return the conditions that no input satisfies together, by their names.

    Raises :class:`.TcsmtError` for inputs with names that a script could have for something else: a word of
    the language, or one of our own definitions, which would change what the script says.
    """
    for name in statement.widths:
        if not _PLAIN.fullmatch(name):
            raise TcsmtError(
                f"{name!r:.80} is not exported as the name of an input, which must be a letter, or letters "
                "and then a number"
            )
    if statement.domain is None:
        parts = sorted(
            conjuncts([statement.goal]), key=lambda part: (len(operands_first([part])), part.digest)
        )
        return [(f"condition_{number}", part) for number, part in enumerate(parts, 1)]
    formats = statement.formats
    domain = statement.domain.holds(formats, Trace(input_words(formats), (), TRUE, ()))
    assumed = [(f"assumption_{number}", term) for number, term in enumerate(statement.also, 1)]
    left, right = (statement.calls[number].output for number in statement.record["differ"])
    return [("in_domain", domain), *assumed, ("results_differ", left.ne(right))]


def _variables(roots: Sequence[Term]) -> list[Term]:
    """Return the variables that the definitions of the roots declare."""
    return [*variables(expand(roots)), *variables(roots)]


def _head(about: Iterable[str]) -> list[str]:
    (first, *others) = _INFO
    lines = [f"(set-info :{first[0]} {first[1]})", *(f"; {comment(line)}".rstrip() for line in about)]
    return [*lines, *(f"(set-info :{key} {value})" for key, value in others)]
