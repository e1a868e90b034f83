"""Which elements a program stands for: all that a grid of blocks stores, in classes of one program each."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tcsmt.interop.compiled.moves import Undecided
from tcsmt.interop.compiled.reading import ElementRead, KernelRun
from tcsmt.interop.compiled.trace import Lanes
from tcsmt.support.errors import TcsmtError

#: Parts of a grid that run differently, at most.
_MOST_PARTS = 256
_Three: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class ElementClass:
    """Elements that have one program. element: one of them, of this block. numbers: of all."""

    element: ElementRead
    block: _Three
    numbers: Lanes

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.numbers)


def element_classes(run: Callable[[_Three, _Three], KernelRun], grid: _Three) -> list[ElementClass]:
    """Return the classes of all elements that a grid stores, the largest first.

    run: a block, standing for so many from it on along each axis. Blocks stand for others where all their
    instructions do the same to addresses that grow in step; elsewhere the grid is cut. Every element of each
    block that runs is read. Raises :class:`.TcsmtError` where two blocks store one element, where one reads
    from a buffer to which another one stores, and where the blocks are of too many kinds.
    """
    buffers = _Buffers()
    found: dict[Hashable, tuple[ElementRead, _Three, list[Lanes]]] = {}
    rest, parts = [((0, 0, 0), grid)], 0
    while rest:
        first, counts = rest.pop()
        parts += 1
        if parts > _MOST_PARTS:
            raise TcsmtError(
                f"the blocks run in more than {_MOST_PARTS} ways: which elements are alike is unknown"
            )
        try:
            ran = run(first, counts)
            of_part = _part(ran, counts)
        except Undecided as cut:
            at = cut.at
            low, high, start = list(counts), list(counts), list(first)
            low[cut.axis], high[cut.axis], start[cut.axis] = at, counts[cut.axis] - at, first[cut.axis] + at
            rest += [(_three(start), _three(high)), (first, _three(low))]
            continue
        buffers.note(ran)
        for key, element, offsets in of_part:
            found.setdefault(key, (element, first, []))[2].append(offsets)
    if not found:
        raise TcsmtError("no block stores anything")
    classes = [
        ElementClass(element, block, np.sort(np.concatenate(parts)))
        for element, block, parts in found.values()
    ]
    numbers, often = np.unique(np.concatenate([one.numbers for one in classes]), return_counts=True)
    if (often > 1).any():
        raise TcsmtError(f"element {numbers[often > 1][0]} is stored by several blocks")
    if numbers[0] < 0:
        raise TcsmtError(f"element {numbers[0]} is stored: it is before the buffer")
    return sorted(classes, key=lambda one: -one.count)


@dataclass
class _Buffers:
    """What blocks that run apart do to the same buffers. sizes: of the elements that are stored in each."""

    sizes: dict[int, int] = field(default_factory=dict)
    loaded: set[int] = field(default_factory=set)

    def note(self, run: KernelRun) -> None:
        """Note what a block does. Raises :class:`.TcsmtError` where elements hang on which block is first."""
        self.loaded |= run.machine.loaded
        if run.machine.stored:
            buffer, size = run.stored[0], run.size
            other = self.sizes.setdefault(buffer, size)
            if other != size:
                raise TcsmtError(
                    f"blocks store elements of {other} and of {size} bytes to {run.names[buffer]}"
                )
        for buffer in self.loaded & self.sizes.keys():
            raise TcsmtError(
                f"a block reads from {run.names[buffer]}, to which another one stores: the order is unknown"
            )


def _three(given: list[int]) -> _Three:
    x, y, z = given
    return x, y, z


def _part(run: KernelRun, counts: _Three) -> list[tuple[Hashable, ElementRead, Lanes]]:
    """Return, of each kind of elements of blocks that run alike, one of them and the numbers of all."""
    machine = run.machine
    if not machine.stored:
        return []
    if len(machine.store_moves) > 1:
        raise machine.blocks.undecided()
    (moves,) = machine.store_moves
    steps = sum(np.ix_(*(move * np.arange(count) for move, count in zip(moves, counts, strict=True))))
    if (np.asarray(steps) % run.size).any():
        raise TcsmtError("blocks store elements that overlap")
    kinds: dict[Hashable, tuple[ElementRead, list[int]]] = {}
    for number in run.elements:
        element = run.read(number)
        kinds.setdefault(kind_of(element), (element, []))[1].append(number)
    return [
        (key, element, np.add.outer(np.array(numbers), np.asarray(steps) // run.size).ravel())
        for key, (element, numbers) in kinds.items()
    ]


def kind_of(element: ElementRead) -> Hashable:
    """Return what elements of one program have in common: all but where their words begin."""
    text = element.text
    return (
        element.result, text.lines,
        *(tuple(sorted(one.items())) for one in (text.formats, text.units, text.freedoms)),
        tuple((name, one.buffer, one.stride, one.count) for name, one in text.along.items()),
        tuple((name, fmt) for name, (fmt, _) in text.inputs.items()),
    )  # fmt: skip
