"""What a kernel did with numbers: events, one for each instruction that moves or computes them.

Integers of a kernel (addresses, masks, counters) are concrete. A number that a kernel loads or computes is a
*code* in place of bits: which output of which event it is, and of which lane. What an element of the result
is made of is followed back from its codes; nothing else is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tcsmt.interop.compiled.terms import Bytes, TermGraph
from tcsmt.support.errors import TcsmtError

#: Codes, or bits, of the lanes.
Lanes: TypeAlias = np.ndarray[Any, np.dtype[Any]]
#: Threads of a block, at most; a code is ``(slot + 1) * LANES + lane``, and 0 is "the bits are concrete".
LANES = 1024


@dataclass(frozen=True)
class Word:
    """What a register holds in each lane. codes: 0 where bits are concrete; None: everywhere. moves: of
    concrete bits, from block to block along three axes, of shape (3, lanes); None: they stay.
    """

    bits: Lanes
    codes: Lanes | None = None
    moves: Lanes | None = None

    def at(self, lanes: Any) -> Word:
        """Return the words of some lanes."""
        return Word(
            self.bits[lanes],
            None if self.codes is None else self.codes[lanes],
            None if self.moves is None else self.moves[:, lanes],
        )

    def where(self, yes: Lanes, other: Word) -> Word:
        """Return this word in some lanes, and the other one in the rest."""

        def chosen(x: Lanes | None, y: Lanes | None) -> Lanes | None:
            none = np.int64(0)
            return (
                None if x is y is None else np.where(yes, none if x is None else x, none if y is None else y)
            )

        return Word(
            np.where(yes, self.bits, other.bits),
            chosen(self.codes, other.codes),
            chosen(self.moves, other.moves),
        )


@dataclass(frozen=True)
class ByteLanes:
    """Bytes of each lane, of shape (bytes, lanes). codes: 0: index is the byte; else: index is its place."""

    codes: Lanes
    index: Lanes


def stacked(parts: Sequence[ByteLanes]) -> ByteLanes:
    """Return bytes after each other."""
    return ByteLanes(np.concatenate([p.codes for p in parts]), np.concatenate([p.index for p in parts]))


#: The value of an output in a lane, of the values of the codes that it needs.
Read: TypeAlias = Callable[[int], Bytes]


class Event:
    """One instruction. sizes: of its outputs, in bytes."""

    sizes: tuple[int, ...]

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Return the codes that an output is made of."""
        raise NotImplementedError

    def value(self, output: int, lane: int, read: Read, terms: TermGraph) -> Bytes:
        """Return the bytes of an output."""
        raise NotImplementedError


@dataclass(frozen=True)
class Unread(Event):
    """A value that cannot be followed; why is an error for whoever needs it."""

    why: TcsmtError
    sizes: tuple[int, ...] = (8,)

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Refuse."""
        raise self.why


@dataclass(frozen=True)
class Gathered(Event):
    """Bytes put together from bytes of other values, without arithmetic."""

    bytes: ByteLanes
    sizes: tuple[int, ...]

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Return the codes of the bytes that are not constant."""
        return [int(code) for code in self.bytes.codes[:, lane] if code]

    def value(self, output: int, lane: int, read: Read, terms: TermGraph) -> Bytes:
        """Return them in their order."""
        pairs = zip(self.bytes.codes[:, lane].tolist(), self.bytes.index[:, lane].tolist(), strict=True)
        return tuple([read(code)[index] if code else index for code, index in pairs])


