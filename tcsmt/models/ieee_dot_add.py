"""Dot products by IEEE 754 operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tcsmt import datapath as dp
from tcsmt import ieee
from tcsmt.datapath import Number
from tcsmt.formats import Format
from tcsmt.models.base import Model, Stage, Trace, choice
from tcsmt.rounding import ROUNDINGS, Rounding
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
        self.check("n_fma", self.n_fma is None or blocks, "None, as method = " + self.method)
        power = self.method != "pairwise" or size & (size - 1) == 0
        self.check("k" if self.n_fma is None else "n_fma", power, "a power of two, as method = pairwise")
        lanes = list(range(self.k))
        order = self.order
        ordered = order is None or (isinstance(order, tuple) and sorted(order) == lanes)
        self.check("order", ordered, f"a permutation of {lanes}")
        exact = self.method not in ("fma", "exact") or self.product_format is None
        self.check("product_format", exact, f"None, as method = {self.method}")
        for name in ("product_format", "sum_format", "d_format"):
            fmt = getattr(self, name)
            self.check(name, fmt is None or fmt.has_infinity, "a format with infinities")
        self.check(
            "flush", not self.flush or self._by_words, "False, unless all is f32 or f64, pairwise or fma"
        )
        zero = self.negative_zero or self.method == "exact"
        self.check("negative_zero", zero, f"True, as method = {self.method}")
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
        nearest = self.rounding is RNE and self.product_rounding is RNE
        if self.method == "fma":
            return one and nearest and self.a_format == self.b_format == fmt
        narrow = all(f.width <= fmt.width for f in (self.a_format, self.b_format))
        return one and nearest and narrow and self.method == "pairwise" and self.product_format == fmt

    def apply(
        self,
        a: Sequence[Term],
        b: Sequence[Term],
        c: Term,
        scale_a: Sequence[Term] = (),
        scale_b: Sequence[Term] = (),
    ) -> Trace:
        """Multiply, add in the chosen order, convert."""
        stages: list[Stage] = []
        lanes = self.order or tuple(range(self.k))
        left, right = [a[i] for i in lanes], [b[i] for i in lanes]
        word = self._words(left, right, c, stages) if self._by_words else self._sum(left, right, c, stages)
        return Trace(tuple(a), tuple(b), c, tuple(stages), word)

    def _words(self, a: Sequence[Term], b: Sequence[Term], c: Term, stages: list[Stage]) -> Term:
        """Multiply-adds of words; a product is x·y + (-0), a sum x·1 + y."""
        fmt = self.sum_format

        def seen(what: str, word: Term) -> Term:
            word = ieee.flush(word, fmt) if self.flush else word
            stages.append(Stage(what, fmt, word))
            return word

        def given(word: Term, narrow: Format) -> Term:
            word = ieee.flush(word, narrow, keep_sign=False) if self.flush else word
            return ieee.widen(word, narrow, fmt)

        result = given(c, fmt)
        left = [given(x, self.a_format) for x in a]
        right = [given(y, self.b_format) for y in b]
        if self.method == "fma":
            for count, (x, y) in enumerate(zip(left, right, strict=True), 1):
                result = seen(f"sum {count}", ieee.fma_words(fmt, x, y, result))
            return result
        pairs = zip(left, right, strict=True)
        level = [seen(f"product {i}", ieee.multiply_words(fmt, x, y)) for i, (x, y) in enumerate(pairs)]
        while len(level) > self.k // self.block:
            level = [
                seen(
                    f"sum of {self.k // len(level) * 2} lanes from {i * (self.k // len(level))}",
                    ieee.add_words(fmt, level[i], level[i + 1]),
                )
                for i in range(0, len(level), 2)
            ]
        for count, whole in enumerate(level, 1):
            result = seen(f"sum {count} with c", ieee.add_words(fmt, result, whole))
        return result

    def _sum(self, a: Sequence[Term], b: Sequence[Term], c: Term, stages: list[Stage]) -> Term:
        """Operations on decoded numbers, in any formats and roundings."""
        pairs = zip(a, b, strict=True)
        products = [
            ieee.exact_product(dp.decode(self.a_format, x), dp.decode(self.b_format, y)) for x, y in pairs
        ]
        addend = dp.decode(self.c_format, c)
        fmt = self.sum_format

        def seen(what: str, word: Term, word_format: Format) -> Number:
            stages.append(Stage(what, word_format, word))
            return dp.decode(word_format, word)

        if self.product_format is not None:
            rounded = [ieee.convert(p, self.product_format, self.product_rounding) for p in products]
            products = [seen(f"product {i}", w, self.product_format) for i, w in enumerate(rounded)]

        def plus(x: Number, y: Number, what: str) -> Number:
            return seen(what, ieee.add(x, y, fmt, self.rounding), fmt)

        result = addend
        blocks = [products[i : i + self.block] for i in range(0, self.k, self.block)]
        match self.method:
            case "exact":
                for number, block in enumerate(blocks):
                    name = f"block {number}: " if len(blocks) > 1 else ""
                    whole = ieee.exact_sum(
                        [*block, result], fmt, self.rounding, negative_zero=self.negative_zero
                    )
                    result = seen(f"{name}exact sum", whole, fmt)
            case "pairwise":
                for number, block in enumerate(blocks):
                    name = f"block {number}: " if len(blocks) > 1 else ""
                    result = plus(self._tree(name, block, seen, plus), result, f"{name}sum with c")
            case _:
                first = self.c_first or self.method == "fma"
                terms = [addend, *products] if first else [*products, addend]
                result = terms[0]
                if self.method == "fma" or not (first or self.product_format):
                    result = seen("start", ieee.convert(terms[0], fmt, self.rounding), fmt)
                for count, term in enumerate(terms[1:], 1):
                    result = plus(result, term, f"sum {count}")
        nan = self.nan if self.nan is not None else self.d_format.nan_word
        word = ieee.convert(result, self.d_format, self.d_rounding, nan_word=nan)
        seen("result", word, self.d_format)
        return word

    def _tree(
        self,
        name: str,
        products: Sequence[Number],
        seen: Callable[[str, Term, Format], Number],
        plus: Callable[[Number, Number, str], Number],
    ) -> Number:
        fmt = self.sum_format
        level = [
            seen(f"{name}leaf {i}", ieee.convert(p, fmt, self.rounding), fmt) for i, p in enumerate(products)
        ]
        while len(level) > 1:
            lanes = self.block // len(level) * 2
            level = [
                plus(level[i], level[i + 1], f"{name}sum of {lanes} lanes") for i in range(0, len(level), 2)
            ]
        return level[0]
