"""Prove two models equal stage by stage, or find an input at which they differ.

The second model's graph is merged into the first's: where a stage is proved equal, the second model's
node is replaced by the first's, so that whatever follows alike is one graph. Each proof is a small
query, tried on three levels, the coarsest first: everything that both sides share is a free variable;
only shared products are; nothing is. The first two over-approximate, which is sound for "equal"; an
input that they allow is spurious until it replays, and the next level refines it.

Lemmas are queries without the models' input names, so equal blocks of a chain ask the same script,
which is answered once (:class:`.Lemmas`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tcsmt import __version__
from tcsmt.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.interpret.exact import evaluate
from tcsmt.models import Kind, Model, Stage
from tcsmt.models.stages import Where, where_text
from tcsmt.prove.alignment_grids import Block, characterised, multiple, same_result
from tcsmt.prove.boundary_inputs import search
from tcsmt.prove.lemmas import Lemma, Lemmas
from tcsmt.prove.solvers.answer import Answer
from tcsmt.prove.solving import Disagreement, Solving
from tcsmt.prove.witnesses import Replayed, narrowed, replayed, witness
from tcsmt.statements.domain import Domain
from tcsmt.statements.finding import Finding
from tcsmt.statements.question import Question, difference
from tcsmt.statements.verdict import Answered, Distinguished, Equivalent, Unknown, Verdict, joined
from tcsmt.support.errors import TcsmtError
from tcsmt.terms import TRUE, Term, all_of, any_of, const, operands_first, substitute, var

__all__ = ["Comparison", "ProofStep", "compare", "compare_models", "finding_of"]


@dataclass(frozen=True, kw_only=True)
class ProofStep(Answered):
    """What one query, or no query, proved on the way.

    what: the statement. how: what was left free, or why no solver was needed. script: SHA-256 of the
    SMT-LIB text. confirmed: the other solver that agreed. seconds: of the first solver. earlier: an
    earlier run proved it.
    """

    what: str
    how: str
    solver: str = ""
    version: str = ""
    seconds: float = 0.0
    script: str = ""
    confirmed: str = ""
    earlier: bool = False

    def as_json(self) -> dict[str, Any]:
        """The step as plain data."""
        return {**vars(self), "seconds": round(self.seconds, 4)}

    def __str__(self) -> str:
        if not self.solver:
            return f"{self.what}: {self.how}"
        confirmed = f", confirmed by {self.confirmed}" if self.confirmed else ""
        alone = " alone" if self.script and not self.confirmed else ""
        kept = ", in an earlier run" if self.earlier else ""
        return f"{self.what}: {self.by}{alone}, {self.seconds:.3f} s{kept}, {self.how}{confirmed}"

    @property
    def proof(self) -> Equivalent:
        """The step as a proof by itself."""
        return Equivalent(
            stage=self.what, scripts=(self.script,) if self.script else (), solver=self.solver,
            version=self.version, seconds=self.seconds, confirmed=self.confirmed,
        )  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """A question about two models, its verdict, and every step of a proof."""

    question: Question
    verdict: Verdict
    steps: tuple[ProofStep, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether it is a proof for which no solver stands alone."""
        return isinstance(self.verdict, Equivalent) and self.verdict.sure


