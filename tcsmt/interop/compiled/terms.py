"""Terms of which an element is computed: constants, words of memory, arithmetic and matrix instructions.

A term is a number; equal terms have equal numbers. Bytes of terms are what moves through registers and shared
memory: a byte is a constant from 0 to 255, or a byte of a term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tcsmt.support.errors import TcsmtError

#: Each a constant below 256, or ``256 + 16 * term + place``.
Bytes: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """Bits that stand in the kernel, or were given to it."""

    size: int
    bits: int


@dataclass(frozen=True)
class MemoryByte:
    """One byte of a buffer. moves: of the offset, from block to block."""

    buffer: int
    offset: int
    moves: tuple[int, ...] = ()
    size: int = 1


@dataclass(frozen=True)
class MemoryWord:
    """Bytes of a buffer that are read as one number."""

    buffer: int
    offset: int
    size: int
    moves: tuple[int, ...] = ()


@dataclass(frozen=True)
class NumberStep:
    """Arithmetic on numbers. form: its name, formats and rounding; line: of the instruction, where ptxas may
    join it with another one, else 0.
    """

    form: str
    takes: tuple[int, ...]
    size: int
    line: int = 0


@dataclass(frozen=True)
class DotProduct:
    """One element of a matrix instruction. a, b: the terms that it multiplies, in the order of k; c: of what
    it adds.
    """

    unit: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    size: int


Term: TypeAlias = Constant | MemoryByte | MemoryWord | NumberStep | DotProduct


@dataclass
class TermGraph:
    """Terms by their numbers: what a term takes has a smaller number."""

    terms: list[Term] = field(default_factory=list)
    _numbers: dict[Term, int] = field(default_factory=dict)

    def __getitem__(self, number: int) -> Term:
        return self.terms[number]

    def add(self, term: Term) -> int:
        """Return a term's number."""
        number = self._numbers.setdefault(term, len(self.terms))
        if number == len(self.terms):
            self.terms.append(term)
        return number

    def memory(self, buffer: int, offset: int, moves: tuple[int, ...] = ()) -> int:
        """Return a byte of memory."""
        return 256 + 16 * self.add(MemoryByte(buffer, offset, moves))

    def bytes_of(self, number: int) -> Bytes:
        """Return the bytes of a term."""
        term = self[number]
        if isinstance(term, Constant):
            return tuple(term.bits.to_bytes(term.size, "little"))
        return tuple(256 + 16 * number + place for place in range(term.size))

    def word(self, given: Bytes) -> int:
        """Return the term whose bytes these are. Raises :class:`.TcsmtError` where they are of several."""
        if all(byte < 256 for byte in given):
            return self.add(Constant(len(given), int.from_bytes(bytes(given), "little")))
        terms = [self[(byte - 256) // 16] if byte > 255 else None for byte in given]
        first = terms[0]
        if isinstance(first, MemoryByte):
            wanted = [replace(first, offset=first.offset + place) for place in range(len(given))]
            if terms == wanted:
                return self.add(MemoryWord(first.buffer, first.offset, len(given), first.moves))
        elif first is not None and given == self.bytes_of((given[0] - 256) // 16):
            return (given[0] - 256) // 16
        if self.widened(given) is not None:
            return self.add(NumberStep("widened", (self.word(given[len(given) // 2 :]),), len(given)))
        raise TcsmtError("it takes a number that is made of bytes of several numbers, or of parts of one")

    def widened(self, given: Bytes) -> Bytes | None:
        """Return the upper half of bytes whose lower half is zero: a number of a format with fewer bits."""
        half = len(given) // 2
        upper = given[half:]
        return upper if half and not any(given[:half]) and all(byte > 255 for byte in upper) else None

    def takes(self, number: int) -> Iterator[int]:
        """Return the terms that a term takes."""
        match self[number]:
            case NumberStep(takes=takes):
                yield from takes
            case DotProduct(a=a, b=b, c=c):
                yield from (*a, *b, c)

    def reachable(self, root: int) -> Sequence[int]:
        """Return all that a term is made of, and the term, in the order in which they are computed."""
        found, rest = set[int](), [root]
        while rest:
            number = rest.pop()
            if number not in found:
                found.add(number)
                rest += self.takes(number)
        return sorted(found)

    def multiplied(self, root: int) -> Sequence[int]:
        """Return the buffer of what a matrix instruction multiplies from the left, and that from the right;
        without instructions, the two of which most words are read.
        """
        for number in self.reachable(root):
            if isinstance(term := self[number], DotProduct):
                left, right = ([w for n in side for w in self.words_of(n)] for side in (term.a, term.b))
                if left and right:
                    return left[0].buffer, right[0].buffer
        often = Counter(word.buffer for word in self.words_of(root))
        return sorted(buffer for buffer, _ in often.most_common(2))

    def words_of(self, root: int) -> list[MemoryWord]:
        """Return the words of memory that a term is made of."""
        return [term for n in self.reachable(root) if isinstance(term := self[n], MemoryWord)]
