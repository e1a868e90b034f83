"""One block of a fused dot-add with the parameters as inputs.

The graphs are those of :mod:`tcsmt.matrix_units.models.fused_block` on variables, so that they run on the
parameters of many hypotheses as on the words of many questions. One graph goes from words to a sum; its
variables are F, alignment rounding, carry bits, zero exponent and input flush. Another one goes from a sum to
a word, with the rest.

F fraction bits below an exponent are the grid of MOST fraction bits below an exponent that is larger by
MOST - F. A sticky bit below F is rounding to odd at F + 1. A rounding mode is the truth table of its
decision, 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tcsmt.identification.units.family import ALIGNMENTS, MOST_BITS
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.datapath import Exponent, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.ieee import Zeros
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.fused_block import (
    BlockSum,
    BlockWords,
    FreeParameters,
    LastAddition,
    block_result,
    block_sum,
)
from tcsmt.matrix_units.models.fused_parts import (
    AtFractionBit,
    Final,
    FusedSum,
    OneByOne,
    OneGrid,
    Products,
    ProductsThenC,
    RoundedBits,
    RoundedSubnormals,
)

#: The finest grid: a sticky bit is one place below the last alignment bit.
MOST = MOST_BITS + 1


def by_table(variable: str) -> Rounding:
    """A rounding that looks its decision up in the truth table of that name."""
    table = var(variable, 16)

    def away(sign: Term, odd: Term, half: Term, rest: Term) -> Term:
        place = sign.concat(odd).concat(half).concat(rest)
        return (table >> place.zext(16))[0]

    def infinite(sign: Term) -> Term:
        return sign.ite(var("overflow-", 1), var("overflow+", 1))

    return Rounding(variable, "by a truth table", away, infinite)


def _table(rounding: Rounding) -> int:
    names = [var(f"bit{i}", 1) for i in range(4)]
    decision = rounding.away(*names)
    return sum(
        evaluate([decision], {f"bit{i}": place >> (3 - i) & 1 for i in range(4)})[0] << place
        for place in range(16)
    )


#: The truth tables of :data:`ALIGNMENTS` and of :data:`ROUNDINGS`, in their order.
ALIGNMENT_TABLES = np.array(
    [_table(ROUNDINGS["RTO"] if a.sticky else a.rounding) for a in ALIGNMENTS], np.uint64
)
ROUNDING_TABLES = np.array([_table(mode) for mode in ROUNDINGS.values()], np.uint64)


@dataclass(frozen=True)
class SumProgram:
    """One block up to its sum: the roots are the fields of a :class:`BlockSum`, three for its value.

    low, high: of the exponent of the sum's last place. width: of its magnitude.
    """

    program: Program
    low: int
    high: int
    width: int


@cache
def sum_program(
    a: Format,
    b: Format,
    c: Format,
    lanes: int,
    zeros: tuple[int, int],
    products: str,
    order: str,
) -> SumProgram:
    """Inputs: a0..., b0..., c; coarser (MOST - F), alignment, carry, zero, zero given, flush.

    zeros: the least and the largest zero exponent, of which "zero" is the number. carry: up to one more
    than is enough.
    """
    most = lanes.bit_length() + 1
    free = FreeParameters(
        coarser=Exponent(var("coarser", MOST.bit_length()), 0, MOST),
        carry_bits=Exponent(var("carry", most.bit_length()), 0, most),
        zero_exponent=Exponent(var("zero", 12), *zeros),
        zero_given=var("zero given", 1),
        flush=var("flush", 1),
    )
    words_a, words_b = (
        [var(f"{side}{i}", fmt.width) for i in range(lanes)] for side, fmt in (("a", a), ("b", b))
    )
    words = BlockWords(
        a_format=a, b_format=b, c_format=c, d_format=c, a=words_a, b=words_b, c=var("c", c.width)
    )
    total = block_sum(_open_sum(order, products), free, words, lambda *stage: None)
    value = total.value
    special = [total.infinite, total.infinity_sign, total.nan]
    program = Program([value.sign, value.magnitude, value.lsb.term, *special, total.all_negative_zero])
    return SumProgram(program, value.lsb.low, value.lsb.high, value.magnitude.width)


def _open_sum(order: str, products: str) -> FusedSum:
    """A structure's sum on the finest grid; what :class:`FreeParameters` has instead is None here."""
    common: dict[str, Any] = {
        "terms": Products(products=products),
        "fraction_bits": MOST,
        "shifted_out": RoundedBits(alignment=by_table("alignment")),
    }
    if order == "every":
        return OneByOne(**common, zero_exponent=0)
    if order == "summed":
        return ProductsThenC(**common, carry_bits=None, zero_exponent=None)
    # (an addition of c after the blocks is a program of its own)
    left_open: dict[str, Any] = dict.fromkeys(("carry_bits", "zero_exponent", "c_dropped_above"))
    return OneGrid(**common, **left_open, zero_c="zero_exponent", c_exponent_offset=0)


@cache
def result_program(
    d: Format, width: int, low: int, high: int, kept: tuple[int, ...] | None = None
) -> Program:
    """Return the program from a sum to the word, a root for each ``round_fraction_bits`` (kept: for some).

    Inputs: sign, magnitude and lsb of the sum, infinite, infinity sign, nan, all minus; rounding, overflow+
    and overflow- (whether such a result becomes an infinity), flush, minus (whether there is a -0).
    """
    lsb = Exponent(var("lsb", max(1, (high - low).bit_length())), low, high)
    x = BlockSum(
        SignMagnitude(var("sign", 1), var("magnitude", width), lsb),
        infinite=var("infinite", 1),
        infinity_sign=var("infinity sign", 1),
        nan=var("nan", 1),
        all_negative_zero=var("all minus", 1),
    )
    return Program(
        [
            block_result(
                Final(
                    rounding=by_table("rounding"),
                    precision=AtFractionBit(round_fraction_bits=bits),
                    overflow="ieee",
                    subnormals=RoundedSubnormals(),
                    negative_zero=False,
                    nan=None,
                ),
                d,
                x,
                flush=var("flush", 1),
                negative_zero=var("minus", 1),
                nan_word=const(d.nan_word or 0, d.width),
            )
            for bits in (kept or range(1, d.fraction_bits + 1))
        ]
    )


@cache
def last_program(c: Format, d: Format, zeros: Zeros) -> Program:
    """Return the chain's word plus c: a root for every rounding, without and with flushed results.

    Inputs: word, c, flush (of c).
    """
    return Program(
        [
            LastAddition(
                c_format=c,
                d_format=d,
                rounding=rounding,
                flush_input=var("flush", 1),
                flush_output=flush,
                zeros=zeros,
                nan_word=d.nan_word or 0,
            )
            .sum(var("word", d.width), var("c", c.width))
            .word()
            for flush in (False, True)
            for rounding in ROUNDINGS.values()
        ]
    )
