"""Dot products by IEEE operations: declared parameters, and parts, which are closed alternatives.

A sum says the order of its operations, whatever stands for words: a model's are on terms; a family of
hypotheses has them on arrays. Each part holds parameters of :class:`.IeeeParameters` under their own names;
``part`` says which values choose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias, TypeVar

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models.base import Parameters, choice, lane_count, number
from tcsmt.matrix_units.models.composition import GIVEN, part
from tcsmt.matrix_units.models.stages import Kind

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


Word = TypeVar("Word")
Product = TypeVar("Product")
Lane = TypeVar("Lane")
#: The block, the kind and the lane of a stage.
BlockPlace = tuple[int | None, Kind, "int | range | None"]


class IeeeSteps(Protocol[Word, Product]):
    """The operations that a schedule is made of, on one kind of words.

    place: of the result, among the stages of a model.
    """

    @property
    def c(self) -> Word:
        """Return c as the unit reads it."""

    @property
    def zero(self) -> Word:
        """Return +0 in the format of the sums."""

    def products(self) -> list[Product]:
        """Return the products of all lanes, in order: rounded where the unit rounds them, else exact."""

    def start(self, x: Word | Product, place: BlockPlace) -> Word:
        """Return what a sum begins with: a product in the format of the sums, or c."""

    def add(self, x: Word, y: Word | Product, place: BlockPlace) -> Word:
        """Return x + y, rounded once."""

    def exact(self, products: Sequence[Product], c: Word | None, place: BlockPlace) -> Word:
        """Return the sum of exact products, and of c, rounded once."""


# --- operands: what subnormal ones are read as --------------------------------------------------------------


@part({})
class UnflushedOperands:
    """Themselves."""

    flush_inputs: ClassVar[bool] = False
    flush_c: ClassVar[bool] = False
    flush_to_positive: ClassVar[bool] = False


@part({"flush_c": True})
class FlushedC:
    """Zero, of c alone."""

    flush_inputs: ClassVar[bool] = False
    flush_c: ClassVar[bool] = True
    flush_to_positive: bool


@part({"flush_inputs": True})
class FlushedOperands:
    """Zero."""

    flush_inputs: ClassVar[bool] = True
    flush_c: bool
    flush_to_positive: bool


Reading: TypeAlias = FlushedOperands | FlushedC | UnflushedOperands


# --- products -----------------------------------------------------------------------------------------------


@part({})
class ExactProducts:
    """Products are not rounded."""

    product_format: ClassVar[None] = None


@part({"product_format": GIVEN})
class RoundedProducts:
    """Products that are rounded one by one."""

    product_format: Format
    product_rounding: Rounding


ProductRounding: TypeAlias = RoundedProducts | ExactProducts


# --- sum: which operations there are, in which order --------------------------------------------------------


@part({})
class InTurn:
    """Additions of the products in lane order, which c begins or ends."""

    products: ProductRounding
    c_first: bool

    def run(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Return the sum of the products and c, before its conversion to the format of D."""
        terms: list[Word | Product] = [*steps.products()]
        terms.insert(0 if self.c_first else len(terms), steps.c)
        return _chain(steps, None, steps.start(terms[0], (None, Kind.START, None)), terms[1:])


@part({"method": "fma"})
class FusedChain:
    """Fused multiply-adds, from c on."""

    products: ExactProducts

    def run(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Return the sum of the products and c, before its conversion to the format of D."""
        start = steps.start(steps.c, (None, Kind.START, None))
        return _chain(steps, None, start, steps.products())


@part({"method": "fma", "chains": GIVEN})
class Chains:
    """Lanes dealt to chains of fused multiply-adds that start from +0; the chains' sum is added to c."""

    products: ExactProducts
    chains: int

    def run(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Return the sum of the products and c, before its conversion to the format of D."""
        products = steps.products()
        dealt = [products[chain :: self.chains] for chain in range(self.chains)]
        sums = [_chain(steps, chain, steps.zero, terms) for chain, terms in enumerate(dealt)]
        whole, *others = sums
        for count, other in enumerate(others, 1):
            whole = steps.add(whole, other, (None, Kind.SUM_OF_CHAINS, count))
        return steps.add(steps.c, whole, (None, Kind.SUM_WITH_C, None))


@part({"method": "pairwise"})
class Trees:
    """Balanced trees, each added to the sum of those before, of which c is the first."""

    products: ProductRounding
    n_fma: int | None

    def run(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Return the sum of the products and c, before its conversion to the format of D."""
        result = steps.c
        for block, products in blocks(self.n_fma, steps.products()):
            level = [steps.start(x, (block, Kind.LEAF, lane)) for lane, x in enumerate(products)]
            while len(level) > 1:
                size = len(products) // len(level) * 2
                lanes = [range(start, start + size) for start in range(0, len(products), size)]
                pairs = zip(level[::2], level[1::2], lanes, strict=True)
                level = [steps.add(x, y, (block, Kind.SUM_OF_LANES, place)) for x, y, place in pairs]
            result = steps.add(level[0], result, (block, Kind.SUM_WITH_C, None))
        return result


@part({"method": "exact"})
class ExactSums:
    """Exact sums of blocks, rounded once, each with the one before as c, or added to it."""

    products: ExactProducts
    n_fma: int | None
    c_first: bool
    negative_zero: bool

    def run(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Return the sum of the products and c, before its conversion to the format of D."""
        result = steps.c
        for block, products in blocks(self.n_fma, steps.products()):
            place = (block, Kind.EXACT_SUM, None)
            if self.c_first:
                result = steps.exact(products, result, place)
            else:
                whole = steps.exact(products, None, place)
                result = steps.add(result, whole, (block, Kind.SUM_WITH_C, None))
        return result


IeeeSum: TypeAlias = Chains | FusedChain | Trees | ExactSums | InTurn


def blocks(n_fma: int | None, lanes: Sequence[Lane]) -> Iterator[tuple[int | None, Sequence[Lane]]]:
    """Yield the lanes of each tree or exact sum, with its number where there are several."""
    size = n_fma or len(lanes)
    for start in range(0, len(lanes), size):
        yield start // size if size < len(lanes) else None, lanes[start : start + size]


def _chain(
    steps: IeeeSteps[Word, Product], block: int | None, start: Word, others: Sequence[Word | Product]
) -> Word:
    result = start
    for count, other in enumerate(others, 1):
        result = steps.add(result, other, (block, Kind.RUNNING_SUM, count))
    return result


# --- results: what subnormal ones become --------------------------------------------------------------------


@part({})
class UnflushedResults:
    """Themselves."""

    flush_outputs: ClassVar[bool] = False
    tininess: ClassVar[str] = "result"


@part({"flush_outputs": True})
class FlushedResults:
    """A zero of their sign."""

    flush_outputs: ClassVar[bool] = True
    tininess: str


Results: TypeAlias = FlushedResults | UnflushedResults
