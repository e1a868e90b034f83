"""Two models' graphs merged stage by stage: what is proved equal becomes one node.

The second model's graph is merged into the first's: where a stage is proved equal, the second model's
node is replaced by the first's, so that whatever follows alike is one graph. Each proof is a small
query, tried on three levels, the coarsest first: everything that both sides share is a free variable;
only shared products are; nothing is. The first two over-approximate, which is sound for "equal"; an
input that they allow is spurious until it replays, and the next level refines it.

Lemmas are queries without the models' input names, so equal blocks of a chain ask the same script,
which is answered once (:class:`.Lemmas`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from tcsmt.language.terms import TRUE, Term, all_of, any_of, const, operands_first, substitute, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.matrix_units.models.stages import Where, where_text
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, Proof, Step, characterised
from tcsmt.prove.engine.alignment_grids import multiple, same_result
from tcsmt.prove.engine.blocks import Block
from tcsmt.prove.engine.grid_steps import Known, multiple_steps, same_steps
from tcsmt.prove.engine.proof_steps import LemmaAnswer, ProofStep, Proving
from tcsmt.prove.engine.witnesses import Replayed, replayed
from tcsmt.support.invariants import checked_cast


class StageByStage:
    """Stages in order: what is proved equal is merged, the second model's into the first's."""

    def __init__(self, proving: Proving) -> None:
        self.proving = proving
        #: what a certificate says of what is merged
        self.derived = proving.derived
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
        """Return the second model's output in terms of the first's graph; ``deep``: with more time."""
        self.deep = deep
        left, right = (side.trace for side in self.proving.question.sides)
        for ours, theirs in _blocks(left.stages, right.stages):
            if not self._block(ours, theirs):
                break
            self.results[theirs[-1].term] = self._seen(theirs[-1].term)
        return self._seen(right.output)

    def _seen(self, term: Term) -> Term:
        return substitute([term], self.merged)[0]

    def _block(self, ours: Sequence[Stage], theirs: Sequence[Stage]) -> bool:
        """Return whether the block's result was proved equal (and merged), directly or by cases."""
        there = {stage.place: stage for stage in theirs}
        pairs = [(stage, there[stage.place]) for stage in ours if stage.place in there]
        if not pairs:
            return False
        start = len(self.derived)
        for left, right in pairs:
            same = self._same(left, right)
            if self.witness is not None:
                return False
            if left.kind is Kind.LARGEST_EXPONENT and not same:
                if self._by_zeros(ours, theirs, pairs) or self._by_grids(ours, theirs, start):
                    return True
                if self.witness is not None:
                    return False
        last, other = pairs[-1]
        return self._seen(other.term) is last.term

    def _by_grids(self, ours: Sequence[Stage], theirs: Sequence[Stage], start: int) -> bool:
        """Prove the stages equal where the largest exponents differ, but only where nothing is cut.

        start: how many steps there were before this block, which is looked at without what was merged in it.
        """
        left, right = Block.of(ours, {}), Block.of(theirs, self.results)
        if left is None or right is None:
            return False
        proving, steps = self.proving, len(self.proving.steps)
        limit = proving.limit
        prefix = _prefix(ours[-1].block)
        # results of earlier blocks are free but for what is known of them, so one lemma serves every block
        free = {word: var(f"chained {number}", word.width) for number, word in enumerate(self.multiples)}
        premise = all_of([proving.question.domain, *self.multiples.values()])

        def prove(what: str, goal: Term) -> bool:
            goal = _anonymous(substitute([goal], free)[0])
            if goal.value == 0:
                return True
            lemma = proving.lemmas.prove(goal, limit)
            if lemma.holds and all(step.script != lemma.answer.script for step in proving.steps):
                proving.proved(prefix + what, "the rest free", lemma)
            return lemma.holds

        def satisfiable(goal: Term) -> bool | None:
            goal = substitute([goal], free)[0]
            answer = proving.lemmas.find_model(goal, limit / 4).answer
            return None if answer == "unknown" else answer == "sat"

        grids = same_result(left, right, premise, prove, satisfiable)
        if grids is None:  # the lemmas so far prove nothing without the one that failed
            del proving.steps[steps:]
            return False
        # every lemma above holds: only now may the result be merged
        (result,) = (stage.term for stage in theirs if stage.kind is Kind.RESULT)
        self.merged[result] = left.result
        where = Known((proving.question.domain, *self.multiples.values()), tuple(self.multiples))
        derived = [same_steps(result, left, right, grids, where)]
        fact = multiple(left, left.last_bit, premise, prove) if ours[-1].block is not None else None
        if fact is not None:
            self.multiples[left.result] = fact
            derived.append(multiple_steps(left, left.last_bit, where))
        # They are about the block without what was merged in it since ``start``, so they come before that.
        self.derived[start:start] = derived
        return self._seen(theirs[-1].term) is ours[-1].term

    def _same(self, left: Stage, right: Stage, assuming: Term = TRUE) -> bool:
        """Return whether a stage's values are proved equal; they are merged then."""
        theirs = self._seen(right.term)
        paired = _paired(left, right, theirs)
        if paired is None:
            return False
        if paired.replacement is theirs:
            return True
        differ = all_of([*self.facts, assuming, paired.differ])
        proving = self.proving
        limit = proving.limit
        if not self.deep:
            limit = min(limit, _SHALLOW)
        dumped = partial(_dumped, proving, left, right, theirs)
        sides = (left.term, theirs)
        for how, freed, lemma in attempts(proving, differ, sides, limit, shares=True, dumped=dumped):
            if lemma.holds:
                what = left.name if assuming is TRUE else f"{left.name}, where some term is not zero"
                proving.proved(what, how, lemma)
                using = (*self.facts, assuming, proving.question.domain if not freed else TRUE)
                self.derived += _derived(left.term, right.term, theirs, paired, Close(using, tuple(freed)))
                self.merged[right.term] = paired.replacement
                # later stages are made of what the node has become, not of the node itself
                if theirs is not right.term and theirs.value is None:
                    self.merged[theirs] = paired.replacement
                if paired.fact is not TRUE:
                    self.facts.append(paired.fact)
                return True
            if not freed:  # a solution with words free may be no input at all
                self.witness = replayed(proving.question, lemma.answer)
        return False

    def _by_zeros(
        self, ours: Sequence[Stage], theirs: Sequence[Stage], pairs: Sequence[tuple[Stage, Stage]]
    ) -> bool:
        """Prove two cases: all terms of the fused sum are zero; or one is not, and has the top exponent."""
        last, terms = pairs[-1], list(dict.fromkeys(_terms(ours)))
        significands = [term.significand for term in _terms(ours)]
        if not terms or [self._seen(term.significand) for term in _terms(theirs)] != significands:
            return False
        proving, steps = self.proving, len(self.proving.steps)
        all_zero = all_of(term.zero for term in terms)
        wrong = any_of(term.zero & term.significand.ne(0) for term in terms)
        lemma = proving.lemmas.prove(wrong, proving.limit / 4)
        if not lemma.holds:
            return False
        proving.proved(f"{_prefix(last[0].block)}a zero term has significand 0", "exact", lemma)
        zeros = self._all_zero(terms, last, all_zero, wrong)
        others = None if zeros is None else self._not_all_zero(pairs, all_zero)
        if zeros is None or others is None:
            del proving.steps[steps:]
            return False
        cases = Cases(((all_zero, zeros),), others)
        self.derived += [Fact(~wrong, (Close(),)), Equal(last[1].term, last[0].term, (cases,))]
        self.merged[last[1].term] = last[0].term
        return True

    def _all_zero(
        self, terms: Sequence[Number], last: tuple[Stage, Stage], all_zero: Term, wrong: Term
    ) -> Proof | None:
        """Prove the last stages equal where all terms are zero, with every significand put to 0."""
        proving = self.proving
        # sound where every term is zero: that a zero term has significand 0 was proved before
        zeros = {t.significand: const(0, t.significand.width) for t in terms if t.significand.value is None}
        free = tuple(word for t in terms for word in (t.zero, t.significand) if word.value is None)
        follows = (Close((all_zero, ~wrong), free),)
        left, right = substitute([last[0].term, self._seen(last[1].term)], zeros)
        case = f"{last[0].name}, where every term is zero"
        if left is right:
            proving.steps.append(ProofStep(what=case, how="both models are the same graph"))
        else:
            goal = all_of([proving.question.domain, all_zero, left.ne(right)])
            lemma = proving.lemmas.prove(goal, proving.limit / 2)
            if not lemma.holds:
                return None
            proving.proved(case, "exact", lemma)
        put = tuple(Equal(word, zero, follows) for word, zero in zeros.items())
        return (*put, Close((proving.question.domain, all_zero)))

    def _not_all_zero(self, pairs: Sequence[tuple[Stage, Stage]], all_zero: Term) -> Proof | None:
        """Prove the last stages equal where some term is not zero, which then has the largest exponent."""
        merged, facts, derived = dict(self.merged), list(self.facts), self.derived
        self.derived = []
        start = next(i for i, pair in enumerate(pairs) if pair[0].kind is Kind.LARGEST_EXPONENT)
        done = self._same(*pairs[start], assuming=~all_zero)
        for pair in pairs[start + 1 :]:
            if done:
                self._same(*pair)
        last = pairs[-1]
        done = done and self._seen(last[1].term) is last[0].term
        steps = self.derived
        # What was merged here is equal in this case alone: it must not outlive the case.
        self.merged, self.facts, self.derived = merged, facts, derived
        return (*steps, Close()) if done else None


