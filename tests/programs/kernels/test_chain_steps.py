"""A kernel on some elements, instruction by instruction: the unit's own answers, and the whole product's."""

from __future__ import annotations

import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.kernels.chain_steps import Elements, walk
from tcsmt.programs.kernels.kernel import kernel_named
from tcsmt.support.errors import TcsmtError

UNIT = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def matrices(length: int):
    random = np.random.default_rng(3)
    a = random.standard_normal((3, length)).astype(np.float16)
    b = random.standard_normal((length, 4)).astype(np.float16)
    c = random.standard_normal((3, 4)).astype(np.float32)
    return a, b, c


@pytest.mark.parametrize("scheme", [
    "chained", "split-k:3,step=16", "sliced:2,pairs", "promote:32/split-k:2", "split-k:2+alpha=2,beta=0.5",
    "chained+out=f16:bf16", "split-k:2,parts=bf16,from-zero",
])  # fmt: skip
def test_the_walk_ends_where_the_product_does(scheme: str) -> None:
    a, b, c = matrices(100)
    kernel = kernel_named(f"{UNIT}+{scheme}", lambda name: resolve(name).row)
    places = [(0, 0), (2, 3), (1, 2)]
    rows, columns = (np.array(side) for side in zip(*places, strict=True))
    words = Elements(
        a.view(np.uint16)[rows], b.view(np.uint16)[:, columns].T, c.view(np.uint32)[rows, columns]
    )
    found = walk(kernel, words, kernel.reduction)
    whole = kernel.multiply(a, b, c)
    assert (found.result.words == whole.view(found.result.words.dtype)[rows, columns]).all()
    last = walk(kernel, words.one(1), kernel.reduction)
    assert last.result.words == found.result.words[1]


def test_each_instruction_is_the_units() -> None:
    a, b, c = matrices(40)
    kernel = kernel_named(f"{UNIT}+split-k:2,step=16", lambda name: resolve(name).row)
    words = Elements(a.view(np.uint16)[:1], b.view(np.uint16)[:, :1].T, c.view(np.uint32)[:1, 0])
    found = walk(kernel, words, kernel.reduction)
    unit = tcsmt.unit(UNIT)
    assert [(link.chain.tolist()[0], link.count, link.from_c) for link in found.links] == [
        (0, 16, False), (0, 16, False), (32, 8, False),
    ]  # fmt: skip
    sums: dict[int, float] = {}
    for link in found.links:
        some = link.indices
        x, y = (np.pad(side[some].astype(float), (0, 16 - len(some))) for side in (a[0], b[:, 0]))
        begin = int(link.chain[0])
        sums[begin] = unit(x, y, sums.get(begin, 0.0))
        assert np.float32(sums[begin]).view(np.uint32) == link.after[0]
    assert [link.after[0] for link in found.parts] == [np.float32(x).view(np.uint32) for x in sums.values()]
    assert found.total.words[0] == (c[0, 0] + sums[0] + sums[32]).view(np.uint32)


def test_units_with_block_scales_are_refused() -> None:
    row = next(row for row in tcsmt.units() if row.scales)
    kernel = kernel_named(f"{row.name}+chained", row_named)
    with pytest.raises(TcsmtError, match="block scales"):
        walk(kernel, Elements(np.zeros((1, 64), np.uint8), np.zeros((1, 64), np.uint8)), kernel.reduction)
