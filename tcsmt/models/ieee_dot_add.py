"""Dot products by IEEE 754 operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic import ieee
from tcsmt.arithmetic.datapath import Number
from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.ieee import MultiplyAdd, RoundedSum, Zeros
from tcsmt.arithmetic.nans import NanRule, Operand
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.models.base import Model, Terms, choice
from tcsmt.models.stages import Kind, Stage
from tcsmt.terms import Term, const

__all__ = ["IeeeDotAdd"]

RNE = ROUNDINGS["RNE"]
#: Appends a stage (where, which kind, which lane, what it rounds) and reads its result.
Seen = Callable[[int | None, Kind, int | range | None, RoundedSum], Number]


@dataclass(frozen=True, kw_only=True)
class IeeeDotAdd(Model):
    """Dot products by IEEE 754 operations, with the interface of a matrix unit.

    method: ``sequential`` additions of the products in lane order; ``fma``: a chain of fused
        multiply-adds from c; ``pairwise``: a balanced tree, c last; ``exact``: the exact sum of
        all products and c, rounded once.
    n_fma: products in one tree or exact sum (None: k); divides k. Blocks are chained, each result
        being the next c.
    order: lane order for the sequential methods (None: 0, 1, 2, ...).
    chains: with ``fma``, lanes are dealt to so many chains in turn, each from +0; their results are added
        in order, and their sum to c (1: one chain, from c).
    c_first: whether a sequential sum starts with c, and an exact sum has c as a term (else c is added last,
        in every block by an addition of its own).
    product_format, product_rounding: format to which each product is rounded (None: exact).
    product_exponent: every product is multiplied by 2 to the power of this.
    sum_format, rounding: format and rounding of every addition.
    d_rounding: rounding of the conversion from sum_format to d_format.
    overflow: what becomes of a result beyond the largest number: as IEEE 754 says for the rounding mode
        (``ieee``), ``infinity``, or that number (``saturate``). Infinite operands stay infinite.
    flush_inputs, flush_c, flush_outputs: subnormal a, b and c are read as zero, c alone is, or subnormal
        results of every operation become a zero of their sign.
    flush_to_positive: what is read as zero is +0, a given -0 too (else a zero of its sign).
    tininess: which results are subnormal: those whose rounded value is below the smallest normal number
        (``result``), whose exact value is (``before``), or whose value is when rounded with exponents that
        have no lower end (``after``); IEEE 754 (7.5) has the last two.
    negative_zero: an exact sum of negative zeros is -0 (else +0).
    nan: the word of every NaN result, or cases, which each operation of ``fma`` chains then applies to its
        factors and to the sum so far, which they call c (:mod:`tcsmt.arithmetic.nans`); an addition x + y of
        several chains is x * 1 + y; None: the quiet NaN that IEEE 754 prefers.
    Units made of such operations: FP64 and FP32 (``fma``, c first), CDNA1 (``exact`` in blocks), CDNA2
    (``pairwise`` in groups, flushed), x86 (``fma``) and Arm (``pairwise`` with rounding to odd, or ``exact``,
    c last). Decisions where sources differ: products overflow as IEEE's do where they are rounded, and never
    in ``exact``; an infinite c passes through a chain unless a NaN or the other infinity meets it; a
    conversion to the same format changes nothing.
    Sources: IEEE 754-2019, sections 4.3, 5.4.1 and 7; MMA-Sim III-A (SFMA) and III-B (GPS); Intel's and
    Arm's manuals.
    """

    kind: ClassVar[str] = "ieee-dot-add"
    title: ClassVar[str] = "IEEE 754 operations"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    method: str = choice("sequential", "fma", "pairwise", "exact")
    n_fma: int | None = None
    order: tuple[int, ...] | None = None
    chains: int = 1
    c_first: bool = True
    product_format: Format | None = None
    product_rounding: Rounding = RNE
    product_exponent: int = 0
    sum_format: Format
    rounding: Rounding = RNE
    d_rounding: Rounding = RNE
    overflow: str = choice("ieee", "infinity", "saturate")
    flush_inputs: bool = False
    flush_c: bool = False
    flush_outputs: bool = False
    flush_to_positive: bool = False
    tininess: str = choice("result", "before", "after")
    negative_zero: bool = True
    nan: NanRule | None = None

    def validate(self) -> None:
        """Combinations that contradict each other."""
        if isinstance(self.order, Sequence):
            object.__setattr__(self, "order", tuple(self.order))
        size = self.block
        self.check("n_fma", 1 <= size <= self.k and self.k % size == 0, f"None or a divisor of k = {self.k}")
        blocks = self.method in ("pairwise", "exact")
        self.check("n_fma", self.n_fma is None or blocks, "None when method = " + self.method)
        power = self.method != "pairwise" or size & (size - 1) == 0
        self.check("k" if self.n_fma is None else "n_fma", power, "a power of two when method = pairwise")
        lanes = list(range(self.k))
        order = self.order
        ordered = order is None or (isinstance(order, tuple) and sorted(order) == lanes)
        self.check("order", ordered, f"a permutation of {lanes}")
        self.check(
            "chains", 1 <= self.chains <= self.k and self.k % self.chains == 0, f"a divisor of k = {self.k}"
        )
        self.check("chains", self.chains == 1 or self.method == "fma", "1 when method = " + self.method)
        exact = self.method not in ("fma", "exact") or self.product_format is None
        self.check("product_format", exact, f"None when method = {self.method}")
        self.check("product_exponent", abs(self.product_exponent) <= 1024, "from -1024 to 1024")
        for name in ("product_format", "sum_format", "d_format"):
            fmt = getattr(self, name)
            self.check(name, fmt is None or fmt.has_infinity, "a format with infinities")
        read = self.flush_inputs or self.flush_c
        self.check(
            "flush_to_positive", read or not self.flush_to_positive, "False without flush_inputs or flush_c"
        )
        self.check(
            "tininess", self.flush_outputs or self.tininess == "result", "result without flush_outputs"
        )
        zero = self.negative_zero or self.method == "exact"
        self.check("negative_zero", zero, f"True when method = {self.method}")
        self._validate_nan()

    def _validate_nan(self) -> None:
        if self.nan is None:
            return
        objection = self.nan.objection(self.a_format, self.b_format, self.c_format, self.d_format)
        self.check("nan", not objection, f"a NaN of {self.d_format.name}, or cases: {objection}")
        one = self.method == "fma" and self.c_format == self.sum_format == self.d_format
        self.check(
            "nan", one or not self.nan.cases,
            "one word unless method = fma, and c_format, sum_format and d_format are the same",
        )  # fmt: skip

    @property
    def block(self) -> int:
        """Products in one tree or exact sum."""
        return self.k if self.n_fma is None else self.n_fma

    @property
    def by_words(self) -> bool:
        """Whether every operation is a multiply-add of words of one format, to nearest even."""
        fmt = self.sum_format
        one = fmt.name in ("f32", "f64") and self.c_format == self.d_format == fmt and self.nan is None
        one = one and (self.chains, self.product_exponent) == (1, 0)
        usual = (self.overflow, self.tininess) == ("ieee", "result")
        nearest = self.rounding.ties_to_even and self.product_rounding.ties_to_even and usual
        if self.method == "fma":
            return one and nearest and self.a_format == self.b_format == fmt
        # a number that is flushed keeps its sign, and then needs a word for -0
        signed = not self.flush_inputs or all(f.has_negative_zero for f in (self.a_format, self.b_format))
        narrow = signed and all(fmt.holds(f) for f in (self.a_format, self.b_format))
        return one and nearest and narrow and self.method == "pairwise" and self.product_format == fmt

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Multiply, add in the chosen order, convert."""
        lanes = self.order or tuple(range(self.k))
        left, right = ([side[i] for i in lanes] for side in (x.a, x.b))
        added = self._words if self.by_words else self._sum
        return added(left, right, x.c, stages)

    def _words(self, a: Sequence[Term], b: Sequence[Term], c: Term, stages: list[Stage]) -> Term:
        """Multiply-adds of words."""
        fmt, flush = self.sum_format, self.flush_outputs

        def seen(kind: Kind, lane: int | range, operation: MultiplyAdd) -> Term:
            word = operation.word()
            stages.append(Stage(None, kind, lane, fmt, word, operation))
            return word

        def given(word: Term, narrow: Format, *, flush: bool) -> Term:
            word = ieee.flush(word, narrow, keep_sign=not self.flush_to_positive) if flush else word
            return ieee.widen(word, narrow, fmt)

        result = given(c, fmt, flush=self.flush_inputs or self.flush_c)
        left = [given(x, self.a_format, flush=self.flush_inputs) for x in a]
        right = [given(y, self.b_format, flush=self.flush_inputs) for y in b]
        pairs = list(zip(left, right, strict=True))
        if self.method == "fma":
            for count, (x, y) in enumerate(pairs, 1):
                added = MultiplyAdd(format=fmt, x=x, y=y, z=result, flush=flush)
                result = seen(Kind.RUNNING_SUM, count, added)
            return result
        products = (MultiplyAdd.product(fmt, x, y, flush=flush) for x, y in pairs)
        level = [seen(Kind.PRODUCT, lane, product) for lane, product in enumerate(products)]
        while len(level) > self.k // self.block:
            size = self.k // len(level) * 2
            level = [
                seen(
                    Kind.SUM_OF_LANES,
                    range(i * size, (i + 1) * size),
                    MultiplyAdd.sum(fmt, *level[2 * i : 2 * i + 2], flush=flush),
                )
                for i in range(len(level) // 2)
            ]
        for count, whole in enumerate(level, 1):
            result = seen(Kind.SUM_WITH_C, count, MultiplyAdd.sum(fmt, result, whole, flush=flush))
        return result

    def _sum(self, a: Sequence[Term], b: Sequence[Term], c: Term, stages: list[Stage]) -> Term:
        """Operations on decoded numbers, in any formats and roundings."""

        def seen(block: int | None, kind: Kind, lane: int | range | None, operation: RoundedSum) -> Number:
            word = operation.word()
            stages.append(Stage(block, kind, lane, operation.format, word, operation))
            return dp.decode(operation.format, word)

        factors = [
            (
                self._operand(self.a_format, x, flush=self.flush_inputs),
                self._operand(self.b_format, y, flush=self.flush_inputs),
            )
            for x, y in zip(a, b, strict=True)
        ]
        start = self._operand(self.c_format, c, flush=self.flush_inputs or self.flush_c)
        products = [self._product(x.number, y.number) for x, y in factors]
        if self.product_format is not None:
            fmt, rounding = self.product_format, self.product_rounding
            rounded = [RoundedSum(terms=(x,), format=fmt, rounding=rounding, **self._ends) for x in products]
            products = [seen(None, Kind.PRODUCT, lane, x) for lane, x in enumerate(rounded)]
        match self.method:
            case "exact":
                result = self._exact(seen, products, start.number)
            case "pairwise":
                result = self._pairwise(seen, products, start.number)
            case "fma" if self.chains > 1:
                result = self._chains(seen, factors, products, start, stages)
            case "fma" if self.nan is not None and self.nan.cases:
                result = self._chain(
                    seen, None, list(zip(factors, products, strict=True)), start, stages
                ).number
            case _:
                result = self._in_order(seen, products, start.number)
        if not (self._passes_on and self.sum_format == self.d_format):
            nan_word = self.nan.otherwise if self.nan is not None else self.d_format.nan_word
            converted = RoundedSum(
                terms=(result,), format=self.d_format, rounding=self.d_rounding, nan_word=nan_word,
                **self._ends,
            )  # fmt: skip
            seen(None, Kind.RESULT, None, converted)
        return stages[-1].term

    def _blocks(self, products: Sequence[Number]) -> Iterator[tuple[int | None, Sequence[Number]]]:
        """The products of each block, with its number where there are several."""
        for start in range(0, self.k, self.block):
            block = start // self.block if self.block < self.k else None
            yield block, products[start : start + self.block]

    def _exact(self, seen: Seen, products: Sequence[Number], c: Number) -> Number:
        zeros = Zeros.IEEE if self.negative_zero else Zeros.NO_NEGATIVE_SUM
        for block, terms in self._blocks(products):
            whole = self._rounded(*terms, c) if self.c_first else self._rounded(*terms)
            result = seen(block, Kind.EXACT_SUM, None, replace(whole, wide=True, zeros=zeros))
            if not self.c_first:
                added = replace(self._rounded(c, result), zeros=zeros)
                result = seen(block, Kind.SUM_WITH_C, None, added)
            c = result
        return c

    def _pairwise(self, seen: Seen, products: Sequence[Number], c: Number) -> Number:
        for block, terms in self._blocks(products):
            level = list(terms)
            if self.product_format != self.sum_format:
                level = [seen(block, Kind.LEAF, i, self._rounded(x)) for i, x in enumerate(terms)]
            while len(level) > 1:
                size = self.block // len(level) * 2
                sums = [self._rounded(*level[i : i + 2]) for i in range(0, len(level), 2)]
                lanes = [range(i * size, (i + 1) * size) for i in range(len(sums))]
                level = [seen(block, Kind.SUM_OF_LANES, part, x) for part, x in zip(lanes, sums, strict=True)]
            c = seen(block, Kind.SUM_WITH_C, None, self._rounded(level[0], c))
        return c

    def _chain(
        self,
        seen: Seen,
        block: int | None,
        terms: Sequence[tuple[tuple[Operand, Operand], Number]],
        start: Operand,
        stages: list[Stage],
    ) -> Operand:
        """Multiply-adds from a start; terms: factors, and their product."""
        running = start
        for count, (pair, term) in enumerate(terms, 1):
            added = self._fused(self._rounded(running.number, term), pair, running)
            result = seen(block, Kind.RUNNING_SUM, count, added)
            running = Operand(self.sum_format, stages[-1].term, result)
        return running

    def _chains(
        self,
        seen: Seen,
        factors: Sequence[tuple[Operand, Operand]],
        products: Sequence[Number],
        c: Operand,
        stages: list[Stage],
    ) -> Number:
        terms = list(zip(factors, products, strict=True))
        fmt = self.sum_format
        zero = self._operand(fmt, const(0, fmt.width), flush=False)
        one = self._operand(fmt, const(fmt.bias << fmt.fraction_bits, fmt.width), flush=False)
        sums = [
            self._chain(seen, chain, terms[chain :: self.chains], zero, stages)
            for chain in range(self.chains)
        ]

        def added(kind: Kind, count: int | None, x: Operand, y: Operand) -> Operand:
            result = seen(None, kind, count, self._fused(self._rounded(x.number, y.number), (x, one), y))
            return Operand(self.sum_format, stages[-1].term, result)

        whole, *others = sums
        for count, other in enumerate(others, 1):
            whole = added(Kind.SUM_OF_CHAINS, count, whole, other)
        return added(Kind.SUM_WITH_C, None, c, whole).number

    def _fused(self, sum_: RoundedSum, factors: tuple[Operand, Operand], addend: Operand) -> RoundedSum:
        """An operation with the NaN that the rule's cases give."""
        if self.nan is None or not self.nan.cases:
            return sum_
        return replace(sum_, nan_word=self.nan.result(self.d_format, [factors], addend))

    def _in_order(self, seen: Seen, products: Sequence[Number], c: Number) -> Number:
        first = self.c_first or self.method == "fma"
        result, *others = [c, *products] if first else [*products, c]
        if self.method == "fma":
            converted = not (self._passes_on and self.c_format == self.sum_format)
        else:
            converted = not (first or self.product_format)
        if converted:
            result = seen(None, Kind.START, None, self._rounded(result))
        for count, term in enumerate(others, 1):
            result = seen(None, Kind.RUNNING_SUM, count, self._rounded(result, term))
        return result

    def _operand(self, fmt: Format, word: Term, *, flush: bool) -> Operand:
        """What a word is read as."""
        number = dp.decode(fmt, word, flush=const(flush, 1))
        if flush and self.flush_to_positive:
            number = replace(number, sign=number.sign & ~number.zero)
        return Operand(fmt, word, number)

    def _product(self, x: Number, y: Number) -> Number:
        exact = ieee.exact_product(x, y)
        return replace(exact, exponent=exact.exponent.plus(self.product_exponent))

    @property
    def _passes_on(self) -> bool:
        """Whether a word of the right format goes on as it is, without a conversion to that format.

        A conversion would lose the payload of a NaN, and flush once more what is flushed already; a chain of
        instructions that add c last would not be the longer instruction's graph.
        """
        c_last = self.method == "exact" and not self.c_first
        return c_last or self.flush_outputs or (self.nan is not None and bool(self.nan.cases))

    @property
    def _ends(self) -> dict[str, Any]:
        """What becomes of results that are too small or too large, in every operation."""
        return {"flush": self.flush_outputs, "tininess": self.tininess, "overflow": self.overflow}

    def _rounded(self, *terms: Number) -> RoundedSum:
        """The terms' sum as every addition rounds it."""
        nan = self.nan.otherwise if self.nan is not None and self.sum_format == self.d_format else None
        return RoundedSum(
            terms=terms, format=self.sum_format, rounding=self.rounding, nan_word=nan, **self._ends
        )
