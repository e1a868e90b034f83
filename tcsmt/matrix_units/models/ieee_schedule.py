"""The order of the operations of a dot product by IEEE operations, whatever stands for words.

A model's operations are on terms; a family of hypotheses has them on arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tcsmt.matrix_units.models.stages import Kind

__all__ = ["BlockPlace", "IeeeSchedule", "IeeeSteps"]

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
        """c as the unit reads it."""

    @property
    def zero(self) -> Word:
        """+0 in the format of the sums."""

    def products(self) -> list[Product]:
        """The products of all lanes, in their order: rounded where the unit rounds them, else exact."""

    def start(self, x: Word | Product, place: BlockPlace) -> Word:
        """What a sum begins with: a product in the format of the sums, or c."""

    def add(self, x: Word, y: Word | Product, place: BlockPlace) -> Word:
        """x + y, rounded once."""

    def exact(self, products: Sequence[Product], c: Word | None, place: BlockPlace) -> Word:
        """The sum of exact products, and of c, rounded once."""


@dataclass(frozen=True)
class IeeeSchedule:
    """Which sums there are, and their order; the fields are parameters of :class:`.IeeeDotAdd`."""

    method: str
    n_fma: int | None = None
    chains: int = 1
    c_first: bool = True

    def run(self, steps: IeeeSteps[Word, Product]) -> Word:
        """The sum of the products and c, before its conversion to the format of D."""
        match self.method:
            case "exact":
                return self._exact(steps)
            case "pairwise":
                return self._trees(steps)
            case "fma" if self.chains > 1:
                return self._chains(steps)
            case _:
                return self._in_turn(steps)

    def blocks(self, lanes: Sequence[Lane]) -> Iterator[tuple[int | None, Sequence[Lane]]]:
        """The lanes of each tree or exact sum, with its number where there are several."""
        size = self.n_fma or len(lanes)
        for start in range(0, len(lanes), size):
            yield start // size if size < len(lanes) else None, lanes[start : start + size]

    def _exact(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Exact sums, each with the one before as c, or added to it."""
        result = steps.c
        for block, products in self.blocks(steps.products()):
            place = (block, Kind.EXACT_SUM, None)
            if self.c_first:
                result = steps.exact(products, result, place)
            else:
                whole = steps.exact(products, None, place)
                result = steps.add(result, whole, (block, Kind.SUM_WITH_C, None))
        return result

    def _trees(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Balanced trees, each added to the sum of those before."""
        result = steps.c
        for block, products in self.blocks(steps.products()):
            level = [steps.start(x, (block, Kind.LEAF, lane)) for lane, x in enumerate(products)]
            while len(level) > 1:
                size = len(products) // len(level) * 2
                lanes = [range(start, start + size) for start in range(0, len(products), size)]
                pairs = zip(level[::2], level[1::2], lanes, strict=True)
                level = [steps.add(x, y, (block, Kind.SUM_OF_LANES, part)) for x, y, part in pairs]
            result = steps.add(level[0], result, (block, Kind.SUM_WITH_C, None))
        return result

    def _chains(self, steps: IeeeSteps[Word, Product]) -> Word:
        """Lanes dealt to chains that start from +0; the chains' sum is added to c."""
        products = steps.products()
        dealt = [products[chain :: self.chains] for chain in range(self.chains)]
        sums = [_chain(steps, chain, steps.zero, terms) for chain, terms in enumerate(dealt)]
        whole, *others = sums
        for count, other in enumerate(others, 1):
            whole = steps.add(whole, other, (None, Kind.SUM_OF_CHAINS, count))
        return steps.add(steps.c, whole, (None, Kind.SUM_WITH_C, None))

    def _in_turn(self, steps: IeeeSteps[Word, Product]) -> Word:
        """One chain, which c begins or ends."""
        terms: list[Word | Product] = [*steps.products()]
        terms.insert(0 if self.c_first else len(terms), steps.c)
        return _chain(steps, None, steps.start(terms[0], (None, Kind.START, None)), terms[1:])


def _chain(
    steps: IeeeSteps[Word, Product], block: int | None, start: Word, others: Sequence[Word | Product]
) -> Word:
    result = start
    for count, other in enumerate(others, 1):
        result = steps.add(result, other, (block, Kind.RUNNING_SUM, count))
    return result
