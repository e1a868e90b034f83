"""A graph of wide words in the words of a machine, limb by limb, and the proof that it is the same graph.

A stranger's program has no words of 282 bits: it adds with carries and shifts across words. So the unit's
graph is written as such programs are (:mod:`tcsmt.language.graphs.limbs`), and the stranger's is merged into
that. Of each limb it is known which bits of which wide word it is, and that is proved word by word, with the
operands of the wide word free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from operator import add

from tcsmt.language.graphs.limbs import Limbs, digits, split, sums
from tcsmt.language.terms import FALSE, Term, const, flat, operands_first, rebuild, substitute, total
from tcsmt.prove.certificates.derivation import Close, Equal, characterised
from tcsmt.prove.engine.proof_steps import LemmaAnswer, Proving
from tcsmt.prove.engine.stage_by_stage import freed_words

#: Bits of a machine's words.
_MACHINES = (32, 64, 128)


@dataclass(frozen=True)
class _Known:
    """What a word is; and what is free in the proof of it."""

    word: Term
    free: tuple[Term, ...]

    @classmethod
    def of(cls, word: Term) -> _Known:
        """Return what a word is, with its operands free, or those of what it is moved from."""
        computed = _sources([word])
        return cls(word, tuple(_sources(arg for node in computed for arg in node.args)))


#: What words of a graph are, one after the other.
_Words = dict[Term, list[_Known]]


@dataclass(frozen=True)
class LimbWords:
    """A graph without wide words. root: its result.

    passes: what words of it are, and the result of the graph with those in their places; and so on, until
    it is the graph that was given.
    """

    root: Term
    passes: Sequence[tuple[_Words, Term]]

    @classmethod
    def like(cls, wide: Term, other: Term) -> LimbWords | None:
        """Return a graph in the words of another one, if those are a machine's and its own are wider.

        wide: its result, without macros.
        """
        nodes, limb = operands_first([wide]), max(node.width for node in operands_first([other]))
        wider = [node for node in nodes if node.width > limb]
        if limb not in _MACHINES or not wider or any(node.op == "var" for node in wider):
            return None
        in_limbs = _InLimbs(limb, dict(zip(nodes, split(nodes, limb), strict=True)))
        for node in nodes:
            in_limbs.add(node)
        (root,) = in_limbs.parts[wide]
        return cls(
            root,
            (
                (in_limbs.limbs, in_limbs.stepwise[wide]),
                (in_limbs.sums, in_limbs.factored[wide]),
                (in_limbs.factors, wide),
            ),
        )

    def widened(self, node: Term, proving: Proving) -> bool:
        """Return whether the graph is proved to be the wide one, which replaces a node that was proved to be
        it.
        """
        root, proved = self.root, []
        for words, result in self.passes:
            steps = _replaced(root, words, result, proving)
            if steps is None:
                return False
            if result is not root:
                proved.append((steps, result))
            root = result
        for steps, result in proved:
            for step, lemma in steps:
                what = f"limb {len(proving.steps)}: {step.to.op} of {step.to.width} bits"
                proving.proved(what, "its operands free", lemma)
                proving.derived.append(step)
            proving.derived.append(Equal(node, result, (Close(),)))
        return True


def _replaced(
    root: Term, words: _Words, result: Term, proving: Proving
) -> list[tuple[Equal, LemmaAnswer]] | None:
    """Return the steps that replace each word by what it is, if the root is the result then; else None."""
    now: dict[Term, Term] = {}
    steps: list[tuple[Equal, LemmaAnswer]] = []
    for node in operands_first([root]):
        now[node] = rebuild(node, [now[arg] for arg in node.args]) if node.args else node
        for known in words.get(node, ()):
            if now[node] is not known.word:
                (goal,) = substitute([now[node].ne(known.word)], freed_words(known.free))
                goal = FALSE if flat(goal).value == 0 else characterised(goal)
                lemma = proving.lemmas.prove(goal, proving.limit)
                if not lemma.holds:  # the steps so far prove nothing of the whole graph
                    return None
                steps.append((Equal(node, known.word, (Close((), known.free),)), lemma))
                now[node] = known.word
    # each step may be right and the whole still another graph: only the same node counts
    return steps if now[root] is result else None


@dataclass
class _InLimbs:
    """A graph in limbs: ``parts`` of each node, of ``limb`` bits.

    stepwise: each node where sums are of two words at a time, and products are sums of products of digits.
    limbs: which bits of those the limbs are. factored: each node where a product is one of sums of digits;
    sums: what the others are there. factors: what those sums of digits are.
    """

    limb: int
    parts: dict[Term, Limbs]
    stepwise: dict[Term, Term] = field(default_factory=dict)
    factored: dict[Term, Term] = field(default_factory=dict)
    limbs: _Words = field(default_factory=lambda: defaultdict(list))
    sums: _Words = field(default_factory=lambda: defaultdict(list))
    factors: _Words = field(default_factory=lambda: defaultdict(list))
    seen: set[Term] = field(default_factory=set)

    def add(self, node: Term) -> None:
        """Add one more node; its arguments are there."""
        args = [self.stepwise[arg] for arg in node.args]
        factored = [self.factored[arg] for arg in node.args]
        words = [rebuild(node, args) if args else node]
        self.factored[node] = rebuild(node, factored) if args else node
        of_each = [self.parts[node]]
        if node.width > self.limb and node.op == "add":
            words = [*accumulate(args, add)][1:]
            of_each = [*sums([self.parts[arg] for arg in node.args])]
            self._sum(words[-1], _Known.of(self.factored[node]))
        elif node.width > self.limb and node.op == "mul":
            words = [self._product(node, args, factored)]
        self.stepwise[node] = words[-1]
        if any(word.width > self.limb for word in (node, *args)):
            for word, limbs_of_word in zip(words, of_each, strict=True):
                for part, bits in zip(limbs_of_word, _cut(word, limbs_of_word), strict=True):
                    self._is(part, bits)
        self.seen.update(self.parts[node])

    def _is(self, part: Term, bits: Term) -> None:
        if part.value is None and part not in self.seen:  # else it is known, or an input
            self.limbs[part].append(_Known.of(bits))

    def _sum(self, word: Term, known: _Known) -> None:
        if word.value is None:
            self.sums[word] = [known]

    def _product(self, node: Term, args: Sequence[Term], factored: Sequence[Term]) -> Term:
        """Return a product as the sum of its digits' products, each of which is a limb."""
        half, width = self.limb // 2, node.width
        places = [(low, min(low + half, width) - 1) for low in range(0, width, half)]
        digits_of = [digits(self.parts[arg], self.limb) for arg in node.args]
        narrow = [[arg[high:low].zext(self.limb) for low, high in places] for arg in args]
        widened = [[arg[high:low].zext(width) for low, high in places] for arg in factored]
        addends = []
        for i, j in product(range(len(places)), repeat=2):
            if i + j >= len(places):
                continue
            digit = narrow[0][i] * narrow[1][j]
            if digit.value is None:
                self._is(digits_of[0][i] * digits_of[1][j], digit)
                self._sum(digit.zext(width), _Known.of(widened[0][i] * widened[1][j]))
            addends.append(digit.zext(width) << half * (i + j))
        sides = [total(*(word << half * i for i, word in enumerate(words))) for words in widened]
        for side, arg in zip(sides, factored, strict=True):
            if side.value is None:
                self.factors[side] = [_Known.of(arg)]
        self.factored[node] = sides[0] * sides[1]
        whole = total(const(0, width), *addends)
        free = dict.fromkeys(word for words in widened for word in words if word.value is None)
        self._sum(whole, _Known(self.factored[node], tuple(free)))
        return whole


def _moves(node: Term) -> bool:
    """Return whether a word's bits are other words' bits, or 0: then its limbs may be theirs."""
    return node.op in ("zext", "sext", "concat", "extract") or (
        node.op in ("shl", "lshr") and node.args[1].value is not None
    )


def _sources(words: Iterable[Term]) -> list[Term]:
    """Return the words, or what they are moved from."""
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
    """Yield the bits of a word that its limbs hold."""
    low = 0
    for word in words:
        yield whole[low + word.width - 1 : low]
        low += word.width
