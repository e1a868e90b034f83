"""The table of bounds as Markdown, LaTeX, CSV and JSON; cells without a bound say why."""

from __future__ import annotations

import csv
import json

import pytest

from tcsmt import Domain, TcsmtError, accuracy
from tcsmt.face.api.bound_table import BoundTable

CELL = {
    "unit": "volta/mma_x", "algorithm": "f16", "k": 16, "domain": "exponents 0 to 0", "found": 7.5,
    "proved": 8.0, "reason": "", "certificate": "1234abcd",
}  # fmt: skip
OPEN = CELL | {"k": 64, "found": None, "proved": None, "reason": "a sum may overflow", "certificate": ""}
TABLE = BoundTable((CELL, OPEN), {"a key": "its process died"}, {"volta/mma_x": "0123"})


def test_forms_have_the_same_cells() -> None:
    lines = TABLE.text().splitlines()
    assert lines[2] == "| volta/mma_x | f16 | 16 | exponents 0 to 0 | 7.5 | 8 | 1234abcd |"
    assert "no bound of f16 on volta/mma_x, K = 64: a sum may overflow" in lines
    assert "missing: a key: its process died" in lines
    head, first, second = csv.reader(TABLE.text("csv").splitlines())
    assert (head[0], first[4:], second[4:]) == ("unit", ["7.5", "8", "1234abcd"], ["infinite", "", ""])
    latex = TABLE.text("latex").splitlines()
    assert r"volta/mma\_x & f16 & 16 & exponents 0 to 0 & 7.5 & 8 & 1234abcd \\" in latex
    assert latex[-1] == r"\end{tabular}" and latex[1].count("{") == latex[1].count("}")
    assert json.loads(TABLE.text("json"))["cells"] == [CELL, OPEN] and TABLE.exit_code == 3
    with pytest.raises(TcsmtError, match="markdown, latex, csv, json"):
        TABLE.text("html")


def test_what_is_missing_is_asked_for() -> None:
    with pytest.raises(TcsmtError, match="a format or an algorithm"):
        accuracy.table(["volta"])
    with pytest.raises(TcsmtError, match="k = 0"):
        accuracy.table(["volta"], formats=["f16"], k=[0])
    with pytest.raises(TcsmtError, match="no unit of volta takes bf16"):
        accuracy.table(["volta"], formats=["bf16"], domain=Domain(exponents=(0, 0)))
