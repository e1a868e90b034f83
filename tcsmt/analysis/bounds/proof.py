"""Proofs about whole algorithms, in parts that solvers can do.

No solver multiplies 24 by 24 bits and compares the result with sums of 11-bit products. So:

1. *The split*, for all numbers of the domain, one at a time: every word is zero or has an exponent in
   a known range, a word is at most 2^-p of the one before it (p: the format's precision, one less
   where the split truncates), words beyond the first few are +0, and what all of them leave over is
   nothing, or at most 2^-t of the number.
2. *The sums*, on free words of such exponents. The exact dot product is the sum of the words' products:
   by algebra, where nothing is left over. Products of significands are free variables, too, of
   which only the size is known: from 2^(m+n-2) to (2^m - 1)(2^n - 1) for two normal numbers of m
   and n bits, and 0 where a factor is.

Dropping what is known about words and products is sound for "there is none"; a model of part 2
proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product as pairs

from tcsmt.analysis.error import ErrorGrid, magnitude, nearer
from tcsmt.language.terms import TRUE, Term, all_of, any_of, const, operands_first, substitute, total, var
from tcsmt.matrix_units.arithmetic.datapath import Number, decode, multiply
from tcsmt.matrix_units.models import Kind, Stage
from tcsmt.matrix_units.models.stages import InstructionPlace
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.running_sum import PLAIN
from tcsmt.programs.steps.split import Split
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain, lies
from tcsmt.prove.statements.verdict import Equivalent, Unknown, joined
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none


@dataclass(frozen=True)
class Words:
    """The words of the a's and b's of a domain as free variables, after the split.

    counts: how many words of a and of b may be other than +0.
    """

    algorithm: Algorithm
    domain: Domain
    counts: tuple[int, int]

    @property
    def split(self) -> Split:
        """Return the algorithm's split."""
        return self.algorithm.split

    @cached_property
    def operands(self) -> tuple[list[list[Term]], list[list[Term]]]:
        """Return the words of each a and of each b."""
        width, number = self.split.format.width, self.split.words
        left, right = (
            [
                [
                    var(f"{side}{lane}, word {n}", width) if n < count else const(0, width)
                    for n in range(number)
                ]
                for lane in range(self.algorithm.k)
            ]
            for side, count in zip("ab", self.counts, strict=True)
        )
        return left, right

    @cached_property
    def c(self) -> Term:
        """c, or +0 where the domain has no other."""
        width = self.algorithm.wide.width
        return const(0, width) if self.domain.c_zero else var("c", width)

    @cached_property
    def stages(self) -> list[Stage]:
        """Return the algorithm on these words; the last stage is the result."""
        return self.algorithm.after_split(*self.operands, self.c)

    @cached_property
    def grid(self) -> ErrorGrid:
        """Units as small as the last bit of any product of words, or of c."""
        low, high = word_exponents(self.split, self.domain)
        last = [low - self.split.format.fraction_bits - self.split.scale * (n - 1) for n in self.counts]
        of_c = sum(last) if self.domain.c_zero else self.domain.low - self.algorithm.wide.fraction_bits
        finest = min(sum(last), of_c)
        further = replace(self.domain, exponents=(self.domain.low, max(self.domain.high, high)))
        reach = ErrorGrid.of(further, self.algorithm.k, self.algorithm.wide)
        return ErrorGrid(finest, reach.top + 5 - finest, self.algorithm.wide)

    @cached_property
    def parts(self) -> list[Term]:
        """c, and for each lane the exact product of the sums of the words, in fixed point."""
        low, high = (2 * e for e in word_exponents(self.split, self.domain))
        grid, fmt = self.grid, self.split.format
        zero = const(0, grid.width)
        c = decode(grid.wide, self.c)
        parts = [zero if self.domain.c_zero else grid.place(c, self.domain.low, self.domain.high)]
        for left, right in zip(*self.operands, strict=True):
            numbers = ([decode(fmt, word) for word in words] for words in (left, right))
            terms = []
            for (i, x), (j, y) in pairs(*(list(enumerate(n)) for n in numbers)):
                if i < self.counts[0] and j < self.counts[1]:
                    place = grid.place(multiply(x, y), low, high)
                    terms.append(place.ashr(self.split.scale * (i + j)))
            parts.append(total(*terms))
        return parts

    @property
    def exact(self) -> Term:
        """c + Σ a·b."""
        return total(*self.parts)

    @property
    def size(self) -> Term:
        """|c| + Σ |a·b|."""
        return total(*map(magnitude, self.parts))

    @cached_property
    def holds(self) -> Term:
        """Return what part 1 has proved of the words, and that c is in the domain."""
        low, high = word_exponents(self.split, self.domain)
        wide = self.algorithm.wide
        own = word_grid(self.split, self.domain)
        conditions = [] if self.domain.c_zero else [self.domain.within(self.c, wide, wide.precision)]
        for words in (words for side in self.operands for words in side):
            numbers = [decode(self.split.format, word) for word in words if word.op == "var"]
            conditions += [x.zero | lies(x.exponent, low, high) for x in numbers]
            conditions.append(_first(self.split, self.domain, numbers[0]))
            placed = [magnitude(own.place(x, low, high)) for x in numbers]
            conditions += _decreasing(self.split, placed)
        return all_of(conditions)


