"""Memory of terms, held against an array of bytes."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.interop.c_reader.llvm_memory import Memory, MemoryCell, MemoryPlace, Object
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import FALSE, TRUE, Term, const, var

SIZE = 12
BIT = var("bit", 1)


def merge(bit: Term, one: MemoryCell, two: MemoryCell) -> MemoryCell:
    assert isinstance(one.value, Term)
    assert isinstance(two.value, Term)
    return MemoryCell(bit.ite(one.value, two.value), one.size, bit.ite(one.written, two.written))


def scribbled(memory: Memory, place: Object, known: list[int | None], random: Random) -> None:
    """Random words at random places, and in the list of bytes."""
    for _ in range(random.randrange(1, 6)):
        size = random.choice((1, 2, 4, 8))
        offset = random.randrange(SIZE - size + 1)
        if random.random() < 0.3:
            start = random.randrange(SIZE - size + 1)
            memory.move((place, offset), memory, (place, start), size)
            known[offset : offset + size] = known[start : start + size]
        else:
            word = random.getrandbits(8 * size)
            memory.store(place, offset, MemoryCell(const(word, 8 * size), size))
            known[offset : offset + size] = list(word.to_bytes(size, "little"))


@pytest.mark.parametrize("seed", range(40))
def test_as_bytes(seed: int) -> None:
    random, place, memory = Random(seed), Object("x", SIZE), Memory()
    known: list[int | None] = [None] * SIZE
    scribbled(memory, place, known, random)
    other, others = memory.copy(), list(known)
    scribbled(memory, place, known, random)
    scribbled(other, place, others, random)
    both = memory.merged(BIT, other, merge)
    for bit, expected in ((1, known), (0, others)):
        for offset in range(SIZE):
            cell = both.load(place, offset, 1)
            assert isinstance(cell.value, Term)
            value, written = evaluate([cell.value, cell.written], {"bit": bit})
            assert not written or value == expected[offset]
            # a word of which a part was never written counts as not written where the other way has a word
            assert written or expected[offset] is None or None in (known + others)


def test_bytes_never_written_are_known_as_such() -> None:
    place, memory = Object("x", SIZE), Memory()
    memory.store(place, 2, MemoryCell(const(0x1234, 16), 2))
    assert memory.load(place, 2, 2).written is TRUE
    assert memory.load(place, 1, 2).written is FALSE
    memory.store(place, 4, MemoryCell(MemoryPlace(place), 8))
    assert memory.load(place, 4, 8).value == MemoryPlace(place)
    with pytest.raises(ValueError, match="a part of an address"):
        memory.load(place, 4, 4)


def test_places() -> None:
    index = var("i", 64)
    place = MemoryPlace(Object("x", SIZE), 2).moved(const(-1, 64), 2).moved(index, 4)
    assert (place.offset, place.stride) == (0, 4)
    assert [offset for _, offset in place.offsets(4)] == [0, 4, 8]
    for number, (bit, _) in enumerate(place.offsets(4)):
        assert evaluate([bit], {"i": number}) == [1]
        assert evaluate([bit], {"i": number + 1}) == [0]
