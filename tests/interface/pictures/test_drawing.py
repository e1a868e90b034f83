"""What a picture is made of: columns, marks where two pictures part, and the same as data."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import BitFate, Blank, Cell, Sheet, compared
from tcsmt.matrix_units.catalogue import row_named
from tests.support.drawn import VOLTA, only_grid, picture, words


def test_columns() -> None:
    """Every bit 1 has a column of its own, or lies in a gap; no more columns than asked for."""
    ampere = row_named("ampere/mma.m16n8k8.f32.bf16").model
    far = {"a0": "0x1p60", "b0": "0x1p60", "a1": "0x1p-60", "b1": "0x1p-60", "c": "0x1.8p-30"}
    for texts in ({"a0": "1", "b0": "1"}, far):
        shown = picture(ampere, **texts)
        grid = only_grid(shown)
        for most in (24, 60, 100):
            columns = Sheet((shown,)).columns(0, 0, most)
            assert len(columns) <= most
            spans = [(c.high, c.low) if isinstance(c, Blank) else (c, c) for c in columns]
            assert all(low > high for (_, low), (high, _) in pairwise(spans))
            for cell in (c for r in grid.rows for c in r.cells if c.bit):
                assert any(low <= cell.weight <= high for high, low in spans)


def sheet(**texts: str) -> Sheet:
    """A unit against another one, whose zeros enter the maximum with a larger exponent."""
    one, two = (row_named(name).model for name in (VOLTA, f"{VOLTA}@valpey"))
    left, right = (draw("model", model, words(one, **texts)) for model in (one, two))
    return compared(left, right, "largest exponent", "they first differ")


def test_bits_and_stages_that_differ_are_marked() -> None:
    """Weights whose bit only one of two rows of the same name keeps; and the stage at which values part."""
    both = sheet(a0="1.5", b0="24576", c="-0.111328125")
    data = both.as_json()
    assert data["difference"] == "they first differ"
    left, right = (picture["panels"][0] for picture in data["pictures"])
    assert [r["differs_at"] for r in left["rows"]] == [[], [-9], [-6, -7, -8, -9], [-6, -7, -8, -9]]
    for one, two in zip(left["rows"], right["rows"], strict=True):
        assert (one["label"], one["differs_at"]) == (two["label"], two["differs_at"])
    for shown in both.pictures:
        marked = [note for note in only_grid(shown).notes if note.parts]
        assert marked and all("largest exponent" in note.stages for note in marked)
    same = sheet(a0="1", b0="1").pictures[0]
    assert not any(row.marks for row in only_grid(same).rows)


def test_rows_have_exact_values() -> None:
    cells = (Cell(1, 1, BitFate.KEPT), Cell(0, 0, BitFate.KEPT), Cell(-1, 1, BitFate.CUT))
    row = replace(
        only_grid(picture(row_named(VOLTA).model, a0="1", b0="1")).rows[0], cells=cells, negative=True
    )
    assert row.value() == Fraction(-5, 2)
    assert (row.value(BitFate.KEPT), row.value(BitFate.CUT)) == (-2, Fraction(-1, 2))


def test_sheets_are_plain_data() -> None:
    shown = picture(row_named(VOLTA).model, a0="1.5", b0="2", c="1")
    one = Sheet((shown,))
    data = one.as_json()
    assert data["difference"] is None and len(data["pictures"]) == 1
    assert json.loads(json.dumps(data)) == data
    assert (one.name, Sheet((shown, shown)).name) == ("model", "model against model")
    assert Sheet((shown,), title="mine").name == "mine"
    assert len(Sheet((shown, shown)).beside(0, 0)) == 2 and Sheet((shown,)).beside(0, 5) == []
    assert Sheet((shown,)).beside(1, 0) == []
