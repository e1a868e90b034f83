"""Dot products by IEEE 754 operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, Operation, RoundedSum, Zeros
from tcsmt.matrix_units.arithmetic.nans import NanRule, Operand
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.base import Model, Terms, choice, lane_count, number
from tcsmt.matrix_units.models.ieee_schedule import BlockPlace, IeeeSchedule
from tcsmt.matrix_units.models.stages import Kind, Stage

__all__ = ["IeeeDotAdd"]

RNE = ROUNDINGS["RNE"]


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
        factors and to the sum so far, which they call c (:mod:`tcsmt.matrix_units.arithmetic.nans`); an
        addition x + y of several chains is x * 1 + y; None: the quiet NaN that IEEE 754 prefers.
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
    n_fma: int | None = lane_count(default=None)
    order: tuple[int, ...] | None = None
    chains: int = 1
    c_first: bool = True
    product_format: Format | None = None
    product_rounding: Rounding = RNE
    product_exponent: int = number(-1024, 1024, default=0)
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
        uniform = self.method == "fma" and self.c_format == self.sum_format == self.d_format
        self.check(
            "nan", uniform or not self.nan.cases,
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
        uniform = fmt.name in ("f32", "f64") and self.c_format == self.d_format == fmt and self.nan is None
        uniform = uniform and (self.chains, self.product_exponent) == (1, 0)
        usual = (self.overflow, self.tininess) == ("ieee", "result")
        nearest = self.rounding.ties_to_even and self.product_rounding.ties_to_even and usual
        if self.method == "fma":
            return uniform and nearest and self.a_format == self.b_format == fmt
        # a number that is flushed keeps its sign, and then needs a word for -0
        signed = not self.flush_inputs or all(f.has_negative_zero for f in (self.a_format, self.b_format))
        narrow = signed and all(fmt.holds(f) for f in (self.a_format, self.b_format))
        return uniform and nearest and narrow and self.method == "pairwise" and self.product_format == fmt

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Multiply, add in the chosen order, convert."""
        # a chain of fused operations begins with c, whatever c_first says
        schedule = IeeeSchedule(self.method, self.n_fma, self.chains, self.c_first or self.method == "fma")
        steps = _TermSteps(self, x, stages)
        return steps.converted(schedule.run(steps))

    @property
    def passes_on(self) -> bool:
        """Whether a word of the right format goes on as it is, without a conversion to that format.

        A conversion would lose the payload of a NaN, and flush once more what is flushed already; a chain of
        instructions that add c last would not be the longer instruction's graph.
        """
        c_last = self.method == "exact" and not self.c_first
        payloads = self.nan is not None and bool(self.nan.cases)
        return self.by_words or c_last or self.flush_outputs or payloads


@dataclass(frozen=True)
class _Product:
    """The exact product of two operands, times a power of two."""

    x: Operand
    y: Operand
    exponent: int

    @property
    def number(self) -> Number:
        exact = ieee.exact_product(self.x.number, self.y.number)
        return replace(exact, exponent=exact.exponent.plus(self.exponent))


