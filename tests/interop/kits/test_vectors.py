"""Tiles of rows: each row is an element of D, and registers hold the matrices that the layouts say."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.kits.instructions import KitFunction, kit_function
from tcsmt.interop.kits.vectors import Tiles
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import Words, run_words
from tcsmt.surveys.units.vectors import edges
from tests.oracles import fragments
from tests.support.kits import words_of


@pytest.mark.parametrize(
    "unit",
    [
        "hopper/mma.m16n8k16.f32.f16.f16.f32",
        "hopper/mma.m16n8k64.s32.s4.u4.s32",
        "cdna3/v_mfma_f32_4x4x4_16b_f16",
        "cdna3/v_mfma_f64_16x16x4_f64",
    ],
)
def test_registers(unit: str) -> None:
    row = row_named(unit)
    function = kit_function(row)
    assert isinstance(function, KitFunction)
    tile, model = function.tile, row.model
    telling = edges(row, 3, 8).inputs
    words = Words(telling.a[:20], telling.b[:20], telling.c[:20])
    tiles = Tiles.of(function, words)
    places = fragments.places(row.architecture, row.instruction, model)
    found = []
    for number in range(len(tiles.a)):
        shapes = {"A": (tile.m, tile.k), "B": (tile.n, tile.k), "C": (tile.m, tile.n), "D": (tile.m, tile.n)}
        matrices = {
            side: words_of(
                getattr(tiles, side.lower())[number], places[side], tile.operands[side].bits,
                (tile.matrices, *shape),
            )
            for side, shape in shapes.items()
        }  # fmt: skip
        for q in range(tile.matrices):
            for i, j in np.ndindex(tile.m, tile.n):
                a, b, c = matrices["A"][q, i], matrices["B"][q, j], matrices["C"][q, i, j]
                found.append((a, b, c, matrices["D"][q, i, j]))
    columns = [np.array(part) for part in zip(*found, strict=True)]
    formats = (model.a_format, model.b_format, model.c_format)
    given = [x.astype(w.dtype) for x, w in zip(columns, (words.a, words.b, words.c), strict=False)]
    assert len(formats) == len(given)
    assert np.array_equal(run_words(model, Words(*given)).astype(np.uint64), columns[3])
    seen = {(*a.tolist(), *b.tolist(), int(c)) for a, b, c in zip(*given, strict=True)}
    for a, b, c in zip(words.a, words.b, words.c, strict=True):
        assert (*a.tolist(), *b.tolist(), int(c)) in seen
    assert tiles.text.split()[0] == str(len(tiles.a))
