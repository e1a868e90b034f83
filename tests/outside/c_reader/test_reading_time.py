"""The limit of a reading: it names what it was at."""

from __future__ import annotations

import time

import pytest

from tcsmt.outside.c_reader.reading_time import ReadingTime
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
