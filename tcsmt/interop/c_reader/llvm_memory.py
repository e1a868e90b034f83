"""Memory of functions that are run on terms: objects of bytes, at places that are known or by an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import gcd
from operator import itemgetter

from tcsmt.language.read.joining import joined
from tcsmt.language.terms import FALSE, TRUE, Term, const

_numbers = count()


@dataclass(frozen=True)
class Object:
    """Bytes that one declaration stands for: a variable, an array, what a parameter points to."""

    name: str
    size: int
    constant: bool = False
    number: int = field(default_factory=lambda: next(_numbers))


@dataclass(frozen=True)
class Part:
    """The array or the member of an object that an address was made of, which it must not leave.

    start: its first byte, so many bytes behind ``index`` (None: the object's first byte). size: in bytes.
    """

    start: int
    index: Term | None
    size: int


@dataclass(frozen=True)
class MemoryPlace:
    """An address: of an object (None: the null pointer), so many bytes in.

    index: a word of 64 bits that is added, a multiple of ``stride``; None: none. part: that it must not
    leave; None: the whole object.
    """

    object: Object | None
    offset: int = 0
    index: Term | None = None
    stride: int = 0
    part: Part | None = None

    def moved(self, by: Term, scale: int) -> MemoryPlace:
        """Return the place so many times ``scale`` bytes further; ``by`` has 64 bits."""
        if by.value is not None:
            number = by.value - (1 << 64 if by.value >> 63 else 0)
            return replace(self, offset=self.offset + number * scale)
        more = by * scale
        index = more if self.index is None else self.index + more
        return replace(self, index=index, stride=gcd(self.stride, scale))

    def narrowed(self, size: int) -> MemoryPlace:
        """Return the same address, of a part that begins here."""
        return replace(self, part=Part(self.offset, self.index, size))

    def leaves(self, size: int) -> Term:
        """Return whether so many bytes are not all in its part."""
        part = self.part
        if part is None:
            return FALSE
        ahead = const(self.offset - part.start, 64)
        if self.index is not part.index:
            ahead = ahead + (const(0, 64) if self.index is None else self.index)
            ahead = ahead - (const(0, 64) if part.index is None else part.index)
        # unsigned: an address before the part is very far behind it, and so outside as well
        return ~ahead.ult(part.size - size + 1) if part.size >= size else TRUE

    def offsets(self, size: int) -> Iterator[tuple[Term, int]]:
        """Yield where so many bytes may be in the object, each with the truth value that they are."""
        assert self.object is not None
        assert self.index is not None
        for offset in range(self.object.size - size + 1):
            if not self.stride or (offset - self.offset) % self.stride == 0:
                yield self.index.eq(offset - self.offset), offset


@dataclass(frozen=True)
class MemoryCell:
    """The content of a place: a word, or an address. written: whether anything was ever stored there."""

    value: Term | MemoryPlace
    size: int
    written: Term = TRUE

    def byte(self, number: int) -> MemoryCell:
        """Return one byte of it. Raises ValueError for an address."""
        if isinstance(self.value, MemoryPlace):
            raise ValueError("a part of an address")
        return MemoryCell(self.value[8 * number + 7 : 8 * number], 1, self.written)


class Memory:
    """The contents of objects."""

    def __init__(
        self, held: dict[Object, dict[int, MemoryCell]] | None = None, ended: frozenset[Object] = frozenset()
    ) -> None:
        self.held = held or {}
        self.ended = ended

    def copy(self) -> Memory:
        """Return a copy that changes by itself."""
        return Memory(dict(self.held), self.ended)

    def begin(self, place: Object) -> None:
        """Begin a variable's block: it holds nothing."""
        self.held.pop(place, None)
        self.ended -= {place}

    def end(self, place: Object) -> None:
        """End a variable's block: it must not be used."""
        self.ended |= {place}

    def store(self, place: Object, offset: int, cell: MemoryCell) -> None:
        """Store a cell over what is there."""
        cells = self._split(place, offset, cell.size)
        for byte in range(offset, offset + cell.size):
            cells.pop(byte, None)
        cells[offset] = cell
        self.held[place] = cells

    def load(self, place: Object, offset: int, size: int) -> MemoryCell:
        """Return what lies there. Raises ValueError for a part of an address."""
        return _word(self.held.get(place, {}), offset, size)

    def forget(self, first: int) -> None:
        """Forget objects that were made since the one of that number."""
        self.held = {owner: cells for owner, cells in self.held.items() if owner.number < first}

    def move(self, to: tuple[Object, int], memory: Memory, source: tuple[Object, int], size: int) -> None:
        """Move bytes as memmove does: cells stay whole, and what was never written stays so."""
        (target, start), (origin, first) = to, source
        cells = memory._split(origin, first, size)
        moved = {at: cell for at, cell in cells.items() if first <= at < first + size}
        here = self._split(target, start, size)
        for byte in range(start, start + size):
            here.pop(byte, None)
        here.update({at - first + start: cell for at, cell in moved.items()})
        self.held[target] = here

    def _split(self, place: Object, offset: int, size: int) -> dict[int, MemoryCell]:
        """Return a copy of the object's cells, in which none lies across the ends of these bytes."""
        cells = dict(self.held.get(place, {}))
        for at, cell in list(cells.items()):
            end = at + cell.size
            if any(at < edge < end for edge in (offset, offset + size)):
                del cells[at]
                cells.update({at + byte: cell.byte(byte) for byte in range(cell.size)})
        return cells

    def merged(
        self, bit: Term, other: Memory, merge: Callable[[Term, MemoryCell, MemoryCell], MemoryCell]
    ) -> Memory:
        """Return this memory where the bit is 1, else the other one."""
        # what has ended on one way must not be used behind both: this refuses too much, never too little
        result = Memory(ended=self.ended | other.ended)
        for place in {**self.held, **other.held}:
            cells, others = self.held.get(place, {}), other.held.get(place, {})
            result.held[place] = cells if cells is others else _merged(bit, cells, others, merge)
        return result


def _merged(
    bit: Term,
    mine: dict[int, MemoryCell],
    others: dict[int, MemoryCell],
    merge: Callable[[Term, MemoryCell, MemoryCell], MemoryCell],
) -> dict[int, MemoryCell]:
    """Merge word by word where a side has a word; byte by byte where words of both overlap in part."""
    result: dict[int, MemoryCell] = {}
    for start, end in _spans(mine, others):
        is_one_cell = any(start in cells and cells[start].size == end - start for cells in (mine, others))
        for at in [start] if is_one_cell else range(start, end):
            size = end - start if is_one_cell else 1
            left, right = _word(mine, at, size), _word(others, at, size)
            result[at] = left if left == right else merge(bit, left, right)
    return result


def _spans(left: dict[int, MemoryCell], others: dict[int, MemoryCell]) -> Iterator[tuple[int, int]]:
    """Yield ranges from the first byte to behind the last, so that no cell lies across their ends."""
    start, end = 0, -1
    for at, cell in sorted([*left.items(), *others.items()], key=itemgetter(0)):
        if at >= end:
            if end > 0:
                yield start, end
            start, end = at, at + cell.size
        end = max(end, at + cell.size)
    if end > 0:
        yield start, end


def _word(cells: dict[int, MemoryCell], offset: int, size: int) -> MemoryCell:
    """Return what lies there, put together. Raises ValueError for a part of an address."""
    cell = cells.get(offset)
    if cell is not None and cell.size == size:
        return cell
    # never written: some word, and ``written`` says that reading it means nothing
    if not _covers(cells, offset, size):
        return MemoryCell(const(0, 8 * size), size, FALSE)
    word, written = None, TRUE
    for byte in reversed(_bytes(cells, offset, size)):
        assert isinstance(byte.value, Term)
        word = byte.value if word is None else joined(word, byte.value)
        written = written & byte.written
    assert word is not None
    return MemoryCell(word, size, written)


def _covers(cells: dict[int, MemoryCell], offset: int, size: int) -> bool:
    """Return whether anything lies in these bytes."""
    return any(at < offset + size and offset < at + cell.size for at, cell in cells.items())


def _bytes(cells: dict[int, MemoryCell], offset: int, size: int) -> list[MemoryCell]:
    """Return single bytes; what was never written is 0, and not written."""
    cells_of_bytes = []
    for at in range(offset, offset + size):
        for start in range(at, at - 17, -1):
            cell = cells.get(start)
            if cell is not None and at < start + cell.size:
                cells_of_bytes.append(cell.byte(at - start))
                break
        else:
            cells_of_bytes.append(MemoryCell(const(0, 8), 1, FALSE))
    return cells_of_bytes
