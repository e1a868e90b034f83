"""A proved bound of an algorithm's error, made of what each of its steps can lose.

Relative to S = |c| + Σ |a·b|, for every input of a domain and any length of the dot product:

* *the split*: a = Σ A_i + r with |r| <= ρ|a|, |A_i| <= ν_i |a| and 2^(exponent of A_i) <= μ_i |a|, each
  proved for all binary32 numbers of the domain at once (a word's scale is counted in);
* *products left out*: Σ ν_i ν_j over the words whose product is not computed;
* *inside the unit*: in each fused sum 2^T is at most the larger of μ_i μ_j S and of what was summed
  before; from it follows what alignment and the last rounding lose (``loss.py``);
* *outside*: binary32 additions lose half of their result's last bit (to nearest; IEEE 754-2019, 4.3.1).

The sum of these is a bound by the triangle inequality. Chains over parts of the dot product add up
disjoint parts of S, so the largest of their losses counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from tcsmt.algorithms.algorithm import Algorithm, Step
from tcsmt.algorithms.arrays import words
from tcsmt.algorithms.error import Grid, Inputs, magnitude
from tcsmt.algorithms.loss import FusedSum, IeeeSum, Losses, Unbounded, adds_c_last, live, sums_of
from tcsmt.algorithms.proof import Chain, adding_zero, counts_of, word_exponents
from tcsmt.algorithms.split import F32, Split
from tcsmt.datapath import decode
from tcsmt.interpret.exhaust import Exhaust
from tcsmt.terms import FALSE, Term, any_of, const, var
from tcsmt.words import from_words

__all__ = ["Budget", "budget"]

#: Significant bits of the split's constants.
_DIGITS = 5
#: Numbers that are tried at once.
_CHUNK = 1 << 21
#: Binary32's smallest number, and its smallest normal one.
_SMALLEST, _NORMAL = Fraction(1, 2**149), Fraction(1, 2**126)
#: What is taken from the standard (and proved of our additions in ``tests/test_ieee.py``).
_IEEE = "a binary32 operation loses half of its result's last bit at most (IEEE 754-2019, 4.3.1)"
#: Losses are rounded up to multiples of this.
_STEP = Fraction(1, 2**96)


@dataclass(frozen=True)
class Budget:
    """What each kind of step loses at most, relative to |c| + Σ |a·b|."""

    shares: dict[str, Fraction]

    @property
    def total(self) -> Fraction:
        """The bound."""
        return sum(self.shares.values(), Fraction(0))


@dataclass(frozen=True)
class Kept:
    """What the words of a number keep, relative to it: sizes ν_i, exponents μ_i, what is left over ρ."""

    sizes: tuple[Fraction, ...]
    exponents: tuple[Fraction, ...]
    left: Fraction


@dataclass(frozen=True)
class Partial:
    """What a partial sum may hold, c and products of words, and how far it may be off."""

    c: bool = False
    products: frozenset[tuple[int, int]] = frozenset()
    off: Fraction = Fraction(0)

    @property
    def zero(self) -> bool:
        """Whether it is 0."""
        return not self.c and not self.products


def budget(chain: Chain, algorithm: Algorithm, domain: Inputs) -> Budget:
    """The bound; its lemmas are added to the chain.

    Raises :class:`tcsmt.algorithms.loss.Unbounded` where there is none.
    """
    if algorithm.wide != F32:
        raise Unbounded("the lemmas are about binary32")
    counts = counts_of(algorithm, domain)
    sides = []
    for bits, count in zip(domain.bits, counts, strict=True):
        sides.append(kept(algorithm.split, domain, bits, count))
        name = algorithm.split.format.name
        words_of = f"{count} {name} words leave" if count > 1 else f"one {name} word leaves"
        what = f"{words_of} {float(sides[-1].left):.4g} of a number"
        chain.know(f"{what} of {bits} bits at most (all of them tried)")
    return _Spending(chain, algorithm, domain, sides[0], sides[1]).budget()


@dataclass(frozen=True)
class _Spending:
    chain: Chain
    algorithm: Algorithm
    domain: Inputs
    a: Kept
    b: Kept
    #: by a sum's place in the instruction, and its numbers that may be other than zero
    losses: dict[tuple[int, frozenset[int]], Losses | None] = field(default_factory=dict)

    def budget(self) -> Budget:
        algorithm, live = self.algorithm, not self.domain.c_zero
        kinds = {(i, j) for i in range(len(self.a.sizes)) for j in range(len(self.b.sizes))}
        kept = {product for total in algorithm.sums for product in total.products}
        shares = {
            "the split": self.a.left + (1 + self.a.left) * self.b.left,
            "products left out": self.size(kinds - kept),
        }
        whole = Partial(c=True) if live and algorithm.c_enters == "first" else Partial()
        outside = Fraction(0)
        c = Partial(c=live and algorithm.c_enters == "unit")
        most = Fraction(0)
        for shift, steps in algorithm.chains(algorithm.k):
            if steps[0][2].start == 0:
                most = Fraction(0)
            part = self.inside(c, shift, steps)
            # disjoint parts of the dot product share what the largest of them loses
            more = max(part.off - most, Fraction(0))
            most += more
            products = dict.fromkeys(f"A{i}·B{j}" for i, j, _ in steps)
            name = f"in the unit, {' + '.join(products)}"
            shares[name] = shares.get(name, Fraction(0)) + more
            whole, lost = self.outside(whole, replace(part, off=more), shift)
            outside += lost
            c = Partial()
        if algorithm.c_enters == "last":
            whole, lost = self.outside(whole, Partial(c=live), 0)
            outside += lost
        shares["additions outside"] = outside
        return Budget({name: loss for name, loss in shares.items() if loss})

    def size(self, products: Iterable[tuple[int, int]]) -> Fraction:
        """Σ ν_i ν_j."""
        return sum((self.a.sizes[i] * self.b.sizes[j] for i, j in products), Fraction(0))

    def reach(self, partial: Partial) -> Fraction:
        """How large a partial sum, or the sum of its terms' magnitudes, can be."""
        return max(Fraction(partial.c), self.size(partial.products)) + partial.off

    def outside(self, whole: Partial, part: Partial, shift: int) -> tuple[Partial, Fraction]:
        """The sum of both by the algorithm, and what rounding loses of it."""
        if part.zero:
            adding_zero(self.chain, self.algorithm, shift)
        return self.added(whole, part, nearest=self.algorithm.rounding.name in ("RNE", "RNA"))

    def added(self, whole: Partial, part: Partial, *, nearest: bool = True) -> tuple[Partial, Fraction]:
        """A binary32 sum, and what rounding loses of it: nothing where one of both is zero."""
        off = whole.off + part.off
        joined = Partial(whole.c or part.c, whole.products | part.products, off)
        if whole.zero or part.zero:
            return joined, Fraction(0)
        self.chain.know(_IEEE)
        lost = self.reach(joined) / 2 ** (F32.precision - (not nearest)) + _SMALLEST / self.least
        return replace(joined, off=off + _up(lost)), _up(lost)

    @property
    def least(self) -> Fraction:
        """|a·b| at least, where it is not 0."""
        return Fraction(2) ** (2 * self.domain.low)

    def inside(self, start: Partial, shift: int, steps: list[Step]) -> Partial:
        """A chain of instructions."""
        partial = start
        for i, j, part in steps:
            there = i < len(self.a.sizes) and j < len(self.b.sizes)
            lanes = range(len(part)) if there else range(0)
            before, partial = partial, Partial() if self.c_last else partial
            for number, one in enumerate(self.sums):
                products = frozenset({(i, j)}) if live(one.lanes, lanes, False) else frozenset()
                after = replace(partial, products=partial.products | products)
                numbers = live(one.lanes, lanes, not partial.zero)
                lost = self.lost(number, numbers, products, partial, after, shift)
                partial = replace(after, off=after.off + _up(lost))
            if self.c_last:
                partial, _ = self.added(before, partial)
        return partial

    @cached_property
    def c_last(self) -> bool:
        """Whether c joins after the instruction's sums."""
        return adds_c_last(self.algorithm.unit)

    @cached_property
    def sums(self) -> Sequence[FusedSum | IeeeSum]:
        """The sums of an instruction."""
        low, _ = word_exponents(self.algorithm.split, self.domain)
        return sums_of(self.algorithm.unit, subnormal=low <= self.algorithm.split.format.e_min)

    def lost(
        self,
        number: int,
        numbers: frozenset[int],
        products: frozenset[tuple[int, int]],
        before: Partial,
        after: Partial,
        shift: int,
    ) -> Fraction:
        """What one sum of some numbers, not zero, loses at most."""
        if not numbers:
            return Fraction(0)
        one, reach = self.sums[number], self.reach(after)
        if isinstance(one, IeeeSum):
            self.chain.know(_IEEE)
            growth: Fraction = (1 + Fraction(1, 2**F32.precision)) ** one.depth
            absolute = one.operations * (_NORMAL if one.flush else _SMALLEST)
            return reach * (growth - 1) + absolute / self.least
        self._fits(one, reach, shift)
        if (number, numbers) not in self.losses:
            self.losses[number, numbers] = one.losses(self.chain, numbers)
        found = self.losses[number, numbers]
        if found is None:
            return Fraction(0)
        # T is the exponent of what was summed before, and only products lose; or of a product
        size, bits = self.size(products), one.sum.fraction_bits
        largest = [self.a.exponents[i] * self.b.exponents[j] for i, j in products]
        cases: list[tuple[Fraction, Fraction | None]] = [(max([size, *largest]), None)]
        if not before.zero:
            cases.append((self.reach(before), size if found.truncates else None))
        lost = found.small / self.least
        for top, most in cases:
            ends = [(Fraction(0), top)]  # what rounding loses, and 2^T at most, by the sum's leading bit
            for place in range(one.precision, one.sum.word.width - 1):
                last = 1 << (place - one.precision + 1)
                lower = Fraction(1 << place, 1 << bits) - found.cut
                highest = min(top, reach / lower) if lower > 0 else top
                ends.append((Fraction(last - 1) if found.share == 1 else found.share * last, highest))
            for rounded, highest in ends:
                aligned = found.cut * highest if most is None else min(found.cut * highest, most)
                lost = max(lost, aligned + rounded / 2**bits * highest)
        return lost

    def _fits(self, fused: FusedSum, reach: Fraction, shift: int) -> None:
        """Every exponent lies where the lemmas hold."""
        low, high = word_exponents(self.algorithm.split, self.domain)
        double = Fraction(2) ** (self.domain.high + 1)
        most = double + self.algorithm.k * double**2
        largest = max(2 * high + 2, int(most * reach * 2**shift + 1).bit_length())
        if 2 * low < fused.lowest or largest > fused.highest:
            raise Unbounded(
                f"exponents of products from {2 * low}, of sums to {largest}: "
                f"the lemmas hold from {fused.lowest} to {fused.highest}"
            )


