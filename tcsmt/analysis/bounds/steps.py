"""The steps of one instruction, read from the unit's trace: what each adds up, and that it does.

A step is a fused sum (:mod:`tcsmt.analysis.bounds.fused_loss`) or an IEEE operation: the exact sum of its
inputs, rounded once. Nothing is taken from the unit's parameters:

* an operation's record, from which its inputs and its rounding are read, builds the stage's own node again;
* what a step reads as a product has the value of the two words' product, and what it reads as c that of c:
  the same terms, or a lemma;
* the last step gives the unit's output.

A stage of a kind that no lemma is about, and a step that reads anything else, are refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby

from tcsmt.analysis.bounds.fused_loss import C, FusedSum, Unbounded, need
from tcsmt.analysis.bounds.proof import StepwiseProof, free_products
from tcsmt.language.terms import TRUE, Term, any_of, const, substitute, var, variables
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import (
    Exponent,
    Fixed,
    Number,
    as_fixed,
    as_number,
    chosen_bits,
    decode,
    multiply,
)
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation
from tcsmt.matrix_units.arithmetic.integers import signed, signed_word
from tcsmt.matrix_units.models import InstructionSequence, Kind, Model, Stage, Trace
from tcsmt.support.invariants import checked_cast

#: Bits of a product that solvers multiply out at once.
_SHORT = 10
#: Stages that a fused sum is made of, beside its result.
_OF_A_SUM = frozenset({
    Kind.PRODUCT, Kind.SCALED_PRODUCT, Kind.GROUP_SUM, Kind.LARGEST_EXPONENT, Kind.ALIGNED_PRODUCT,
    Kind.ALIGNED_C, Kind.SUM_OF_PRODUCTS, Kind.SUM_OF_GROUPS, Kind.SUM, Kind.COUNTED_SUM, Kind.ROUNDED_DOWN,
    Kind.RESULT,
})  # fmt: skip


@dataclass(frozen=True)
class StepResult:
    """What an earlier step of the instruction gave, by its number."""

    step: int


#: Some bits of a significand: how many places below the leading one they begin, and how many they are.
Part = tuple[int, int]
#: What a step reads: a product, by its lane; the instruction's c (``C``); or an earlier step's result.
Source = int | StepResult


@dataclass(frozen=True)
class IeeeStep:
    """One IEEE operation.

    sources: what is summed. fits: which of them the operation's format holds, whatever they are (with no
    other input that is not zero, nothing is rounded). fine: no bit of any source lies below the format's
    last one, so that a subnormal result is exact. drops: a subnormal c is read as zero.
    """

    sources: tuple[Source, ...]
    operation: Operation
    fits: frozenset[Source]
    fine: bool
    drops: bool = False


@dataclass(frozen=True)
class FusedStep:
    """One fused sum.

    sources: of its products, by their places. start: of its c (None: zero). least: no product that is not
    zero has a smaller exponent. parts: which significand bits of a's and of b's words are multiplied, where
    these are not all of them.
    """

    sources: tuple[Source, ...]
    start: Source | None
    sum: FusedSum
    least: int
    parts: tuple[Part, Part] | None = None


Step = FusedStep | IeeeStep


def steps_of(chain: StepwiseProof, unit: Model, low: int, high: int, *, parts: bool = False) -> list[Step]:
    """Return the steps of an instruction, or of a sequence of them, in order; the last one gives its result.

    low, high: where the exponents of the operands lie that are not zero. Block scales are all 1. parts: a
    step may multiply parts of the operands' significands; else such a unit is refused. Raises
    :class:`.Unbounded` for a unit that is not made of such steps.
    """
    if not isinstance(unit, InstructionSequence):
        return _Reader(chain, unit, low, high, parts).steps()
    steps: list[Step] = []
    for instruction in unit.instructions:
        # each of them is applied to the words of a and b, and to the result of the one before it
        steps += _after(steps, _Reader(chain, instruction, low, high, parts).steps())
    return steps


def require_same(chain: StepwiseProof, first: Format, second: Format, high: int) -> None:
    """Prove that words with exponents up to ``high`` are the same numbers in both formats.

    Raises :class:`.Unbounded` where that is not proved.
    """
    if first == second:
        return
    word = var("word", first.width)
    x, y = decode(first, word), decode(second, word)
    inside = signed(x.exponent).sle(signed_word(high))
    goal = inside & any_of([x.infinite, x.nan, y.infinite, y.nan, _unlike(x, y)])
    need(chain, f"words of {first.name} and of {second.name} are the same numbers up to 2^{high}", goal)


def _after(before: Sequence[Step], steps: Sequence[Step]) -> list[Step]:
    """An instruction's steps where steps of another one come before them, whose result is its c."""
    if not before:
        return list(steps)

    def moved(source: Source) -> Source:
        if isinstance(source, StepResult):
            return StepResult(source.step + len(before))
        return StepResult(len(before) - 1) if source == C else source

    previous: list[Step] = []
    for step in steps:
        sources = tuple(moved(source) for source in step.sources)
        if isinstance(step, IeeeStep):
            previous.append(replace(step, sources=sources, fits=frozenset(map(moved, step.fits))))
        else:
            start = None if step.start is None else moved(step.start)
            previous.append(replace(step, sources=sources, start=start))
    return previous