def _dumped(
    proving: Proving, left: Stage, right: Stage, theirs: Term, freed: dict[Term, Term]
) -> AbstractContextManager[None]:
    """Name, in scripts that are kept, the stage that is asked about, and its values on both sides."""
    dump = proving.solving.dump
    if dump is None:
        return nullcontext()
    values = zip(substitute([left.term, theirs], freed), ("left", "right"), (left, right), strict=True)
    names = {term: f"{side}.{stage.name.replace(' ', '-')}" for term, side, stage in values if term.args}
    return dump.where(freed, f"; stage: {left.name}", names)


def _derived(ours: Term, node: Term, theirs: Term, paired: _Pair, refuted: Close) -> list[Step]:
    """Return the steps that replace a node, once its value ``theirs`` is proved ours, of maybe another
    width.
    """
    if paired.replacement is ours:
        return [Equal(node, ours, (refuted,))]
    same = ~paired.differ
    follows = (Close((same,), (ours, theirs)),)
    facts = [Fact(paired.fact, follows)] if paired.fact is not TRUE else []
    return [Fact(same, (refuted,)), *facts, Equal(node, paired.replacement, follows)]


@dataclass(frozen=True)
class _Pair:
    """Two values of one stage: that they differ; what may replace the second; what then holds."""

    differ: Term
    replacement: Term
    fact: Term = TRUE