def compare_models(
    left: tuple[str, Model],
    right: tuple[str, Model],
    domain: Domain,
    solving: Solving,
    *,
    lanes: int | None = None,
    lemmas: Lemmas | None = None,
) -> Comparison:
    """Two models, by their names, on a domain; ``lanes``: only so many products, the others zero.

    With NaNs and infinities in the domain, finite inputs come first: a witness among them says more.
    Raises :class:`.TcsmtError` where formats, K or block scales differ, and for an empty domain.
    """
    for name in ("a_format", "b_format", "c_format", "d_format"):
        one, two = (getattr(model, name).name for _, model in (left, right))
        if one != two:
            raise TcsmtError(f"cannot compare {left[0]} with {right[0]}: {name} is {one} and {two}")
    k = left[1].k
    if lanes is not None and not 1 <= lanes <= k:
        raise TcsmtError(f"lanes = {lanes}: allowed is from 1 to k = {k}")
    trace = left[1].trace
    also = [t.eq(0) for t in (*trace.a[lanes:], *trace.b[lanes:])] if lanes is not None else []
    title = f"{left[0]} against {right[0]}"
    question = difference(title, left, right, domain, lanes=(2,), also=also)
    if lanes is not None:
        question = replace(question, domain_text=f"{question.domain_text}, {lanes} of {k} lanes")
    if not domain.finite and question.goal.value is None:
        finite = difference(title, left, right, replace(domain, finite=True), lanes=(), also=also)
        values = search(finite)
        if values is not None:
            found = Distinguished(values=values, solver="evaluator", version=__version__, seconds=0.0)
            return Comparison(question, found)
    return compare(question, solving, lemmas)


def finding_of(found: Comparison) -> Finding:
    """The comparison as a finding, which knows how a witness is shown."""
    return Finding(found.question, found.verdict)


def compare(question: Question, solving: Solving, lemmas: Lemmas | None = None) -> Comparison:
    """The verdict on "do these two models differ somewhere in the domain", and how it was reached.

    Raises :class:`.TcsmtError` where the domain holds no input at all.
    """
    lemmas = lemmas or Lemmas(solving)
    comparing = _Comparing(question, solving, lemmas, lemmas.seconds, len(lemmas.refused))
    try:
        return comparing.run()
    except Disagreement as why:
        return Comparison(question, Unknown(reason=str(why), seconds=comparing.seconds))


@dataclass
class _Comparing:
    question: Question
    solving: Solving
    lemmas: Lemmas
    before: float
    refused_before: int
    steps: list[ProofStep] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.lemmas.seconds - self.before

    @property
    def refused(self) -> list[str]:
        """What no other solver confirmed on the way."""
        return list(dict.fromkeys(self.lemmas.refused[self.refused_before :]))

    def run(self) -> Comparison:
        question = self.question
        self._inhabited()
        left, right = (side.trace for side in question.sides)
        if left.output is right.output:
            self.steps.append(ProofStep(what="result", how="both models are the same graph"))
            return self._equal()
        values = search(question)
        if values is not None:
            return self._differ(Replayed(values, Answer("sat", "evaluator", __version__)))
        sweep = _Sweep(self)
        for deep in (False, True):
            output = sweep.run(deep)
            if sweep.witness is not None:
                return self._differ(sweep.witness)
            if left.output is output:
                return self._equal()
            if not deep:
                tries = (*question.special(), *question.fewer_lanes())
                found = narrowed(question, tries, self._look)
                if found is not None:
                    return self._differ(found)
        lemma = self.lemmas.ask(question.domain & left.output.ne(output), self.solving.settings.timeout)
        answer = lemma.answer
        last = replayed(question, answer)
        if last is not None:
            return self._differ(last)
        if answer.answer == "unsat":
            self.proved("result", "nothing free", lemma)
            return self._equal()
        reason = answer.reason or f"{answer.by} gave a model that does not replay"
        return self._unknown(reason)

    def _look(self, goal: Term) -> Answer:
        return self.lemmas.look(goal, self.solving.settings.timeout / 4)

    def _unknown(self, reason: str) -> Comparison:
        reasons = dict.fromkeys([reason, *self.refused])
        return Comparison(
            self.question, Unknown(reason="; ".join(reasons), seconds=self.seconds), tuple(self.steps)
        )

    def _inhabited(self) -> None:
        """Refuse a domain without inputs: nothing differs there, and that says nothing."""
        question = self.question
        domain = question.domain
        if domain.value == 1 or _zeros_lie_in(question):
            return
        if self.lemmas.ask(domain, self.solving.settings.timeout).holds:
            raise TcsmtError(f"the domain is empty: no input is {question.domain_text}")

    def _differ(self, found: Replayed) -> Comparison:
        return Comparison(self.question, witness(self.question, found, self.seconds))

    def proved(self, what: str, how: str, lemma: Lemma) -> None:
        """One more step."""
        answer = lemma.answer
        step = ProofStep(
            what=what, how=how, solver=answer.solver, version=answer.version, seconds=answer.seconds,
            script=answer.script, confirmed=answer.confirmed, earlier=lemma.earlier,
        )  # fmt: skip
        self.steps.append(step)

    def _equal(self) -> Comparison:
        proof = joined([(step.what, step.proof) for step in self.steps], self.seconds)
        return Comparison(self.question, proof, tuple(self.steps))


