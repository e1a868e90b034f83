"""Ranges of words, as facts of a proof: each follows from the ranges of its operands, by a query about one
operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.terms import TRUE, Term, all_of, const
from tcsmt.prove.certificates.derivation import Close, Fact, characterised, cut
from tcsmt.prove.engine.proof_steps import Proving

__all__ = ["Ranges"]

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
            self.proved[word] = TRUE  # until it is proved
            says = self._inside(word)
            if says is not TRUE:
                self._prove(word, says)
        return self.proved[word]

    def _inside(self, word: Term) -> Term:
        """That the word lies between its bounds; true where any word of its width does."""
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
        free = tuple(arg for arg in dict.fromkeys(word.args) if arg.value is None)
        using = tuple(self.of(free))
        proving = self.proving
        lemma = proving.lemmas.ask(characterised(cut(all_of([*using, ~says]), free)), _LIMIT)
        if lemma.holds:
            proving.proved(
                f"range {len(proving.steps)}: {word.op} of {word.width} bits", "operands free", lemma
            )
            proving.derived.append(Fact(says, (Close(using, free),)))
            self.proved[word] = says
