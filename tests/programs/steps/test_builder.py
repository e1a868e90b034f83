"""Steps of a program as they are written: their axes, their formats, and what they do not take."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read
from tcsmt.support.errors import TcsmtError

F16, F32 = FORMATS["f16"], FORMATS["f32"]


def test_what_stays_in_its_format_is_not_converted() -> None:
    build = Builder()
    x = build.input("x", F32)
    assert build.convert(x, F32) == x
    assert build.convert(x, F32, saturate=True) != x


def test_blocks_have_a_maximum_and_are_spread() -> None:
    """On both sides of matrices, the last block being shorter."""
    x = np.random.default_rng(1).standard_normal((3, 7)).astype(np.float32)
    for side, words in (("A", x), ("B", x.T)):
        build = Builder()
        largest = build.maximum(
            F32, build.absolute(F32, build.input(side, F32, side)), nan="ignored", every=3
        )
        assert build.axes(largest) == f"{side}/3"
        program = build.program(build.spread(largest, 7))
        shape = (3, 1) if side == "A" else (1, 3)
        found = read(program, ArrayRules(shape, no_chain, QUIET), {side: words.view(np.uint32)})
        blocks = [np.abs(x[:, at : at + 3]).max(1, keepdims=True) for at in (0, 3, 6)]
        wanted = np.repeat(np.concatenate(blocks, 1), 3, 1)[:, :7]
        assert ((found if side == "A" else found.T).view(np.float32) == wanted).all()
    with pytest.raises(TcsmtError, match="of binary32, not of f16"):
        build.power_of_two(build.input("h", F16))


def test_words_of_a_row_and_of_a_column_do_not_go_together() -> None:
    build = Builder()
    a, b = build.input("A", F32, "A"), build.input("B", F32, "B")
    with pytest.raises(TcsmtError, match="words of A and B"):
        build.add(F32, a, b)
    assert build.axes(build.add(F32, a, build.input("r", F32, "a"))) == "A"