def _zeros_lie_in(question: Question) -> bool:
    """Whether the simplest input lies in the domain: every word 0, which is a finite number in any format."""
    return bool(evaluate([question.domain], dict.fromkeys(question.formats, 0))[0])


class _Sweep:
    """Stages in order: what is proved equal is merged, the second model's into the first's."""

    def __init__(self, comparing: _Comparing) -> None:
        self.comparing = comparing
        self.witness: Replayed | None = None
        #: a node of the second model -> the first model's word for it
        self.merged: dict[Term, Term] = {}
        self.deep = False
        #: what of that is a fused sum's result
        self.results: dict[Term, Term] = {}
        #: range facts that merging of words of different widths relies on
        self.facts: list[Term] = []
        #: the result of a block -> the fact that it is a multiple, which the next block's c relies on
        self.multiples: dict[Term, Term] = {}

    def run(self, deep: bool) -> Term:
        """The second model's output in terms of the first's graph; ``deep``: with more time."""
        self.deep = deep
        left, right = (side.trace for side in self.comparing.question.sides)
        for ours, theirs in _blocks(left.stages, right.stages):
            if not self._block(ours, theirs):
                break
            self.results[theirs[-1].term] = self._seen(theirs[-1].term)
        return self._seen(right.output)

    def _seen(self, term: Term) -> Term:
        return substitute([term], self.merged)[0]

    def _block(self, ours: Sequence[Stage], theirs: Sequence[Stage]) -> bool:
        """Whether the block's result was proved equal (and merged), directly or by cases."""
        there = {stage.place: stage for stage in theirs}
        pairs = [(stage, there[stage.place]) for stage in ours if stage.place in there]
        if not pairs:
            return False
        for one, two in pairs:
            same = self._same(one, two)
            if self.witness is not None:
                return False
            if one.kind is Kind.LARGEST_EXPONENT and not same:
                if self._by_zeros(ours, theirs, pairs) or self._by_grids(ours, theirs):
                    return True
                if self.witness is not None:
                    return False
        last, other = pairs[-1]
        return self._seen(other.term) is last.term

    def _by_grids(self, ours: Sequence[Stage], theirs: Sequence[Stage]) -> bool:
        """Where the largest exponents differ, but only where nothing is cut."""
        one, two = Block.of(ours, {}), Block.of(theirs, self.results)
        if one is None or two is None:
            return False
        comparing, steps = self.comparing, len(self.comparing.steps)
        limit = comparing.solving.settings.timeout
        prefix = _prefix(ours[-1].block)
        free = {word: var(f"chained {number}", word.width) for number, word in enumerate(self.multiples)}
        known = all_of([comparing.question.domain, *self.multiples.values()])

        def prove(what: str, goal: Term) -> bool:
            goal = _anonymous(substitute([goal], free)[0])
            if goal.value == 0:
                return True
            lemma = comparing.lemmas.ask(goal, limit)
            if lemma.holds and all(step.script != lemma.answer.script for step in comparing.steps):
                comparing.proved(prefix + what, "the rest free", lemma)
            return lemma.holds

        def satisfiable(goal: Term) -> bool | None:
            goal = substitute([goal], free)[0]
            found = comparing.lemmas.look(goal, limit / 4).answer
            return None if found == "unknown" else found == "sat"

        if not same_result(one, two, known, prove, satisfiable):
            del comparing.steps[steps:]
            return False
        (result,) = (stage.term for stage in theirs if stage.kind is Kind.RESULT)
        self.merged[result] = one.result
        fact = multiple(one, one.last_bit, known, prove) if ours[-1].block is not None else None
        if fact is not None:
            self.multiples[one.result] = fact
        return self._seen(theirs[-1].term) is ours[-1].term

    def _same(self, one: Stage, two: Stage, assuming: Term = TRUE) -> bool:
        """Whether a stage's values are proved equal; they are merged then."""
        theirs = self._seen(two.term)
        paired = _paired(one, two, theirs)
        if paired is None:
            return False
        if paired.replacement is theirs:
            return True
        shared = set(operands_first([one.term])) & set(operands_first([theirs]))
        differ = all_of([*self.facts, assuming, paired.differ])
        comparing = self.comparing
        limit = comparing.solving.settings.timeout
        if not self.deep:
            limit = min(limit, _SHALLOW)
        for how, given, timeout in _levels(differ, shared, [one.term, theirs], limit):
            goal = characterised(substitute([differ], given)[0])
            if not given:
                goal = goal & comparing.question.domain
            lemma = comparing.lemmas.ask(goal, timeout)
            answer = lemma.answer
            if answer.answer == "unsat":
                what = one.name if assuming is TRUE else f"{one.name}, where some term is not zero"
                comparing.proved(what, how, lemma)
                self.merged[two.term] = paired.replacement
                if theirs is not two.term and theirs.value is None:
                    self.merged[theirs] = paired.replacement
                if paired.fact is not TRUE:
                    self.facts.append(paired.fact)
                return True
            if not given:
                self.witness = replayed(comparing.question, answer)
                if self.witness is not None:
                    return False
            if lemma.refused:  # the next level asks no less of the other solvers
                return False
        return False

    def _by_zeros(
        self, ours: Sequence[Stage], theirs: Sequence[Stage], pairs: Sequence[tuple[Stage, Stage]]
    ) -> bool:
        """Two cases: every term of the fused sum is zero; or some is not, and has the largest exponent."""
        top = next(p for p in pairs if p[0].kind is Kind.LARGEST_EXPONENT)
        last = pairs[-1]
        terms = list(dict.fromkeys(_terms(ours)))
        same_terms = [self._seen(t.significand) for t in _terms(theirs)] == [
            t.significand for t in _terms(ours)
        ]
        if not terms or not same_terms:
            return False
        comparing, steps = self.comparing, len(self.comparing.steps)
        merged, facts = dict(self.merged), list(self.facts)
        all_zero = all_of(t.zero for t in terms)
        wrong = any_of(t.zero & t.significand.ne(0) for t in terms)
        limit = comparing.solving.settings.timeout
        lemma = comparing.lemmas.ask(wrong, limit / 4)
        if not lemma.holds:
            return False
        comparing.proved(f"{_prefix(last[0].block)}a zero term has significand 0", "exact", lemma)
        zeros = {t.significand: const(0, t.significand.width) for t in terms if t.significand.value is None}
        one, two = substitute([last[0].term, self._seen(last[1].term)], zeros)
        case = f"{last[0].name}, where every term is zero"
        if one is two:
            comparing.steps.append(ProofStep(what=case, how="both models are the same graph"))
        else:
            lemma = comparing.lemmas.ask(
                all_of([comparing.question.domain, all_zero, one.ne(two)]), limit / 2
            )
            if not lemma.holds:
                del comparing.steps[steps:]
                return False
            comparing.proved(case, "exact", lemma)
        done = self._same(*top, assuming=~all_zero)
        for pair in pairs[pairs.index(top) + 1 :]:
            if done:
                self._same(*pair)
        done = done and self._seen(last[1].term) is last[0].term
        self.merged, self.facts = merged, facts
        if not done:
            del comparing.steps[steps:]
            return False
        self.merged[last[1].term] = last[0].term
        return True