def _paired(left: Stage, right: Stage, theirs: Term) -> _Pair | None:
    """Return how to compare two values of one kind, of maybe different widths; None: they cannot be equal
    words.
    """
    ours = left.term
    match left.value, right.value:
        case (Exponent() as x, Exponent() as y):
            low, high = min(x.low, y.low), max(x.high, y.high)
            moved = Exponent(theirs, y.low, y.high).within(low, high)
            back = Exponent(ours, x.low, x.high).within(min(x.low, y.low), high) - (y.low - low)
            width = theirs.width
            back = back[width - 1 : 0] if back.width >= width else back.zext(width)
            return _Pair(x.within(low, high).ne(moved), back)
        case (Fixed() as x, Fixed() as y) if x.fraction_bits == y.fraction_bits:
            common = max(ours.width, theirs.width)
            differ = ours.sext(common).ne(theirs.sext(common))
            if ours.width <= theirs.width:
                return _Pair(differ, ours.sext(theirs.width))
            # theirs is narrower: that its bits hold all of ours follows from equality, and becomes a fact
            # on which later lemmas rest
            narrow = ours[theirs.width - 1 : 0]
            return _Pair(differ, narrow, narrow.sext(common).eq(ours))
        case (Number() as x, Number() as y) if (
            ours.width == theirs.width and x.fraction_bits == y.fraction_bits
        ):
            return _Pair(ours.ne(theirs), ours)
        case _ if (
            type(left.value) is type(right.value) and left.value == right.value and ours.width == theirs.width
        ):
            return _Pair(ours.ne(theirs), ours)
    return None


