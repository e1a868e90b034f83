"""A graph of wide words in the words of a machine, limb by limb, and the proof that it is the same graph.

A stranger's program has no words of 282 bits: it adds with carries and shifts across words. So the unit's
graph is written as such programs are (:mod:`tcsmt.language.graphs.limbs`), and the stranger's is merged into
that. Of each limb it is known which bits of which wide word it is, and that is proved word by word, with the
operands of the wide word free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add

from tcsmt.language.graphs.limbs import Limbs, split, sums
from tcsmt.language.terms import FALSE, Term, flat, operands_first, rebuild, substitute
from tcsmt.prove.certificates.derivation import Close, Equal, characterised
from tcsmt.prove.engine.asked_lemmas import CountedAnswer
from tcsmt.prove.engine.proof_steps import Proving
from tcsmt.prove.engine.stage_by_stage import freed_words

__all__ = ["LimbWords"]

#: Bits of a machine's words.
_MACHINES = (32, 64, 128)


#: What words are, one after the other.
_Words = Mapping[Term, Sequence[Term]]


@dataclass(frozen=True)
class LimbWords:
    """A graph without wide words. root: its result.

    wide: the result of the graph that it is; and binary: of that graph with sums of two words at a time.
    limbs: which bits of that graph's words the limbs are. sums: what its sums are in the other one.
    """

    root: Term
    limbs: _Words
    binary: Term
    sums: _Words
    wide: Term

    @classmethod
    def like(cls, wide: Term, other: Term) -> LimbWords | None:
        """A graph in the words of another one, if those are a machine's and its own are wider.

        wide: its result, without macros.
        """
        nodes, limb = operands_first([wide]), max(node.width for node in operands_first([other]))
        wider = [node for node in nodes if node.width > limb]
        if limb not in _MACHINES or not wider or any(node.op == "var" for node in wider):
            return None
        parts = dict(zip(nodes, split(nodes, limb), strict=True))
        binary: dict[Term, Term] = {}
        limbs, whole, seen = defaultdict[Term, list[Term]](list), dict[Term, list[Term]](), set[Term]()
        for node in nodes:
            args = [binary[arg] for arg in node.args]
            if node.op == "add" and node.width > limb:
                words = [*accumulate(args, add)][1:]
                of_each = [*sums([parts[arg] for arg in node.args])]
                whole[words[-1]] = [node]
            else:
                words, of_each = [rebuild(node, args) if args else node], [parts[node]]
            binary[node] = words[-1]
            if any(word.width > limb for word in (node, *args)):
                for word, own in zip(words, of_each, strict=True):
                    for part, bits in zip(own, _cut(word, own), strict=True):
                        if part.value is None and part not in seen:  # else it is known, or an input
                            limbs[part].append(bits)
            seen.update(parts[node])
        (root,) = parts[wide]
        return cls(root, limbs, binary[wide], whole, wide)

    def widened(self, node: Term, proving: Proving) -> bool:
        """Whether the graph is proved to be the wide one, which replaces a node that was proved to be it."""
        limbs = _replaced(self.root, self.limbs, self.binary, proving)
        sums = _replaced(self.binary, self.sums, self.wide, proving) if limbs is not None else None
        if limbs is None or sums is None:
            return False
        for steps, result in ((limbs, self.binary), (sums, self.wide)):
            for step, lemma in steps:
                what = f"limb {len(proving.steps)}: {step.to.op} of {step.to.width} bits"
                proving.proved(what, "its operands free", lemma)
                proving.derived.append(step)
            proving.derived.append(Equal(node, result, (Close(),)))
        return True


def _replaced(
    root: Term, words: _Words, result: Term, proving: Proving
) -> list[tuple[Equal, CountedAnswer]] | None:
    """The steps that replace each word by what it is, if the root is the result then; else None."""
    now: dict[Term, Term] = {}
    steps: list[tuple[Equal, CountedAnswer]] = []
    for node in operands_first([root]):
        now[node] = rebuild(node, [now[arg] for arg in node.args]) if node.args else node
        for word in words.get(node, ()):
            if now[node] is not word:
                free = _inputs(word)
                (goal,) = substitute([now[node].ne(word)], freed_words(free))
                goal = FALSE if flat(goal).value == 0 else characterised(goal)
                lemma = proving.lemmas.ask(goal, proving.limit)
                if not lemma.holds:
                    return None
                steps.append((Equal(node, word, (Close((), free),)), lemma))
                now[node] = word
    return steps if now[root] is result else None


def _moves(node: Term) -> bool:
    """Whether a word's bits are other words' bits, or 0: then its limbs may be theirs."""
    return node.op in ("zext", "sext", "concat", "extract") or (
        node.op in ("shl", "lshr") and node.args[1].value is not None
    )


def _inputs(word: Term) -> tuple[Term, ...]:
    """The operands of what a word is, or is moved from."""
    computed = _sources([word])
    return tuple(_sources(arg for node in computed for arg in node.args))


def _sources(words: Iterable[Term]) -> list[Term]:
    """The words, or what they are moved from."""
    found: dict[Term, None] = {}
    pending = list(words)
    while pending:
        word = pending.pop(0)
        if _moves(word):
            pending += word.args
        elif word.value is None:
            found[word] = None
    return list(found)


def _cut(whole: Term, words: Limbs) -> Iterator[Term]:
    """The bits of a word that its limbs hold."""
    low = 0
    for word in words:
        yield whole[low + word.width - 1 : low]
        low += word.width