@dataclass(frozen=True)
class _Reader:
    chain: StepwiseProof
    unit: Model
    low: int
    high: int
    parts: bool = False

    @cached_property
    def trace(self) -> Trace:
        fmt, whole = self.unit.scale_format, self.unit.trace
        if fmt is None:
            return whole
        ones = [const(fmt.word(Fraction(1)), fmt.width)] * self.unit.scales
        return self.unit.apply(replace(whole.operands, scale_a=ones, scale_b=ones))

    def steps(self) -> list[Step]:
        steps: list[Step] = []
        results: dict[Term, tuple[Format, int]] = {}
        blocks = {stage.term: sum_ for stage, sum_ in self._fused_sums()}
        start: Source | None = None if any(s.kind is Kind.C_ADDED for s in self.trace.stages) else C
        for stage in self.trace.stages:
            if stage.operation is not None:
                steps.append(self._operation(stage, stage.operation, results))
            elif stage.kind is Kind.RESULT:
                fused = blocks[stage.term]
                steps.append(self._fused_step(fused, start))
                start = StepResult(len(steps) - 1)
            else:
                continue
            results[stage.term] = checked_cast(stage.value, Format), len(steps) - 1
        if not steps or results.get(self.trace.output, (None, None))[1] != len(steps) - 1:
            raise Unbounded("the unit's output is not what its last step gives")
        return steps

    def _fused_step(self, fused: FusedSum, start: Source | None) -> FusedStep:
        least, zeros = self._least(fused), getattr(self.unit.parameters, "zero_exponent", None)
        if zeros is not None and zeros < least:
            fused = replace(fused, zero_exponent=zeros)
        return FusedStep(fused.lanes, start, fused, least, self._chosen)

    # --- IEEE operations

    def _operation(
        self, stage: Stage, operation: Operation, results: dict[Term, tuple[Format, int]]
    ) -> IeeeStep:
        if operation.word() is not stage.term:
            raise Unbounded(f"'{stage.name}' is not the operation that it is said to be")
        if isinstance(operation, MultiplyAdd):
            read = self._multiply_add(operation, results)
        else:
            read = [self._number(number, results) for number in operation.terms]
        sources = tuple(source for source, _, _ in read if source is not None)
        formats = {source: fmt for source, fmt, _ in read if source is not None}
        fmt = operation.format
        whole = {source for source, narrow in formats.items() if narrow and fmt.holds(narrow)}
        last = [self._last_bit(narrow) for narrow in formats.values()]
        fine = all(bit >= fmt.e_min - fmt.fraction_bits for bit in last) and not operation.flush
        kept = frozenset() if operation.flush else frozenset(whole)
        return IeeeStep(sources, operation, kept, fine, any(drops for _, _, drops in read))

    @property
    def _factors(self) -> tuple[Format, Format]:
        """Return the formats of a and of b."""
        return float_format(self.unit.a_format), float_format(self.unit.b_format)

    def _last_bit(self, fmt: Format | None) -> int:
        """Return the exponent of the last bit of a number of a format; None: of a product of a's and b's."""
        formats = [fmt] if fmt is not None else [*self._factors]
        return sum(f.e_min - f.fraction_bits for f in formats)

    def _multiply_add(
        self, operation: MultiplyAdd, results: dict[Term, tuple[Format, int]]
    ) -> list[tuple[Source | None, Format | None, bool]]:
        """Return the sources of x·y and of z."""
        fmt = operation.format
        unity = const(fmt.word(Fraction(1)), fmt.width)
        added = self._word(operation.z, fmt, results)
        if operation.y is unity:
            return [self._word(operation.x, fmt, results), added]
        lanes = []
        for words, narrow in zip((self.trace.a, self.trace.b), self._factors, strict=True):
            lanes.append(self._factor(operation, words, narrow))
        if lanes[0] is None or lanes[0] != lanes[1]:
            raise Unbounded("an operation multiplies what are not the words of one lane")
        return [(lanes[0], None, False), added]

    def _factor(self, operation: MultiplyAdd, words: Sequence[Term], narrow: Format) -> int | None:
        """Return the lane of the word that one factor is proved to have the value of."""
        for factor in (operation.x, operation.y):
            inputs = variables([factor])
            if len(inputs) == 1 and inputs[0] in words:
                word = inputs[0]
                read, number = decode(operation.format, factor), decode(narrow, word)
                differ = self._operand(number) & _unlike(read, number)
                need(self.chain, "a factor has the value of the operand", _renamed(differ))
                return words.index(word)
        return None

    def _word(
        self, word: Term, fmt: Format, results: dict[Term, tuple[Format, int]]
    ) -> tuple[Source | None, Format | None, bool]:
        """Return the source of a word, its format, and whether a subnormal c is read as zero."""
        if word.value is not None and word.value & ((1 << fmt.sign_bit) - 1) == 0:
            return None, None, False
        if word in results and results[word][0] == fmt:
            return StepResult(results[word][1]), fmt, False
        return self._c(decode(fmt, word))

    def _number(
        self, number: Number, results: dict[Term, tuple[Format, int]]
    ) -> tuple[Source | None, Format | None, bool]:
        """Return the source of a number, its format if it is a word's, whether a subnormal c is read as
        zero.
        """
        if number.zero.value == 1:
            return None, None, False
        for word, (fmt, step) in results.items():
            if number == decode(fmt, word):
                return StepResult(step), fmt, False
        lane = self._lane(number)
        return (lane, None, False) if lane is not None else self._c(number)

    def _c(self, number: Number) -> tuple[Source, Format, bool]:
        """c: the number is proved to have its value, but may be zero where c is subnormal."""
        fmt, c = float_format(self.unit.c_format), self.trace.c
        decoded = decode(fmt, c)
        if number == decoded:
            return C, fmt, False
        if variables([number.significand, number.exponent.term, number.sign, number.zero]) != [c]:
            raise Unbounded("an operation reads what is neither a product, nor c, nor an earlier result")
        differ = ~decoded.infinite & ~decoded.nan & _unlike(number, decoded)
        if self.chain.prove("c is read as it is", _renamed(differ)):
            return C, fmt, False
        self._reads_subnormals_as_zero(number, decoded)
        return C, fmt, True

    # --- products

    def _lane(self, number: Number) -> int | None:
        """Return the lane whose product a number is proved to be; None where it depends on anything else."""
        inputs = variables([number.significand, number.exponent.term, number.sign, number.zero])
        if len(inputs) != 2:
            return None
        pairs = enumerate(zip(self.trace.a, self.trace.b, strict=True))
        lane = next((i for i, pair in pairs if set(pair) == set(inputs)), None)
        if lane is None:
            return None
        x, y = self.trace.a[lane], self.trace.b[lane]
        of_a, of_b = (decode(fmt, word) for fmt, word in zip(self._factors, (x, y), strict=True))
        if self._chosen is not None:
            taken = self._taken(of_a, of_b)
            whole = number in (multiply(*taken), ieee.exact_product(*taken))
            if not whole and not self._flushed(number, x, y):
                raise Unbounded("a product is not that of the operands' parts")
            return lane
        product = multiply(of_a, of_b)
        if number not in (product, ieee.exact_product(of_a, of_b)) and not self._flushed(number, x, y):
            if getattr(self.unit.parameters, "product_exponent", 0):
                raise Unbounded("no lemma is about products that are multiplied by a power of two")
            premise = self._operand(of_a) & self._operand(of_b)
            wrong = any_of([number.infinite, number.nan, _unlike(number, product)])
            what = "a product is finite, and that of its operands"
            goal = _renamed(premise & wrong)
            # a short product is multiplied out: one of other factors may be the same number
            short = of_a.significand.width + of_b.significand.width <= _SHORT
            need(self.chain, what, goal if short else free_products(goal))
        return lane

    def _flushed(self, number: Number, x: Term, y: Term) -> bool:
        """Return whether a number is the product of both operands, or of parts, a subnormal one being read as
        zero.

        Then each operand that counts is proved to be read as it is: the product of both is theirs.
        """
        formats = {x: float_format(self.unit.a_format), y: float_format(self.unit.b_format)}
        numbers = {word: decode(fmt, word) for word, fmt in formats.items()}
        for positive in (False, True):
            read = {word: decode(fmt, word, flush=TRUE) for word, fmt in formats.items()}
            if positive:
                read = {word: replace(n, sign=n.sign & ~n.zero) for word, n in read.items()}
            taken = self._taken(read[x], read[y])
            if number not in (multiply(*taken), ieee.exact_product(*taken)):
                continue
            for word, decoded in read.items():
                wrong = any_of([decoded.infinite, decoded.nan, _unlike(decoded, numbers[word])])
                differ = self._operand(numbers[word]) & wrong
                need(self.chain, "a factor has the value of the operand", _renamed(differ))
            return True
        return False

    @property
    def _chosen(self) -> tuple[Part, Part] | None:
        """Return which significand bits of a and of b are multiplied, where they are not all (None: all).

        The unit says so; that its products are those of the bits is read from its own graph.
        """
        return getattr(self.unit, "parts", None) if self.parts else None

    def _taken(self, x: Number, y: Number) -> tuple[Number, Number]:
        """Return what is multiplied of two operands."""
        if self._chosen is None:
            return x, y
        return chosen_bits(x, *self._chosen[0]), chosen_bits(y, *self._chosen[1])

    def _least(self, fused: FusedSum) -> int:
        """Return the least exponent of a product: that of its operands, or less where it is normalised."""
        of_a, of_b = self._factors
        normalised = 2 * self.low - of_a.fraction_bits - of_b.fraction_bits
        lower = sum(first for first, _ in self._chosen or ())
        for least in dict.fromkeys((2 * self.low - lower, normalised)):
            for place in range(len(fused.lanes)):
                x, y = (decode(f, var(f"{s}{place}", f.width)) for s, f in (("a", of_a), ("b", of_b)))
                number = fused.numbers[place]
                below = ~number.zero & signed(number.exponent).slt(signed_word(least))
                goal = free_products(_renamed(self._operand(x) & self._operand(y) & below), sharp=True)
                if not self.chain.prove(f"the exponent of a product is {least} or more", goal):
                    break
            else:
                return least
        raise Unbounded(f"not proved: {self.chain.stopped}")

    def _operand(self, x: Number) -> Term:
        """Return whether an operand is one that counts: zero, or finite with such an exponent."""
        inside = signed_word(self.low).sle(signed(x.exponent)) & signed(x.exponent).sle(
            signed_word(self.high)
        )
        return ~x.infinite & ~x.nan & (x.zero | inside)

    # --- fused sums

    def _fused_sums(self) -> Iterator[tuple[Stage, FusedSum]]:
        """Yield the fused sums, each with the stage of its result."""
        trace, put = self.trace, {}
        if any(stage.kind is Kind.C_ADDED for stage in trace.stages):
            # these sums begin with zero: read with a c of their own, which is then put to zero
            trace = self.unit.replace(c_position="aligned").trace
            put = {trace.c: const(0, trace.c.width)}
        before: Term | None = None
        own = [stage for stage in self.trace.stages if stage.operation is None]
        fused = [stage for stage in trace.stages if stage.operation is None]
        both = ([list(block) for _, block in groupby(s, lambda entry: entry.block)] for s in (fused, own))
        for stages, mine in zip(*both, strict=True):
            for stage in stages:
                if stage.kind not in _OF_A_SUM:
                    raise Unbounded(f"no lemma is about a stage of the kind '{stage.kind.value}'")
            if stages[-1].kind is not Kind.RESULT:
                raise Unbounded(f"the unit rounds by what has no stage of its own, after '{stages[-1].name}'")
            if not any(stage.kind is Kind.SUM for stage in stages):  # a design, for example
                raise Unbounded(f"no stage of the unit is a sum: '{stages[-1].name}' has no stages before it")
            last = mine[-1]
            if substitute([stages[-1].term], put)[0] is not last.term:
                raise Unbounded(f"'{last.name}' is not the fused sum that it is said to be")
            c, fmt = (trace.c, self.unit.c_format) if before is None else (before, self.unit.d_format)
            yield last, self._fused_sum(stages, c, float_format(fmt))
            before = stages[-1].term

    def _fused_sum(self, stages: Sequence[Stage], c: Term, c_format: Format) -> FusedSum:
        """One block; renamed to lanes from 0 and a c of its own, so that those alike are one graph."""
        (total,) = (checked_cast(stage.value, Fixed) for stage in stages if stage.kind is Kind.SUM)
        fmt = checked_cast(stages[-1].value, Format)
        scaled = any(stage.kind is Kind.SCALED_PRODUCT for stage in stages)
        summed = Kind.SCALED_PRODUCT if scaled else Kind.PRODUCT
        products = [s.value for s in stages if s.kind is summed and isinstance(s.value, Number)]
        lanes = []
        new: dict[Term, Term] = {c: var("c", c.width)}
        for place, product in enumerate(products):
            lane = self._lane(product)
            if lane is None:
                raise Unbounded("a product is not one of the words of a lane")
            lanes.append(lane)
            new |= {
                w[lane]: var(f"{s}{place}", w[lane].width) for s, w in zip("ab", self._words, strict=True)
            }

        renamed = _Renaming(new)
        numbers = {place: renamed.number(x) for place, x in enumerate(products)}
        whole = renamed.fixed(total)
        numbers[C], drops = self._addend(new[c], c_format, whole)
        kept = getattr(self.unit.parameters, "round_fraction_bits", None) or fmt.fraction_bits
        return FusedSum(
            tuple(lanes), numbers, whole, renamed.term(stages[-1].term), fmt, kept + 1,
            flushes=getattr(self.unit.parameters, "flush_outputs", False),
            drops_below=c_format.e_min if drops else None,
        )  # fmt: skip

    def _addend(self, c: Term, fmt: Format, whole: Fixed) -> tuple[Number, bool]:
        """c as a sum has it, and whether a subnormal c is read as zero."""
        number = decode(fmt, c)
        aligned = _as_aligned(number, whole)
        flushed = _as_aligned(decode(fmt, c, flush=TRUE), whole)
        if _reads(whole, aligned) or not _reads(whole, flushed):
            return aligned, False
        self._reads_subnormals_as_zero(flushed, number)
        return flushed, True

    def _reads_subnormals_as_zero(self, number: Number, decoded: Number) -> None:
        """Prove that a number is the given one, or zero where that is subnormal."""
        tiny = ~decoded.zero & ~decoded.significand[decoded.fraction_bits]
        dropped = tiny & number.significand.eq(0)
        differ = ~decoded.infinite & ~decoded.nan & _unlike(number, decoded)
        need(self.chain, "c is read as it is, or a subnormal c as zero", _renamed(differ & ~dropped))

    @property
    def _words(self) -> tuple[Sequence[Term], Sequence[Term]]:
        return self.trace.a, self.trace.b


