"""Models of matrix units: frozen parameters, and the datapath that they choose.

A model computes one element of ``D = A·B + C``: from ``k`` words of a row of A, ``k`` words of a
column of B and one word of C to one word of D. A variant is ``dataclasses.replace(model, ...)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from tcsmt import datapath as dp
from tcsmt import ieee
from tcsmt.datapath import Exponent, Fixed, Number, Rounded
from tcsmt.errors import TcsmtError, choose
from tcsmt.formats import FORMATS, Format, format_named
from tcsmt.rounding import ROUNDINGS, Rounding, rounding_named
from tcsmt.terms import FALSE, Term, const, var

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FusedDotAdd", "IeeeDotAdd", "Model", "Stage", "Trace"]

RTZ, RNE = ROUNDINGS["RTZ"], ROUNDINGS["RNE"]
NVIDIA_NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


@dataclass(frozen=True)
class Stage:
    """An intermediate result of a model, for explanations and for cutting proofs in parts."""

    name: str
    value: Number | Exponent | Fixed | Rounded | Format
    term: Term


@dataclass(frozen=True)
class Trace:
    """A model applied to input terms: the inputs, every stage's result, and the output word."""

    a: tuple[Term, ...]
    b: tuple[Term, ...]
    c: Term
    stages: tuple[Stage, ...]
    output: Term

    @property
    def inputs(self) -> tuple[Term, ...]:
        """All input terms: a, b, c."""
        return (*self.a, *self.b, self.c)


def input_names(k: int) -> list[str]:
    """The names of a model's input variables: a0..., b0..., c."""
    return [f"{side}{lane}" for side in "ab" for lane in range(k)] + ["c"]


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """What every model has: formats and length of the dot product.

    a_format, b_format, c_format, d_format: formats, or their names.
    k: products in one instruction, per element of D.
    """

    kind: ClassVar[str]
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    k: int

    def __post_init__(self) -> None:
        for one in fields(self):
            kind, _, optional = str(one.type).partition(" | ")
            if kind not in _KINDS:
                continue
            expected, allowed, named = _KINDS[kind]
            given = getattr(self, one.name)
            if "choices" in one.metadata:
                choices = one.metadata["choices"]
                allowed, named = " or ".join(choices), partial(choose, one.name, allowed=choices)
            if isinstance(given, str) and named is not None:
                given = named(given)
                object.__setattr__(self, one.name, given)
            holds = isinstance(given, expected) or (bool(optional) and given is None)
            self.check(one.name, holds, f"{allowed} or {optional}" if optional else allowed)
        self.check("k", 1 <= self.k <= 1024, "from 1 to 1024")
        self.validate()

    def check(self, name: str, holds: bool, allowed: str) -> None:
        """Refuse a parameter with an error that names it, its value and what is allowed."""
        if not holds:
            raise TcsmtError(f"{name} = {getattr(self, name)!r}: allowed is {allowed}")

    @abstractmethod
    def validate(self) -> None:
        """Refuse contradictory parameters. Raises :class:`tcsmt.errors.TcsmtError`."""

    @abstractmethod
    def apply(self, a: Sequence[Term], b: Sequence[Term], c: Term) -> Trace:
        """The model on input words: k of a, k of b, and c."""

    @cached_property
    def trace(self) -> Trace:
        """The model on the variables a0, a1, ..., b0, b1, ..., c."""
        a = [var(f"a{i}", self.a_format.width) for i in range(self.k)]
        b = [var(f"b{i}", self.b_format.width) for i in range(self.k)]
        return self.apply(a, b, var("c", self.c_format.width))

    @property
    def input_formats(self) -> dict[str, Format]:
        """The format of each input variable, by name."""
        formats = [self.a_format] * self.k + [self.b_format] * self.k + [self.c_format]
        return dict(zip(input_names(self.k), formats, strict=True))

    def __call__(self, a: Any, b: Any, c: Any = 0.0) -> np.ndarray:
        """Simulate on arrays; see :func:`tcsmt.simulator.simulate`."""
        from tcsmt.simulator import simulate

        return simulate(self, a, b, c)


