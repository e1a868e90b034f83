"""Kernels that reproduce a recorded product bit for bit.

Every hypothesis is held against a few elements of D, those that survive against more, and the last ones
against all. NaN results are the same whatever their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from time import monotonic
from typing import Any

import numpy as np

from tcsmt.identification.kernels.hypotheses import hypotheses, varying_hypotheses
from tcsmt.identification.kernels.regions import Region, regions
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.elements import Product, SampledElements, on_elements, places_that_tell
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.units import of_one_function, units_for
from tcsmt.support.elimination import cover
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements against which hypotheses are held, stage by stage, before all elements are.
_STAGES = (1, 3, 28, 480)
#: Hypotheses of each unit and epilogue that are held against elements before the others are: the simplest.
_FIRST = (1, 32)
#: More elements, against which so many of the survivors are held at a time; and how many against all.
_MORE, _BATCH, _MOST = 1536, 64, 16
#: Survivors that are held against all elements before other hypotheses are looked at, and after a stop.
_EARLY = 4
#: With more results to compute at a stage (survivors, elements), the simplest are looked at first.
_RESULTS = 250_000
#: Elements that are looked at together where each has several results.
_AT_ONCE = 4096
#: Of the best hypotheses that miss some elements, so many are shown, and so many of the elements.
_SHOWN, _ELEMENTS = 3, 5


class _OutOfTime(Exception):
    """The time limit is over."""


@dataclass(frozen=True)
class SearchControl:
    """The callback that is told of a search's progress, and the time until which it may run.

    seen: told what is done. found: told of each kernel that gives all of D, at once. end: of the clock
    ``time.monotonic``; None: never.
    """

    seen: ProgressCallback = no_progress
    found: Callable[[Kernel], None] = lambda kernel: None
    end: float | None = None

    def step(self, done: int, count: int, what: str) -> None:
        """Tell, and raise where the time is over."""
        self.seen(done, count, what)
        if self.end is not None and monotonic() > self.end:
            raise _OutOfTime


@dataclass(frozen=True)
class NearMiss:
    """A kernel that does not explain D.

    elements: the first (row, column) that it misses, of how many. far: how far its elements are from D's, on
    average, as a part of their size.
    """

    kernel: Kernel
    count: int
    of: int
    elements: tuple[tuple[int, int], ...]
    far: float


@dataclass(frozen=True)
class KernelMatches:
    """The kernels that explain a product, and those that nearly do.

    kernels: those that give every element of D. alike: for each unit, other units that compute the
        same function. hypotheses: in all; tested: those of them that were held against D.
    open: others that give the elements that were looked at, of which there are so many, and were not held
        against all. deciding: elements (row, column) that exclude all that were excluded.
    missed: where none explains D, the hypotheses that miss the fewest elements. regions: where none explains
        D, and some explain parts of it, these parts and what is left. simplest: of each unit and epilogue,
        those of the nearest ones first. stopped: why the search ended before all were tested; "": it did not.
    """

    product: Product
    kernels: tuple[Kernel, ...]
    alike: dict[str, tuple[str, ...]]
    hypotheses: int
    tested: int
    open: tuple[Kernel, ...]
    looked_at: int
    deciding: tuple[tuple[int, int], ...]
    missed: tuple[NearMiss, ...]
    regions: tuple[Region, ...] = ()
    simplest: tuple[Kernel, ...] = ()
    stopped: str = ""


@dataclass
class _Search:
    product: Product
    watch: SearchControl
    elements: Array
    #: Which elements exclude each hypothesis, a bit for each.
    excluded: list[int] = field(default_factory=list)
    #: Those that give all elements that they were held against, so many at least.
    alive: list[Kernel] = field(default_factory=list)
    looked_at: int | None = None
    #: Those that were held against elements; the best of those that miss some; those held against all.
    tested: set[Kernel] = field(default_factory=set)
    nearest: list[tuple[tuple[int, int, float], Kernel]] = field(default_factory=list)
    against_all: dict[Kernel, NearMiss] = field(default_factory=dict)

    def screen(self, some: Sequence[Kernel]) -> None:
        """Hold hypotheses against elements, stage by stage; those that give them all stay alive."""
        start, alive = 0, list(some)
        for number, size in enumerate(_STAGES):
            part = slice(start, min(start + size, len(self.elements)))
            if part.start == part.stop or not alive or (start and len(alive) * size > _RESULTS):
                break
            remaining = dict.fromkeys(alive)
            try:
                for kernel, wrong in self.stage(alive, part, number):
                    if wrong:
                        del remaining[kernel]
            except (_OutOfTime, KeyboardInterrupt):
                self.alive += [kernel for kernel in remaining if kernel in self.tested]
                self.looked_at = min(self.looked_at or part.start, part.start)
                raise
            alive = list(remaining)
            start = part.stop
        self.alive += alive
        self.looked_at = start if self.looked_at is None else min(self.looked_at, start)

    def stage(self, alive: Sequence[Kernel], some: slice, number: int) -> Iterator[tuple[Kernel, int]]:
        """Yield how many of some elements each hypothesis misses."""
        product = self.product
        places = self.elements[some]
        units = len({kernel.unit.name for kernel in alive})
        names: dict[str, None] = {}
        what = f"{counted(len(places), 'element')}, {counted(len(alive), 'hypothesis')}"

        def seen(done: int, count: int) -> None:
            self.watch.step(len(names), units, what)

        for kernel, words in on_elements(alive, SampledElements.of(product, places), seen):
            if kernel.unit.name not in names:
                names[kernel.unit.name] = None
                self.watch.step(len(names), units, f"{what}, {kernel.unit.name}")
            wrong = product.missed(words, places)
            if wrong.any():
                bits = sum(1 << int(place) for place in np.flatnonzero(wrong))
                self.excluded.append(bits << (some.start or 0))
                rank = -number, int(wrong.sum()), product.far(words, places)
                self.nearest.append((rank, kernel))
            self.tested.add(kernel)
            yield kernel, int(wrong.sum())
        self.nearest = sorted(self.nearest, key=itemgetter(0))[:_SHOWN]

    def whole(self, kernel: Kernel) -> NearMiss:
        """A hypothesis against all elements, once."""
        if kernel not in self.against_all:
            missed = self.against_all[kernel] = _against_all(kernel, self.product)
            if not missed.count:
                self.watch.found(kernel)
        return self.against_all[kernel]


def explain(
    product: Product,
    units: Sequence[Row] | None = None,
    *,
    ends: Sequence[Epilogue] | None = None,
    seed: int = 1,
    watch: SearchControl | None = None,
) -> KernelMatches:
    """Hold all hypotheses against D, the simplest first.

    units: whose kernels are tried (None: all of the catalogue that take such operands, and IEEE operations).
    ends: epilogues that are tried; None: C first and C last.
    At the end of the watch's time, and where somebody interrupts it, the search ends with what it has.
    Raises :class:`.TcsmtError` where no unit fits.
    """
    watch = watch or SearchControl()
    every = units_for(product.a_format, product.b_format) if units is None else of_one_function(units)
    groups = [rows for rows in every if product.c is None or rows[0].model.c_format == product.c_format]
    if ends is None:
        ends = [PLAIN] if product.c is None else [PLAIN, Epilogue(c="epilogue")]
    length = product.shape[2]
    tried: list[Kernel] = []
    for first, *_ in groups:
        kernels = hypotheses(first, product.d_format, length, ends, c=product.c is not None)
        tried += (kernel for kernel in kernels if _can_chain(kernel, length))
    if not tried:
        formats = ", ".join(fmt.name for fmt in (product.a_format, product.b_format, product.d_format))
        raise TcsmtError(f"no unit takes A and B and gives D in these formats: {formats}")
    elements = places_that_tell(product, sum(_STAGES), sum(_STAGES) + _MORE, ends[0], seed)
    explained = _held_against(tried, product, elements, watch)
    if not explained.kernels and not explained.stopped:
        others: list[Kernel] = []
        for first, *_ in groups:
            others += varying_hypotheses(first, product.d_format, product.shape, ends)
        second = _held_against(others, product, elements, watch)
        nearest = sorted((*explained.missed, *second.missed), key=_by_nearness)[:_SHOWN]
        explained = replace(
            second,
            hypotheses=len(tried) + len(others),
            tested=explained.tested + second.tested,
            missed=() if second.kernels else tuple(nearest),
        )
    if not explained.kernels and not explained.stopped:
        parts, stopped = _regions(tried, product, watch)
        explained = replace(explained, regions=parts, stopped=stopped)
    near = [missed.kernel.unit for missed in explained.missed]
    simplest = sorted(_rounds(tried)[0], key=lambda kernel: kernel.unit not in near)
    alike = {first.name: tuple(row.name for row in others) for first, *others in groups}
    return replace(explained, alike=alike, simplest=tuple(simplest))


def _by_nearness(missed: NearMiss) -> tuple[int, float]:
    return missed.count, missed.far


def _regions(
    tried: Sequence[Kernel], product: Product, watch: SearchControl
) -> tuple[tuple[Region, ...], str]:
    """Return what explains which part of D, and why the search was stopped; nothing where no part is
    explained.
    """
    quiet = replace(watch, found=lambda kernel: None)

    def explaining(part: Product) -> tuple[Kernel, ...]:
        explained = _held_against(tried, part, np.argwhere(np.ones(part.d.shape, bool)), quiet)
        if explained.stopped:
            raise _Stopped(explained.stopped)
        return explained.kernels

    try:
        parts = regions(product, explaining)
    except _Stopped as why:
        return (), str(why)
    return (parts if any(region.kernels for region in parts) else ()), ""


class _Stopped(Exception):
    """A search within a search was stopped; its text says why."""


def _can_chain(kernel: Kernel, length: int) -> bool:
    """Return whether the unit makes the chains of a kernel: its results may be no c of the next one."""
    unit = kernel.unit.model
    if unit.c_format == unit.d_format or kernel.reduction.tiled:
        return unit.c_format == unit.d_format
    try:
        kernel.schedule.chains(length, kernel.reduction.orders(length, unit.k, c=False)[0])
    except TcsmtError:
        return False
    return True


def _held_against(
    tried: Sequence[Kernel], product: Product, elements: Array, watch: SearchControl
) -> KernelMatches:
    """Return what hypotheses explain. elements: places (row, column) that are looked at before all are."""
    search, stopped = _Search(product, watch, elements), ""
    rank = _plausible(tried)
    try:
        for some in _rounds(tried):
            search.screen(some)
            search.alive.sort(key=rank.__getitem__)
            if len(search.tested) < len(tried):
                for kernel in search.alive[:_EARLY]:
                    search.whole(kernel)
    except _OutOfTime:
        stopped = "the time limit is over"
    except KeyboardInterrupt:
        stopped = "interrupted"
    explained, alive = _survivors(search, stopped=bool(stopped))
    missed = [candidate for candidate in search.against_all.values() if candidate.count]
    if not explained:
        nearest = [kernel for _, kernel in search.nearest if kernel not in search.against_all]
        missed += [_against_all(kernel, product) for kernel in nearest]
    deciding = cover(_columns(search.excluded, len(elements))).chosen if search.excluded and explained else []
    return KernelMatches(
        product=product,
        kernels=tuple(explained),
        alike={},
        hypotheses=len(tried),
        tested=len(search.tested),
        open=tuple(alive) if explained or stopped else (),
        looked_at=search.looked_at or 0,
        deciding=tuple((int(i), int(j)) for i, j in search.elements[deciding]),
        missed=() if explained else tuple(sorted(missed, key=_by_nearness)[:_SHOWN]),
        stopped=stopped,
    )


def _survivors(search: _Search, *, stopped: bool) -> tuple[list[Kernel], list[Kernel]]:
    """Return the first of the survivors that give all of D, and those that are left open."""
    alive, start = search.alive, search.looked_at or 0
    explained: list[Kernel] = []
    if stopped:
        held = [*alive[:_EARLY], *(kernel for kernel in alive[_EARLY:] if kernel in search.against_all)]
        explained = [kernel for kernel in held if not search.whole(kernel).count]
        return explained, [kernel for kernel in alive if kernel not in held]
    while alive and not explained:
        batch, alive = alive[:_BATCH], alive[_BATCH:]
        if start < len(search.elements):
            more = search.stage(batch, slice(start, len(search.elements)), len(_STAGES))
            explaining = {kernel for kernel, wrong in more if not wrong}
            batch = [kernel for kernel in batch if kernel in explaining]
        for number, kernel in enumerate(batch, 1):
            if len(explained) == _MOST:
                alive = [*batch[number - 1 :], *alive]
                break
            search.watch.seen(number, len(batch), f"all elements, {kernel.name}")
            if not search.whole(kernel).count:
                explained.append(kernel)
    return explained, alive


def _rounds(tried: Sequence[Kernel]) -> list[list[Kernel]]:
    """Return the hypotheses as they are looked at: the simplest of each unit and epilogue first."""
    places: dict[tuple[str, Epilogue], int] = {}
    rounds: list[list[Kernel]] = [[] for _ in (*_FIRST, None)]
    for kernel in tried:
        key = kernel.unit.name, kernel.epilogue
        place = places[key] = places.get(key, -1) + 1
        rounds[sum(place >= end for end in _FIRST)].append(kernel)
    return [some for some in rounds if some]


def _plausible(tried: Sequence[Kernel]) -> dict[Kernel, tuple[int, int]]:
    """Return the order in which survivors are looked at: the simplest reduction on every unit first."""
    places: dict[str, int] = {}
    rank = {}
    for number, kernel in enumerate(tried):
        place = places[kernel.unit.name] = places.get(kernel.unit.name, -1) + 1
        rank[kernel] = (place, number)
    return rank


def _against_all(kernel: Kernel, product: Product) -> NearMiss:
    places = np.argwhere(np.ones(product.d.shape, bool))
    if kernel.reduction.unordered:
        parts = [places[first : first + _AT_ONCE] for first in range(0, len(places), _AT_ONCE)]
        words = [next(on_elements([kernel], SampledElements.of(product, part))) for part in parts]
        pairs = [(words_here, part) for (_, words_here), part in zip(words, parts, strict=True)]
        missed = np.concatenate([product.missed(*pair) for pair in pairs])
        far = sum(product.far(*pair) * len(pair[1]) for pair in pairs) / len(places)
    else:
        words_here = kernel.multiply(product.a, product.b, product.c).view(product.d.dtype).reshape(-1)
        missed, far = product.missed(words_here, places), product.far(words_here, places)
    shown = tuple((int(i), int(j)) for i, j in places[missed][:_ELEMENTS])
    return NearMiss(kernel, int(missed.sum()), product.d.size, shown, far)


def _columns(excluded: Sequence[int], count: int) -> list[int]:
    """Return for each element the hypotheses that it excludes, a bit for each."""
    columns = [0] * count
    for number, bits in enumerate(excluded):
        for place in range(count):
            if bits >> place & 1:
                columns[place] |= 1 << number
    return columns
