"""Questions put to solvers, and their verdicts.

A question is a truth value over input words: "is there an input at which it holds?". A witness is
replayed on the evaluator, made short, and only then shown; a proof records what was proved, where
the two graphs were cut, and by which solver.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from tcsmt.datapath import Exponent, decode
from tcsmt.errors import TcsmtError
from tcsmt.formats import Format
from tcsmt.interpret.exact import evaluate
from tcsmt.interpret.smtlib import script
from tcsmt.models import Model, Trace
from tcsmt.solvers.answer import Answer, Answered, by_whom, digest
from tcsmt.solvers.run import SOLVERS, Settings, solve
from tcsmt.terms import FALSE, TRUE, Term, all_of, any_of, const, substitute, var, variables

__all__ = [
    "Disagreement",
    "Distinguished",
    "Domain",
    "Equivalent",
    "Lanes",
    "Question",
    "Side",
    "Solving",
    "Unknown",
    "Verdict",
    "difference",
    "joined",
]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Which inputs count; block scales are inputs too.

    finite: no NaN and no infinity. positive: no sign bit set. subnormals: subnormal inputs
    allowed. c_zero: c is +0. exponents: each a and b is zero, or a finite number with an unbiased exponent
    from the first to the second, inclusive.
    """

    finite: bool = True
    positive: bool = False
    subnormals: bool = True
    c_zero: bool = False
    exponents: tuple[int, int] | None = None

    def holds(self, model: Model, trace: Trace) -> Term:
        """The truth value "these inputs lie in the domain"."""
        conditions = [TRUE]
        formats = model.input_formats.values()
        for number, (term, fmt) in enumerate(zip(trace.inputs, formats, strict=True)):
            x = decode(fmt, term)
            if self.finite:
                conditions += [~x.nan, ~x.infinite]
            if self.positive and fmt.signed:
                conditions.append(~x.sign)
            if not self.subnormals and fmt.has_subnormals:
                conditions.append(x.zero | x.significand[fmt.fraction_bits])
            if self.exponents is not None and number < 2 * model.k:
                conditions += [~x.nan, ~x.infinite, x.zero | _lies(x.exponent, *self.exponents)]
        if self.c_zero:
            conditions.append(trace.c.eq(0))
        return all_of(conditions)

    def __str__(self) -> str:
        words = ["finite" if self.finite else "all words"]
        words += ["positive"] if self.positive else []
        words += [] if self.subnormals else ["no subnormals"]
        words += ["c = 0"] if self.c_zero else []
        words += [f"exponents {self.exponents[0]} to {self.exponents[1]}"] if self.exponents else []
        return ", ".join(words)


def _lies(x: Exponent, low: int, high: int) -> Term:
    """Whether an exponent lies from ``low`` to ``high``, which may be outside of what its word can hold."""
    low, high = max(low, x.low), min(high, x.high)
    return x.term.ule(high - x.low) & ~x.term.ult(low - x.low) if low <= high else FALSE


@dataclass(frozen=True)
class Side:
    """One behaviour in a question: what it is called, its model, and the model on the inputs."""

    label: str
    model: Model
    trace: Trace

    @property
    def format(self) -> Format:
        """The format of its result."""
        return self.model.d_format


