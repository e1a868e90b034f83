"""Two graphs merged word by word: for graphs of strangers, whose stages have no names.

Both graphs are run on many rows of the question's domain. A word of the second that looks like one of the
first (:mod:`.candidate_equalities`), or is on the way to one (:mod:`.candidate_equalities`), is put to the
solvers, arguments first: is there an input at which they differ? What is proved equal is merged, and left
free in the queries that follow, which over-approximates: sound for "equal", while an input that only this
allows proves nothing. A real input at which they differ is one more row.

Most queries are about a few operations on free words: those that a compiler has put for one another. They
have no names of inputs, so the same rewriting is asked once (:class:`.Lemmas`), wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import (
    FALSE,
    TRUE,
    Term,
    all_of,
    const,
    expand,
    flat,
    operands_first,
    rebuild,
    substitute,
    variables,
)
from tcsmt.prove.certificates.derivation import Close, Equal, Fact, characterised, cut
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.prove.engine.candidate_equalities import (
    CandidateEqualities,
    Cones,
    PartialSums,
    extended_number,
    maximum,
    values_of,
)
from tcsmt.prove.engine.limb_words import LimbWords
from tcsmt.prove.engine.proof_steps import LemmaAnswer, Proving
from tcsmt.prove.engine.solvers.run import spent
from tcsmt.prove.engine.stage_by_stage import attempts, freed_words
from tcsmt.prove.engine.witnesses import Replayed, replayed

#: Seconds for a query: one operation on free words.
_LIMIT = 1.0


@dataclass
class Ranges:
    """Ranges of words; what :class:`.Bounds` says is proved before it counts."""

    proving: Proving
    bounds: Bounds = field(default_factory=Bounds)
    proved: dict[Term, Term] = field(default_factory=dict)

    def of(self, words: Iterable[Term]) -> list[Term]:
        """Return the facts that there are about words, which are steps of the proof now."""
        facts = [self._of(word) for word in words]
        return [fact for fact in facts if fact is not TRUE]

    def _of(self, word: Term) -> Term:
        if word not in self.proved:
            self.proved[word] = TRUE  # until it is proved: a range must not be used in its own proof
            says = self._inside(word)
            if says is not TRUE:
                self._prove(word, says)
        return self.proved[word]

    def _inside(self, word: Term) -> Term:
        """Return that the word lies between its bounds; true where any word of its width does."""
        if not word.args:
            return TRUE
        ones = (1 << word.width) - 1
        low, high = self.bounds.unsigned(word)
        if (low, high) != (0, ones):
            return const(low, word.width).ule(word) & word.ule(const(high, word.width))
        low, high = self.bounds.signed(word)
        if (low, high) != (-(ones >> 1) - 1, ones >> 1):
            return const(low, word.width).sle(word) & word.sle(const(high, word.width))
        return TRUE

    def _prove(self, word: Term, says: Term) -> None:
        # with its operands free the lemma holds whatever computes them; their own ranges are facts already
        free = tuple(arg for arg in dict.fromkeys(word.args) if arg.value is None)
        using = tuple(self.of(free))
        proving = self.proving
        lemma = proving.lemmas.prove(characterised(cut(all_of([*using, ~says]), free)), _LIMIT)
        if lemma.holds:
            proving.proved(
                f"range {len(proving.steps)}: {word.op} of {word.width} bits", "operands free", lemma
            )
            proving.derived.append(Fact(says, (Close(using, free),)))
            self.proved[word] = says


#: Rows that are drawn, of which those in the domain count.
_ROWS = 3072
#: Operations whose results are worth a query: those that something was computed for.
_WORTH = frozenset(
    ("and", "or", "xor", "mul", "add", "sub", "neg", "shl", "lshr", "ashr", "ite", "umax", "concat", "sext")
    + ("zext", "macro")
)
#: Of the time for a query, what a word has, and all words together; before and after looking for a witness.
_SHALLOW, _DEEP = (1 / 30, 1.0), (1 / 6, 4.0)
#: Words that are tried before a solver is asked: to start one takes longer.
_TRIES = 32


class Sweeping:
    """Words in order: what is proved equal is merged, the second graph's into the first's.

    As :class:`.StageByStage`: ``run`` gives the second output in terms of the first's graph.
    """

    def __init__(self, proving: Proving) -> None:
        self.proving = proving
        self.ranges = Ranges(proving)
        self.cones = Cones()
        self.left, self.right = (side.trace.output for side in proving.question.sides)
        #: the first output without macros: what they are made of is what a stranger has
        (self.expanded,) = expand([self.left])
        #: what the second graph is merged into
        self.limbs = LimbWords.like(self.expanded, self.right)
        self.base = self.expanded if self.limbs is None else self.limbs.root
        self.own = set(operands_first([self.base]))
        self.witness: Replayed | None = None
        self.merged: dict[Term, Term] = {}
        #: inputs at which words that looked alike differ
        self.differing: list[dict[str, int]] = []
        self.tried: set[tuple[Term, Term]] = set()

    def run(self, deep: bool) -> Term:
        """Return the second output in terms of the first's graph; ``deep``: with more time."""
        each, together = _DEEP if deep else _SHALLOW
        limit = self.proving.limit
        end = spent() + together * limit  # of a processor: the clock would count others'
        for node, word in self._pairs():
            if spent() > end or self.witness is not None:
                break
            theirs = self._stepwise(node, word, each * limit)
            candidates = list(self.alike.to(node))
            if theirs in self.own or theirs in candidates:
                self.merged[node] = theirs
            elif not any(
                self._equal_locally(node, theirs, ours, each * limit, ranges=True) for ours in candidates
            ):
                any(self._equal(node, theirs, ours, each * limit, deep) for ours in candidates)
        (result,) = substitute([self.right], self.merged)
        # merged into the limbs is not yet merged into the unit: that both are one graph is proved last
        if self.limbs is not None and result is self.base and self.limbs.widened(self.right, self.proving):
            return self.left
        return self.left if result is self.expanded else result

    def _pairs(self) -> Iterator[tuple[Term, Term]]:
        """Yield each word of the second graph that is worth a query, and what it is now."""
        nodes = operands_first([self.base])
        right = [node for node in operands_first([self.right]) if node not in self.own]
        values = values_of([*nodes, *right], self._rows())
        self.alike = CandidateEqualities(values)
        self.alike.add(nodes)
        self.sums = PartialSums()
        self.sums.add(nodes)
        now = {node: node for node in nodes}
        for node in right:
            word = rebuild(node, [now[arg] for arg in node.args]) if node.args else node
            now[node] = self.merged.get(node) or self.merged.get(word) or word
            if node.op in _WORTH and node not in self.merged and node in values:
                yield node, now[node]
                now[node] = self.merged.get(node, now[node])

    def _rows(self) -> Mapping[str, np.ndarray]:
        """Return rows of inputs in the domain."""
        question = self.proving.question
        drawn = rows(question.formats, _ROWS, np.random.default_rng(17))
        (inside,) = values_of([question.domain], drawn).values()
        places = np.flatnonzero(inside.unsigned)
        if not places.size:  # rows only suggest what to ask, so any will do
            places = np.arange(_ROWS)
        return {name: words[places] for name, words in drawn.items()}

    def _stepwise(self, node: Term, theirs: Term, limit: float) -> Term:
        """Return the word as operations of the first graph on two words, as far as that is proved."""
        steps = (maximum, extended_number, self.sums.of)
        while any(
            (ours := step(theirs)) is not None
            and ours is not theirs
            and self._equal_locally(node, theirs, ours, limit, ranges=True)
            for step in steps
        ):
            theirs = self.merged[node]
        return theirs

    def _equal_locally(
        self, node: Term, theirs: Term, ours: Term, limit: float, *, ranges: bool = False
    ) -> bool:
        """Return whether two words are proved equal with all that they share free; they are merged then.

        ranges: what is free is also taken to lie where it does.
        """
        free = tuple(self.cones.edge(theirs, ours))
        if self._refuted(node, theirs, ours, Close((), free), limit):
            return True
        facts = tuple(self.ranges.of(free)) if ranges else ()
        return bool(facts) and self._refuted(node, theirs, ours, Close(facts, free), limit)

    def _equal(self, node: Term, theirs: Term, ours: Term, limit: float, deep: bool) -> bool:
        """Return whether two words are proved equal with less free, or nothing; they are merged then."""
        if ((node, ours) in self.tried and not deep) or self._seen_to_differ(theirs, ours):
            return False
        self.tried.add((node, ours))
        proving = self.proving
        for how, free, lemma in attempts(proving, theirs.ne(ours), (ours, theirs), limit):
            if lemma.holds:
                domain = proving.question.domain
                using = () if free or domain is TRUE else (domain,)
                self._merge(node, theirs, ours, how, Close(using, tuple(free)), lemma)
                return True
            # with words free a solution may be no input at all
            if not free and lemma.answer.answer == "sat":
                self.differing.append({n: lemma.answer.values.get(n, 0) for n in proving.question.formats})
                self.witness = replayed(proving.question, lemma.answer)
        return False

    def _seen_to_differ(self, theirs: Term, ours: Term) -> bool:
        return any(left != right for left, right in (evaluate([theirs, ours], at) for at in self.differing))

    def _refuted(self, node: Term, theirs: Term, ours: Term, close: Close, limit: float) -> bool:
        """Return whether the last step proves that two words do not differ; they are merged then."""
        differ = all_of([*close.using, theirs.ne(ours)])
        (goal,) = substitute([differ], freed_words(close.free))
        if _solved(goal):  # a solution was met by chance: no solver can refute the goal
            return False
        lemma = self.proving.lemmas.prove(FALSE if flat(goal).value == 0 else characterised(goal), limit)
        if lemma.holds:
            self._merge(node, theirs, ours, "with all that both sides share free", close, lemma)
        return lemma.holds

    def _merge(
        self, node: Term, theirs: Term, ours: Term, how: str, close: Close, lemma: LemmaAnswer
    ) -> None:
        proving = self.proving
        proving.proved(f"word {len(proving.steps)}: {node.op} of {node.width} bits", how, lemma)
        proving.derived.append(Equal(node, ours, (close,)))
        self.merged[node] = ours
        # nodes that follow are made of what the node has become
        if theirs is not node and theirs.value is None:
            self.merged[theirs] = ours


def _solved(goal: Term) -> bool:
    """Return whether some words, most of them at the ends of their ranges, are a solution."""
    free, rng = variables([goal]), Random(17)
    for _ in range(_TRIES):
        drawn = {}
        for word in free:
            ones = (1 << word.width) - 1
            ends = (0, 1, ones, ones >> 1, ones ^ ones >> 1, rng.randrange(word.width + 1) & ones)
            drawn[str(word.data)] = rng.choice(
                (*ends, rng.getrandbits(word.width), rng.getrandbits(word.width))
            )
        if evaluate([goal], drawn) == [1]:
            return True
    return False