@dataclass(frozen=True)
class Loaded(Event):
    """Bytes of memory. buffers, offsets: of the first byte in each lane; moves: of the offsets, by block."""

    buffers: Lanes
    offsets: Lanes
    sizes: tuple[int, ...]
    moves: Lanes | None = None

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Return nothing."""
        return ()

    def value(self, output: int, lane: int, read: Read, terms: TermGraph) -> Bytes:
        """Return the bytes, which are named by their buffer and offset."""
        buffer, first = int(self.buffers[lane]), int(self.offsets[lane]) + sum(self.sizes[:output])
        moves = () if self.moves is None else tuple(self.moves[:, lane].tolist())
        return tuple([terms.memory(buffer, first + n, moves) for n in range(self.sizes[output])])


@dataclass(frozen=True)
class ComputedNumber(Event):
    """Arithmetic on each lane. takes: the bytes of each operand. make: the number, of the operands' terms."""

    takes: tuple[ByteLanes, ...]
    make: Callable[..., int]
    sizes: tuple[int, ...]
    error: Callable[[str], TcsmtError]

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Return the codes of the operands."""
        return [int(code) for taken in self.takes for code in taken.codes[:, lane] if code]

    def value(self, output: int, lane: int, read: Read, terms: TermGraph) -> Bytes:
        """Return the bytes of the number."""
        return terms.bytes_of(self.make(*(self.word(taken, lane, read, terms) for taken in self.takes)))

    def word(self, taken: ByteLanes, lane: int, read: Read, terms: TermGraph) -> int:
        """Return the term of an operand."""
        pairs = zip(taken.codes[:, lane].tolist(), taken.index[:, lane].tolist(), strict=True)
        try:
            return terms.word(tuple([read(code)[index] if code else index for code, index in pairs]))
        except TcsmtError as wrong:
            raise self.error(str(wrong)) from None


@dataclass
class EventTrace:
    """All events of a run. slots: of each output, its event and its number among the event's outputs. still:
    refuses a word that moves with the block.
    """

    slots: list[tuple[Event, int]] = field(default_factory=list)
    terms: TermGraph = field(default_factory=TermGraph)
    still: Callable[[Word], None] = lambda word: None
    _values: dict[int, Bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add(Unread(TcsmtError("what nothing has written is read")))

    @staticmethod
    def unwritten(lanes: int) -> Lanes:
        """Return the codes of what nothing has written."""
        return LANES + np.arange(lanes)

    def add(self, event: Event) -> list[int]:
        """Add an event; return the slots of its outputs."""
        first = len(self.slots)
        self.slots += [(event, output) for output in range(len(event.sizes))]
        return list(range(first, len(self.slots)))

    def words(self, event: Event, lanes: int) -> list[Word]:
        """Add an event; return its outputs as words."""
        bits = np.zeros(lanes, np.uint64)
        return [Word(bits, (slot + 1) * LANES + np.arange(lanes)) for slot in self.add(event)]

    def size(self, code: int) -> int:
        """Return how many bytes the value of a code has."""
        event, output = self.slots[code // LANES - 1]
        return event.sizes[output]

    def bytes_of(self, word: Word, size: int) -> ByteLanes:
        """Return the lowest bytes of a word, which must not move with the block."""
        self.still(word)
        places = np.arange(size)[:, None]
        bits = (word.bits[None] >> (8 * places).astype(np.uint64) & np.uint64(255)).astype(np.int64)
        if word.codes is None:
            return ByteLanes(np.zeros_like(bits), bits)
        slots, lanes = word.codes // LANES, word.codes % LANES
        event, output = self.slots[slots[0] - 1]
        if (
            slots[0]
            and (slots == slots[0]).all()
            and event.sizes[output] >= size
            and type(event) is not Gathered
        ):
            return ByteLanes(np.broadcast_to(word.codes, bits.shape), np.broadcast_to(places, bits.shape))
        codes, index = np.zeros_like(bits), np.where(word.codes != 0, 0, bits)
        for slot in np.unique(slots).tolist():
            if not slot:
                continue
            event, output = self.slots[slot - 1]
            # a value that is shorter is followed by zeros
            rows, here = slice(0, min(size, event.sizes[output])), slots == slot
            if isinstance(event, Gathered):  # what it is made of, so that its zeros are known
                codes[rows, here] = event.bytes.codes[rows, lanes[here]]
                index[rows, here] = event.bytes.index[rows, lanes[here]]
            else:
                codes[rows, here] = word.codes[here]
                index[rows, here] = places[rows]
        return ByteLanes(codes, index)

    def word_of(self, given: ByteLanes) -> Word:
        """Return bytes as a word: concrete where they are, and a value as it is where all of it is taken."""
        size, lanes = given.codes.shape
        if not given.codes.any():
            shifts = (8 * np.arange(size, dtype=np.uint64))[:, None]
            return Word(np.bitwise_or.reduce(given.index.astype(np.uint64) << shifts, axis=0))
        first = given.codes[0]
        places = np.arange(size)[:, None]
        same = first.all() and (given.codes == first).all() and (given.index == places).all()
        if same and all(self.size(code) == size for code in np.unique(first // LANES * LANES).tolist()):
            return Word(np.zeros(lanes, np.uint64), first.copy())
        whole = (given.codes != 0).any(axis=0)
        shifts = (8 * np.arange(size, dtype=np.uint64))[:, None]
        bits = np.bitwise_or.reduce(given.index.astype(np.uint64) << shifts, axis=0)
        (word,) = self.words(Gathered(given, (size,)), lanes)
        assert word.codes is not None
        return Word(np.where(whole, np.uint64(0), bits), np.where(whole, word.codes, 0))

    def follow(self, codes: Sequence[int]) -> list[Bytes]:
        """Return the values of codes. Raises :class:`.TcsmtError` for what cannot be followed."""
        wanted, rest = set[int](), [code for code in codes if code not in self._values]
        while rest:
            code = rest.pop()
            if code in wanted or code in self._values:
                continue
            wanted.add(code)
            event, output = self.slots[code // LANES - 1]
            rest += event.needs(output, code % LANES)
        for code in sorted(wanted):  # an event takes values of earlier ones alone
            event, output = self.slots[code // LANES - 1]
            self._values[code] = event.value(output, code % LANES, self._values.__getitem__, self.terms)
        return [self._values[code] for code in codes]