#: How many lanes, from the first on; or which.
Lanes = int | tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Is there an input at which ``goal`` is 1?

    formats: of the input variables, by name. sides: the behaviours that a witness shows.
    domain: the part of the goal that restricts inputs; domain_text says it in words.
    Where to look for a witness first, so that it is short: ones: with every b = 1; alike: with
    every product the same; lanes: with so many products (or just these), the others zero.
    cases: truth values by which a proof is split: each is assumed, then that none of them holds.
    """

    title: str
    sides: tuple[Side, ...]
    goal: Term
    formats: Mapping[str, Format]
    domain: Term = TRUE
    domain_text: str = ""
    lanes: tuple[Lanes, ...] = ()
    alike: bool = False
    ones: bool = False
    cases: tuple[Term, ...] = ()

    def assuming(self, case: Term) -> Question:
        """The question where the case holds."""
        return replace(
            self,
            goal=self.goal & case,
            domain=self.domain & case,
            alike=False,
            ones=False,
            cases=(),
        )

    def special(self) -> Iterator[dict[Term, Term]]:
        """What to put for some inputs so that all lanes are of one kind (``ones``, ``alike``)."""
        lanes = self._lane_variables()
        if self.ones:
            factors = (v for v in lanes if str(v.data)[0] == "b")
            yield {v: const(self.formats[str(v.data)].word(Fraction(1)), v.width) for v in factors}
        if self.alike:
            yield {v: var(f"{str(v.data)[0]}0", v.width) for v, lane in lanes.items() if lane}

    def fewer_lanes(self) -> Iterator[dict[Term, Term]]:
        """What to put for some inputs so that few lanes are left (``lanes``)."""
        for few in self.lanes:
            kept = range(few) if isinstance(few, int) else few
            yield {v: const(0, v.width) for v, lane in self._lane_variables().items() if lane not in kept}

    def _lane_variables(self) -> dict[Term, int]:
        found = [v for v in variables([self.goal]) if _is_lane(str(v.data))]
        return {v: int(str(v.data)[1:]) for v in found}


def _is_lane(name: str) -> bool:
    return name[0] in "ab" and name[1:].isdigit()


@dataclass(frozen=True, kw_only=True)
class Distinguished(Answered):
    """There is such an input. ``values``: the word of each input, by name."""

    values: Mapping[str, int]
    solver: str
    version: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Equivalent(Answered):
    """There is none. ``stage``: where the graphs were cut (empty: nowhere).

    ``scripts``: SHA-256 of each SMT-LIB script that was answered ``unsat``; none where both
    graphs are the same. ``confirmed``: the other solvers, if to each script one has answered ``unsat``, too.
    """

    stage: str
    scripts: tuple[str, ...]
    solver: str
    version: str
    seconds: float
    confirmed: str = ""

    @classmethod
    def of(cls, stage: str, answer: Answer, seconds: float) -> Equivalent:
        """What an ``unsat`` that counts (:meth:`Solving.checked`) proves at a stage."""
        return cls(
            stage=stage, scripts=(answer.script,) if answer.script else (), solver=answer.solver,
            version=answer.version, seconds=seconds, confirmed=answer.confirmed,
        )  # fmt: skip

    @property
    def sure(self) -> bool:
        """Whether it does not rest on one solver alone."""
        return bool(self.confirmed) or not self.scripts

    @property
    def by_whom(self) -> str:
        """Who says so: one solver alone, or with what confirms it."""
        return by_whom(self.by, self.confirmed) if self.scripts else self.by


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """No answer, and why."""

    reason: str
    seconds: float


Verdict = Distinguished | Equivalent | Unknown


def difference(
    title: str,
    left: tuple[str, Model],
    right: tuple[str, Model],
    domain: Domain | None = None,
    *,
    lanes: tuple[Lanes, ...] = (2,),
    alike: bool = False,
    ones: bool = False,
    also: Sequence[Term] = (),
    cases: tuple[Term, ...] = (),
) -> Question:
    """Do two models differ on some input of the domain (and where the terms ``also`` hold)?

    For lanes, alike, ones and cases see :class:`Question`. Raises :class:`tcsmt.errors.TcsmtError` where
    their words do not have the same widths.
    """
    domain = domain or Domain()
    sides = tuple(Side(label, model, model.trace) for label, model in (left, right))
    one, two = (side.model for side in sides)
    for name in ("a_format", "b_format", "c_format", "d_format"):
        widths = [getattr(model, name).width for model in (one, two)]
        if widths[0] != widths[1]:
            formats = " and ".join(getattr(model, name).name for model in (one, two))
            raise TcsmtError(f"cannot compare {left[0]} with {right[0]}: {name} is {formats}")
    if one.k != two.k:
        raise TcsmtError(f"cannot compare {left[0]} with {right[0]}: k is {one.k} and {two.k}")
    scales = [f"{m.scales} of {m.scale_format.name}" if m.scale_format else "none" for m in (one, two)]
    if scales[0] != scales[1]:
        raise TcsmtError(f"cannot compare {left[0]} with {right[0]}: block scales are {' and '.join(scales)}")
    where = all_of([domain.holds(one, sides[0].trace), *also])
    differ = sides[0].trace.output.ne(sides[1].trace.output)
    return Question(
        title=title,
        sides=sides,
        goal=where & differ,
        formats=one.input_formats,
        domain=where,
        domain_text=str(domain),
        lanes=tuple(n for n in lanes if not isinstance(n, int) or n < one.k),
        alike=alike,
        ones=ones,
        cases=cases,
    )


class Disagreement(Exception):
    """A solver has a model where another one says that there is none: nothing is proved."""


class Solving:
    """Puts questions to solvers with one set of settings; keeps the scripts where asked to.

    confirm: a proof counts only if another solver says the same of each of its scripts. dump: file for the
    scripts (the second and later ones get a number before the suffix). proved: goals without a model, for
    lemmas that several proofs need. confirming: seconds that solvers have taken to confirm others.
    """

    def __init__(
        self, settings: Settings | None = None, *, confirm: bool = False, dump: Path | None = None
    ) -> None:
        self.settings = settings or Settings()
        self.confirm = confirm
        self.dump = dump
        self.proved: dict[Term, Equivalent] = {}
        self.confirming = 0.0
        self._dumped = itertools.count(1)

    def verdict(self, question: Question) -> Verdict:
        """The verdict: a replayed, shortened witness, a proof, or the reason for neither."""
        if question.goal.value == 0:
            return Equivalent(stage="whole graph", scripts=(), solver="", version="", seconds=0.0)
        spent = [0.0]
        found = self._narrow(question, question.special(), spent)
        if found is not None:
            return found
        if question.cases:
            return self._by_cases(question, spent[0])
        for stage, differ in _cuts(question):
            answer = self._ask(question.domain & differ, spent)
            if answer.answer == "unsat":
                return self.proof(stage, question.domain & differ, answer, spent[0])
            if answer.answer == "sat" and _holds(question, answer.values):
                return self._witness(question, answer, spent[0])
        found = self._narrow(question, question.fewer_lanes(), spent)
        if found is not None:
            return found
        answer = self._ask(question.goal, spent)
        match answer.answer:
            case "sat":
                return self._witness(question, answer, spent[0])
            case "unsat":
                return self.proof("", question.goal, answer, spent[0])
            case _:
                return Unknown(reason=answer.reason, seconds=spent[0])

    def ask(self, goal: Term, timeout: float | None = None) -> Answer:
        """The solvers' answer to "is there an input at which the term is 1?"; kept with ``dump``.

        This looks for an input: an ``unsat`` proves nothing until :meth:`proof` or :meth:`checked` has it.
        """
        return self._ask(goal, [0.0], timeout)

    def _narrow(
        self, question: Question, tries: Iterator[dict[Term, Term]], spent: list[float]
    ) -> Verdict | None:
        """A witness in one of some smaller sets of inputs, each with half of the time."""
        for given in tries:
            narrow = substitute([question.goal], given)[0]
            if narrow.value is None:
                answer = self._ask(narrow, spent, self.settings.timeout / 2)
                if answer.answer == "sat":
                    return self._witness(question, answer, spent[0], given)
        return None

    def _by_cases(self, question: Question, spent: float) -> Verdict:
        parts: list[Equivalent] = []
        for case in [*question.cases, ~any_of(question.cases)]:
            part = self.verdict(question.assuming(case))
            spent += part.seconds
            if not isinstance(part, Equivalent):
                return replace(part, seconds=spent)
            parts.append(part)
        return joined([(f"case {n}: {p.stage or 'result'}", p) for n, p in enumerate(parts, 1)], spent)

    def _ask(self, goal: Term, spent: list[float], timeout: float | None = None) -> Answer:
        if goal.value is not None:
            return Answer("sat" if goal.value else "unsat", "simplifier")
        text = script(goal)
        if self.dump is not None:
            number = next(self._dumped)
            stem = self.dump.stem if number == 1 else f"{self.dump.stem}-{number}"
            try:
                self.dump.with_name(stem + self.dump.suffix).write_text(text)
            except OSError as error:
                raise TcsmtError(f"cannot write {self.dump}: {error.strerror}") from None
        settings = self.settings if timeout is None else replace(self.settings, timeout=timeout)
        answer = solve(text, settings)
        spent[0] += answer.seconds
        return answer

    def _witness(
        self,
        question: Question,
        answer: Answer,
        spent: float,
        given: Mapping[Term, Term] | None = None,
    ) -> Verdict:
        from tcsmt.shorten import shorten

        values = {name: answer.values.get(name, 0) for name in question.formats}
        for variable, put in (given or {}).items():
            values[str(variable.data)] = put.value if put.value is not None else values[str(put.data)]
        if not _holds(question, values):
            reason = f"{answer.by} gave a model that does not replay"
            return Unknown(reason=reason, seconds=spent)
        return Distinguished(
            values=shorten(question.goal, question.formats, values),
            solver=answer.solver, version=answer.version, seconds=spent,
        )  # fmt: skip

    def proof(self, stage: str, goal: Term, answer: Answer, spent: float) -> Equivalent | Unknown:
        """What an ``unsat`` answer to a goal proves; with ``confirm``, nothing if no other solver agrees."""
        text = script(goal) if goal.value is None else ""
        try:
            answer = self.checked(text, answer) if text else answer
        except Disagreement as why:
            return Unknown(reason=str(why), seconds=spent)
        if answer.answer != "unsat":
            return Unknown(reason=answer.reason, seconds=spent)
        return Equivalent.of(stage, answer, spent)

    def checked(self, text: str, answer: Answer) -> Answer:
        """The answer to a script as it counts: with ``confirm``, an ``unsat`` that no other solver confirms
        is unknown, and the reason says what they answered instead.

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
                second = solve(text, replace(self.settings, solver=name))
                self.confirming += second.seconds
                if second.answer == "unsat":
                    return replace(answer, confirmed=second.by)
                if second.answer == "sat":
                    raise Disagreement(f"solvers disagree: {answer.by} answers unsat, {second.by} sat")
                doubts.append(second.reason)
        reason = f"{answer.by} answers unsat; not confirmed: {'; '.join(doubts)}"
        return replace(answer, answer="unknown", reason=reason)


