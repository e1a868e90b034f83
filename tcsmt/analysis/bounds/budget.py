"""A proved bound of an algorithm's error, made of what each of its steps can lose.

Relative to S = |c| + Σ |a·b|, for every input of a domain and any length of the dot product:

* *the split*: a = Σ A_i + r with |r| <= ρ|a|, |A_i| <= ν_i |a| and 2^(exponent of A_i) <= μ_i |a|, each
  proved for all numbers of the domain at once (a word's scale is counted in; ``split_constants.py``);
* *products left out*: Σ ν_i ν_j over the words whose product is not computed;
* *parts of significands*: where a unit multiplies some bits of each word alone, ν and μ of those bits, and
  what no instruction multiplies, counted for every significand (``split_constants.py``);
* *inside the unit*: the steps of an instruction, as its own trace has them (``steps.py``). In a fused sum
  2^T is at most the larger of μ_i μ_j S and of what was summed before; from it follows what alignment and
  the last rounding lose (``fused_loss.py``);
* *IEEE operations*, inside and outside: each loses a known share of its exact result, half of the last bit
  to nearest and a whole one otherwise, and what lies below the smallest number (IEEE 754-2019, 4.3). What
  compensated sums of them lose follows from that (``compensated.py``).

The sum of these is a bound by the triangle inequality. Chains over parts of the dot product add up
disjoint parts of S, so the largest of their losses counts once. So does, of a chain's instructions that
multiply parts of significands, what a sum of products loses relative to these products alone. No result
overflows: for each step it is checked that the largest value that it can reach lies below what its format
holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from tcsmt.analysis.bounds.compensated import KNUTH, CompensatedSum
from tcsmt.analysis.bounds.fused_loss import C, ErrorTerms, Unbounded, share_of
from tcsmt.analysis.bounds.proof import StepwiseProof, adding_zero, word_exponents, words_needed
from tcsmt.analysis.bounds.split_constants import (
    WHOLE,
    PartKept,
    SplitConstants,
    left_out,
    part_kept,
    prove_split_constants,
)
from tcsmt.analysis.bounds.steps import (
    FusedStep,
    IeeeStep,
    Part,
    Source,
    Step,
    StepResult,
    require_same,
    steps_of,
)
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.recipes.algorithm import Step as Instruction
from tcsmt.programs.steps.running_sum import COMPENSATIONS, PLAIN
from tcsmt.programs.steps.split import Split
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError

#: What is taken from the standard (and proved of our operations in
#: ``tests/matrix_units/arithmetic/test_ieee.py``).
_IEEE = "an IEEE operation loses half of its result's last bit at most to nearest, else all (754-2019, 4.3)"
#: Losses are rounded up to multiples of this.
_STEP = Fraction(1, 2**96)


@dataclass(frozen=True)
class ErrorBudget:
    """The largest loss of each kind of step, relative to |c| + Σ |a·b|."""

    shares: dict[str, Fraction]

    @property
    def total(self) -> Fraction:
        """Return the bound."""
        return sum(self.shares.values(), Fraction(0))


#: A word of a, a word of b, and which parts of both are multiplied (None: all of their bits).
Product = tuple[int, int, "tuple[Part, Part] | None"]
#: What some steps of a chain lose relative to their own products, by step and products.
Shared = dict[tuple[int, frozenset[Product]], Fraction]


@dataclass(frozen=True)
class Partial:
    """A partial sum: which terms it may hold, c and products of words, and how far it may be off.

    It differs from their exact sum by (growth - 1)·Σ|term| + off·S at most, Σ over its own terms.
    """

    c: bool = False
    products: frozenset[Product] = frozenset()
    growth: Fraction = Fraction(1)
    off: Fraction = Fraction(0)

    @property
    def zero(self) -> bool:
        """Return whether it is 0."""
        return not self.c and not self.products

    def joined(self, *others: Partial) -> Partial:
        """Return the exact sum of partial sums, which have no term in common."""
        parts = (self, *others)
        return Partial(
            any(p.c for p in parts),
            frozenset().union(*(p.products for p in parts)),
            max(p.growth for p in parts),
            sum((p.off for p in parts), Fraction(0)),
        )


#: The constants of a split, for the numbers of a domain that have so many bits, and so many words.
SplitProof = Callable[[Split, Domain, int, int], SplitConstants]


def budget(
    chain: StepwiseProof,
    algorithm: Algorithm,
    domain: Domain,
    prove_split: SplitProof = prove_split_constants,
) -> ErrorBudget:
    """Return the bound; its lemmas are added to the chain. prove_split: proves the constants of a split.

    Raises :class:`.Unbounded` where there is none.
    """
    counts = words_needed(algorithm, domain)
    split_alone = replace(domain, c_zero=False)  # c is not split: its domain makes no other constants
    sides = []
    for bits, count in zip(domain.bits_in(algorithm.wide), counts, strict=True):
        sides.append(prove_split(algorithm.split, split_alone, bits, count))
        name = algorithm.split.format.name
        words_of = f"{count} {name} words leave" if count > 1 else f"one {name} word leaves"
        what = f"{words_of} {float(sides[-1].left):.4g} of a number"
        chain.know(f"{what} of {bits} bits at most (all of them tried)")
    return _ErrorShares(chain, algorithm, domain, sides[0], sides[1]).budget()


def chain_loss(
    chain: StepwiseProof, unit: Model, k: int, domain: Domain, *, subnormals: bool = False
) -> Fraction:
    """Return what one chain of instructions on the unit's own words loses, relative to |c| + Σ |a·b|.

    k: products. domain: of a, b and c; where c is 0, the chain begins with it. subnormals: the domain's
    exponents go on below those of normal words, and there a and b are the format's subnormal numbers. The
    lemmas are added to the chain of proofs. Raises :class:`Unbounded` where there is no such bound.
    """
    fmt = float_format(unit.a_format)
    split = Split(format=fmt, wide=float_format(unit.d_format), words=1)
    try:
        algorithm = Algorithm(k=k, unit=unit, split=split, sums=(Sum(((0, 0),)),))
    except TcsmtError as why:  # operands of two formats, or a result that is not the next c
        raise Unbounded(str(why)) from None
    words = replace(domain, bits=domain.bits_in(fmt))
    builder = _ErrorShares(chain, algorithm, words, WHOLE, WHOLE)
    if subnormals:
        a, b = builder.with_subnormals()
        builder = replace(builder, a=a, b=b)
    return builder.budget().total


@dataclass(frozen=True)
class _ErrorShares:
    chain: StepwiseProof
    algorithm: Algorithm
    domain: Domain
    a: SplitConstants
    b: SplitConstants
    #: by a step's place in the instruction, and its numbers that may be other than zero
    losses: dict[tuple[int, frozenset[int]], ErrorTerms | None] = field(default_factory=dict)

    def budget(self) -> ErrorBudget:
        algorithm, live = self.algorithm, not self.domain.c_zero
        kinds = {(i, j) for i in range(len(self.a.sizes)) for j in range(len(self.b.sizes))}
        computed = {product for total in algorithm.sums for product in total.products}
        shares = {
            # a·b - Â·B̂ = (a - Â)·b + Â·(b - B̂), Â being the sum of a's words
            "the split": self.a.left + min(1 + self.a.left, sum(self.a.sizes)) * self.b.left,
            "products left out": self.size((i, j, None) for i, j in kinds - computed),
            "parts left out": self.left_out(kinds & computed),
        }
        whole = Partial(c=True) if live and algorithm.c_enters == "first" else Partial()
        c = Partial(c=live and algorithm.c_enters == "unit")
        spent = most = Fraction(0)

        def spend(name: str) -> None:
            nonlocal spent
            wrong = self.wrong(whole)
            shares[name] = shares.get(name, Fraction(0)) + wrong - spent
            spent = wrong

        for shift, steps in algorithm.chains(algorithm.k):
            if steps[0][2].start == 0:
                most = Fraction(0)
            part = self.inside(c, shift, steps)
            # disjoint parts of the dot product share what the largest of them loses
            more = max(part.off - most, Fraction(0))
            most += more
            part = replace(part, off=more)
            alone, whole = whole, whole.joined(part)
            products = dict.fromkeys(f"A{i}·B{j}" for i, j, _ in steps)
            spend(f"in the unit, {' + '.join(products)}")
            if algorithm.compensated == PLAIN:
                whole = self.outside(alone, part, shift)
                spend("additions outside")
            c = Partial()
        if algorithm.compensated != PLAIN:
            whole = self.compensated(whole.joined(Partial(c=live)) if algorithm.c_enters == "last" else whole)
        elif algorithm.c_enters == "last":
            whole = self.outside(whole, Partial(c=live), 0)
        spend("additions outside")
        return ErrorBudget({name: loss for name, loss in shares.items() if loss})

    def size(self, products: Iterable[Product]) -> Fraction:
        """Σ ν_i ν_j; parts of one product, no bit of which is there twice, are no more than the product."""
        sizes: dict[tuple[int, int], Fraction] = {}
        for i, j, parts in products:
            share = (
                Fraction(1)
                if parts is None
                else self.part_constants(0, parts).size * self.part_constants(1, parts).size
            )
            sizes[i, j] = min(sizes.get((i, j), Fraction(0)) + share, Fraction(1))
        return sum(
            (share * self.a.sizes[i] * self.b.sizes[j] for (i, j), share in sizes.items()), Fraction(0)
        )

    def exponent(self, product: Product) -> Fraction:
        """μ_i μ_j."""
        i, j, parts = product
        share = (
            Fraction(1)
            if parts is None
            else self.part_constants(0, parts).exponent * self.part_constants(1, parts).exponent
        )
        return share * self.a.exponents[i] * self.b.exponents[j]

    def left_out(self, products: Iterable[tuple[int, int]]) -> Fraction:
        """Return what no step multiplies of words that are multiplied."""
        share = max(self.left_out_of(lane) for lane in range(self.algorithm.unit.k))
        return self.size((i, j, None) for i, j in products) * share

    def left_out_of(self, lane: int) -> Fraction:
        """Return what no step multiplies of a lane's words. Refuses a lane that is multiplied more than
        once.
        """
        pairs: list[tuple[Part, Part] | None] = []
        for step in self.steps:
            parts = step.parts if isinstance(step, FusedStep) else None
            pairs += [parts] * step.sources.count(lane)
        if pairs == [None]:
            return Fraction(0)
        parts_alone = tuple(pair for pair in pairs if pair is not None)
        if len(parts_alone) < len(pairs):
            raise Unbounded("a lane's product is there more than once")
        return left_out(self.fmt, self.significant, parts_alone)

    def part_constants(self, side: int, parts: tuple[Part, Part]) -> PartKept:
        """Return the constants of the part of a's words (``side`` 0) or of b's."""
        return part_kept(self.fmt, self.significant[side], parts[side])

    @property
    def fmt(self) -> Format:
        """Return the format of the words."""
        return self.algorithm.split.format

    @cached_property
    def significant(self) -> tuple[int, int]:
        """Significant bits of the words of a and of b at most."""
        a, b = (min(bits, self.fmt.precision) for bits in self.domain.bits_in(self.algorithm.wide))
        return a, b

    def terms(self, partial: Partial) -> Fraction:
        """Σ of the magnitudes of a partial sum's terms, at most, relative to S."""
        return max(Fraction(partial.c), self.size(partial.products))

    def wrong(self, partial: Partial) -> Fraction:
        """Return the bound of a partial sum's error, relative to S."""
        return (partial.growth - 1) * self.terms(partial) + partial.off

    def reach(self, partial: Partial) -> Fraction:
        """Return how large a partial sum can be, relative to S."""
        return self.terms(partial) + self.wrong(partial)

    @cached_property
    def least(self) -> Fraction:
        """S at least, where it is not 0."""
        product = Fraction(2) ** (2 * self.domain.low)
        return product if self.domain.c_zero else min(product, Fraction(2) ** self.domain.low)

    @cached_property
    def most(self) -> Fraction:
        """S at most."""
        domain, wide = self.domain, self.algorithm.wide
        c, a, b = (
            (2 - Fraction(2) ** (1 - bits)) * Fraction(2) ** domain.high
            for bits in (wide.precision, *domain.bits_in(wide))
        )
        return (Fraction(0) if domain.c_zero else c) + self.algorithm.k * a * b

    def stays_below(self, limit: Fraction, reach: Fraction, shift: int, what: str) -> None:
        """Refuse what may overflow: a value of ``reach``, in units of 2^-shift, not below the limit."""
        largest = self.most * reach * 2**shift
        if largest >= limit:
            raise Unbounded(f"{what} may overflow: it may reach {float(largest):.4g}, of {float(limit):.4g}")

    # --- IEEE operations

    def outside(self, whole: Partial, part: Partial, shift: int) -> Partial:
        """Return the sum of both by the algorithm; nothing is rounded where one of both is zero."""
        if part.zero and not adding_zero(self.chain, self.algorithm, shift):
            raise Unbounded(f"not proved: {self.chain.stopped}")
        joined = whole.joined(part)
        if whole.zero or part.zero:
            return joined
        wide = self.algorithm.wide
        x, y = var("x", wide.width), var("y", wide.width)
        operation = self.algorithm.added(x, shift, y)
        return self.rounded(joined, operation.format, operation.rounding, fine=not shift)

    def compensated(self, whole: Partial) -> Partial:
        """Return the compensated sum of all chains and c; whole: the same without what the additions lose."""
        algorithm, wide = self.algorithm, self.algorithm.wide
        compensation = COMPENSATIONS[algorithm.compensated]
        if compensation.exact_error and not algorithm.rounding.ties_to_even:
            raise Unbounded(
                f"{algorithm.compensated} is exact to nearest alone, not with {algorithm.rounding}"
            )
        share = share_of(algorithm.rounding)
        shifts = [shift for shift, _ in algorithm.chains(algorithm.k)]
        scaled = sum(shift > 0 for shift in shifts[0 if algorithm.c_enters == "first" else 1 :])
        summed = CompensatedSum(
            u=share / 2**wide.fraction_bits,
            size=self.reach(whole),
            count=len(shifts) - (algorithm.c_enters == "unit"),
            scaling=scaled * share * Fraction(2) ** (wide.e_min - wide.fraction_bits) / self.least,
        )
        if not summed.count:
            return whole
        self.chain.know(_IEEE)
        if compensation.exact_error:
            self.chain.know(KNUTH)
        reach = summed.reach(algorithm.compensated)
        self.stays_below(wide.largest_finite, reach, 0, f"a compensated sum in {wide.name}")
        return replace(whole, off=_up(whole.off + summed.error(algorithm.compensated)))

    def rounded(
        self,
        exact: Partial,
        fmt: Format,
        rounding: Rounding,
        shift: int = 0,
        *,
        fine: bool = False,
        flush: bool = False,
    ) -> Partial:
        """An exact sum rounded to a format; fine: where the result is subnormal, nothing is lost."""
        self.chain.know(_IEEE)
        share = share_of(rounding)
        self.stays_below(fmt.largest_finite, self.reach(exact), shift, f"a sum in {fmt.name}")
        factor = 1 + share / 2**fmt.fraction_bits
        smallest = (
            Fraction(2) ** fmt.e_min if flush else share * Fraction(2) ** (fmt.e_min - fmt.fraction_bits)
        )
        lost = Fraction(0) if fine else smallest / self.least
        return replace(exact, growth=_up(exact.growth * factor), off=_up(exact.off * factor + lost))

    # --- instructions

    @cached_property
    def steps(self) -> Sequence[Step]:
        """Return the steps of an instruction."""
        low, high = word_exponents(self.algorithm.split, self.domain)
        unit, wide = self.algorithm.unit, self.algorithm.wide
        for own, fmt, most in (
            (unit.a_format, self.fmt, high),
            (unit.b_format, self.fmt, high),
            (unit.c_format, wide, wide.e_max),
            (unit.d_format, wide, wide.e_max),
        ):
            require_same(self.chain, float_format(own), fmt, most)
        return steps_of(self.chain, unit, low, high, parts=True)

    def with_subnormals(self) -> tuple[SplitConstants, SplitConstants]:
        """Return the constants of words that may be subnormal, and are read as they are.

        A subnormal word has the exponent e_min of normal ones and p significand bits at most: 2^e_min is up
        to 2^(p - 1) times its magnitude. So 2^T is up to 2^(2p - 2) times a product's; up to 2^(p - 1) times
        where one factor is normal. Where both are subnormal, T is 2·e_min. If the grid then holds the last
        bits of all products, and of c, which the results of sums keep, alignment loses nothing there, and the
        smaller factor is enough.
        """
        fmt, wide, domain = self.fmt, self.algorithm.wide, self.domain
        if any(isinstance(step, FusedStep) and step.parts is not None for step in self.steps):
            raise Unbounded("an instruction multiplies parts of significands, which subnormal words have not")
        last, least = 2 * (fmt.e_min - fmt.fraction_bits), 2 * fmt.e_min
        held = (domain.c_zero or domain.low - wide.fraction_bits >= last) and all(
            isinstance(step, FusedStep)
            and step.sum.precision == step.sum.format.precision == wide.precision
            and step.sum.keeps_multiples(self.chain, last, least)
            for step in self.steps
        )
        self.chain.know(
            f"a subnormal word of {fmt.name} has exponent {fmt.e_min}: 2^{fmt.e_min} is at most "
            f"2^{fmt.fraction_bits} times its magnitude"
        )
        lower = replace(WHOLE, exponents=(Fraction(2) ** fmt.fraction_bits,))
        return lower, WHOLE if held else lower

    def inside(self, start: Partial, shift: int, steps: list[Instruction]) -> Partial:
        """A chain of instructions."""
        partial, shared = start, Shared()
        for i, j, part in steps:
            there = i < len(self.a.sizes) and j < len(self.b.sizes)
            partial = self.instruction(partial, (i, j), len(part) if there else 0, shift, shared)
        return partial

    def instruction(
        self, c: Partial, product: tuple[int, int], lanes: int, shift: int, shared: Shared
    ) -> Partial:
        """One instruction, of whose lanes the first ones have products that are not zero."""
        partials: list[Partial] = []

        def read(source: Source, parts: tuple[Part, Part] | None = None) -> Partial:
            if isinstance(source, StepResult):
                return partials[source.step]
            if source == C:
                return c
            return Partial(products=frozenset({(*product, parts)})) if source < lanes else Partial()

        for number, step in enumerate(self.steps):
            if isinstance(step, IeeeStep):
                partials.append(self.operation(step, [read(source) for source in step.sources], c, shift))
                continue
            start = Partial() if step.start is None else read(step.start)
            parts = [read(source, step.parts) for source in step.sources]
            partials.append(self.fused(number, step, start, parts, shift, shared))
        return partials[-1]

    def operation(self, step: IeeeStep, parts: Sequence[Partial], c: Partial, shift: int) -> Partial:
        """Return what an IEEE operation gives; nothing is rounded where one of its inputs alone is not
        zero.
        """
        exact = Partial().joined(*parts)
        operation = step.operation
        if step.drops and not c.zero:
            tiny = Fraction(2) ** float_format(self.algorithm.unit.c_format).e_min
            exact = replace(exact, off=_up(exact.off + tiny / self.least))
        live = [source for source, part in zip(step.sources, parts, strict=True) if not part.zero]
        if not live or (len(live) == 1 and live[0] in step.fits):
            return exact
        return self.rounded(
            exact, operation.format, operation.rounding, shift, fine=step.fine, flush=operation.flush
        )

    def fused(
        self,
        number: int,
        step: FusedStep,
        start: Partial,
        parts: Sequence[Partial],
        shift: int,
        shared: Shared,
    ) -> Partial:
        """Return what a fused sum gives.

        shared: what the sums of the chain have lost so far relative to their own products. An instruction's
        lanes are no other's: together such products are those of one instruction over all lanes.
        """
        after = start.joined(*parts)
        if step.sum.drops_below is not None and not start.zero:
            dropped = Fraction(2) ** step.sum.drops_below
            after = replace(after, off=_up(after.off + dropped / self.least))
        live = frozenset(place for place, part in enumerate(parts) if not part.zero)
        products = Partial().joined(*parts).products
        live = live if start.zero else live | {C}
        lost, own = self.fused_error(number, step, live, products, start, after, shift)
        before = shared.get((number, products), Fraction(0))
        shared[number, products] = max(before, own)
        return replace(after, off=_up(after.off + lost + shared[number, products] - before))

    def fused_error(
        self,
        number: int,
        step: FusedStep,
        live: frozenset[int],
        products: frozenset[Product],
        before: Partial,
        after: Partial,
        shift: int,
    ) -> tuple[Fraction, Fraction]:
        """Return what one fused sum of some numbers, not zero, loses at most: relative to S, and to its
        products.
        """
        fused, reach = step.sum, self.reach(after)
        nothing = Fraction(0), Fraction(0)
        if not live:
            fused.zeros(self.chain)
            return nothing
        if step.least < fused.lowest:
            raise Unbounded(f"exponents of products from {step.least}: the lemmas hold from {fused.lowest}")
        limit = Fraction(2) ** min(fused.format.e_max, self.algorithm.wide.e_max)
        self.stays_below(limit, reach, shift, "a fused sum")
        if (number, live) not in self.losses:
            self.losses[number, live] = fused.losses(self.chain, live)
        losses = self.losses[number, live]
        if losses is None:
            return nothing
        # T is the exponent of what was summed before, and only products lose; or of a product
        size, bits = self.size(products), fused.sum.fraction_bits
        largest = max((self.exponent(product) for product in products), default=Fraction(0))
        cases: list[tuple[Fraction, Fraction | None]] = [(max(size, largest), None)]
        if not before.zero:
            cases.append((self.reach(before), size if losses.truncates else None))
        # a sum of -1 unit is one of numbers that cancel: its products have half of them, nearly
        rest = 1 - losses.cut - Fraction(4, 2**bits)
        if losses.wrong_unit_loss and rest <= 0:
            raise Unbounded("terms that nearly cancel may be those that alignment leaves of others")
        wrong_unit = losses.wrong_unit_loss
        miscounted = wrong_unit * max(size, largest) / rest if wrong_unit else Fraction(0)
        most_lost = losses.cut * max(top for top, _ in cases) + miscounted
        self.stays_below(limit, reach + most_lost, shift, "a fused sum")
        # of sums of some products on grids of their own: their exponents are those of products of their own
        # (elsewhere the committed bounds are without this, and no referee has attacked it there)
        apart = losses.group_loss if step.parts is not None else ()
        own = max(apart, default=Fraction(0)) * largest + miscounted
        cut = losses.cut - sum(apart, Fraction(0))
        lost = losses.tiny_c_loss / self.least
        for top, most in cases:
            ends = [(Fraction(0), top)]  # what rounding loses, and 2^T at most, by the sum's leading bit
            for place in range(fused.precision, fused.sum.word.width - 1):
                last = 1 << (place - fused.precision + 1)
                lower = Fraction(1 << place, 1 << bits) - losses.cut
                highest = min(top, reach / lower) if lower > 0 else top
                ends.append((Fraction(last - 1) if losses.share == 1 else losses.share * last, highest))
            for rounded, highest in ends:
                aligned = cut * highest if most is None else min(cut * highest, most)
                lost = max(lost, aligned + rounded / 2**bits * highest)
        return lost, own


def _up(x: Fraction) -> Fraction:
    return -(-x // _STEP) * _STEP
