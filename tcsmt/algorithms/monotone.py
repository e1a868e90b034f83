"""That an algorithm's result never falls where one word, and with it the exact sum, grows: proved in parts.

A fused sum truncates its terms on a grid of F bits below the largest exponent T. A step makes the magnitude
of one of its numbers the next larger one, and T becomes T + t; the other direction is the step back. On the
words after the split, of which none is infinite or a NaN:

1. *The split*: the next number of the domain has the same word or a larger one. So words move by steps, too.
2. *The number that moves* keeps its sign, and t is 0, or T + t is its own new exponent. Within a binade its
   exponent and so T stay, and its aligned term does not shrink; from one binade to the next t is 0 or 1; from
   zero t is anything. For n other terms that may not be zero it gains n·(2^t - 1) units of 2^(T - F) or more.
3. *Every other number*: its aligned term is shifted right by one more, toward zero, for each 1 that T grows.
   So it loses 2^t - 1 such units at most, and all of them no more than has been gained: S·2^T moves as the
   number does.
4. *The rounding*: the results for any sums S and S', and largest exponents T and T + t, are in the order of
   S·2^T and S'·2^(T + t). For t = 0 that is a lemma about S and S + 1. For a larger t, S is halved t times,
   each time rounded up (or down, where the result is to shrink): a lemma says that each half is in order with
   the one before it, and the last half is as S' or smaller (or larger), of the same largest exponent.

Where c gains too little from one binade to the next, 3 and 4 are one lemma on free aligned terms instead. The
instruction's later sums have c alone, which they pass on.

An IEEE operation is a rounding of the exact sum or product-sum of what it is given (754-2019, 4.3). Roundings
never fall, and neither does what is made of them; and the rounding of what is not smaller than the smallest
number is not zero. Nothing is left to prove.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcsmt.algorithms.fused_loss import C, FusedSum, Unbounded, need
from tcsmt.algorithms.proof import StepwiseProof, free_products, word_exponents
from tcsmt.algorithms.steps import FusedStep, IeeeStep, Result, Step, steps_of
from tcsmt.arithmetic.datapath import Exponent, Fixed, Number, decode, ordered
from tcsmt.arithmetic.formats import Format
from tcsmt.interpret.bounds import Bounds
from tcsmt.models import Kind
from tcsmt.recipes.algorithm import Algorithm
from tcsmt.statements.domain import Domain
from tcsmt.terms import FALSE, TRUE, Term, all_of, any_of, const, substitute, total, var, variables

__all__ = ["keeps_sign", "never_falls", "successor"]

_IEEE = "an IEEE operation rounds the exact sum of what it is given (754-2019, 4.3), and no rounding falls"


def never_falls(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> bool:
    """Whether it was proved that the result does not fall where a word of a, b or c grows, and b or a is
    positive or there is none; that it is the same for both zeros, and never a NaN. The chain has the steps.
    """
    try:
        steps = _steps(chain, algorithm, domain)
        _split(chain, algorithm, domain)
        if all(isinstance(step, IeeeStep) for step in steps):
            return _of_operations(chain, algorithm, steps)
        _Moves.of(algorithm, domain, steps).prove(chain, steps)
    except Unbounded as why:
        chain.stopped = str(why)
        return False
    return True


def keeps_sign(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> bool:
    """Whether the result is one rounding of c + a·b that is never zero where that is not."""
    wide = algorithm.wide
    try:
        steps = _steps(chain, algorithm, domain)
    except Unbounded as why:
        chain.stopped = str(why)
        return False
    last = domain.low - wide.fraction_bits
    exact = algorithm.split.format == wide and min(last, 2 * last) >= wide.e_min - wide.fraction_bits
    one = len(steps) == 1 and algorithm.k == algorithm.unit.k == 1
    if not exact or not one or {*getattr(steps[0], "sources", ())} != {0, C}:
        chain.stopped = "the result is not one rounding of c + a·b"
        return False
    return _of_operations(chain, algorithm, steps)


def successor(word: Term, domain: Domain, wide: Format, bits: int) -> Term:
    """The next larger word of the domain after one of its words.

    After the largest it is a word outside of the domain; after either zero it is the smallest
    positive number, and before them both the largest negative one.
    """
    step, least = 1 << (wide.precision - bits), (domain.low + wide.bias) << wide.fraction_bits
    size = word & ((1 << wide.sign_bit) - 1)
    negative = word[wide.sign_bit] & size.ne(0)
    below = size.eq(least).ite(const(0, wide.width), word - step)
    return negative.ite(below, size.eq(0).ite(const(least, wide.width), size + step))


def _steps(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> list[Step]:
    """The steps of one instruction. Raises :class:`.Unbounded` where the algorithm is more than instructions
    one after the other, each on words that are the numbers rounded once.
    """
    chains = list(algorithm.chains(algorithm.k))
    plain = len(chains) == 1 and chains[0][0] == 0 and all(step[:2] == (0, 0) for step in chains[0][1])
    if algorithm.split.words != 1 or not plain or algorithm.c_enters != "unit":
        raise Unbounded("only instructions one after the other, on one word of each number, are looked at")
    if domain.c_free or (algorithm.unit.c_format, algorithm.unit.d_format) != (
        algorithm.wide,
        algorithm.wide,
    ):
        raise Unbounded("only a c of the format of the result, with exponents as a and b have, is looked at")
    fmt, wide = algorithm.split.format, algorithm.wide
    left, right = ([[var(f"{side}{lane}", fmt.width)] for lane in range(algorithm.k)] for side in "ab")
    stages = algorithm.after_split(left, right, var("c", wide.width))
    if stages[-1].term is not [stage.term for stage in stages if stage.kind is Kind.INSTRUCTION][-1]:
        raise Unbounded("the result is not the last instruction's")
    low, high = word_exponents(algorithm.split, domain)
    if max(2 * (high + 1), domain.high + 1) + algorithm.k.bit_length() + 2 > wide.e_max:
        raise Unbounded("a result may overflow")
    return steps_of(chain, algorithm.unit, low, high)


def _split(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> None:
    """Part 1, for a and for b."""
    fmt, wide = algorithm.split.format, algorithm.wide
    x = var("x", wide.width)
    for bits in domain.bits_in(wide):
        after = successor(x, domain, wide, bits)
        one, two = (algorithm.split.apply(word)[0] for word in (x, after))
        numbers = [decode(fmt, word) for word in (one, two)]
        wrong = ordered(two).slt(ordered(one)) | any_of(n.infinite | n.nan for n in numbers)
        inside = domain.within(x, wide, bits)
        need(
            chain, f"the split of {bits} bits never falls", inside & domain.within(after, wide, bits) & wrong
        )
        zero = x[wide.sign_bit - 1 : 0].eq(0) & one.ne(x[wide.sign_bit].concat(const(0, fmt.sign_bit)))
        need(chain, "a zero's word is a zero", zero)


def _of_operations(chain: StepwiseProof, algorithm: Algorithm, steps: Sequence[Step]) -> bool:
    """Whether an instruction is a combination of roundings, none of which overflows or drops a number."""
    for step in steps:
        plain = isinstance(step, IeeeStep) and not step.drops and not step.operation.flush
        if not plain or step.operation.format != algorithm.wide:  # type: ignore[union-attr]
            chain.stopped = "not a rounding of an exact sum"
            return False
    chain.know(_IEEE)
    return True


@dataclass(frozen=True)
class _Moves:
    """The numbers of an instruction's first sum, and what becomes of them when one moves.

    fused: the sum. lanes: how many of its products may not be zero. c: whether c may not be. factors: the
    formats of a and b. domain, wide: where c lies.
    """

    fused: FusedSum
    lanes: int
    c: bool
    factors: tuple[Format, Format]
    domain: Domain
    wide: Format

    @classmethod
    def of(cls, algorithm: Algorithm, domain: Domain, steps: Sequence[Step]) -> _Moves:
        """Of an algorithm that is a single instruction. Raises :class:`.Unbounded` for others."""
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
        fmt = algorithm.split.format
        return cls(first.sum, algorithm.k, not domain.c_zero, (fmt, fmt), domain, algorithm.wide)

    @property
    def top(self) -> Exponent:
        """The largest exponent."""
        return self.fused.sum.exponent

    @cached_property
    def limit(self) -> int:
        """An exponent above which no number's is."""
        return max(sum(fmt.e_max for fmt in self.factors) + 1, self.domain.high)

    def prove(self, chain: StepwiseProof, steps: Sequence[Step]) -> None:
        """All parts but the first. Raises :class:`.Unbounded` where one is not proved."""
        if not self._vanishes(self.fused, range(self.lanes)):
            raise Unbounded("a product of zeros is not a zero")
        for place, step in enumerate(steps[1:]):
            if not isinstance(step, FusedStep) or step.start != Result(place):
                raise Unbounded("a later sum does not begin with the one before it")
            if not self._vanishes(step.sum, range(0)) or not step.sum.passes(chain, C):
                raise Unbounded("a later sum does not pass c on")
        self._shape()
        self._rounding(chain)
        for what, number in (("a product", self._product), ("c", self._c)):
            self._shifted(chain, what, number)
            self._zeros(chain, what, number)
        for side in range(2):
            self._moves(chain, f"{'ab'[side]} moves", self._steps_of_factor(side), self.lanes - 1 + self.c)
        if self.c:
            self._moves(chain, "c moves", self._steps_of_c(), self.lanes)

    @staticmethod
    def _vanishes(fused: FusedSum, lanes: range) -> bool:
        """Whether every product but those of some lanes is a zero, its words being 0."""
        places = [place for place in fused.numbers if place not in (C, *lanes)]
        zeros = [fused.numbers[place].zero for place in places]
        words = {word: const(0, word.width) for word in variables(zeros)}
        return all(zero.value == 1 for zero in substitute(zeros, words))

    def _shape(self) -> None:
        """Refuse a sum that is not one of aligned terms, one for each number, on a grid below the largest."""
        addends, total_ = self.fused.sum.addends, self.fused.sum
        grid = (total_.exponent, total_.fraction_bits)
        sources = [addend.source for addend in addends]
        alone = all(
            not addend.addends and (addend.exponent, addend.fraction_bits) == grid for addend in addends
        )
        each = all(sources.count(number) == 1 for number in self.fused.numbers.values())
        if not alone or not each or len(sources) != len(self.fused.numbers) or self.top.term.op != "umax":
            raise Unbounded("not a sum of terms that are aligned to the largest exponent")
        if len(self.top.term.args) != len(self.fused.numbers):
            raise Unbounded("the largest exponent is not that of each number")
        ends = [Bounds().signed(addend.word) for addend in addends]
        reach = max(-sum(low for low, _ in ends), sum(high for _, high in ends) + 1)
        if reach > 1 << (total_.word.width - 1):
            raise Unbounded("a sum's register may wrap")
        words, (top, _) = self._product[1], self._tops()
        if any(self._given(place, words, top) != self._given(0, words, top) for place in range(self.lanes)):
            raise Unbounded("the products are not alike")
        wide = [addend.word.sext(total_.word.width) for addend in addends]
        if total(*wide) is not total_.word:
            raise Unbounded("a sum is not that of its terms")

    # --- a number as a function of its words and of the largest exponent, counted from its lowest value

    def _place(self, place: int) -> tuple[Fixed, Term]:
        """The aligned term of a number, and what enters the maximum for it."""
        own = set(variables(self._nodes(self.fused.numbers[place])))
        (addend,) = [x for x in self.fused.sum.addends if x.source == self.fused.numbers[place]]
        entering = [x for x in self.top.term.args if set(variables([x])) <= own]
        if len(entering) != 1 or not set(variables([addend.word])) <= own | set(variables([self.top.term])):
            raise Unbounded("the largest exponent is not that of each number")
        return addend, entering[0]

    @staticmethod
    def _nodes(x: Number) -> list[Term]:
        return [x.sign, x.exponent.term, x.significand, x.zero, x.infinite, x.nan]

    def _given(self, place: int, words: Sequence[Term], top: Term) -> tuple[Term, Term]:
        """The aligned term and what enters the maximum, for such words and such a largest exponent."""
        addend, entering = self._place(place)
        names = ["c"] if place == C else [f"a{place}", f"b{place}"]
        inputs = {var(name, word.width): word for name, word in zip(names, words, strict=True)}
        (cut,) = substitute([addend.word], {self.top.term: top})
        if not set(variables([cut])) <= {*inputs, *variables([top])}:
            raise Unbounded("an aligned term reads what is not its own")
        aligned, enters = substitute([cut, entering], inputs)
        return aligned, enters

    @property
    def _product(self) -> tuple[int, list[Term], Term]:
        """A product's place, its words, and whether they are possible."""
        words = [var(name, fmt.width) for name, fmt in zip(("other a", "other b"), self.factors, strict=True)]
        numbers = [decode(fmt, word) for fmt, word in zip(self.factors, words, strict=True)]
        return 0, words, all_of(~(x.infinite | x.nan) for x in numbers)

    @property
    def _c(self) -> tuple[int, list[Term], Term]:
        word = var("other c", self.wide.width)
        return C, [word], self.domain.within(word, self.wide, self.wide.precision)

    def _tops(self) -> tuple[Term, Term]:
        """A largest exponent, and a later one."""
        return var("largest", self.top.term.width), var("later largest", self.top.term.width)

    # --- the lemmas

    def _rounding(self, chain: StepwiseProof) -> None:
        """Part 4, for neighbouring sums; and no result is infinite or a NaN."""
        width, (top, _) = self.fused.sum.word.width, self._tops()
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
        """The result for such a sum and such a largest exponent, in order, of numbers that are zeros."""
        given = {self.fused.sum.word: word, self.top.term: top}
        (result,) = substitute([self.fused.result], given)
        names = {*variables([word, top])}
        zeros = {x: const(0, x.width) for x in variables([result]) if x not in names}
        return ordered(*substitute([result], zeros))

    def _shifted(self, chain: StepwiseProof, what: str, number: tuple[int, list[Term], Term]) -> None:
        """Part 3, and that no exponent is above the limit."""
        place, words, possible = number
        one, two = self._tops()
        before, enters = self._given(place, words, one)
        after, _ = self._given(place, words, two)
        sizes = [_magnitude(x) for x in (before, after)]
        signs = before[before.width - 1].ne(after[after.width - 1]) & after.ne(0)
        given = possible & enters.ule(one) & (one + 1).eq(two) & two.ne(0)
        wrong = (sizes[0] >> 1).ne(sizes[1]) | signs
        need(chain, f"{what}: its aligned term is shifted further", free_products(given & wrong))
        high = const(self.limit - self.top.low, enters.width).ult(enters)
        need(chain, f"{what}: its exponent is not above the limit", possible & high)

    def _zeros(self, chain: StepwiseProof, what: str, number: tuple[int, list[Term], Term]) -> None:
        """Both zeros are alike, and their aligned term is 0, whatever the other factor is."""
        place, words, possible = number
        one, *_ = self._tops()
        for turn, word in enumerate(words):
            sign = word[word.width - 1]
            found = [
                self._given(
                    place, [*words[:turn], bit.concat(const(0, word.width - 1)), *words[turn + 1 :]], one
                )
                for bit in (sign, ~sign)
            ]
            (aligned, enters), (_, others) = found
            inside = possible if place != C else TRUE
            need(chain, f"{what} is alike for both zeros", inside & (aligned.ne(0) | enters.ne(others)))

    def _steps_of_factor(self, side: int) -> Iterator[tuple[str, int, list[list[Term]], Term]]:
        """How a factor's magnitude becomes the next one: both words before and after, whether they may be."""
        fmt, other = self.factors[side], self.factors[1 - side]
        y = var("factor", other.width)
        still = decode(other, y)
        for what, word, given in self._steps_up(fmt, 1):
            x, after = word
            fine = given & ~(still.infinite | still.nan)
            pairs = [[w, y] if side == 0 else [y, w] for w in (x, after)]
            yield what, 0, pairs, fine

    def _steps_of_c(self) -> Iterator[tuple[str, int, list[list[Term]], Term]]:
        low = (self.domain.low + self.wide.bias) << self.wide.fraction_bits
        for what, (x, after), given in self._steps_up(self.wide, low):
            inside = [self.domain.within(word, self.wide, self.wide.precision) for word in (x, after)]
            yield what, C, [[x], [after]], given & all_of(inside)

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

    def _moves(
        self,
        chain: StepwiseProof,
        what: str,
        steps: Iterator[tuple[str, int, list[list[Term]], Term]],
        others: int,
    ) -> None:
        """Part 2 for each kind of step, with so many other terms."""
        for kind, place, (before, after), possible in steps:
            title = f"{what} {kind}"
            one, two = self._tops()
            low, entered = self._given(place, before, one)
            high, enters = self._given(place, after, two)
            number, zero = self._signs(place, after)
            size = max(low.width, high.width) + 2
            a, b = (number.ite(-x.sext(size), x.sext(size)) for x in (low, high))
            need(chain, f"{title}: what enters the maximum", possible & self._entering(kind, entered, enters))
            same = possible & one.eq(two) & enters.ule(two) & b.slt(a)
            need(chain, f"{title}: an aligned term moves as its number", free_products(same, sharp=True))
            if kind == "within a binade":
                continue
            given = possible & ~zero & enters.eq(two) & entered.ule(one) & one.ult(two)
            gained = b if kind == "from zero" else b + b - a
            # not with free products: they are almost constants times a factor
            if not chain.prove(f"{title}: {others} units are gained", given & gained.slt(others)):
                if kind == "from zero":
                    raise Unbounded(f"not proved: {chain.stopped}")
                self._combined(chain, title, given, (low, high), others)

    def _signs(self, place: int, words: Sequence[Term]) -> tuple[Term, Term]:
        """The sign of a number, and whether it is zero."""
        fmts = (self.wide,) if place == C else self.factors
        numbers = [decode(fmt, word) for fmt, word in zip(fmts, words, strict=True)]
        sign = FALSE
        for x in numbers:
            sign = sign ^ x.sign
        return sign, any_of(x.zero for x in numbers)

    @staticmethod
    def _entering(kind: str, before: Term, after: Term) -> Term:
        """Whether it moves otherwise than the step does."""
        if kind == "within a binade":
            return before.ne(after)
        wrong = after.ult(before)
        return wrong if kind == "from zero" else wrong | const(1, after.width).ult(after - before)

    def _combined(
        self, chain: StepwiseProof, title: str, given: Term, moving: tuple[Term, Term], others: int
    ) -> None:
        """Parts 3 and 4 at once, t being 1: the other aligned terms are free, and half of them later."""
        width, (one, two) = self.fused.sum.word.width, self._tops()
        addends = [x.word for x in self.fused.sum.addends]
        low = min(Bounds().signed(word)[0] for word in addends)
        high = max(Bounds().signed(word)[1] for word in addends)
        free = [var(f"aligned {n}", width) for n in range(others)]
        inside = all_of(const(low, width).sle(x) & x.sle(const(high, width)) for x in free)
        halves = []
        for x in free:
            half = _magnitude(x) >> 1
            halves.append(x[width - 1].ite(-half, half))
        before = self._rounded(total(moving[0].sext(width), *free), one)
        after = self._rounded(total(moving[1].sext(width), *halves), two)
        negative = moving[1][moving[1].width - 1]
        wrong = negative.ite(before.slt(after), after.slt(before))
        goal = given & (one + 1).eq(two) & inside & wrong
        need(chain, f"{title}: with {others} other terms, the result moves as the number", goal)


def _magnitude(word: Term) -> Term:
    """Of a word in two's complement."""
    return word[word.width - 1].ite(-word, word)