#: What a parameter of a kind must be, how errors call that, and how a name is looked up.
_KINDS: dict[str, tuple[type, str, Callable[[str], Any] | None]] = {
    "int": (Integral, "an integer", None),
    "bool": (bool, "True or False", None),
    "str": (str, "a name", None),
    "Format": (Format, "a format or its name", format_named),
    "Rounding": (Rounding, "a rounding mode or its name", rounding_named),
}


def _choice(default: str, *others: str) -> Any:
    return field(default=default, metadata={"choices": (default, *others)})


@dataclass(frozen=True, kw_only=True)
class FusedDotAdd(Model):
    """The truncated fused dot-product-add of NVIDIA's units, with every feature a parameter.

    n_fma: products in one fused sum (block FMA size N_FMA); divides k.
    interleave: 0 chains contiguous blocks; g > 0 deals groups of g lanes to the blocks in turn.
    fraction_bits: alignment fraction bits F: below the binary point of the largest exponent.
    products: ``unnormalised`` (significand in [1, 4)) or ``normalised`` before alignment.
    alignment: rounding of the bits that alignment shifts out; RTZ is truncation of the magnitude.
    alignment_sticky: they are truncated, and their OR is kept in one more bit.
    carry_bits: accumulator bits above the two integer bits; None: enough; fewer wrap.
    normalisation: ``once`` at the end, or ``every`` addition (c first, then lanes in order).
    c_position: ``aligned`` with the products; ``summed`` with their unrounded sum; ``last``, by an
        IEEE addition with rounding ``c_rounding`` after all blocks.
    zero_exponent: exponent with which a zero product or zero c enters the maximum; None: the
        exponent that its fields have.
    rounding, round_fraction_bits: final rounding, and the fraction bit at which it happens
        (None: the format's last).
    overflow: ``infinity``, ``saturate``, or ``ieee`` (by the rounding mode).
    flush_inputs, flush_outputs: subnormal numbers become zero.
    negative_zero: a zero sum of negative zeros, or a negative sum that rounds to zero, is -0
        (else every zero is +0).
    nan: the word of every NaN result; None: NVIDIA's canonical NaN.
    Sources: MMA-Sim III-C and III-D; Khattak and Mikaitis, Table II and Fig. 2-5.
    """

    kind: ClassVar[str] = "fused-dot-add"
    n_fma: int
    interleave: int = 0
    fraction_bits: int
    products: str = _choice("unnormalised", "normalised")
    alignment: Rounding = RTZ
    alignment_sticky: bool = False
    carry_bits: int | None = None
    normalisation: str = _choice("once", "every")
    c_position: str = _choice("aligned", "summed", "last")
    c_rounding: Rounding = RNE
    zero_exponent: int | None
    rounding: Rounding
    round_fraction_bits: int | None = None
    overflow: str = _choice("infinity", "saturate", "ieee")
    flush_inputs: bool = False
    flush_outputs: bool = False
    negative_zero: bool = False
    nan: int | None = None

    def validate(self) -> None:
        """Ranges, and combinations that contradict each other."""
        blocks = self.k // self.n_fma if 1 <= self.n_fma <= self.k else 0
        self.check("n_fma", blocks * self.n_fma == self.k, f"a divisor of k = {self.k}")
        self.check(
            "interleave",
            self.interleave == 0
            or (blocks > 1 and self.interleave > 0 and self.n_fma % self.interleave == 0),
            "0, or, with more than one block, a divisor of n_fma",
        )
        self.check("fraction_bits", 1 <= self.fraction_bits <= 1024, "from 1 to 1024")
        carry = self.carry_bits
        self.check("carry_bits", carry is None or 0 <= carry <= 16, "None (enough) or 0 to 16")
        if self.normalisation == "every":
            self.check("c_position", self.c_position == "aligned", "aligned, as normalisation = every")
            self.check("alignment_sticky", not self.alignment_sticky, "False, as normalisation = every")
            self.check("carry_bits", carry is None, "None, as normalisation = every")
            self.check(
                "zero_exponent",
                self.zero_exponent is not None,
                "a number, as normalisation = every",
            )
        if self.alignment_sticky:
            self.check("alignment", self.alignment is RTZ, "RTZ, as alignment_sticky = True")
        zero = self.zero_exponent
        self.check("zero_exponent", zero is None or -4096 <= zero <= 4096, "None or -4096 to 4096")
        kept = self.round_fraction_bits
        most = self.d_format.fraction_bits
        self.check("round_fraction_bits", kept is None or 1 <= kept <= most, f"None or from 1 to {most}")
        self.check("d_format", self.d_format.has_infinity, "a format with infinities")
        nan = self.nan
        self.check("nan", nan is None or self.d_format.is_nan(nan), f"a NaN of {self.d_format.name}")

    @property
    def extra_alignment_bits(self) -> int:
        """n_eab: alignment fraction bits beyond the output's (F - 23 for FP32 output).

        Khattak and Mikaitis count them against FP32 whatever the output format is.
        """
        return self.fraction_bits - FORMATS["f32"].fraction_bits

    @property
    def enough_carry_bits(self) -> int:
        """Carry bits that always suffice: ceil(log2(n_fma + 1))."""
        return self.n_fma.bit_length()

    @property
    def nan_word(self) -> int:
        """The word of every NaN result."""
        if self.nan is not None:
            return self.nan
        return NVIDIA_NAN.get(self.d_format.name, self.d_format.nan_word or 0)

    @property
    def blocks(self) -> list[list[int]]:
        """The lanes of each fused sum, in the order in which the blocks are chained."""
        count = self.k // self.n_fma
        if not self.interleave:
            return [list(range(i * self.n_fma, (i + 1) * self.n_fma)) for i in range(count)]
        return [
            [lane for lane in range(self.k) if lane // self.interleave % count == block]
            for block in range(count)
        ]

    def apply(self, a: Sequence[Term], b: Sequence[Term], c: Term) -> Trace:
        """Chain the blocks; each result is the next one's c."""
        stages: list[Stage] = []
        last = self.c_position == "last"
        word, fmt = (const(0, self.d_format.width), self.d_format) if last else (c, self.c_format)
        for number, lanes in enumerate(self.blocks):
            name = f"block {number}: " if len(self.blocks) > 1 else ""
            word = self._block(name, [a[i] for i in lanes], [b[i] for i in lanes], word, fmt, stages)
            fmt = self.d_format
        if last:
            word = self._add_last(word, c)
            stages.append(Stage("c added", fmt, word))
        return Trace(tuple(a), tuple(b), c, tuple(stages), word)

    def _block(
        self,
        name: str,
        a: Sequence[Term],
        b: Sequence[Term],
        c: Term,
        c_format: Format,
        stages: list[Stage],
    ) -> Term:
        def seen(what: str, value: Any, term: Term) -> None:
            stages.append(Stage(name + what, value, term))

        products = []
        for x, y in zip(a, b, strict=True):
            product = dp.multiply(
                dp.decode(self.a_format, x, flush=self.flush_inputs),
                dp.decode(self.b_format, y, flush=self.flush_inputs),
            )
            if self.products == "normalised":
                product = dp.normalise_number(product)
            products.append(product)
        addend = dp.decode(c_format, c, flush=self.flush_inputs)
        for lane, product in enumerate(products):
            seen(f"product {lane}", product, product.significand)
        terms = [*products, addend]
        if self.normalisation == "every":
            fixed = self._sum_one_by_one(terms)
        elif self.c_position == "summed":
            fixed = self._sum_then_c(products, addend)
        else:
            top = self._largest(terms)
            seen("largest exponent", top, top.term)
            fixed = self._sum(terms, top, seen)
        seen("sum", fixed, fixed.word)
        rounded = dp.normalise_sum(fixed)
        magnitude = dp.round_to(
            self.d_format,
            rounded,
            self.rounding,
            fraction_bits=self.round_fraction_bits,
            overflow=self.overflow,
            flush=self.flush_outputs,
        )
        if self.negative_zero:
            sign = rounded.sign | dp.all_negative_zero(terms)
        else:
            sign = rounded.sign & magnitude.ne(0)
        infinite, infinity_sign, nan = dp.special_cases(terms)
        result = dp.encode(self.d_format, sign, magnitude, infinite, infinity_sign, nan, self.nan_word)
        seen("result", self.d_format, result)
        return result

    def _largest(self, terms: Sequence[Number]) -> Exponent:
        """The maximum exponent, with ``zero_exponent`` for zero terms.

        Alignment shifts a zero term by whatever its fields say: it stays zero.
        """
        # counted from a base that leaves room for any zero_exponent in use, so that models which
        # differ in it are the same graph from here on
        base = min(t.exponent.low for t in terms) - 16
        return dp.largest([self._entering(t) for t in terms], base)

    def _entering(self, x: Number) -> Exponent:
        if self.zero_exponent is None:
            return x.exponent
        return x.exponent.or_where(x.zero, Exponent.constant(self.zero_exponent))

    def _aligned(self, x: Number, top: Exponent) -> Fixed:
        return dp.align(x, top, self.fraction_bits, self.alignment, sticky=self.alignment_sticky)

    def _sum(self, terms: Sequence[Number], top: Exponent, seen: Any = None) -> Fixed:
        """The fused sum, in a register of ``carry_bits`` where they are given."""
        aligned = [self._aligned(t, top) for t in terms]
        if seen:
            for lane, addend in enumerate(aligned):
                what = f"aligned product {lane}" if lane < len(aligned) - 1 else "aligned c"
                seen(what, addend, addend.word)
        whole = 1 + 2 + self.fraction_bits + self.alignment_sticky
        if self.carry_bits is None:
            return dp.accumulate(aligned, whole + self.enough_carry_bits)
        # one bit more than any sum needs, so that "enough" is a theorem and not a definition
        spare = max(self.carry_bits, self.enough_carry_bits + 1)
        return dp.accumulate(aligned, whole + spare, whole + self.carry_bits)

    def _sum_then_c(self, products: Sequence[Number], c: Number) -> Fixed:
        """Products summed exactly on their own grid; that sum and c aligned once more."""
        own = self._largest(products)
        aligned = [self._aligned(p, own) for p in products]
        whole = dp.accumulate(aligned, 3 + aligned[0].fraction_bits + self.enough_carry_bits)
        rounded = dp.normalise_sum(whole)
        partial = Number(rounded.sign, own, rounded.magnitude, whole.fraction_bits, FALSE, FALSE, FALSE)
        return self._sum([partial, c], dp.largest([own, self._entering(c)], own.low))

    def _sum_one_by_one(self, terms: Sequence[Number]) -> Fixed:
        """c, then each product: two-operand sums, normalised and truncated to F bits each time."""
        bits = self.fraction_bits
        partial = terms[-1]
        for term in terms[:-1]:
            top = self._largest([partial, term])
            pair = [self._aligned(partial, top), self._aligned(term, top)]
            rounded = dp.normalise_sum(dp.accumulate(pair, 5 + bits))
            whole = Number(
                rounded.sign,
                rounded.lsb,
                rounded.magnitude,
                0,
                rounded.magnitude.eq(0),
                FALSE,
                FALSE,
            )
            whole = dp.normalise_number(whole)
            width = whole.significand.width
            partial = replace(
                whole,
                significand=whole.significand[width - 1 : width - 1 - bits],
                fraction_bits=bits,
            )
        word = partial.significand.zext(bits + 2)
        return Fixed(partial.sign.ite(-word, word), partial.exponent, bits)

    def _add_last(self, word: Term, c: Term) -> Term:
        result = ieee.add(
            dp.decode(self.d_format, word),
            dp.decode(self.c_format, c, flush=self.flush_inputs),
            self.d_format,
            self.c_rounding,
            nan_word=self.nan_word,
            flush=self.flush_outputs,
        )
        if self.negative_zero:
            return result
        magnitude = result[self.d_format.sign_bit - 1 : 0]
        return magnitude.eq(0).ite(0, result)


@dataclass(frozen=True, kw_only=True)
class IeeeDotAdd(Model):
    """Dot products by IEEE 754 operations, with the interface of a matrix unit.

    method: ``sequential`` additions of the products in lane order; ``fma``: a chain of fused
        multiply-adds from c; ``pairwise``: a balanced tree, c last; ``exact``: the exact sum of
        all products and c, rounded once.
    order: lane order for the sequential methods (None: 0, 1, 2, ...).
    c_first: whether a sequential sum starts with c (else c is added last).
    product_format, product_rounding: format to which each product is rounded (None: exact).
    sum_format, rounding: format and rounding of every addition.
    d_rounding: rounding of the conversion from sum_format to d_format.
    nan: the word of every NaN result; None: the quiet NaN that IEEE 754 prefers.
    Source: IEEE 754-2019, sections 4.3, 5.4.1 and 7.
    """

    kind: ClassVar[str] = "ieee-dot-add"
    method: str = _choice("sequential", "fma", "pairwise", "exact")
    order: tuple[int, ...] | None = None
    c_first: bool = True
    product_format: Format | None = None
    product_rounding: Rounding = RNE
    sum_format: Format
    rounding: Rounding = RNE
    d_rounding: Rounding = RNE
    nan: int | None = None

    def validate(self) -> None:
        """Combinations that contradict each other."""
        if isinstance(self.order, Sequence):
            object.__setattr__(self, "order", tuple(self.order))
        power = self.k & (self.k - 1) == 0
        self.check("k", self.method != "pairwise" or power, "a power of two, as method = pairwise")
        lanes = list(range(self.k))
        order = self.order
        ordered = order is None or (isinstance(order, tuple) and sorted(order) == lanes)
        self.check("order", ordered, f"a permutation of {lanes}")
        exact = self.method not in ("fma", "exact") or self.product_format is None
        self.check("product_format", exact, f"None, as method = {self.method}")
        for name in ("product_format", "sum_format", "d_format"):
            fmt = getattr(self, name)
            self.check(name, fmt is None or fmt.has_infinity, "a format with infinities")
        nan = self.nan
        self.check("nan", nan is None or self.d_format.is_nan(nan), f"a NaN of {self.d_format.name}")

    def apply(self, a: Sequence[Term], b: Sequence[Term], c: Term) -> Trace:
        """Multiply, add in the chosen order, convert."""
        stages: list[Stage] = []
        lanes = self.order or tuple(range(self.k))
        pairs = [(dp.decode(self.a_format, a[i]), dp.decode(self.b_format, b[i])) for i in lanes]
        addend = dp.decode(self.c_format, c)
        fmt = self.sum_format

        def seen(what: str, word: Term, word_format: Format) -> Number:
            stages.append(Stage(what, word_format, word))
            return dp.decode(word_format, word)

        products = [ieee.exact_product(x, y) for x, y in pairs]
        if self.product_format is not None:
            rounded = [ieee.convert(p, self.product_format, self.product_rounding) for p in products]
            products = [seen(f"product {i}", w, self.product_format) for i, w in enumerate(rounded)]

        def plus(x: Number, y: Number, what: str) -> Number:
            return seen(what, ieee.add(x, y, fmt, self.rounding), fmt)

        match self.method:
            case "exact":
                whole = ieee.exact_sum([*products, addend], fmt, self.rounding)
                result = seen("exact sum", whole, fmt)
            case "pairwise":
                level = [
                    seen(f"leaf {i}", ieee.convert(p, fmt, self.rounding), fmt)
                    for i, p in enumerate(products)
                ]
                while len(level) > 1:
                    level = [
                        plus(level[i], level[i + 1], f"sum of {self.k // len(level) * 2} lanes")
                        for i in range(0, len(level), 2)
                    ]
                result = plus(level[0], addend, "sum with c")
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
        return Trace(tuple(a), tuple(b), c, tuple(stages), word)
