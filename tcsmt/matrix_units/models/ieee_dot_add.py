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
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models.base import Parameters, Terms
from tcsmt.matrix_units.models.composition import ComposedModel
from tcsmt.matrix_units.models.ieee_parts import (
    BlockPlace,
    Chains,
    ExactSums,
    FusedChain,
    IeeeParameters,
    IeeeSum,
    InTurn,
    Reading,
    Results,
    RoundedProducts,
    Trees,
)
from tcsmt.matrix_units.models.stages import Kind, Stage


@dataclass(frozen=True, kw_only=True)
class IeeeDotAdd(ComposedModel[IeeeParameters]):
    """Dot products by IEEE 754 operations, with the interface of a matrix unit.

    ``IeeeDotAdd.of(...)`` makes it of flat parameters, which :class:`.IeeeParameters` declares and
    :attr:`parameters` gives back; the parts are the closed alternatives of
    :mod:`tcsmt.matrix_units.models.ieee_parts`.

    reading: of subnormal operands. sum: which operations there are, in which order. results: what becomes of
    subnormal ones. The others are parameters.

    Units made of such operations: FP64 and FP32 (a chain from c), CDNA1 (exact sums of blocks), CDNA2
    (trees of groups, flushed), x86 (chains) and Arm (trees with rounding to odd, or exact sums, c last).
    Decisions where sources differ: products overflow as IEEE's do where they are rounded, and never in exact
    sums; an infinite c passes through a chain unless a NaN or the other infinity meets it; a conversion to
    the same format changes nothing.

    >>> IeeeDotAdd.of(
    ...     a_format="f16", b_format="f16", c_format="f32", d_format="f32", sum_format="f32", k=4,
    ...     method="pairwise",
    ... ).block
    4
    """

    kind: ClassVar[str] = "ieee-dot-add"
    declared: ClassVar[type[Parameters]] = IeeeParameters
    title: ClassVar[str] = "IEEE 754 operations"
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    reading: Reading
    order: tuple[int, ...] | None
    product_exponent: int
    sum: IeeeSum
    sum_format: Format
    rounding: Rounding
    d_rounding: Rounding
    overflow: str
    results: Results
    nan: NanRule | None

    def validate(self) -> None:
        """Check what formats and lengths allow."""
        size, blocks = self.block, isinstance(self.sum, (Trees, ExactSums))
        self.check("n_fma", 1 <= size <= self.k and self.k % size == 0, f"None or a divisor of k = {self.k}")
        power = not isinstance(self.sum, Trees) or size & (size - 1) == 0
        whole = not blocks or self.parameters.n_fma is None
        self.check("k" if whole else "n_fma", power, "a power of two when method = pairwise")
        every = [*range(self.k)]
        self.check("order", self.order is None or sorted(self.order) == every, f"a permutation of {every}")
        if isinstance(self.sum, Chains):
            dealt = 1 <= self.sum.chains <= self.k and self.k % self.sum.chains == 0
            self.check("chains", dealt, f"a divisor of k = {self.k}")
        for name in ("product_format", "sum_format", "d_format"):
            fmt = getattr(self.parameters, name)
            self.check(name, fmt is None or fmt.has_infinity, "a format with infinities")
        self._validate_nan()

    def _validate_nan(self) -> None:
        if self.nan is None:
            return
        objection = self.nan.objection(self.a_format, self.b_format, self.c_format, self.d_format)
        self.check("nan", not objection, f"a NaN of {self.d_format.name}, or cases: {objection}")
        uniform = isinstance(self.sum, (FusedChain, Chains))
        uniform = uniform and self.c_format == self.sum_format == self.d_format
        self.check(
            "nan", uniform or not self.nan.cases,
            "one word unless method = fma, and c_format, sum_format and d_format are the same",
        )  # fmt: skip

    @property
    def block(self) -> int:
        """Return how many products are in one tree or exact sum."""
        n_fma = self.sum.n_fma if isinstance(self.sum, (Trees, ExactSums)) else None
        return self.k if n_fma is None else n_fma

    @property
    def is_native(self) -> bool:
        """Return whether every operation is a multiply-add of words of one format, to nearest; one NaN."""
        fmt, total = self.sum_format, self.sum
        uniform = fmt.name in ("f32", "f64") and self.c_format == self.d_format == fmt
        uniform = uniform and self.product_exponent == 0 and (self.nan is None or not self.nan.cases)
        usual = (self.overflow, self.results.tininess) == ("ieee", "result")
        nearest = self.rounding.ties_to_even and usual
        if isinstance(total, FusedChain):
            return uniform and nearest and self.a_format == self.b_format == fmt
        if not isinstance(total, Trees) or not isinstance(total.products, RoundedProducts):
            return False
        # a number that is flushed keeps its sign, and then needs a word for -0
        flushed = self.reading.flush_inputs
        signed = not flushed or all(f.has_negative_zero for f in (self.a_format, self.b_format))
        narrow = signed and all(fmt.holds(f) for f in (self.a_format, self.b_format))
        rounded = total.products.product_format == fmt and total.products.product_rounding.ties_to_even
        return uniform and nearest and narrow and rounded

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Multiply, add in the chosen order, convert."""
        steps = _TermSteps(self, x, stages)
        return steps.converted(self.sum.run(steps))

    @property
    def passes_on(self) -> bool:
        """Return whether a word of the right format goes on as it is, without a conversion to that format.

        A conversion would lose the payload of a NaN, and flush once more what is flushed already; a chain of
        instructions that add c last would not be the longer instruction's graph.
        """
        c_last = isinstance(self.sum, ExactSums) and not self.sum.c_first
        payloads = self.nan is not None and bool(self.nan.cases)
        return self.is_native or c_last or self.results.flush_outputs or payloads


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
            "flush": model.results.flush_outputs, "tininess": model.results.tininess,
            "overflow": model.overflow,
        }  # fmt: skip
        negative_zero = not isinstance(model.sum, ExactSums) or model.sum.negative_zero
        self.zeros = Zeros.IEEE if negative_zero else Zeros.NO_NEGATIVE_SUM
        self.zero = _operand(model.sum_format, const(0, model.sum_format.width))
        self.c = self._read(model.c_format, x.c, flush=model.reading.flush_inputs or model.reading.flush_c)
        lanes = model.order or range(model.k)
        a, b = (
            [self._read(fmt, words[lane], flush=model.reading.flush_inputs) for lane in lanes]
            for fmt, words in ((model.a_format, x.a), (model.b_format, x.b))
        )
        self.exact_products = [_Product(*pair, model.product_exponent) for pair in zip(a, b, strict=True)]

    def _read(self, fmt: Format, word: Term, *, flush: bool) -> Operand:
        """Return what a word of an operand is read as."""
        model = self.model
        if model.is_native:
            word = ieee.flush(word, fmt, keep_sign=not model.reading.flush_to_positive) if flush else word
            return _operand(model.sum_format, ieee.widen(word, fmt, model.sum_format))
        number = dp.decode(fmt, word, flush=const(flush, 1))
        if flush and model.reading.flush_to_positive:
            number = replace(number, sign=number.sign & ~number.zero)
        return Operand(fmt, word, number)

    def products(self) -> list[Operand | _Product]:
        rounds = self.model.sum.products
        if not isinstance(rounds, RoundedProducts):
            return [*self.exact_products]
        return [
            self._stage((None, Kind.PRODUCT, lane), self._rounded(rounds, x))
            for lane, x in enumerate(self.exact_products)
        ]

    def _rounded(self, rounds: RoundedProducts, x: _Product) -> Operation:
        fmt = rounds.product_format
        if self.model.is_native:
            return MultiplyAdd.product(fmt, x.x.word, x.y.word, flush=self.model.results.flush_outputs)
        return RoundedSum(terms=(x.number,), format=fmt, rounding=rounds.product_rounding, **self.ends)

    def start(self, x: Operand | _Product, place: BlockPlace) -> Operand:
        model = self.model
        if isinstance(x, Operand):
            same = x.format == model.sum_format
            fused = isinstance(model.sum, (FusedChain, Chains))
            if isinstance(model.sum, InTurn) or (same and (model.passes_on or not fused)):
                return x
        return self._stage(place, self._sum(x))

    def add(self, x: Operand, y: Operand | _Product, place: BlockPlace) -> Operand:
        fmt, rule = self.model.sum_format, self.model.nan
        if self.model.is_native:
            flush = self.model.results.flush_outputs
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
        """Return the word of D."""
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
        """Return the terms' sum as every addition rounds it."""
        model = self.model
        nan = model.nan.otherwise if model.nan is not None and model.sum_format == model.d_format else None
        return RoundedSum(
            terms=tuple(x.number for x in terms), format=model.sum_format, rounding=model.rounding,
            nan_word=nan, zeros=self.zeros, **self.ends,
        )  # fmt: skip

    def _stage(self, place: BlockPlace, operation: Operation) -> Operand:
        """Return the operation's result, as a stage."""
        block, kind, lane = place
        if isinstance(operation, MultiplyAdd) and self.model.nan is not None:
            operation = replace(operation, nan_word=self.model.nan.otherwise)
        if self.model.is_native:  # lanes and sums with c are numbered through all blocks
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
