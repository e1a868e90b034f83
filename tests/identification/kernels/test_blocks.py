"""Blocks that are together the elements that are true."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.kernels.blocks import MatrixBlock, blocks_of


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    elements = rng.random(rng.integers(1, 9, 2)) < rng.choice([0.2, 0.7, 1.0])
    covered = np.zeros(elements.shape, int)
    for block in blocks_of(elements):
        covered[block.rows.start : block.rows.stop, block.columns.start : block.columns.stop] += 1
    assert (covered == elements).all()
    assert sum(block.elements for block in blocks_of(elements)) == elements.sum()


def test_text_and_data() -> None:
    block = MatrixBlock(range(2, 5), range(7, 8))
    assert str(block) == "rows 2 to 4, column 7"
    assert block.as_json() == {"rows": [2, 4], "columns": [7, 7]}
    assert blocks_of(np.ones((3, 4), bool)) == (MatrixBlock(range(3), range(4)),)
