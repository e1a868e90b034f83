"""The base of results."""

from __future__ import annotations

import doctest
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tcsmt
from tcsmt.support import results
from tcsmt.support.errors import Exit
from tcsmt.support.results import Result, columns, json_text

CELL = st.text("abc0189.", max_size=6)
ROWS = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), max_size=5))


def test_docstrings_run() -> None:
    assert doctest.testmod(results).failed == 0


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


class Sum(Result):
    @property
    def _title(self) -> str:
        return "of 1 < 2"

    def _lines(self) -> list[str]:
        return ["1 < 2", "done"]

    def _facts(self) -> dict[str, Any]:
        return {"less": True, "π": "µ"}


def test_text_data_and_html_come_from_one_result() -> None:
    result = Sum()
    assert str(result) == "1 < 2\ndone"
    assert repr(result) == "<Sum of 1 < 2>"
    assert result._repr_html_() == "<pre>1 &lt; 2\ndone</pre>"
    assert list(result.as_json().items()) == [("tcsmt", tcsmt.__version__), ("less", True), ("π", "µ")]
    assert json.loads(json_text(result.as_json())) == result.as_json()
    assert "µ" in json_text(result.as_json())
    assert result.exit_code == 0


def test_an_answer_decides_the_exit_code() -> None:
    assert [Exit.of(holds) for holds in (True, False, None)] == [0, 1, 3]
