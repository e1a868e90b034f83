"""An input of which a statement says something: one that lies in its domain and satisfies its assumptions.

What is proved of no input is true whatever the models are. The input is evaluated, so that it stands whoever
has found it: a few are tried, then a search, then a solver. That there is none is a solver's word, or
that of the domain, which has samples of all of its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import TRUE, Term, all_of, operands_first
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Trace
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.certificates.derivation import conjuncts
from tcsmt.prove.certificates.statement import Statement, input_words
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import samples
from tcsmt.prove.statements.verdict import Distinguished, Equivalent

#: Random inputs that are tried before a solver is asked, and conditions of a goal that are left out in turn.
_TRIED, _LEFT_OUT = 400, 3


@dataclass(frozen=True)
class Inhabitant:
    """An input that satisfies what a statement assumes, or why there is none to show.

    values: its words by their names; None: there is none, says ``empty``, or none was found, where ``empty``
    is "". outputs: the words that are said to be the same. but: of a statement that no input satisfies
    several conditions, the one that this input does not satisfy.
    """

    values: Mapping[str, int] | None
    empty: str = ""
    outputs: tuple[int, ...] = ()
    but: Term | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the inhabitant as plain data."""
        if self.values is None:
            return {"empty": bool(self.empty)} | ({"by": self.empty} if self.empty else {})
        words = {name: f"{word:#x}" for name, word in self.values.items()}
        outputs = [f"{word:#x}" for word in self.outputs]
        return {"empty": False, "inputs": words} | ({"outputs": outputs} if outputs else {})

    def __str__(self) -> str:
        if self.values is None:
            if self.empty:
                return f"EMPTY: no input satisfies what is assumed, says {self.empty}"
            return "no input was found that satisfies what is assumed: perhaps none does"
        words = [f"{name} = {word:#x}" for name, word in self.values.items() if word]
        zeros = len(words) < len(self.values)
        text = ", ".join([*words, *(["all others 0" if words else "all words 0"] if zeros else [])])
        if len(set(self.outputs)) == 1:
            return f"{text}; both results are {self.outputs[0]:#x}"
        return f"{text}; the results are {' and '.join(map(hex, self.outputs))}" if self.outputs else text


def inhabitant(statement: Statement, options: SolvingOptions | None = None) -> Inhabitant:
    """Return an input of which a statement about models says something. options: of a solver to be asked.

    Of a statement that no input satisfies several conditions: one that satisfies all but one of them.
    """
    solving = Solving(options or SolvingOptions(timeout=10))
    if statement.domain is None:
        return _of_goal(statement, solving)
    domain, formats = statement.domain, statement.formats
    kinds = {name: samples(domain, name, fmt) for name, fmt in formats.items()}
    if not all(kinds.values()):
        return Inhabitant(None, "the domain: an operand has no word in it")
    where = domain.holds(formats, Trace(input_words(formats), (), TRUE, ()))
    assumed = [where, *statement.also]

    def holds(values: Mapping[str, int]) -> bool:
        return domain.contains(formats, values) and all(evaluate(assumed, values))

    values, by = _input(
        all_of(assumed), _plain(kinds, formats), _random(kinds, statement.also), holds, solving
    )
    if values is None:
        return Inhabitant(None, by)
    outputs = [statement.calls[number].output for number in statement.record["differ"]]
    return Inhabitant(values, outputs=tuple(evaluate(outputs, values)))


def inhabitant_of_domain(domain: Domain, formats: Mapping[str, AnyFormat]) -> Inhabitant:
    """Return a word in the domain of each operand, by its name."""
    kinds = {name: samples(domain, name, fmt) for name, fmt in formats.items()}
    if not all(kinds.values()):
        return Inhabitant(None, "the domain: an operand has no word in it")
    return Inhabitant(_plain(kinds, formats))


def _of_goal(statement: Statement, solving: Solving) -> Inhabitant:
    """Find an input that meets all conditions but one, which as a rule is what the others exclude."""
    if statement.goal.value == 0:
        return Inhabitant(None, "the statement, which is false whatever the models are")
    conditions = sorted(conjuncts([statement.goal]), key=lambda c: (-len(operands_first([c])), c.digest))
    by = ""
    for but in conditions[:_LEFT_OUT]:
        others = [condition for condition in conditions if condition is not but]
        kinds = {name: _words(statement.formats.get(name), width) for name, width in statement.widths.items()}

        def holds(values: Mapping[str, int], others: Sequence[Term] = others) -> bool:
            return all(evaluate(others, values))

        start = _plain(kinds, statement.formats)
        values, by = _input(all_of(others), start, _random(kinds, others), holds, solving)
        if values is not None:
            return Inhabitant(values, but=but)
    return Inhabitant(None, by)


def _words(fmt: AnyFormat | None, width: int) -> list[int]:
    """Return words of an operand, or of a plain word of some bits."""
    if fmt is not None:
        return samples(Domain(finite=False), "c", fmt)
    return [0, 1, *(1 << bit for bit in range(1, width)), (1 << width) - 1]


def _plain(kinds: Mapping[str, Sequence[int]], formats: Mapping[str, AnyFormat]) -> dict[str, int]:
    """Return one product of words near 1, the others zero: short, and not zero as a result if possible."""
    first = {"a0", "b0"} | {name for name in kinds if role_of(name).scale}

    def apart(name: str, word: int) -> tuple[bool, Fraction]:
        fmt = formats.get(name)
        if fmt is None or fmt.is_nan(word) or fmt.is_infinite(word):
            return True, Fraction(word)
        value = fmt.value(word)
        return False, abs(value - 1) if name in first else abs(value)

    return {name: min(words, key=lambda word: apart(name, word)) for name, words in kinds.items()}


def _random(kinds: Mapping[str, Sequence[int]], also: Sequence[Term]) -> Iterator[dict[str, int]]:
    """Yield random choices of the words; a condition "input = constant" says which word that input has."""
    constants = {}
    for term in conjuncts(also):
        if term.op == "eq":
            sides = sorted(term.args, key=lambda arg: arg.op)
            if [arg.op for arg in sides] == ["const", "var"]:
                constants[str(sides[1].data)] = sides[0].value or 0
    rng = Random(1)
    for _ in range(_TRIED):
        yield {name: rng.choice(words) for name, words in kinds.items()} | constants


def _input(
    goal: Term,
    plain: dict[str, int],
    tries: Iterator[dict[str, int]],
    holds: Callable[[Mapping[str, int]], bool],
    solving: Solving,
) -> tuple[dict[str, int] | None, str]:
    """Return an input at which the goal holds, evaluated; or None, and who says that there is none."""
    for values in (plain, *tries):
        if holds(values):
            return values, ""
    verdict = solving.verdict_on(goal)
    if isinstance(verdict, Equivalent):
        return None, verdict.by_whom
    if isinstance(verdict, Distinguished) and holds(values := {**plain, **verdict.values}):
        return values, ""
    return None, ""