def word_exponents(split: Split, domain: Domain) -> tuple[int, int]:
    """Where the exponents of words that are not zero lie (part of what :func:`split_goal` says).

    A subnormal word has the smallest exponent, however small the number is.
    """
    fmt, bits = split.format, max(domain.bits_in(split.wide))
    exact = bits <= fmt.precision
    low = domain.low - (0 if exact else split.wide.precision - 1)
    return max(fmt.e_min, low), max(fmt.e_min, min(fmt.e_max, domain.high + (not exact)))


def word_grid(split: Split, domain: Domain) -> ErrorGrid:
    """Fixed point for a number of the domain and for all of its words, as they are and scaled."""
    low, high = word_exponents(split, domain)
    last = min(low - split.format.fraction_bits, domain.low - split.wide.fraction_bits)
    bottom = last - split.scale * (split.words - 1)
    return ErrorGrid(bottom, max(domain.high, high) + 5 - bottom, split.wide)


def split_goal(split: Split, domain: Domain, bits: int, count: int, digits: int | None) -> Term:
    """Is there a number for which the split does not do what part 2 takes for granted?

    count: words that may be other than +0. digits: at most 2^-digits of the number is left over
    (None: nothing).
    """
    word, fmt = var("x", split.wide.width), split.format
    low, high = word_exponents(split, domain)
    grid = word_grid(split, domain)
    rest = whole = grid.place(decode(split.wide, word), domain.low, domain.high)
    fine: list[Term] = []
    sizes: list[Term] = []
    for number, part in enumerate(split.apply(word)):
        if number >= count:
            fine.append(part.eq(0))
            continue
        x = decode(fmt, part)
        fine.append(~(x.infinite | x.nan) & (x.zero | lies(x.exponent, low, high)))
        placed = grid.place(x, low, high)
        sizes.append(magnitude(placed))
        rest = rest - placed.ashr(split.scale * number)
        if not number:
            fine.append(_first(split, domain, x))
    fine += _decreasing(split, sizes)
    if digits is None:
        fine.append(rest.eq(0))
    else:
        wide = grid.width + digits
        fine.append((magnitude(rest).zext(wide) << digits).ule(magnitude(whole).zext(wide)))
    return domain.within(word, split.wide, bits) & ~all_of(fine)


def _first(split: Split, domain: Domain, x: Number) -> Term:
    """Return what a first word is: normal or zero where the domain's numbers are, and without a sign
    likewise.
    """
    normal = TRUE if domain.low < split.format.e_min else x.zero | x.significand[split.format.fraction_bits]
    return normal & ~x.sign if domain.positive else normal


def _decreasing(split: Split, sizes: Sequence[Term]) -> list[Term]:
    """That each word is at most 2^-p of the one before it, scaled."""
    conditions = []
    nearest = [r.nearest for r in (split.rounding, split.residual)]
    for number in range(1, len(sizes)):
        digits = split.format.precision - (not nearest[min(number - 1, 1)])
        width = sizes[0].width + max(digits, split.scale)
        before, size = (x.zext(width) for x in sizes[number - 1 : number + 1])
        conditions.append((size << digits).ule(before << split.scale))
    return conditions


