"""Events: words are taken apart and put together without loss, and are followed to their terms."""

from __future__ import annotations

import numpy as np

from tcsmt.interop.compiled.terms import MemoryWord
from tcsmt.interop.compiled.trace import ByteLanes, EventTrace, Loaded, Word, stacked


def test_bytes_of_a_word_are_the_word() -> None:
    trace, lanes = EventTrace(), 4
    first, second = trace.words(Loaded(np.zeros(lanes, np.int64), 8 * np.arange(lanes), (4, 4)), lanes)
    same = trace.word_of(trace.bytes_of(first, 4))
    assert same.codes is not None and first.codes is not None
    assert same.codes.tolist() == first.codes.tolist()
    halves = trace.word_of(stacked([_rows(trace, first, 2, 4), _rows(trace, second, 0, 2)]))
    assert halves.codes is not None
    (value,) = trace.follow([int(halves.codes[1])])
    assert trace.terms[trace.terms.word(value)] == MemoryWord(0, 8 + 2, 4)


def test_a_short_value_is_followed_by_zeros() -> None:
    trace = EventTrace()
    (byte,) = trace.words(Loaded(np.zeros(2, np.int64), np.arange(2), (1,)), 2)
    given = trace.bytes_of(byte, 4)
    assert (given.codes[0] != 0).all()
    assert not given.codes[1:].any()
    assert not given.index[1:].any()


def test_concrete_words_stay_concrete() -> None:
    trace, word = EventTrace(), Word(np.array([0x01020304, 0xFFFFFFFF], np.uint64))
    again = trace.word_of(trace.bytes_of(word, 4))
    assert again.codes is None
    assert again.bits.tolist() == word.bits.tolist()


def _rows(trace: EventTrace, word: Word, start: int, end: int) -> ByteLanes:
    given = trace.bytes_of(word, 4)
    return ByteLanes(given.codes[start:end], given.index[start:end])