class _TermSteps:
    """The steps on terms; each rounded result is a stage."""

    def __init__(self, model: IeeeDotAdd, x: Terms, stages: list[Stage]) -> None:
        self.model, self.stages = model, stages
        self.ends: dict[str, Any] = {
            "flush": model.flush_outputs, "tininess": model.tininess, "overflow": model.overflow,
        }  # fmt: skip
        self.zero = _operand(model.sum_format, const(0, model.sum_format.width))
        self.c = self._read(model.c_format, x.c, flush=model.flush_inputs or model.flush_c)
        lanes = model.order or range(model.k)
        a, b = (
            [self._read(fmt, words[lane], flush=model.flush_inputs) for lane in lanes]
            for fmt, words in ((model.a_format, x.a), (model.b_format, x.b))
        )
        self.exact_products = [_Product(*pair, model.product_exponent) for pair in zip(a, b, strict=True)]

    def _read(self, fmt: Format, word: Term, *, flush: bool) -> Operand:
        """What a word of an operand is read as."""
        model = self.model
        if model.by_words:
            word = ieee.flush(word, fmt, keep_sign=not model.flush_to_positive) if flush else word
            return _operand(model.sum_format, ieee.widen(word, fmt, model.sum_format))
        number = dp.decode(fmt, word, flush=const(flush, 1))
        if flush and model.flush_to_positive:
            number = replace(number, sign=number.sign & ~number.zero)
        return Operand(fmt, word, number)

    def products(self) -> list[Operand | _Product]:
        if self.model.product_format is None:
            return [*self.exact_products]
        return [
            self._stage((None, Kind.PRODUCT, lane), self._rounded(self.model.product_format, x))
            for lane, x in enumerate(self.exact_products)
        ]

    def _rounded(self, fmt: Format, x: _Product) -> Operation:
        if self.model.by_words:
            return MultiplyAdd.product(fmt, x.x.word, x.y.word, flush=self.model.flush_outputs)
        return RoundedSum(terms=(x.number,), format=fmt, rounding=self.model.product_rounding, **self.ends)

    def start(self, x: Operand | _Product, place: BlockPlace) -> Operand:
        model = self.model
        if isinstance(x, Operand):
            same = x.format == model.sum_format
            unchanged = {"sequential": True, "pairwise": same, "fma": same and model.passes_on}
            if unchanged[model.method]:
                return x
        return self._stage(place, self._sum(x))

    def add(self, x: Operand, y: Operand | _Product, place: BlockPlace) -> Operand:
        fmt, rule = self.model.sum_format, self.model.nan
        if self.model.by_words:
            flush = self.model.flush_outputs
            if isinstance(y, _Product):
                fused = MultiplyAdd(format=fmt, x=y.x.word, y=y.y.word, z=x.word, flush=flush)
            else:
                # (the sum of a tree is the addend)
                first, second = (y, x) if place[1] is Kind.SUM_WITH_C else (x, y)
                fused = MultiplyAdd.sum(fmt, first.word, second.word, flush=flush)
            return self._stage(place, fused)
        rounded = self._sum(x, y)
        if rule is not None and rule.cases:
            first = _operand(fmt, const(fmt.bias << fmt.fraction_bits, fmt.width))
            factors, addend = ((y.x, y.y), x) if isinstance(y, _Product) else ((x, first), y)
            rounded = replace(rounded, nan_word=rule.result(self.model.d_format, [factors], addend))
        return self._stage(place, rounded)

    def exact(self, products: Sequence[Operand | _Product], c: Operand | None, place: BlockPlace) -> Operand:
        terms = products if c is None else [*products, c]
        return self._stage(place, replace(self._sum(*terms), wide=True))

    def converted(self, total: Operand) -> Term:
        """The word of D."""
        model = self.model
        if model.passes_on and model.sum_format == model.d_format:
            return total.word
        nan_word = model.d_format.nan_word if model.nan is None else model.nan.otherwise
        operation = RoundedSum(
            terms=(total.number,), format=model.d_format, rounding=model.d_rounding, nan_word=nan_word,
            **self.ends,
        )  # fmt: skip
        return self._stage((None, Kind.RESULT, None), operation).word

    def _sum(self, *terms: Operand | _Product) -> RoundedSum:
        """The terms' sum as every addition rounds it."""
        model = self.model
        nan = model.nan.otherwise if model.nan is not None and model.sum_format == model.d_format else None
        return RoundedSum(
            terms=tuple(x.number for x in terms), format=model.sum_format, rounding=model.rounding,
            nan_word=nan, zeros=Zeros.IEEE if model.negative_zero else Zeros.NO_NEGATIVE_SUM, **self.ends,
        )  # fmt: skip

    def _stage(self, place: BlockPlace, operation: Operation) -> Operand:
        """The operation's result, as a stage."""
        block, kind, lane = place
        if self.model.by_words:  # lanes and sums with c are numbered through all blocks
            number, block = block or 0, None
            if kind is Kind.SUM_WITH_C:
                lane = number + 1
            elif isinstance(lane, range):
                first = number * self.model.block
                lane = range(first + lane.start, first + lane.stop)
        word = operation.word()
        self.stages.append(Stage(block, kind, lane, operation.format, word, operation))
        return _operand(operation.format, word)


def _operand(fmt: Format, word: Term) -> Operand:
    return Operand(fmt, word, dp.decode(fmt, word))
