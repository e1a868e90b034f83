"""The base of results."""

from __future__ import annotations

import json
from typing import Any

import tcsmt
from tcsmt.support.errors import Exit
from tcsmt.support.results import Result, json_text


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
