"""Dot products by IEEE 754 operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic import ieee
from tcsmt.arithmetic.datapath import Number
from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.ieee import MultiplyAdd, RoundedSum, Zeros
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.models.base import Model, Terms, choice
from tcsmt.models.stages import Kind, Stage
from tcsmt.terms import Term

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
    flush: subnormal a, b and c are read as +0, and a subnormal product or sum becomes a zero of
        its sign.
    negative_zero: an exact sum of negative zeros is -0 (else +0).
    order: lane order for the sequential methods (None: 0, 1, 2, ...).
    c_first: whether a sequential sum starts with c (else c is added last).
    product_format, product_rounding: format to which each product is rounded (None: exact).
    sum_format, rounding: format and rounding of every addition.
    d_rounding: rounding of the conversion from sum_format to d_format.
    nan: the word of every NaN result; None: the quiet NaN that IEEE 754 prefers.
    Units made of such operations: FP64 and FP32 (``fma``, c first), CDNA1 (``exact`` in blocks) and
    CDNA2 (``pairwise`` in groups, ``flush``). Decisions where sources differ: products overflow as
    IEEE's do where they are rounded, and never in ``exact``; an infinite c passes through a chain
    unless a NaN or the other infinity meets it; the words of NaNs are not known.
    Sources: IEEE 754-2019, sections 4.3, 5.4.1 and 7; MMA-Sim III-A (SFMA) and III-B (GPS).
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
    c_first: bool = True
    product_format: Format | None = None
    product_rounding: Rounding = RNE
    sum_format: Format
    rounding: Rounding = RNE
    d_rounding: Rounding = RNE
    flush: bool = False
    negative_zero: bool = True
    nan: int | None = None

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
        exact = self.method not in ("fma", "exact") or self.product_format is None
        self.check("product_format", exact, f"None when method = {self.method}")
        for name in ("product_format", "sum_format", "d_format"):
            fmt = getattr(self, name)
            self.check(name, fmt is None or fmt.has_infinity, "a format with infinities")
        self.check(
            "flush",
            not self.flush or self._by_words,
            "False unless all formats are f32 or all are f64, and method is pairwise or fma",
        )
        zero = self.negative_zero or self.method == "exact"
        self.check("negative_zero", zero, f"True when method = {self.method}")
        nan = self.nan
        self.check("nan", nan is None or self.d_format.is_nan(nan), f"a NaN of {self.d_format.name}")

    @property
    def block(self) -> int:
        """Products in one tree or exact sum."""
        return self.k if self.n_fma is None else self.n_fma

    @property
    def _by_words(self) -> bool:
        """Whether every operation is a multiply-add of words of one format, to nearest even."""
        fmt = self.sum_format
        one = fmt.name in ("f32", "f64") and self.c_format == self.d_format == fmt and self.nan is None
        nearest = self.rounding.ties_to_even and self.product_rounding.ties_to_even
        if self.method == "fma":
            return one and nearest and self.a_format == self.b_format == fmt
        narrow = all(f.width <= fmt.width for f in (self.a_format, self.b_format))
        return one and nearest and narrow and self.method == "pairwise" and self.product_format == fmt

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Multiply, add in the chosen order, convert."""
        lanes = self.order or tuple(range(self.k))
        left, right = ([side[i] for i in lanes] for side in (x.a, x.b))
        added = self._words if self._by_words else self._sum
        return added(left, right, x.c, stages)

    def _words(self, a: Sequence[Term], b: Sequence[Term], c: Term, stages: list[Stage]) -> Term:
        """Multiply-adds of words."""
        fmt, flush = self.sum_format, self.flush

        def seen(kind: Kind, lane: int | range, operation: MultiplyAdd) -> Term:
            word = operation.word()
            stages.append(Stage(None, kind, lane, fmt, word, operation))
            return word

        def given(word: Term, narrow: Format) -> Term:
            word = ieee.flush(word, narrow, keep_sign=False) if flush else word
            return ieee.widen(word, narrow, fmt)

        result = given(c, fmt)
        left = [given(x, self.a_format) for x in a]
        right = [given(y, self.b_format) for y in b]
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

        pairs = zip(a, b, strict=True)
        products = [
            ieee.exact_product(dp.decode(self.a_format, x), dp.decode(self.b_format, y)) for x, y in pairs
        ]
        if self.product_format is not None:
            fmt, rounding = self.product_format, self.product_rounding
            rounded = [RoundedSum(terms=(x,), format=fmt, rounding=rounding) for x in products]
            products = [seen(None, Kind.PRODUCT, lane, x) for lane, x in enumerate(rounded)]
        result = dp.decode(self.c_format, c)
        blocks = [products[i : i + self.block] for i in range(0, self.k, self.block)]
        match self.method:
            case "exact":
                zeros = Zeros.IEEE if self.negative_zero else Zeros.NO_NEGATIVE_SUM
                for number, terms in enumerate(blocks):
                    block = number if len(blocks) > 1 else None
                    whole = replace(self._rounded(*terms, result), wide=True, zeros=zeros)
                    result = seen(block, Kind.EXACT_SUM, None, whole)
            case "pairwise":
                for number, terms in enumerate(blocks):
                    block = number if len(blocks) > 1 else None
                    level = [seen(block, Kind.LEAF, i, self._rounded(x)) for i, x in enumerate(terms)]
                    while len(level) > 1:
                        size = self.block // len(level) * 2
                        sums = [self._rounded(*level[i : i + 2]) for i in range(0, len(level), 2)]
                        lanes = [range(i * size, (i + 1) * size) for i in range(len(sums))]
                        level = [
                            seen(block, Kind.SUM_OF_LANES, part, x)
                            for part, x in zip(lanes, sums, strict=True)
                        ]
                    result = seen(block, Kind.SUM_WITH_C, None, self._rounded(level[0], result))
            case _:
                first = self.c_first or self.method == "fma"
                result, *others = [result, *products] if first else [*products, result]
                if self.method == "fma" or not (first or self.product_format):
                    result = seen(None, Kind.START, None, self._rounded(result))
                for count, term in enumerate(others, 1):
                    result = seen(None, Kind.RUNNING_SUM, count, self._rounded(result, term))
        nan = self.nan if self.nan is not None else self.d_format.nan_word
        converted = RoundedSum(terms=(result,), format=self.d_format, rounding=self.d_rounding, nan_word=nan)
        seen(None, Kind.RESULT, None, converted)
        return stages[-1].term

    def _rounded(self, *terms: Number) -> RoundedSum:
        """The terms' sum as every addition rounds it."""
        return RoundedSum(terms=terms, format=self.sum_format, rounding=self.rounding)