def _up(x: Fraction) -> Fraction:
    return -(-x // _STEP) * _STEP


@lru_cache(maxsize=64)
def kept(split: Split, domain: Inputs, bits: int, count: int) -> Kept:
    """The constants of a split, for the numbers of a domain that have so many bits.

    They are guessed from samples, and held against every number of the domain. Raises
    :class:`tcsmt.algorithms.loss.Unbounded` where words may be infinite, or other than zero beyond ``count``.
    """
    if split.format == F32:
        return Kept((Fraction(1),), (Fraction(1),), Fraction(0))
    found = Kept((Fraction(0),) * count, (Fraction(0),) * count, Fraction(0))
    found = _raised(found, split, _samples(domain, bits))
    for exponent in range(domain.low, domain.high + 1):
        binade = replace(domain, low=exponent, high=exponent)
        while (against := _against(split, binade, bits, found)) is not None:
            more = _raised(found, split, np.array([against], np.uint32))
            if more == found:
                raise Unbounded(f"the split of {F32.hex(against)} overflows, or needs more words")
            found = more
    return found


def _against(split: Split, binade: Inputs, bits: int, found: Kept) -> int | None:
    """A number of one binade for which the constants do not hold, of all that there are."""
    goal = _kept_goal(split, binade, bits, found)
    if goal.value == 0:
        return None
    holds = Exhaust(goal.zext(32))
    for sign in range(1 if binade.positive else 2):
        start = sign << F32.sign_bit | (binade.low + F32.bias) << F32.fraction_bits
        for first in range(start, start + (1 << F32.fraction_bits), _CHUNK):
            wrong = np.flatnonzero(holds(first, _CHUNK))
            if len(wrong):
                return first + int(wrong[0])
    return None


def _samples(domain: Inputs, bits: int) -> np.ndarray:
    """Numbers with few and with many bits set, of every exponent of the domain."""
    places = range(F32.fraction_bits)
    ends = {0, (1 << F32.fraction_bits) - 1} | {1 << p for p in places} | {(1 << p) - 1 for p in places}
    ends |= {(1 << F32.fraction_bits) - (1 << p) for p in places}
    ends |= {1 << p | 1 << q for p in places for q in range(p)}
    dropped = F32.precision - bits
    fractions = np.array(sorted({e >> dropped << dropped for e in ends}), np.uint32)
    fields = np.arange(domain.low, domain.high + 1) + F32.bias
    return (fields.astype(np.uint32)[:, None] << F32.fraction_bits | fractions[None, :]).reshape(-1)


def _raised(found: Kept, split: Split, numbers: np.ndarray) -> Kept:
    """Constants that hold for these numbers, too; a word that is not finite changes nothing."""
    x = np.abs(numbers.view(np.float32).astype(np.float64))
    rest = numbers.view(np.float32).astype(np.float64)
    sizes, exponents = list(found.sizes), list(found.exponents)
    with np.errstate(all="ignore"):
        for place, word in enumerate(words(split, numbers)[: len(sizes)]):
            got = np.ldexp(from_words(split.format, word).astype(np.float64), -split.scale * place)
            rest = rest - got
            least = np.ldexp(1.0, split.format.e_min - split.scale * place)
            power = np.where(got == 0, 0.0, np.maximum(np.ldexp(0.5, np.frexp(np.abs(got))[1]), least))
            sizes[place] = max(sizes[place], _largest(np.abs(got), x))
            exponents[place] = max(exponents[place], _largest(power, x))
    return Kept(tuple(sizes), tuple(exponents), max(found.left, _largest(np.abs(rest), x)))


def _largest(part: np.ndarray, whole: np.ndarray) -> Fraction:
    """The largest ratio, rounded up to a few digits of it, or of its excess over 1; 0 if none is finite."""
    ratio = np.where(np.isfinite(part), part / whole, 0.0)
    place = int(np.argmax(ratio))
    exact = Fraction(float(part[place])) / Fraction(float(whole[place])) if ratio[place] else Fraction(0)
    over = exact - 1 if exact > 1 else exact
    if not over:
        return exact
    step = Fraction(2) ** (over.numerator.bit_length() - over.denominator.bit_length() - _DIGITS)
    return (exact - over) + -(-over // step) * step


def _kept_goal(split: Split, domain: Inputs, bits: int, found: Kept) -> Term:
    """Is there a number of the domain for which the constants do not hold?"""
    word, fmt = var("x", F32.width), split.format
    low, high = word_exponents(split, domain)
    bottom = min(low - fmt.fraction_bits, domain.low - F32.fraction_bits) - split.scale * (split.words - 1)
    grid = Grid(bottom, domain.high + 5 - bottom)
    rest = whole = grid.place(decode(F32, word), domain.low, domain.high)
    size = magnitude(whole)

    def over(part: Term, share: Fraction) -> Term:
        wide = grid.width + max(share.numerator.bit_length(), share.denominator.bit_length())
        return (size.zext(wide) * share.numerator).ult(part.zext(wide) * share.denominator)

    wrong: list[Term] = []
    for place, one in enumerate(split.apply(word)):
        if place >= len(found.sizes):
            wrong.append(one.ne(0))
            continue
        x = decode(fmt, one)
        counted = x.exponent.within(x.exponent.low, x.exponent.high)
        outside = counted.ult(max(low - x.exponent.low, 0)) | ~counted.ule(high - x.exponent.low)
        power = grid.place(replace(x, sign=FALSE, significand=const(1, 1), fraction_bits=0), low, high)
        placed = grid.place(x, low, high).ashr(split.scale * place)
        wrong += [x.infinite, x.nan, ~x.zero & outside]
        wrong.append(over(magnitude(placed), found.sizes[place]))
        wrong.append(~x.zero & over(power >> (split.scale * place), found.exponents[place]))
        rest = rest - placed
    wrong.append(over(magnitude(rest), found.left))
    return domain.within(word, bits) & whole.ne(0) & any_of(wrong)
