"""Tables as lines of text."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from tcsmt.support import tables
from tcsmt.support.tables import columns

CELL = st.text("abc0189.", max_size=6)
ROWS = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), max_size=5))


def test_docstrings_run() -> None:
    assert doctest.testmod(tables).failed == 0


@given(rows=ROWS, right=st.booleans(), gap=st.sampled_from([" ", "  ", " | "]))
def test_every_cell_stands_at_the_side_of_its_column(rows: list[list[str]], right: bool, gap: str) -> None:
    lines = columns(rows, "<>"[right], gap=gap)
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        at = 0
        for number, cell in enumerate(row):
            width = max(len(other[number]) for other in rows)
            place = line[at : at + width].ljust(width)
            assert place == (cell.rjust(width) if right else cell.ljust(width))
            at += width + len(gap)


@given(texts=st.lists(st.lists(CELL.filter(bool), max_size=12), min_size=1, max_size=3))
def test_wrapped_cells_fit_and_keep_their_words(texts: list[list[str]]) -> None:
    lines = columns([["head", *map(" ".join, texts)]], within=4 + 9 * len(texts))
    assert all(len(line) <= 4 + 9 * len(texts) for line in lines)
    first = lines[0].startswith("head")
    assert first
    assert sorted(" ".join(lines).split()) == sorted(["head", *(word for words in texts for word in words)])


def test_rows_may_lack_their_last_cells() -> None:
    assert columns([["a"], ["b", "1"]], "<>", least=2) == ["a", "b    1"]
