"""Tables as text: cells are numbers, lists, true, false, texts, or nothing."""

from __future__ import annotations

import doctest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.matrix_units.catalogue import column_text
from tcsmt.matrix_units.catalogue.column_text import entries_of
from tcsmt.support.errors import TcsmtError

NUMBERS = st.integers(-(10**6), 10**6)
WORDS = st.from_regex(r"[a-z@:][a-z0-9.:@_-]{0,8}", fullmatch=True).filter(
    lambda w: w not in ("true", "false")
)
CELLS = st.one_of(st.none(), NUMBERS, st.booleans(), WORDS, st.lists(NUMBERS | WORDS, min_size=2, max_size=4))


def text_of(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


@pytest.mark.slow
@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1)))
def test_cells_are_read_as_what_they_were(cells: list[list[Any]]) -> None:
    names = [f"column{number}" for number in range(len(cells[0]))]
    text = "\n".join("   ".join(line) for line in [names, *([text_of(one) for one in row] for row in cells)])
    expected = [{name: one for name, one in zip(names, row, strict=True) if one is not None} for row in cells]
    read = list(entries_of(text))
    assert read == expected
    assert [[type(one) for one in row.values()] for row in read] == [
        [type(one) for one in row.values()] for row in expected
    ]


def test_columns_of_lists_are_lists_of_one_element_too() -> None:
    assert list(entries_of("measured lanes\none 0x10")) == [{"measured": ["one"], "lanes": [16]}]


@pytest.mark.parametrize("line", ["one", "one two three"])
def test_a_line_with_too_few_or_many_cells_is_refused(line: str) -> None:
    with pytest.raises(TcsmtError, match="cells: must be 2, one for each of a b"):
        list(entries_of(f"a b\n{line}"))


def test_examples() -> None:
    assert doctest.testmod(column_text).failed == 0