@dataclass(frozen=True)
class _Pair:
    """Two values of one stage: that they differ; what may replace the second; what then holds."""

    differ: Term
    replacement: Term
    fact: Term = TRUE


def _paired(one: Stage, two: Stage, theirs: Term) -> _Pair | None:
    """How to compare two values of one kind, of maybe different widths; None: they cannot be equal words."""
    ours = one.term
    match one.value, two.value:
        case (Exponent() as x, Exponent() as y):
            low, high = min(x.low, y.low), max(x.high, y.high)
            moved = Exponent(theirs, y.low, y.high).within(low, high)
            back = Exponent(ours, x.low, x.high).within(min(x.low, y.low), high) - (y.low - low)
            width = theirs.width
            back = back[width - 1 : 0] if back.width >= width else back.zext(width)
            return _Pair(x.within(low, high).ne(moved), back)
        case (Fixed() as x, Fixed() as y) if x.fraction_bits == y.fraction_bits:
            wide = max(ours.width, theirs.width)
            differ = ours.sext(wide).ne(theirs.sext(wide))
            if ours.width <= theirs.width:
                return _Pair(differ, ours.sext(theirs.width))
            narrow = ours[theirs.width - 1 : 0]
            return _Pair(differ, narrow, narrow.sext(wide).eq(ours))
        case (Number() as x, Number() as y) if (
            ours.width == theirs.width and x.fraction_bits == y.fraction_bits
        ):
            return _Pair(ours.ne(theirs), ours)
        case _ if (
            type(one.value) is type(two.value) and one.value == two.value and ours.width == theirs.width
        ):
            return _Pair(ours.ne(theirs), ours)
    return None


