"""The kernels that could have made a recorded product: units, reductions and epilogues that are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.expression import expression
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import CHAINED, Level, Reduction
from tcsmt.programs.kernels.units import ARCHITECTURE

#: Parts of a split K, and the products of one tile, of which a part has a multiple.
_PARTS = (*range(2, 33), 36, 40, 44, 48, 56, 64, 96, 128)
_LEAST = 4  # a part has half as many products at least
_TILES = (1, 16, 32, 64, 128, 256)
#: Products between two promotions on a matrix unit; warps along K and their stripes.
_EVERY = (32, 64, 128, 256, 512, 1024, 2048, 4096)
_WARPS = (2, 4, 8)
_STRIPES = (8, 16, 32, 64)
#: Blocks of K in CPU libraries: multiples of this; and the multiples to which a half block is rounded.
_BLOCK, _LARGEST_BLOCK = 16, 4096
_HALVED = (4, 8, 16)
#: Accumulators beside each other: lanes of vectors, and unrolled loops.
_LANES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128)
#: Vectors that are added to beside each other; rows of a matrix that a row is multiplied by at a time.
_ACCUMULATORS, _ROWS = (2, 3, 4, 6, 8), (2, 4, 8)
_ORDERS = ("order", "pairs", "reversed", "halves")
#: Strided parts, and the stripes of which each has a new chain after so many products.
_STRIDED, _STRIDES, _PROMOTED = range(2, 17), (32, 64, 128), 128
#: Parts whose sums are added as they arrive; workers of stream-K, and the tiles of their steps.
_ATOMIC, _WORKERS = (3, 4, 5), range(2, 257)
_SIDES, _DEPTHS = ((64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128)), (16, 32, 64, 128)


@lru_cache(maxsize=64)
def reductions(
    k: int, length: int, *, ordinary: bool, narrow: Format | None = None, c: bool = False
) -> dict[Reduction, tuple[Reduction, ...]]:
    """Reductions of so many products that are tried on units with a K, each another function.

    With each, others that are the same function for so many products.

    narrow: the format of the results, where parts and totals are also rounded to it. ordinary: whether it is
    a processor's multiply-add, which loops put in blocks and lanes. c: whether a C enters before the first
    product, where a chain from C is not a chain to which C is added.
    """
    levels = [*_split(length)]
    levels += [Level(kind="promote", number=every) for every in _EVERY if every < length]
    nested: list[Reduction] = []
    if ordinary:
        levels += _blocks(length)
    else:
        stripes = product(_WARPS, sorted({*_STRIPES, k}))
        levels += [Level(kind="sliced", number=warps, step=step) for warps, step in stripes]
        strided = list(_strided(length))
        levels += strided
        inner = Level(kind="promote", number=_PROMOTED)
        several = [
            *strided,
            *(part for part in _split(length) if part.step in _STRIDES and part.order == "order"),
        ]
        nested = [Reduction((level, inner)) for level in several]
    result = [CHAINED, *(Reduction((level,)) for level in levels), *nested]
    if ordinary:
        few = [number for number in _LANES if 2 * number <= length]
        lanes = [Level(kind="sliced", number=n, step=1, order=order) for n, order in product(few, _ORDERS)]
        result += [Reduction((level,)) for level in lanes]
        result += _vectors(length)
    if narrow is not None:
        narrowed = (("parts",), ("total",), ("parts", "total"))
        through = [_through(reduction, names, narrow) for names in narrowed for reduction in result]
        result += [reduction for reduction in through if reduction is not None]
    return _distinct(result, length, k, c=c)


def _distinct(
    reductions: Sequence[Reduction], length: int, k: int, *, c: bool = False
) -> dict[Reduction, tuple[Reduction, ...]]:
    """One of each function, the first, and the others that are the same."""
    distinct: dict[str, list[Reduction]] = {}
    for reduction in dict.fromkeys(reductions):  # some are made in two ways
        distinct.setdefault(expression(reduction, length, k, c=c), []).append(reduction)
    return {first: tuple(filter(_usual, others)) for first, *others in distinct.values()}


@lru_cache(maxsize=64)
def varying(shape: tuple[int, int, int], k: int) -> tuple[Reduction, ...]:
    """Reductions of a product of shape (M, N, K) that are not the same for all of its elements.

    Parts that are added in any order, and stream-K. They are tried where no other reduction explains D.
    """
    m, n, length = shape
    atomic = [
        Reduction((Level(kind="split-k", number=parts, step=None if tile == 1 else tile, order="any"),))
        for parts, tile in product(_ATOMIC, _TILES)
        if parts * max(tile, _LEAST) < 2 * length
    ]
    shared: dict[tuple[int, ...], Reduction] = {}
    for workers, (tall, columns), deep in product(_WORKERS, _SIDES, _DEPTHS):
        tiles, steps = -(-m // tall) * -(-n // columns), -(-length // deep)
        share = -(-tiles * steps // workers)
        if tiles > 1 and share % steps and steps % share:  # else every tile has the same cuts, or none
            level = Level(kind="stream-k", number=workers, tile=(tall, columns, deep))
            shared.setdefault((tall, columns, share * deep, steps * deep), Reduction((level,)))
    return (*_distinct(atomic, length, k), *shared.values())


def _usual(reduction: Reduction) -> bool:
    """Return whether parts are added in order: two parts are one sum in any order, which says nothing."""
    return all(level.order == "order" for level in reduction.levels)


def _split(length: int) -> Iterator[Level]:
    for parts, tile, order in product(_PARTS, _TILES, ("order", "pairs", "reversed")):
        if parts * max(tile, _LEAST) < 2 * length:
            yield Level(kind="split-k", number=parts, step=None if tile == 1 else tile, order=order)


def _strided(length: int) -> Iterator[Level]:
    for parts, step, order in product(_STRIDED, _STRIDES, ("order", "folded")):
        if parts * step < 2 * length:
            yield Level(kind="sliced", number=parts, step=step, order=order)


def _vectors(length: int) -> Iterator[Reduction]:
    """Yield what loops over vectors do, with several accumulators, for products of a matrix and a vector.

    A dot product adds up the accumulators, and then the halves of a vector until four lanes are left, which
    it adds in pairs; or it begins with the halves. A row times a matrix adds a few rows of it to the result
    at a time.
    """
    four = Level(kind="sliced", number=4, step=1, order="pairs")
    half = Level(kind="sliced", number=2, step=1)
    several = [
        Level(kind="sliced", number=number, step=1, order=order)
        for number, order in product(_ACCUMULATORS, ("order", "pairs"))
    ]
    lanes = [(four, *(half,) * times) for times in range(1, 4)]
    for vector in ((four,), *lanes):
        for last in several:
            yield Reduction((*vector, last))
    for vector in lanes[1:]:  # eight lanes are left when the accumulators are added up
        for level in several:
            yield Reduction((four, half, replace(level, step=2 ** (len(vector) - 2)), *vector[2:]))
    for rows in _ROWS:
        if rows < length:
            few = Level(kind="promote", number=rows)
            yield Reduction((few,))
            yield Reduction((few, half))


def _blocks(length: int) -> Iterator[Level]:
    for every in range(_BLOCK, min(length, _LARGEST_BLOCK), _BLOCK):
        for halved in (0, *_HALVED):
            yield Level(kind="promote", number=every, halved=halved)


def hypotheses(
    unit: Row, output: AnyFormat, length: int, ends: Sequence[Epilogue] = (PLAIN,), *, c: bool = False
) -> list[Kernel]:
    """Return the kernels on a unit that are tried for results of a format; none where it has no such results.

    c: whether there is a C.

    ends: epilogues, to which a conversion to the output's format is added where it is not the unit's.
    Narrower results are also tried with parts and totals that are rounded to their format.
    """
    made = _converting(unit, output, ends)
    return [
        Kernel(unit, reduction, end)
        for end in made
        for reduction in _tried(unit, output, length, c and end.c_first)
    ]


def varying_hypotheses(
    unit: Row, output: AnyFormat, shape: tuple[int, int, int], ends: Sequence[Epilogue] = (PLAIN,)
) -> list[Kernel]:
    """Return the same of reductions that are not the same for all elements of a product (:func:`varying`)."""
    made = _converting(unit, output, ends)
    return [
        Kernel(unit, reduction, end)
        for end, reduction in product(made, varying(shape, unit.model.k) if made else ())
    ]


def _converting(unit: Row, output: AnyFormat, ends: Sequence[Epilogue]) -> Sequence[Epilogue]:
    """Epilogues with a conversion to the output's format; none where the unit's results do not hold it."""
    source = unit.model.d_format
    if source != output:
        fits = isinstance(source, Format) and isinstance(output, Format) and source.holds(output)
        if not fits or not isinstance(output, Format):
            return []
        saturate = not output.has_infinity
        ends = [replace(end, out=(output,), saturate=end.saturate or saturate) for end in ends]
    return ends


def _tried(unit: Row, output: AnyFormat, length: int, c: bool) -> dict[Reduction, tuple[Reduction, ...]]:
    model = unit.model
    ordinary = unit.architecture == ARCHITECTURE or model.k <= 2
    narrow = output if isinstance(output, Format) and output != model.d_format else None
    return reductions(model.k, length, ordinary=ordinary, narrow=narrow, c=c)


def same_function(
    kernel: Kernel, output: AnyFormat, length: int, *, c: bool = False
) -> tuple[Reduction, ...]:
    """Other reductions that are the same function as a hypothesis' for so many products. c: as above."""
    return _tried(kernel.unit, output, length, c and kernel.epilogue.c_first).get(kernel.reduction, ())


def _through(reduction: Reduction, names: Sequence[str], output: Format) -> Reduction | None:
    """Return it with parts, or running totals, held in the output's format; None where that makes none."""
    first, *others = reduction.levels or (None,)
    if first is None or not output.has_infinity or first.kind != "split-k" or first.order != "order":
        return None
    parts, total = (output if name in names else None for name in ("parts", "total"))
    return Reduction((replace(first, parts=parts, total=total), *others))