def free_products(goal: Term, *, sharp: bool = False) -> Term:
    """Return the goal with a free variable for each product of significands, and what is known of its size.

    sharp: by each factor's value, too, so that a product with a subnormal factor is known to be small,
    and that of two products with a factor in common the one with the larger other factor is larger.
    """
    replacement: dict[Term, Term] = {}
    facts: list[Term] = []
    others: dict[Term, list[tuple[Term, Term]]] = {}
    for node in operands_first([goal]):
        if node.op != "mul" or any(arg.op == "const" for arg in node.args):
            continue
        x, y = (arg.args[0] if arg.op == "zext" else arg for arg in node.args)
        if x.width + y.width != node.width:
            continue
        free = var(f"product {len(replacement)}", node.width)
        replacement[node] = free
        normal = x[x.width - 1] & y[y.width - 1]
        facts.append(free.eq(0).eq(x.eq(0) | y.eq(0)))
        facts.append(~normal | ~free.ult(1 << (x.width + y.width - 2)))
        facts.append(free.ule(((1 << x.width) - 1) * ((1 << y.width) - 1)))
        for first, second in ((x, y), (y, x)) if sharp else ():
            wide = first.zext(node.width)
            facts.append(free.ule((wide << second.width) - wide))
            facts.append(~second[second.width - 1] | ~free.ult(wide << (second.width - 1)))
            for before, product in others.get(second, ()):
                if before.width == first.width:
                    facts.append(~before.ule(first) | product.ule(free))
                    facts.append(~first.ule(before) | free.ule(product))
            others.setdefault(second, []).append((first, free))
    return all_of(substitute([goal, *facts], replacement))


class StepwiseProof:
    """A proof in steps: each one a goal that has no model, or the reason why it stopped.

    stopped: the goal that was refused last, and why. refuted: whether that goal has a model.
    """

    def __init__(self, solving: Solving, steps: Sequence[tuple[str, Equivalent]] = ()) -> None:
        self.solving = solving
        self.steps = list(steps)
        self._done: set[Term] = set()
        self.stopped = ""
        self.refuted = False

    def prove(self, what: str, goal: Term) -> bool:
        """Return whether the goal is proved to have no model; remembered with its words."""
        if goal in self._done:
            return True
        proof = self.solving.proved.get(goal) or self._asked(goal)
        if isinstance(proof, Equivalent):
            self._done.add(goal)
            self.solving.proved[goal] = proof
            self.steps.append((what, proof))
            return True
        self.stopped = f"{what}: {proof.reason}"
        return False

    def attempt(self, way: Callable[[], bool]) -> bool:
        """Return whether a way of proving ends with a proof; if not, its steps are no part of what comes
        after.
        """
        steps, done = list(self.steps), set(self._done)
        if way():
            return True
        self.steps, self._done = steps, done
        return False

    def least(self, ways: Sequence[Callable[[], Fraction]]) -> Fraction:
        """Return the least bound of several ways; the steps are those of the way that gives it.

        A way that raises :class:`.TcsmtError` gives none; where no way gives one, the last one's is raised.
        """
        steps, done = list(self.steps), set(self._done)
        best: tuple[Fraction, list[tuple[str, Equivalent]], set[Term]] | None = None
        refused: TcsmtError | None = None
        for way in ways:
            self.steps, self._done = list(steps), set(done)
            try:
                found = way()
            except TcsmtError as why:
                refused = why
                continue
            if best is None or found < best[0]:
                best = found, self.steps, self._done
        if best is None:
            self.steps, self._done = steps, done
            raise not_none(refused)
        found, self.steps, self._done = best
        return found

    def know(self, what: str) -> None:
        """A step that needs no solver."""
        if all(step != what for step, _ in self.steps):
            self.steps.append((what, Equivalent(stage="", scripts=(), solver="", version="", seconds=0.0)))

    def _asked(self, goal: Term) -> Equivalent | Unknown:
        answer = self.solving.ask(goal)
        self.refuted = answer.answer == "sat"
        if answer.answer == "unsat":
            return self.solving.proof("", goal, answer, answer.seconds)
        reason = "not so for all words" if self.refuted else answer.reason
        return Unknown(reason=reason, seconds=answer.seconds)

    def verdict(self, seconds: float) -> Equivalent:
        """All steps as one proof."""
        return joined(self.steps, seconds)


def split_steps(chain: StepwiseProof, words: Words, digits: int | None = None) -> bool:
    """Part 1 for a and for b."""
    for bits, count in zip(words.domain.bits_in(words.algorithm.wide), words.counts, strict=True):
        remainder = "nothing" if digits is None else f"2^-{digits} of it at most"
        what = f"the split of {bits} bits into {count} {words.split.format.name} words leaves {remainder}"
        if not chain.prove(what, split_goal(words.split, words.domain, bits, count, digits)):
            return False
    return True


