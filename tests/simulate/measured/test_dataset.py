"""A data set's shapes and places, and rows of hexadecimal words as arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.measured.dataset import DataSet, Formats, placed, words_of
from tcsmt.support.errors import TcsmtError

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
FORMATS = Formats.of(VOLTA)
ROW = {"a": ["0x1", "2"], "b": ["3c00", "0xFFFF"], "c": "0x80000000", "d": "7"}
SCALED = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0").model


def dataset(rows: int, k: int, path: str = "rows.json") -> DataSet:
    a, b = np.ones((rows, k), np.uint16), np.ones((rows, k), np.uint16)
    c, d = np.zeros(rows, np.uint32), np.zeros(rows, np.uint32)
    return DataSet(
        name="made", path=Path(path), gpu="", architecture="volta", interface="mma", formats=FORMATS,
        operands=Operands(a, b, c), d=d,
    )  # fmt: skip


def test_formats_in_words() -> None:
    assert str(FORMATS) == "f16, f16, f32 to f32"


def test_rows_and_lanes() -> None:
    made = dataset(3, 2)
    assert (made.rows, made.k) == (3, 2)
    for name, shape in (("a", (3,)), ("b", (3, 1)), ("c", (2,)), ("c", (3, 1))):
        wrong = replace(made.operands, **{name: np.zeros(shape, np.uint16)})
        with pytest.raises(TcsmtError, match=rf"rows\.json: {name}"):
            replace(made, operands=wrong)
    with pytest.raises(TcsmtError, match=r"rows\.json: d"):
        replace(made, d=np.zeros(4, np.uint32))
    for rows, k in ((0, 2), (2, 0)):
        with pytest.raises(TcsmtError, match="has no rows"):
            dataset(rows, k)


def test_where_a_row_stands(tmp_path: Path) -> None:
    """The line of a text file: of a table, its head and lines of a comment count."""
    assert dataset(3, 2, "x.npz").place(2) == "x.npz: row 2"
    assert dataset(3, 2, "x.txt").place(2) == "x.txt:3"
    table = tmp_path / "x.csv"
    table.write_text("a0,b0,c,d\n1,1,1,1\n\n2,2,2,2\n")
    assert dataset(2, 1, str(table)).place(0) == f"{table}:2"


def test_words_with_and_without_a_prefix() -> None:
    found = words_of(placed("rows", [ROW, ROW]), FORMATS)
    assert found["a"].tolist() == [[1, 2]] * 2 and found["b"].tolist() == [[0x3C00, 0xFFFF]] * 2
    assert found["c"].tolist() == [0x80000000] * 2 and found["d"].tolist() == [7, 7]
    assert [found[name].dtype for name in "abcd"] == [np.uint16, np.uint16, np.uint32, np.uint32]
    assert set(words_of(placed("rows", [ROW]), FORMATS, VOLTA)) == {*"abcd"}


def test_block_scales() -> None:
    formats, scales = Formats.of(SCALED), ["7f"] * SCALED.scales
    row = ROW | {"a": ["1"], "b": ["2"], "scale_a": scales, "scale_b": scales}
    found = words_of(placed("rows", [row]), formats, SCALED)
    assert found["scale_a"].tolist() == [[127] * SCALED.scales]
    with pytest.raises(TcsmtError, match=rf"rows\[0\]\.scale_b has 1 word, but the unit has {SCALED.scales}"):
        words_of(placed("rows", [row | {"scale_b": ["7f"]}]), formats, SCALED)
    with pytest.raises(TcsmtError, match=r"rows\[0\]\.scale_a is not a list of words"):
        words_of(placed("rows", [ROW | {"a": ["1"], "b": ["2"]}]), formats, SCALED)


@pytest.mark.parametrize(("rows", "said"), [
    ([], "rows is not a list of rows, or is empty"), ({}, "rows is not a list of rows"),
    ([ROW, 3], r"rows\[1\] is not an object with a, b, c and d"),
    ([{"a": [], "b": []}], r"rows\[0\] is not an object"),
    ([ROW | {"c": "0x1g"}], r"rows\[0\]\.c: '0x1g' is not a hexadecimal word"),
    ([ROW | {"c": 3}], r"rows\[0\]\.c: 3 is not a hexadecimal word"),
    ([ROW | {"c": "-1"}], r"rows\[0\]\.c: '-1' is not"),
    ([ROW, ROW | {"a": ["1", "10000"]}], r"rows\[1\]\.a\[1\]: '10000': a word of f16 has 16 bits"),
    ([ROW, ROW | {"b": ["1"]}], r"rows\[1\]\.b has 1 word, but a of the first row has 2"),
    ([ROW | {"b": "11"}], r"rows\[0\]\.b is not a list of words"),
])  # fmt: skip
def test_bad_rows(rows: Any, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        words_of(placed("rows", rows), FORMATS)


def test_other_lanes_are_zeros() -> None:
    found = dataset(3, 2).with_lanes(4)
    assert found.a.tolist() == found.b.tolist() == [[1, 1, 0, 0]] * 3
    assert found.c.tolist() == [0] * 3 and found.a.dtype == np.uint16
