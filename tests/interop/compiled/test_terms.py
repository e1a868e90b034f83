"""Terms: bytes that are one number are that number, others are refused."""

from __future__ import annotations

import pytest

from tcsmt.interop.compiled.terms import Constant, MemoryWord, NumberStep, TermGraph
from tcsmt.support.errors import TcsmtError


def test_words_are_put_together_from_their_bytes() -> None:
    terms = TermGraph()
    bytes_of = tuple(terms.memory(3, 8 + n) for n in range(4))
    word = terms.word(bytes_of)
    assert terms[word] == MemoryWord(3, 8, 4)
    assert terms.word(bytes_of[2:]) != word
    assert terms[terms.word((1, 2))] == Constant(2, 0x201)
    total = terms.add(NumberStep("add.f32", (word, word), 4))
    assert terms.word(terms.bytes_of(total)) == total
    assert terms.add(NumberStep("add.f32", (word, word), 4)) == total
    assert list(terms.reachable(total)) == [word, total]
    wide = terms.word((0, 0, *bytes_of[:2]))
    assert terms[wide] == NumberStep("widened", (terms.word(bytes_of[:2]),), 4)


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (0, 1, 2, 2), (0, 1, 2, -1)])
def test_bytes_of_several_numbers_are_refused(order: tuple[int, ...]) -> None:
    terms = TermGraph()
    word = terms.word(tuple(terms.memory(0, n) for n in range(4)))
    total = terms.bytes_of(terms.add(NumberStep("add.f32", (word, word), 4)))
    with pytest.raises(TcsmtError, match="made of bytes of several numbers"):
        terms.word(tuple(total[n] if n >= 0 else 7 for n in order))
