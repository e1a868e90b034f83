"""Faults refuted together: one that happens is found among others, and what is not decided is named."""

from __future__ import annotations

import time

import pytest

from tcsmt.interop.c_reader.c_faults import ReadingTime, refute
from tcsmt.interop.c_reader.llvm_execution import Fault
from tcsmt.language.terms import Term, var
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import TcsmtError


def test_parts_are_told_and_named() -> None:
    told: list[tuple[int, int, str]] = []
    clock = ReadingTime("f.c", 0.2, lambda *seen: told.append(seen))
    clock.at("the first part")
    clock.at("the second part", 3, 7)
    assert 0 < clock.remaining() < 0.2
    time.sleep(0.25)
    with pytest.raises(
        TcsmtError, match=r"f.c: not read in 0.2 s; it was at: the second part \(3 of 7 done\)"
    ):
        clock.at("the third part")
    assert told == [(0, 0, "the first part"), (3, 7, "the second part")]


A, B = var("a", 8), var("b", 8)
#: Never: a + b is odd where one of them is, and a square is no 3 modulo 8.
NEVER = [
    ((A & 1) ^ (B & 1)).ne((A + B) & 1),
    *(((A + n) * (A + n) & 7).eq(3) for n in range(20)),
]


def faults(terms: list[Term]) -> list[Fault]:
    return [Fault(f"fault {number}", f"f.c:{number}", term) for number, term in enumerate(terms)]


def test_none_happens() -> None:
    told: list[tuple[int, int]] = []
    clock = ReadingTime("f.c", 60, lambda done, count, what: told.append((done, count)))
    refute(faults(NEVER), SolvingOptions(), clock)
    assert told[-1] == (len(NEVER), len(NEVER))
    refute([], SolvingOptions(), clock)


@pytest.mark.parametrize("place", [0, 7, 20])
def test_one_of_them_happens(place: int) -> None:
    terms = list(NEVER)
    terms[place] = A.eq(0x5A) & B.eq(1)
    with pytest.raises(TcsmtError, match=f"f.c:{place}: fault {place} at .*a = 0x5a"):
        refute(faults(terms), SolvingOptions(), ReadingTime("f.c", 60))


@pytest.mark.slow
def test_undecided_faults_are_refused() -> None:
    """The product of two numbers of 30 bits that is a prime of 58."""
    x, y = var("x", 64), var("y", 64)
    small = x.ult(1 << 30) & y.ult(1 << 30) & ~x.ult(2) & ~y.ult(2)
    hard = small & (x * y).eq((1 << 58) - 27)
    with pytest.raises(TcsmtError, match=r"f.c:0: fault 0: not decided whether it can happen: "):
        refute(faults([hard]), SolvingOptions(steps=100_000), ReadingTime("f.c", 60))
    with pytest.raises(TcsmtError, match=r"f.c: not read in 1 s; it was at: whether it can happen: f.c:\d+"):
        refute(faults([*NEVER, hard]), SolvingOptions(), ReadingTime("f.c", 1))
