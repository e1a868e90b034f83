"""The numbers of a fused sum, and what becomes of the sum and of the result when one of them moves.

The lemmas of parts 2 to 4 of ``monotone.py``, where products and c are aligned to one largest exponent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcsmt.analysis.bounds.fused_loss import C, FusedSum, Unbounded, need
from tcsmt.analysis.bounds.proof import StepwiseProof, free_products
from tcsmt.analysis.bounds.steps import FusedStep, Step, StepResult
from tcsmt.analysis.error import magnitude
from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.terms import FALSE, TRUE, Term, all_of, any_of, const, substitute, total, var, variables
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, decode, ordered
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.statements.domain import Domain


@dataclass(frozen=True)
class Moves:
    """The numbers of an instruction's first sum, and what becomes of them when one moves.

    fused: the sum. aligned: the value of it in which the numbers are addends. lanes: how many of its products
    may not be zero. c: whether c may not be. factors: the formats of a and b. domain, wide: where c lies.
    """

    fused: FusedSum
    aligned: Fixed
    lanes: int
    c: bool
    factors: tuple[Format, Format]
    domain: Domain
    wide: Format

    @classmethod
    def of(cls, algorithm: Algorithm, domain: Domain, steps: Sequence[Step]) -> Moves:
        """Read an algorithm that is a single instruction. Raises :class:`.Unbounded` for others."""
        first = steps[0]
        single = algorithm.k <= algorithm.unit.k
        if (
            not isinstance(first, FusedStep)
            or not single
            or first.start != C
            or list(first.sources[: algorithm.k]) != list(range(algorithm.k))
        ):
            raise Unbounded("the products are not those of one fused sum with c")
        if any(isinstance(step, FusedStep) and step.sum.drops_below is not None for step in steps):
            raise Unbounded("a subnormal c is read as zero")
        fmt, whole = algorithm.split.format, first.sum
        return cls(whole, whole.sum, algorithm.k, not domain.c_zero, (fmt, fmt), domain, algorithm.wide)

    @property
    def top(self) -> Exponent:
        """Return the largest exponent."""
        return self.aligned.exponent

    @cached_property
    def limit(self) -> int:
        """An exponent above which no number's is."""
        return max(sum(fmt.e_max for fmt in self.factors) + 1, self.domain.high)

    def prove(self, chain: StepwiseProof, steps: Sequence[Step]) -> None:
        """All parts but the first. Raises :class:`.Unbounded` where one is not proved."""
        self.vanish(chain, steps)
        self._parts(chain)

    def vanish(self, chain: StepwiseProof, steps: Sequence[Step]) -> None:
        """Refuse an instruction whose other products do not vanish, or whose later sums do not pass c on."""
        if not self._vanishes(self.fused, range(self.lanes)):
            raise Unbounded("a product of zeros is not a zero")
        for place, step in enumerate(steps[1:]):
            if not isinstance(step, FusedStep) or step.start != StepResult(place):
                raise Unbounded("a later sum does not begin with the one before it")
            if not self._vanishes(step.sum, range(0)) or not step.sum.passes(chain, C):
                raise Unbounded("a later sum does not pass c on")

    def _parts(self, chain: StepwiseProof) -> None:
        self.shape(self.fused.numbers)
        self.rounding(chain)
        for what, number in (("a product", self.product), ("c", self.other_c)):
            self.shifted(chain, what, number)
            self.not_above(chain, what, number)
            self.zeros(chain, what, number)
        for side in range(2):
            self.moves(chain, f"{'ab'[side]} moves", self.steps_of_factor(side), self.lanes - 1 + self.c)
        if self.c:
            self.moves(chain, "c moves", self.steps_of_c(), self.lanes)

    @staticmethod
    def _vanishes(fused: FusedSum, lanes: range) -> bool:
        """Return whether every product but those of some lanes is a zero, its words being 0."""
        places = [place for place in fused.numbers if place not in (C, *lanes)]
        zeros = [fused.numbers[place].zero for place in places]
        words = {word: const(0, word.width) for word in variables(zeros)}
        return all(zero.value == 1 for zero in substitute(zeros, words))

    def shape(self, places: Collection[int]) -> None:
        """Refuse a sum that is not one of aligned terms, one for each of these numbers, on one grid."""
        addends = [self._place(place)[0] for place in places]
        if len(addends) != len(self.aligned.addends) or any(x not in addends for x in self.aligned.addends):
            raise Unbounded("not a sum of terms that are aligned to the largest exponent")
        if self.top.term.op != "umax" or len(self.top.term.args) != len(places):
            raise Unbounded("the largest exponent is not that of each number")
        require_sum(self.aligned)
        words, (top, _) = self.product[1], self.tops()
        products = (place for place in places if place != C)
        if any(self.given(place, words, top) != self.given(0, words, top) for place in products):
            raise Unbounded("the products are not alike")

    # --- a number as a function of its words and of the largest exponent, counted from its lowest value

    def _place(self, place: int) -> tuple[Fixed, Term]:
        """Return the aligned term of a number, and what enters the maximum for it."""
        own = set(variables(self._nodes(self.fused.numbers[place])))
        grid = (self.top, self.aligned.fraction_bits)
        (top, _) = self.tops()
        addends = [
            x
            for x in self.aligned.addends
            if not x.addends
            and (x.exponent, x.fraction_bits) == grid
            and set(variables(substitute([x.word], {self.top.term: top}))) <= own | {top}
        ]
        entering = [x for x in self.top.term.args if set(variables([x])) <= own]
        if len(addends) != 1 or len(entering) != 1:
            raise Unbounded("not a sum of terms that are aligned to the largest exponent")
        return addends[0], entering[0]

    @staticmethod
    def _nodes(x: Number) -> list[Term]:
        return [x.sign, x.exponent.term, x.significand, x.zero, x.infinite, x.nan]

    def given(self, place: int, words: Sequence[Term], top: Term) -> tuple[Term, Term]:
        """Return the aligned term and what enters the maximum, for such words and such a largest exponent."""
        addend, entering = self._place(place)
        names = ["c"] if place == C else [f"a{place}", f"b{place}"]
        inputs = {var(name, word.width): word for name, word in zip(names, words, strict=True)}
        (cut,) = substitute([addend.word], {self.top.term: top})
        if not set(variables([cut])) <= {*inputs, *variables([top])}:
            raise Unbounded("an aligned term reads what is not its own")
        aligned, enters = substitute([cut, entering], inputs)
        return aligned, enters

    @property
    def product(self) -> tuple[int, list[Term], Term]:
        """A product's place, its words, and whether they are possible."""
        words = [var(name, fmt.width) for name, fmt in zip(("other a", "other b"), self.factors, strict=True)]
        numbers = [decode(fmt, word) for fmt, word in zip(self.factors, words, strict=True)]
        return 0, words, all_of(~(x.infinite | x.nan) for x in numbers)

    @property
    def other_c(self) -> tuple[int, list[Term], Term]:
        """c's place, its word, and whether it is possible."""
        word = var("other c", self.wide.width)
        return C, [word], self.domain.within(word, self.wide, self.wide.precision)

    def tops(self) -> tuple[Term, Term]:
        """A largest exponent, and a later one."""
        return var("largest", self.top.term.width), var("later largest", self.top.term.width)

    # --- the lemmas

    def rounding(self, chain: StepwiseProof) -> None:
        """Part 4, for neighbouring sums; and no result is infinite or a NaN."""
        width, (top, _) = self.fused.sum.word.width, self.tops()
        word = var("sum", width)
        down = word.ashr(1)
        up = down + word[0].zext(width)
        inside = top.ule(self.limit - self.top.low)
        (plain,) = substitute([self.fused.result], {self.fused.sum.word: word, self.top.term: top})
        infinite = ~plain[self.fused.format.sign_bit - 1 : 0].ult(self.fused.format.infinity_word)
        need(chain, "no result is infinite or a NaN", self.fused.finite & inside & infinite)
        result = self._rounded(word, top)
        other = self.fused.finite & inside & ordered(plain).ne(result)
        need(chain, "the sum and the largest exponent alone give the result", other)
        last = word.eq((1 << (width - 1)) - 1)
        falls = self._rounded(word + 1, top).slt(result)
        need(chain, "the result for the next sum is not smaller", inside & ~last & falls)
        later = (top + 1).ule(self.limit - self.top.low) & (top + 1).ne(0)
        what = "the largest exponent being larger by 1, the result for half the sum"
        upper, lower = (self._rounded(half, top + 1) for half in (up, down))
        need(chain, f"{what}, rounded up, is not smaller", later & upper.slt(result))
        need(chain, f"{what}, rounded down, is not larger", later & result.slt(lower))

    def _rounded(self, word: Term, top: Term) -> Term:
        """Return the result for such a sum and such a largest exponent, in order, of numbers that are
        zeros.
        """
        replaced = {self.fused.sum.word: word, self.top.term: top}
        (result,) = substitute([self.fused.result], replaced)
        names = {*variables([word, top])}
        zeros = {x: const(0, x.width) for x in variables([result]) if x not in names}
        return ordered(*substitute([result], zeros))

    def shifted(self, chain: StepwiseProof, what: str, number: tuple[int, list[Term], Term]) -> None:
        """Part 3."""
        place, words, possible = number
        lower, upper = self.tops()
        before, enters = self.given(place, words, lower)
        after, _ = self.given(place, words, upper)
        sizes = [magnitude(x) for x in (before, after)]
        signs = before[before.width - 1].ne(after[after.width - 1]) & after.ne(0)
        premise = possible & enters.ule(lower) & (lower + 1).eq(upper) & upper.ne(0)
        wrong = (sizes[0] >> 1).ne(sizes[1]) | signs
        need(chain, f"{what}: its aligned term is shifted further", free_products(premise & wrong))

    def not_above(self, chain: StepwiseProof, what: str, number: tuple[int, list[Term], Term]) -> None:
        """No exponent is above the limit."""
        place, words, possible = number
        _, enters = self.given(place, words, self.tops()[0])
        high = const(self.limit - self.top.low, enters.width).ult(enters)
        need(chain, f"{what}: its exponent is not above the limit", possible & high)

    def zeros(self, chain: StepwiseProof, what: str, number: tuple[int, list[Term], Term]) -> None:
        """Both zeros are alike, and their aligned term is 0, whatever the other factor is."""
        place, words, possible = number
        before, *_ = self.tops()
        for turn, word in enumerate(words):
            sign = word[word.width - 1]
            conditions = [
                self.given(
                    place, [*words[:turn], bit.concat(const(0, word.width - 1)), *words[turn + 1 :]], before
                )
                for bit in (sign, ~sign)
            ]
            (aligned, enters), (_, others) = conditions
            inside = possible if place != C else TRUE
            need(chain, f"{what} is alike for both zeros", inside & (aligned.ne(0) | enters.ne(others)))

    def steps_of_factor(self, side: int) -> Iterator[tuple[str, int, list[list[Term]], Term]]:
        """Yield how a factor's magnitude becomes the next one: both words before and after, whether they may
        be.
        """
        fmt, other = self.factors[side], self.factors[1 - side]
        y = var("factor", other.width)
        still = decode(other, y)
        for what, word, premise in self._steps_up(fmt, 1):
            x, after = word
            fine = premise & ~(still.infinite | still.nan)
            pairs = [[w, y] if side == 0 else [y, w] for w in (x, after)]
            yield what, 0, pairs, fine

    def steps_of_c(self) -> Iterator[tuple[str, int, list[list[Term]], Term]]:
        """Return the same as :meth:`steps_of_factor`, of c."""
        low = (self.domain.low + self.wide.bias) << self.wide.fraction_bits
        for what, (x, after), premise in self._steps_up(self.wide, low):
            inside = [self.domain.within(word, self.wide, self.wide.precision) for word in (x, after)]
            yield what, C, [[x], [after]], premise & all_of(inside)

    def _steps_up(self, fmt: Format, least: int) -> Iterator[tuple[str, tuple[Term, Term], Term]]:
        """Words whose magnitude is the next, by how the exponent moves; least: the magnitude after zero."""
        sign, field = var("sign", 1), var("field", fmt.exponent_bits)
        fraction = var("fraction", fmt.fraction_bits)
        ones = (1 << fmt.fraction_bits) - 1
        top = (1 << fmt.exponent_bits) - 1
        word = sign.concat(field).concat(fraction)
        inside = (field.eq(0) | fraction.ne(ones)) & word[fmt.sign_bit - 1 : 0].ne(0) & field.ult(top)
        yield "within a binade", (word, word + 1), inside
        across = sign.concat(field).concat(const(ones, fmt.fraction_bits))
        after = sign.concat(field + 1).concat(const(0, fmt.fraction_bits))
        yield "to the next binade", (across, after), field.ne(0) & field.ult(top - 1)
        zero = sign.concat(const(0, fmt.sign_bit))
        yield "from zero", (zero, sign.concat(const(least, fmt.sign_bit))), TRUE

    def moves(
        self,
        chain: StepwiseProof,
        what: str,
        steps: Iterator[tuple[str, int, list[list[Term]], Term]],
        others: int,
    ) -> None:
        """Part 2 for each kind of step, with so many other terms."""
        for kind, place, (before, after), possible in steps:
            title = f"{what} {kind}"
            lower, upper = self.tops()
            low, entered = self.given(place, before, lower)
            high, enters = self.given(place, after, upper)
            number, zero = self._signs(place, after)
            size = max(low.width, high.width) + 2
            a, b = (number.ite(-x.sext(size), x.sext(size)) for x in (low, high))
            need(chain, f"{title}: what enters the maximum", possible & self._entering(kind, entered, enters))
            same = possible & lower.eq(upper) & enters.ule(upper) & b.slt(a)
            need(chain, f"{title}: an aligned term moves as its number", free_products(same, sharp=True))
            if kind == "within a binade":
                continue
            premise = possible & ~zero & enters.eq(upper) & entered.ule(lower) & lower.ult(upper)
            gained = b if kind == "from zero" else b + b - a
            # not with free products: they are almost constants times a factor
            if not chain.prove(f"{title}: {others} units are gained", premise & gained.slt(others)):
                if kind == "from zero":
                    raise Unbounded(f"not proved: {chain.stopped}")
                self.combined(chain, title, premise, (low, high), others)

    def _signs(self, place: int, words: Sequence[Term]) -> tuple[Term, Term]:
        """Return the sign of a number, and whether it is zero."""
        fmts = (self.wide,) if place == C else self.factors
        numbers = [decode(fmt, word) for fmt, word in zip(fmts, words, strict=True)]
        sign = FALSE
        for x in numbers:
            sign = sign ^ x.sign
        return sign, any_of(x.zero for x in numbers)

    @staticmethod
    def _entering(kind: str, before: Term, after: Term) -> Term:
        """Return whether it moves otherwise than the step does."""
        if kind == "within a binade":
            return before.ne(after)
        wrong = after.ult(before)
        return wrong if kind == "from zero" else wrong | const(1, after.width).ult(after - before)

    def combined(
        self, chain: StepwiseProof, title: str, premise: Term, moving: tuple[Term, Term], others: int
    ) -> None:
        """Parts 3 and 4 at once, t being 1: the other aligned terms are free, and half of them later."""
        width, (lower, upper) = self.fused.sum.word.width, self.tops()
        addends = [x.word for x in self.aligned.addends]
        low = min(Bounds().signed(word)[0] for word in addends)
        high = max(Bounds().signed(word)[1] for word in addends)
        free = [var(f"aligned {n}", width) for n in range(others)]
        inside = all_of(const(low, width).sle(x) & x.sle(const(high, width)) for x in free)
        halves = []
        for x in free:
            half = magnitude(x) >> 1
            halves.append(x[width - 1].ite(-half, half))
        before = self._rounded(total(moving[0].sext(width), *free), lower)
        after = self._rounded(total(moving[1].sext(width), *halves), upper)
        negative = moving[1][moving[1].width - 1]
        wrong = negative.ite(before.slt(after), after.slt(before))
        goal = premise & (lower + 1).eq(upper) & inside & wrong
        need(chain, f"{title}: with {others} other terms, the result moves as the number", goal)


def require_sum(x: Fixed) -> None:
    """Refuse a value that is not the sum of its addends, or whose register may wrap."""
    ends = [Bounds().signed(addend.word) for addend in x.addends]
    reach = max(-sum(low for low, _ in ends), sum(high for _, high in ends) + 1)
    if reach > 1 << (x.word.width - 1):
        raise Unbounded("a sum's register may wrap")
    if total(*(addend.word.sext(x.word.width) for addend in x.addends)) is not x.word:
        raise Unbounded("a sum is not that of its terms")