def joined(parts: Sequence[tuple[str, Equivalent]], seconds: float) -> Equivalent:
    """Several proofs, each with what it proves, as one; confirmed where every one is that has a script."""
    proofs = [proof for _, proof in parts]
    asked = [proof for proof in proofs if proof.scripts]
    first = (asked or proofs)[0]
    several = len({proof.by for proof in asked}) > 1
    return Equivalent(
        stage="; ".join(dict.fromkeys(what for what, _ in parts)),
        scripts=tuple(dict.fromkeys(text for proof in asked for text in proof.scripts)),
        solver=_listed(proof.by for proof in asked) if several else first.solver,
        version="" if several else first.version,
        seconds=seconds,
        confirmed=_listed(p.confirmed for p in asked) if all(p.confirmed for p in asked) else "",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _holds(question: Question, values: Mapping[str, int]) -> bool:
    complete = {name: values.get(name, 0) for name in question.formats}
    return bool(evaluate([question.goal], complete)[0])


def _cuts(question: Question) -> Iterator[tuple[str, Term]]:
    """Stages at which it is enough to compare two models, the latest first, and "they differ" there.

    Enough means: with the stage's value replaced by one free variable on both sides, what follows
    is the same graph on both sides. The check is by construction, not by trust.
    """
    if len(question.sides) != 2:
        return
    left, right = (side.trace for side in question.sides)
    there = {stage.place: stage.term for stage in right.stages}
    for stage in reversed(left.stages):
        one, two = stage.term, there.get(stage.place)
        if two is None or one is two or one is left.output or one.width != two.width:
            continue
        cut = var(f"cut {stage.name}", one.width)
        if substitute([left.output], {one: cut})[0] is substitute([right.output], {two: cut})[0]:
            yield stage.name, one.ne(two)