def _levels(
    differ: Term, shared: set[Term], roots: Sequence[Term], limit: float
) -> Iterator[tuple[str, dict[Term, Term], float]]:
    """What is made free on each level, in words and as replacements, and how long to try."""
    edge = _edge(roots, shared)
    yield "with all that both sides share free", _freed(edge), limit / 8
    products = [t for t in operands_first([differ]) if t.op == "mul" and t in shared]
    if products:
        yield "with products free", _freed(products), limit / 4
    yield "nothing free", {}, limit / 2


def _anonymous(goal: Term) -> Term:
    """The goal with inputs renamed in order, so that equal questions about several lanes are one."""
    found = [t for t in operands_first([goal]) if t.op == "var"]
    return substitute([goal], {v: var(f"word {n}", v.width) for n, v in enumerate(found)})[0]


def _edge(roots: Sequence[Term], shared: set[Term]) -> list[Term]:
    """Shared nodes that something not shared uses, arguments first."""
    nodes = operands_first(roots)
    used = {arg for node in nodes if node not in shared for arg in node.args} | set(roots)
    edge = {node for node in used if node in shared and node.value is None}
    for node in reversed(nodes):  # below what only extends or adds a constant: that says how large a word is
        if node in edge and (node.op in _RANGES or (node.op == "add" and node.args[0].value is not None)):
            edge.remove(node)
            edge |= {arg for arg in node.args if arg.value is None}
    return [node for node in nodes if node in edge]


#: Seconds for a stage before witnesses with few lanes are looked for.
_SHALLOW = 16.0
#: Operations whose results have a known range.
_RANGES = ("zext", "sext", "concat")


def _freed(nodes: Iterable[Term]) -> dict[Term, Term]:
    return {node: var(f"cut {number}", node.width) for number, node in enumerate(nodes)}


def _terms(stages: Sequence[Stage]) -> Iterator[Number]:
    """The numbers that are aligned in a block: products and c."""
    for stage in stages:
        if stage.kind in (Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C):
            assert isinstance(stage.value, Fixed)
            if isinstance(stage.value.source, Number):
                yield stage.value.source


def _prefix(block: Where) -> str:
    text = where_text(block)
    return f"{text}: " if text else ""


def _blocks(
    ours: Sequence[Stage], theirs: Sequence[Stage]
) -> Iterator[tuple[Sequence[Stage], Sequence[Stage]]]:
    """The stages of each fused sum of a chain."""
    for block in dict.fromkeys(stage.block for stage in ours):
        yield tuple(s for s in ours if s.block == block), tuple(s for s in theirs if s.block == block)
