"""Vectors that decide between the two models of Blackwell's FP4 units.

    python results/make/tcgen05_deciding.py --output results/comparisons

Writes tcgen05-deciding-nvfp4.json and tcgen05-deciding-mxf4.json. ``tcsmt probe UNIT --vectors FILE --emit
cuda`` makes a program of them, for ``tcgen05`` on a B200 and for ``mma.sync`` on a GeForce RTX of the 50
series alike. The vectors are those of a fixed set (:func:`.cancelling`) on which the models differ.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tcsmt.interop.hardware.vectors import Vector, as_json, from_rows
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.boundary_inputs import cancelling
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.simulate.rows import run_words

UNITS = {
    "nvfp4": "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "mxf4": "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
}
#: Vectors of a file; rows that are drawn at once.
COUNT, ROWS = 24, 1 << 16
#: Groups of four against groups of sixteen, by hand: each product of block 1 is half a unit beyond the grid.
BY_HAND = {
    **dict.fromkeys(("a0", "b0", "a1"), 2), "b1": 0xA,
    **{f"{side}{lane}": 1 for side in "ab" for lane in (16, 20, 24, 28)},
    **{f"s{side}{n}": word for side in "ab" for n, word in enumerate((0x78, 0x0F, 0, 0))},
}  # fmt: skip


def deciding(unit: str) -> list[Vector]:
    """Vectors on which the accepted and the disputed model of a unit differ."""
    row, other = row_named(unit), row_named(f"{unit}@sf-tensor")
    asked = difference("", (row.name, row.model), (other.name, other.model), Domain())
    names, rng = row.model.input_names, np.random.default_rng(20261125)
    found: dict[tuple[int, ...], None] = {}
    if unit == UNITS["nvfp4"]:
        found[tuple(BY_HAND.get(name, 0) for name in names)] = None
    while len(found) < COUNT:
        columns = cancelling(asked.formats, ROWS, rng)
        table = np.stack([columns[name].astype(np.uint64) for name in names], axis=1)
        rows = row.model.operands(list(table.T))
        words = [run_words(one.model, _arrays(rows)) for one in (row, other)]
        for place in np.flatnonzero(words[0] != words[1]):
            start = dict(zip(names, map(int, table[place]), strict=True))
            if len(found) < COUNT and evaluate([asked.goal], start)[0]:
                found[tuple(start.values())] = None
    listed = [np.array(words, np.uint64) for words in found]
    rows = row.model.operands(list(np.array(listed).T))
    return from_rows(row, ["both models of tcgen05"] * len(found), _arrays(rows))


def _arrays(rows: Operands[tuple[np.ndarray, ...], np.ndarray]) -> Operands[np.ndarray, np.ndarray]:
    """Columns as arrays of rows."""
    return rows.map(lambda part: part if isinstance(part, np.ndarray) else np.stack(part, axis=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="the folder of the files")
    folder = parser.parse_args().output
    for name, unit in UNITS.items():
        vectors = deciding(unit)
        (folder / f"tcgen05-deciding-{name}.json").write_text(as_json(row_named(unit), vectors))
        print(f"{name}: {len(vectors)} vectors")


if __name__ == "__main__":
    main()