def attempts(
    proving: Proving,
    differ: Term,
    sides: tuple[Term, Term],
    limit: float,
    *,
    shares: bool = False,
    dumped: Callable[[dict[Term, Term]], AbstractContextManager[None]] | None = None,
) -> Iterator[tuple[str, dict[Term, Term], LemmaAnswer]]:
    """Yield whether two words can differ, asked with fewer and fewer words free: what is free, in words and
    as replacements, and what solvers say.

    With words free, more inputs are allowed than there are: if none of them differs, no input does. Only the
    last attempt, with nothing free, is about the inputs of the domain.
    limit: seconds for each attempt, or for all where each has a share. dumped: where scripts are kept,
    names what is asked.
    """
    shared = set.intersection(*(set(operands_first([side])) for side in sides))
    for how, freed, share in _levels(differ, shared, sides):
        goal = characterised(substitute([differ], freed)[0])
        # the domain is about inputs: with words free it would restrict inputs that the goal no longer has
        if not freed:
            goal = goal & proving.question.domain
        with dumped(freed) if dumped else nullcontext():
            lemma = proving.lemmas.prove(goal, limit * share if shares else limit)
        yield how, freed, lemma
        if lemma.refused:  # the next level asks no less of the other solvers
            return


def _levels(
    differ: Term, shared: set[Term], roots: Sequence[Term]
) -> Iterator[tuple[str, dict[Term, Term], float]]:
    """Yield what is made free on each level, in words and as replacements, and its share of the time."""
    yield "with all that both sides share free", freed_words(_edge(roots, shared)), 1 / 8
    products = [t for t in operands_first([differ]) if t.op == "mul" and t in shared]
    if products:
        yield "with products free", freed_words(products), 1 / 4
    yield "nothing free", {}, 1 / 2


def _anonymous(goal: Term) -> Term:
    """Return the goal with inputs renamed in order, so that equal questions about several lanes are one."""
    inputs = [t for t in operands_first([goal]) if t.op == "var"]
    return substitute([goal], {v: var(f"word {n}", v.width) for n, v in enumerate(inputs)})[0]


def _edge(roots: Sequence[Term], shared: set[Term]) -> list[Term]:
    """Return the shared nodes that something not shared uses, arguments first."""
    nodes = operands_first(roots)
    used = {arg for node in nodes if node not in shared for arg in node.args} | set(roots)
    edge = {node for node in used if node in shared and node.value is None}
    for node in reversed(nodes):  # below what only extends or adds a constant: that says how large a word is
        if node in edge and says_range(node):
            edge.remove(node)
            edge |= {arg for arg in node.args if arg.value is None}
    return [node for node in nodes if node in edge]


#: Seconds for a stage before witnesses with few lanes are looked for.
_SHALLOW = 16.0
#: Operations whose results have a known range.
_RANGES = ("zext", "sext", "concat")


def says_range(node: Term) -> bool:
    """Return whether a node only extends a word or adds a constant to one."""
    return node.op in _RANGES or (node.op == "add" and node.args[0].value is not None)


def freed_words(nodes: Iterable[Term]) -> dict[Term, Term]:
    """Return a free word to put for each node, named by its place: the same for what is alike elsewhere."""
    return {node: var(f"cut {number}", node.width) for number, node in enumerate(nodes)}


def _terms(stages: Sequence[Stage]) -> Iterator[Number]:
    """Yield the numbers that are aligned in a block: products and c."""
    for stage in stages:
        if stage.kind in (Kind.ALIGNED_PRODUCT, Kind.ALIGNED_C):
            source = checked_cast(stage.value, Fixed).source
            if isinstance(source, Number):
                yield source


def _prefix(block: Where) -> str:
    text = where_text(block)
    return f"{text}: " if text else ""


def _blocks(
    ours: Sequence[Stage], theirs: Sequence[Stage]
) -> Iterator[tuple[Sequence[Stage], Sequence[Stage]]]:
    """Yield the stages of each fused sum of a chain."""
    for block in dict.fromkeys(stage.block for stage in ours):
        yield tuple(s for s in ours if s.block == block), tuple(s for s in theirs if s.block == block)