@dataclass(frozen=True)
class _Renaming:
    """Other terms in the place of some."""

    terms: dict[Term, Term]

    def term(self, term: Term) -> Term:
        return substitute([term], self.terms)[0]

    def exponent(self, x: Exponent) -> Exponent:
        return replace(x, term=self.term(x.term))

    def number(self, x: Number) -> Number:
        return Number(
            self.term(x.sign), self.exponent(x.exponent), self.term(x.significand), x.fraction_bits,
            self.term(x.zero), self.term(x.infinite), self.term(x.nan),
        )  # fmt: skip

    def fixed(self, x: Fixed) -> Fixed:
        """With its source and addends; a number that is a sum's is the sum."""
        source = x.source
        if isinstance(source, Number) and source.summed is not None and as_number(source.summed) == source:
            source = source.summed
        if source is not None:
            source = self.number(source) if isinstance(source, Number) else self.fixed(source)
        addends = tuple(map(self.fixed, x.addends))
        return Fixed(self.term(x.word), self.exponent(x.exponent), x.fraction_bits, source, addends)


def _as_aligned(number: Number, x: Fixed) -> Number:
    """A number as it is aligned in a sum: its exponent, and the place of its point, may be smaller alike."""
    for addend in x.addends:
        aligned = _as_aligned(number, addend)
        if aligned is not number:
            return aligned
    source = x.source
    if isinstance(source, Fixed):
        return _as_aligned(number, source)
    if source is None or source.fraction_bits > number.fraction_bits:
        return number
    offset = source.fraction_bits - number.fraction_bits
    moved = replace(number, exponent=number.exponent.plus(offset), fraction_bits=source.fraction_bits)
    return moved if moved == source else number


def _reads(x: Fixed, number: Number) -> bool:
    """Return whether a number is aligned in a sum."""
    if isinstance(x.source, Fixed):
        return x.source.word is as_fixed(number).word or _reads(x.source, number)
    return x.source == number or any(_reads(addend, number) for addend in x.addends)


def _unlike(x: Number, y: Number) -> Term:
    """Return whether two finite numbers have other values."""
    low = min(n.exponent.low - n.fraction_bits for n in (x, y))
    width = max(n.exponent.high + n.integer_bits for n in (x, y)) - low
    first, second = (
        n.significand.zext(width) << n.exponent.plus(-n.fraction_bits).within(low, low + width).zext(width)
        for n in (x, y)
    )
    return first.ne(second) | (~x.zero & x.sign.ne(y.sign)) | x.zero.ne(y.zero)


def _renamed(goal: Term) -> Term:
    """Return the goal with inputs renamed in order of their names, so that lanes ask one question."""
    inputs = variables([goal])
    return substitute([goal], {v: var(f"word {n}", v.width) for n, v in enumerate(inputs)})[0]