def words_needed(algorithm: Algorithm, domain: Domain) -> tuple[int, int]:
    """Return how many words numbers of so many bits need at most."""
    split = algorithm.split
    need = [min(split.words, -(-bits // split.format.precision)) for bits in domain.bits_in(split.wide)]
    return need[0], need[1]


def prove_not_less_accurate(
    chain: StepwiseProof, first: Algorithm, second: Algorithm, domain: Domain
) -> bool:
    """Return whether it was proved that the first algorithm's error is never larger; the chain has the steps.

    Either its last addition outside, to nearest, is one of exact terms and gives a finite result, so that
    no number of the wide format is nearer; or no words at all (the same ones on both sides) give it a
    larger error.
    """
    words, other = (Words(a, domain, words_needed(a, domain)) for a in (first, second))
    if not split_steps(chain, words):
        return False
    if any(algorithm.compensated != PLAIN for algorithm in (first, second)):
        chain.stopped = "sums outside the unit are compensated, which no lemma of comparisons covers"
        return False
    addends = _addends(chain, words)
    if addends is None:
        return False
    if first.rounding.nearest and len(addends) > 1:
        # two lemmas: together they take solvers much longer than one after the other
        exact = free_products(words.holds & _inexact(words, addends))
        finite = free_products(words.holds & _overflow(words, addends))
        if chain.prove("its last addition outside rounds the exact dot product to nearest", exact) and (
            chain.prove("its last addition outside gives a finite result", finite)
        ):
            return True
    same = words.counts == other.counts and first.split.format == second.split.format
    if not (same and (max(words.counts) == 1 or first.split == second.split)):
        chain.stopped = "the two algorithms do not split their inputs into the same words"
        return False
    if not split_steps(chain, other):
        return False
    others = _addends(chain, other)
    if others is None:
        return False
    last = [_added(words, addends), _added(other, others)]
    numbers = [words.grid.number(word) for word in last]
    doubt = any_of([*(~words.grid.holds(w) for w in last), nearer(numbers[1], numbers[0], words.exact)])
    goal = free_products(words.holds & doubt)
    return chain.prove("no words and products give it a larger error", goal)


def _addends(chain: StepwiseProof, words: Words) -> list[tuple[int, Term]] | None:
    """Return what is added outside, x·2^-shift in order, without what is proved to be zero.

    None where it was not proved that adding zero changes nothing.
    """
    algorithm, zero_c = words.algorithm, words.domain.c_zero
    results = {s.block: s.term for s in words.stages if s.kind is Kind.INSTRUCTION}
    addends = [(0, words.c)] if algorithm.c_enters == "first" and not zero_c else []
    dropped = {0} if zero_c and algorithm.c_enters != "unit" else set()
    for number, (shift, steps) in enumerate(algorithm.chains(algorithm.k)):
        inside = results[InstructionPlace(*steps[-1])]
        empty = number and all(i >= words.counts[0] or j >= words.counts[1] for i, j, _ in steps)
        if empty and chain.prove("chains of zero words are zero", words.holds & _size(inside).ne(0)):
            dropped.add(shift)
            continue
        addends.append((shift, inside))
    if algorithm.c_enters == "last" and not zero_c:
        addends.append((0, words.c))
    return addends if all(adding_zero(chain, algorithm, shift) for shift in sorted(dropped)) else None


def adding_zero(chain: StepwiseProof, algorithm: Algorithm, shift: int) -> bool:
    """Return whether it was proved that a zero of either sign, times 2^-shift, changes no number it is added
    to.
    """
    wide = algorithm.wide
    x, y = var("x", wide.width), var("y", wide.width)
    finite = _size(x).eq(0) & _size(y).ult(wide.infinity_word)
    changed = finite & _size(algorithm.added(x, shift, y).word()).ne(_size(y))
    return chain.prove("adding zero changes nothing", changed)


def _size(word: Term) -> Term:
    return word[word.width - 2 : 0]


def _added(words: Words, addends: Sequence[tuple[int, Term]]) -> Term:
    """Return the word of the addends' sum, as the algorithm adds them up."""
    (_, result), *others = addends
    for shift, term in others:
        result = words.algorithm.added(term, shift, result).word()
    return result


def _overflow(words: Words, addends: Sequence[tuple[int, Term]]) -> Term:
    """Return whether the last addition's result is not finite: an infinity is not nearest to anything."""
    wide = words.algorithm.wide
    return ~_size(_added(words, addends)).ult(wide.infinity_word)


def _inexact(words: Words, addends: Sequence[tuple[int, Term]]) -> Term:
    """Return whether the last addition is not one of two numbers whose sum is the exact dot product."""
    grid = words.grid
    shift, last = addends[-1]
    before = _added(words, addends[:-1])
    fine = ErrorGrid(grid.low - shift, grid.width + shift, grid.wide)
    number = fine.number(last)
    loose = any_of([~fine.holds(term) for term in (last, before)])
    if shift:
        loose |= number[shift - 1 : 0].ne(0)
    return loose | (number.ashr(shift) + fine.number(before)).ne(words.exact.sext(fine.width) << shift)
