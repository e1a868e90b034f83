"""Which kernels reproduce a recorded product bit for bit.

Every hypothesis is held against a few elements of D, those that survive against more, and the last ones
against all. NaN results are the same whatever their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tcsmt.catalogue import Row
from tcsmt.kernels.elements import Product, SampledElements, on_elements, places_that_tell
from tcsmt.kernels.epilogue import PLAIN, Epilogue
from tcsmt.kernels.hypotheses import hypotheses, varying_hypotheses
from tcsmt.kernels.kernel import Kernel
from tcsmt.kernels.regions import Region, regions
from tcsmt.kernels.units import of_one_function, units_for
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import Seen, unseen
from tcsmt.survey.set_cover import cover

__all__ = ["Explained", "Missed", "explain"]

Array = np.ndarray[Any, np.dtype[Any]]

#: SampledElements against which hypotheses are held, stage by stage, before all elements are.
_STAGES = (4, 28, 480)
#: More elements, against which so many of the survivors are held at a time; and how many against all.
_MORE, _BATCH, _MOST = 1536, 64, 16
#: With more results to compute at a stage (survivors, elements), the simplest are looked at first.
_RESULTS = 250_000
#: SampledElements that are looked at together where each has several results.
_AT_ONCE = 4096
#: Of the best hypotheses that miss some elements, so many are shown, and so many of the elements.
_SHOWN, _ELEMENTS = 3, 5


@dataclass(frozen=True)
class Missed:
    """A kernel that does not explain D. elements: the first (row, column) that it misses, of how many."""

    kernel: Kernel
    count: int
    of: int
    elements: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Explained:
    """What explains a product.

    kernels: those that give every element of D. alike: by a kernel's unit's name, other units that are the
        same function. tested: hypotheses in all.
    open: others that give the elements that were looked at, of which there are so many, and were not held
        against all. deciding: elements (row, column) that exclude all that were excluded.
    missed: where none explains D, the hypotheses that miss the fewest elements. regions: where none explains
        D, and some explain parts of it, these parts and what is left.
    """

    product: Product
    kernels: tuple[Kernel, ...]
    alike: dict[str, tuple[str, ...]]
    tested: int
    open: tuple[Kernel, ...]
    looked_at: int
    deciding: tuple[tuple[int, int], ...]
    missed: tuple[Missed, ...]
    regions: tuple[Region, ...] = ()


@dataclass
class _Search:
    product: Product
    seen: Seen
    elements: Array
    #: Which elements exclude each hypothesis, a bit for each.
    excluded: list[int] = field(default_factory=list)

    def stage(self, alive: Sequence[Kernel], some: slice) -> list[tuple[int, Kernel]]:
        """How many of some elements each hypothesis misses."""
        product = self.product
        places = self.elements[some]
        found = []
        units = len({kernel.unit.name for kernel in alive})
        names: set[str] = set()
        for kernel, words in on_elements(alive, SampledElements.of(product, places)):
            if kernel.unit.name not in names:
                names.add(kernel.unit.name)
                self.seen(len(names), units, f"{len(places)} elements, {kernel.unit.name}")
            wrong = product.missed(words, places)
            if wrong.any():
                bits = sum(1 << int(place) for place in np.flatnonzero(wrong))
                self.excluded.append(bits << (some.start or 0))
            found.append((int(wrong.sum()), kernel))
        return found


def explain(
    product: Product,
    units: Sequence[Row] | None = None,
    *,
    ends: Sequence[Epilogue] | None = None,
    kernels: Sequence[Kernel] = (),
    seed: int = 1,
    seen: Seen = unseen,
) -> Explained:
    """Hold all hypotheses against D.

    units: whose kernels are tried (None: all of the catalogue that take such operands, and IEEE operations).
    ends: epilogues that are tried; None: C first and C last. kernels: hypotheses of one's own, besides.
    Raises :class:`.TcsmtError` where no unit fits.
    """
    every = units_for(product.a_format, product.b_format) if units is None else of_one_function(units)
    given = [rows for rows in every if _takes_c(rows[0], product)]
    if ends is None:
        ends = [PLAIN] if product.c is None else [PLAIN, Epilogue(c="epilogue")]
    length = product.shape[2]
    tried = list(kernels)
    for first, *_ in given:
        tried += hypotheses(first, product.d_format, length, ends, c=product.c is not None)
    if not tried:
        formats = ", ".join(fmt.name for fmt in (product.a_format, product.b_format, product.d_format))
        raise TcsmtError(f"no unit takes A and B and gives D in these formats: {formats}")
    elements = places_that_tell(product, sum(_STAGES), sum(_STAGES) + _MORE, ends[0], seed)
    found = _held_against(tried, product, elements, seen)
    if not found.kernels:
        others: list[Kernel] = []
        for first, *_ in given:
            others += varying_hypotheses(first, product.d_format, product.shape, ends)
        second = _held_against(others, product, elements, seen)
        nearest = sorted((*found.missed, *second.missed), key=lambda one: one.count)[:_SHOWN]
        if second.kernels:
            found = replace(second, tested=len(tried) + len(others))
        else:
            parts = _regions(tried, product, seen)
            found = replace(second, tested=len(tried) + len(others), missed=tuple(nearest), regions=parts)
    alike = {first.name: tuple(row.name for row in others) for first, *others in given}
    return replace(found, alike=alike)


def _regions(tried: Sequence[Kernel], product: Product, seen: Seen) -> tuple[Region, ...]:
    """What explains which part of D; nothing where no part is explained."""

    def explaining(part: Product) -> tuple[Kernel, ...]:
        return _held_against(tried, part, np.argwhere(np.ones(part.d.shape, bool)), seen).kernels

    found = regions(product, explaining)
    return found if any(one.kernels for one in found) else ()


def _held_against(tried: Sequence[Kernel], product: Product, elements: Array, seen: Seen) -> Explained:
    """What hypotheses explain. elements: places (row, column) that are looked at before all are."""
    search = _Search(product, seen, elements)
    alive, best, start = list(tried), [], 0
    for size in _STAGES:
        some = slice(start, min(start + size, len(elements)))
        if some.start == some.stop or not alive or (start and len(alive) * size > _RESULTS):
            break
        found = search.stage(alive, some)
        best = sorted(found, key=lambda one: one[0])[:_SHOWN]
        alive = [kernel for wrong, kernel in found if wrong == 0]
        start = some.stop
    rank = _plausible(tried)
    alive.sort(key=rank.__getitem__)
    explained: list[Kernel] = []
    missed: list[Missed] = []
    while alive and not explained:
        batch, alive = alive[:_BATCH], alive[_BATCH:]
        if start < len(elements):
            found = search.stage(batch, slice(start, len(elements)))
            kept = {kernel for wrong, kernel in found if wrong == 0}
            batch = [kernel for kernel in batch if kernel in kept]
        for number, kernel in enumerate(batch, 1):
            if len(explained) == _MOST:
                alive = [*batch[number - 1 :], *alive]
                break
            seen(number, len(batch), f"all elements, {kernel.name}")
            one = _against_all(kernel, product)
            if one.count:
                missed.append(one)
            else:
                explained.append(kernel)
    if not explained:
        nearest = [kernel for _, kernel in best if kernel not in {one.kernel for one in missed}]
        missed += [_against_all(kernel, product) for kernel in nearest]
    deciding = cover(_columns(search.excluded, len(elements))).chosen if search.excluded and explained else []
    return Explained(
        product=product,
        kernels=tuple(explained),
        alike={},
        tested=len(tried),
        open=tuple(alive) if explained else (),
        looked_at=start,
        deciding=tuple((int(i), int(j)) for i, j in search.elements[deciding]),
        missed=() if explained else tuple(sorted(missed, key=lambda one: one.count)[:_SHOWN]),
    )


def _plausible(tried: Sequence[Kernel]) -> dict[Kernel, tuple[int, int]]:
    """The order in which survivors are looked at: the simplest reduction on every unit first."""
    places: dict[str, int] = {}
    rank = {}
    for number, kernel in enumerate(tried):
        place = places[kernel.unit.name] = places.get(kernel.unit.name, -1) + 1
        rank[kernel] = (place, number)
    return rank


def _against_all(kernel: Kernel, product: Product) -> Missed:
    places = np.argwhere(np.ones(product.d.shape, bool))
    if kernel.reduction.unordered:
        parts = [places[first : first + _AT_ONCE] for first in range(0, len(places), _AT_ONCE)]
        words = [next(on_elements([kernel], SampledElements.of(product, part))) for part in parts]
        wrong = [product.missed(found, part) for (_, found), part in zip(words, parts, strict=True)]
        missed = np.concatenate(wrong)
    else:
        found = kernel.multiply(product.a, product.b, product.c).view(product.d.dtype)
        missed = product.missed(found.reshape(-1), places)
    shown = tuple((int(i), int(j)) for i, j in places[missed][:_ELEMENTS])
    return Missed(kernel, int(missed.sum()), product.d.size, shown)


def _takes_c(row: Row, product: Product) -> bool:
    return product.c is None or row.model.c_format == product.c_format


def _columns(excluded: Sequence[int], count: int) -> list[int]:
    """For each element, the hypotheses that it excludes, a bit for each."""
    columns = [0] * count
    for number, bits in enumerate(excluded):
        for place in range(count):
            if bits >> place & 1:
                columns[place] |= 1 << number
    return columns
