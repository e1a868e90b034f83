"""The declared parameters of dot products by IEEE operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.parameters import Parameters, choice, lane_count, number

__all__ = ["IeeeParameters"]

RNE = ROUNDINGS["RNE"]


@dataclass(frozen=True, kw_only=True)
class IeeeParameters(Parameters):
    """Every feature as a parameter, in the order of files and tables.

    Which values exclude each other follows from the parts that hold them
    (:mod:`tcsmt.matrix_units.models.ieee_parts`).

    a_format, b_format, c_format, d_format: formats, or their names.
    k: products in one instruction, per element of D.
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
    Sources: IEEE 754-2019, sections 4.3, 5.4.1 and 7; MMA-Sim III-A (SFMA) and III-B (GPS); Intel's and
    Arm's manuals.
    """

    qualifiers: ClassVar[frozenset[str]] = frozenset({"c_first", "product_rounding"})
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    k: int
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
