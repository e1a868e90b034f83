"""Two graphs merged word by word: for graphs of strangers, whose stages have no names.

Both graphs are run on many rows of the question's domain. A word of the second that looks like one of the
first (:mod:`.candidate_equalities`) is put to the solvers, arguments first: is there an input at which they
differ? What is proved equal is merged, and left free in the queries that follow, which
over-approximates: sound for "equal", while an input that only this allows proves nothing. A real input at
which they differ is one more row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import numpy as np

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import TRUE, Term, operands_first, substitute
from tcsmt.prove.certificates.derivation import Close, Equal
from tcsmt.prove.engine.asked_lemmas import CountedAnswer
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.prove.engine.candidate_equalities import CandidateEqualities, values_of
from tcsmt.prove.engine.proof_steps import Proving
from tcsmt.prove.engine.stage_by_stage import attempts
from tcsmt.prove.engine.witnesses import Replayed, replayed

__all__ = ["Sweeping"]

#: Rows that are drawn, of which those in the domain count.
_ROWS = 3072
#: Operations whose results are worth a query: those that something was computed for.
_WORTH = frozenset(
    ("mul", "add", "sub", "neg", "shl", "lshr", "ashr", "ite", "umax", "concat", "sext", "zext", "macro")
)
#: Of the time for a query, what a word has, and all words together; before and after looking for a witness.
_SHALLOW, _DEEP = (1 / 30, 1.0), (1 / 6, 4.0)


class Sweeping:
    """Words in order: what is proved equal is merged, the second graph's into the first's.

    As :class:`.StageByStage`: ``run`` gives the second output in terms of the first's graph.
    """

    def __init__(self, proving: Proving) -> None:
        self.proving = proving
        self.witness: Replayed | None = None
        self.merged: dict[Term, Term] = {}
        #: inputs at which words that looked alike differ
        self.differing: list[dict[str, int]] = []
        self.tried: set[tuple[Term, Term]] = set()

    def run(self, deep: bool) -> Term:
        """The second output in terms of the first's graph; ``deep``: with more time."""
        each, together = _DEEP if deep else _SHALLOW
        limit = self.proving.limit
        end = time.monotonic() + together * limit
        for node, theirs in self._pairs():
            if time.monotonic() > end or self.witness is not None:
                break
            for ours in self.alike.to(node):
                if ours is theirs:
                    self.merged[node] = ours
                elif self._equal(node, theirs, ours, each * limit):
                    break
        return self._seen(self.right)

    @property
    def right(self) -> Term:
        """The second side's output."""
        return self.proving.question.sides[1].trace.output

    def _pairs(self) -> Iterator[tuple[Term, Term]]:
        """Each word of the second graph that is worth a query, and what it is now."""
        question = self.proving.question
        nodes = operands_first([question.sides[0].trace.output])
        own = set(nodes)
        right = [node for node in operands_first([self.right]) if node not in own]
        values = values_of([*nodes, *right], self._rows())
        self.alike = CandidateEqualities(values)
        self.alike.add(nodes)
        for node in right:
            if node.op in _WORTH and node not in self.merged and node in values:
                yield node, self._seen(node)

    def _rows(self) -> Mapping[str, np.ndarray]:
        """Rows of inputs in the domain."""
        question = self.proving.question
        drawn = rows(question.formats, _ROWS, np.random.default_rng(17))
        (inside,) = values_of([question.domain], drawn).values()
        kept = np.flatnonzero(inside.unsigned)
        if not kept.size:
            kept = np.arange(_ROWS)
        return {name: words[kept] for name, words in drawn.items()}

    def _seen(self, term: Term) -> Term:
        return substitute([term], self.merged)[0]

    def _equal(self, node: Term, theirs: Term, ours: Term, limit: float) -> bool:
        """Whether a word was proved to be one of the first graph; it is merged then."""
        if (node, ours) in self.tried and limit < self.proving.limit * _DEEP[0]:
            return False
        self.tried.add((node, ours))
        if any(left != right for left, right in (evaluate([theirs, ours], at) for at in self.differing)):
            return False
        proving = self.proving
        for how, freed, lemma in attempts(proving, theirs.ne(ours), (ours, theirs), limit):
            if lemma.holds:
                self._merge(node, theirs, ours, how, freed, lemma)
                return True
            if not freed and lemma.answer.answer == "sat":
                self.differing.append({n: lemma.answer.values.get(n, 0) for n in proving.question.formats})
                self.witness = replayed(proving.question, lemma.answer)
        return False

    def _merge(
        self, node: Term, theirs: Term, ours: Term, how: str, freed: Mapping[Term, Term], lemma: CountedAnswer
    ) -> None:
        proving = self.proving
        proving.proved(f"word {len(proving.steps)}: {node.op} of {node.width} bits", how, lemma)
        using = (TRUE,) if freed else (proving.question.domain,)
        proving.derived.append(
            Equal(node, ours, (Close(tuple(u for u in using if u is not TRUE), tuple(freed)),))
        )
        self.merged[node] = ours
        if theirs is not node and theirs.value is None:
            self.merged[theirs] = ours
