"""Dot products of integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tcsmt.language.terms import Term, const, total
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat, integers_from
from tcsmt.matrix_units.models.base import Model, Terms, chained, choice, lane_count
from tcsmt.matrix_units.models.stages import Kind, Stage


@dataclass(frozen=True, kw_only=True)
class IntegerDotAdd(Model):
    """An exact sum of integer products and c, which is wrapped or saturated to the result's format.

    n_fma: products in one exact sum (None: k); divides k. Blocks are chained, each result being the next c,
        so that an overflow is handled after each block.
    overflow: ``wrap``: the low bits of the sum, in two's complement; ``saturate``: the format's largest or
        smallest number.
    a and b may be of different signedness. Fixed-point numbers are exact, too: the result's format has at
    least the fraction bits of the products and of c, so that nothing is ever rounded.
    Sources: PTX ISA, "mma" (``.satfinite``); Intel's manual, VPDPBUSD, VPDPBUSDS, VPDPWSSD, VPDPWSSDS.
    """

    kind: ClassVar[str] = "integer-dot-add"
    title: ClassVar[str] = "an exact sum of integer products and c"
    a_format: IntegerFormat
    b_format: IntegerFormat
    c_format: IntegerFormat
    d_format: IntegerFormat
    n_fma: int | None = lane_count(default=None)
    overflow: str = choice("wrap", "saturate")

    def validate(self) -> None:
        """Refuse blocks that do not divide k, and fraction bits that would be lost."""
        size = self.block
        self.check("n_fma", 1 <= size <= self.k and self.k % size == 0, f"None or a divisor of k = {self.k}")
        least = max(self.a_format.fraction_bits + self.b_format.fraction_bits, self.c_format.fraction_bits)
        exact = self.d_format.fraction_bits >= least
        self.check("d_format", exact, f"a format with at least {least} fraction bits, those of the exact sum")

    @property
    def block(self) -> int:
        """Return how many products are in one exact sum."""
        return self.k if self.n_fma is None else self.n_fma

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Chain the blocks; each result is the next one's c."""

        def sum_of(block: int | None, lanes: slice, c: Term, fmt: IntegerFormat) -> Term:
            return self._block(block, x.a[lanes], x.b[lanes], (c, fmt), stages)

        blocks = [slice(first, first + self.block) for first in range(0, self.k, self.block)]
        return chained(blocks, (x.c, self.c_format), self.d_format, sum_of)

    def _block(
        self,
        block: int | None,
        a: Sequence[Term],
        b: Sequence[Term],
        c: tuple[Term, IntegerFormat],
        stages: list[Stage],
    ) -> Term:
        of_a, of_b, d = self.a_format, self.b_format, self.d_format

        def seen(kind: Kind, fmt: IntegerFormat, word: Term, lane: int | None = None) -> Term:
            stages.append(Stage(block, kind, lane, fmt, word))
            return word

        ends = [x * y for x in (of_a.low, of_a.high) for y in (of_b.low, of_b.high)]
        product = integers_from(min(ends), max(ends), of_a.fraction_bits + of_b.fraction_bits)
        wide = max(product.bits, d.bits)
        exact = [_extended(x, of_a, wide) * _extended(y, of_b, wide) for x, y in zip(a, b, strict=True)]
        products = [
            seen(Kind.PRODUCT, product, word[product.bits - 1 : 0], lane) for lane, word in enumerate(exact)
        ]
        low, high = len(products) * min(ends), len(products) * max(ends)
        several = integers_from(low, high, product.fraction_bits)
        dot = seen(
            Kind.SUM_OF_PRODUCTS,
            several,
            total(*(_extended(word, product, several.bits) for word in products)),
        )
        word, fmt = c
        of_dot, of_c = (d.fraction_bits - f.fraction_bits for f in (several, fmt))
        low, high = (low << of_dot) + (fmt.low << of_c), (high << of_dot) + (fmt.high << of_c)
        whole = integers_from(low, high, d.fraction_bits)
        added = _extended(dot, several, whole.bits) << of_dot, _extended(word, fmt, whole.bits) << of_c
        whole_word = seen(Kind.EXACT_SUM, whole, total(*added))
        # modulo 2^bits the order of additions does not matter, so that one flat sum serves: that of a chain
        # is the same graph as that of one long block
        addend = _extended(word, fmt, max(fmt.bits, d.bits))[d.bits - 1 : 0] << of_c
        addends = [x[d.bits - 1 : 0] << of_dot for x in exact]
        wrapped = total(*(addend.args if addend.op == "add" else (addend,)), *addends)
        result = wrapped if self.overflow == "wrap" else _saturated(d, wrapped, whole_word, whole)
        return seen(Kind.RESULT, d, result)


def _saturated(d: IntegerFormat, wrapped: Term, exact: Term, fmt: IntegerFormat) -> Term:
    """Return the wrapped word where the format has the exact sum; else the nearer end of the format."""
    if d.holds(fmt):
        return wrapped
    width = max(fmt.bits, d.bits + 1)  # so that both ends of the result's format are numbers of it
    extended = exact.sext(width)
    low, high = (const(end % (1 << width), width) for end in (d.low, d.high))
    below, above = extended.slt(low), high.slt(extended)
    return (below | above).ite(below.ite(const(d.word_of_count(d.low), d.bits), d.high), wrapped)


def _extended(word: Term, fmt: IntegerFormat, bits: int) -> Term:
    """Return the word of the same number of units with so many bits, in two's complement."""
    return word.sext(bits) if fmt.signed else word.zext(bits)
