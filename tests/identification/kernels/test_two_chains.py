"""Where two kernels first differ on one element, held against the products of ever longer beginnings of K."""

from __future__ import annotations

import numpy as np
import pytest

import tcsmt
from tcsmt.identification.kernels.two_chains import TracedKernel, two_chains
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.kernel import kernel_named
from tcsmt.support.errors import TcsmtError

HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def both(left: str, right: str, a, b):
    kernels = (
        kernel_named(left, lambda name: resolve(name).row),
        kernel_named(right, lambda name: resolve(name).row),
    )
    return two_chains(kernels, SampledElements(a.view(np.uint16)[:1], b.view(np.uint16)[:, :1].T))


@pytest.mark.parametrize("other", ["ampere/mma.m16n8k16.f32.f16.f16.f32", "volta"])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_difference_is_that_of_the_shortest_product(other: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    a = random.standard_normal((1, 160)).astype(np.float16)
    b = random.standard_normal((160, 1)).astype(np.float16)
    found = both(HOPPER, other, a, b)
    for length in range(16, 161, 16):
        one, two = (tcsmt.gemm(a[:, :length], b[:length], unit=unit) for unit in (HOPPER, other))
        if one != two:
            assert found.first is not None
            assert found.first[0].chain.tolist() == list(range(length))
            assert found.same_instruction == (other != "volta")
            assert f"{length - 16}..{length - 1}" in found.sentence()
            assert "<- first difference" in "\n".join(found.lines())
            if other == "volta":
                assert "1 x K = 16 | 4 x K = 4" in found.sentence()
            return
    assert found.first is None


def test_sums_that_differ_only_when_parts_are_added() -> None:
    a = np.zeros((1, 64), np.float16)
    a[0, [0, 16, 32, 48]] = 1, 2**-12, 2**-12, 2**-12
    found = both(HOPPER, f"{HOPPER}+split-k:2", a, a.T)
    assert found.first is None
    assert (
        "how partial sums are added: chained | split-k:2 give 0x3f800000 (1) | 0x3f800001" in found.sentence()
    )
    assert "right: 2 partial sums: 0x3f800000 (1), 0x34000000 (2^-23)" in "\n".join(found.lines())


def test_epilogues_that_differ() -> None:
    a = np.full((1, 16), 1.25, np.float16)
    found = both(HOPPER, f"{HOPPER}+chained+alpha=2,out=f16", a, a.T)
    assert found.sentence().startswith("both sums are 0x41c80000 (1.5625·2^4); the epilogues differ")
    assert both(HOPPER, HOPPER, a, a.T).sentence() == "both kernels give 0x41c80000 (1.5625·2^4)"


def test_each_instruction_is_the_units() -> None:
    """Of two chains: what the unit gives for these words and the sum before; the end is the product's."""
    random = np.random.default_rng(3)
    a, b = (random.standard_normal((1, 40)).astype(np.float16) for _ in "ab")
    c = random.standard_normal(1).astype(np.float32)
    kernel = kernel_named(f"{HOPPER}+split-k:2,step=16", lambda name: resolve(name).row)
    found = TracedKernel.on(kernel, SampledElements(a.view(np.uint16), b.view(np.uint16), c.view(np.uint32)))
    assert [(link.chain.tolist()[0], link.count, link.from_c) for link in found.links] == [
        (0, 16, False), (0, 16, False), (32, 8, False),
    ]  # fmt: skip
    unit, sums = tcsmt.unit(HOPPER), dict.fromkeys((0, 32), 0.0)
    for link in found.links:
        x, y = (np.pad(side[0, link.indices].astype(float), (0, 16 - link.count)) for side in (a, b))
        sums[int(link.chain[0])] = unit(x, y, sums[int(link.chain[0])])
        assert np.float32(sums[int(link.chain[0])]).view(np.uint32) == link.word
    assert [part.word for part in found.parts] == [np.float32(x).view(np.uint32) for x in sums.values()]
    assert found.result.word == kernel.multiply(a, b.T, c[None]).view(np.uint32)[0, 0]


def test_units_with_block_scales_are_refused() -> None:
    row = next(row for row in tcsmt.units() if row.scales)
    kernel = kernel_named(f"{row.name}+chained", row_named)
    words = np.zeros((1, 64), np.uint8)
    with pytest.raises(TcsmtError, match="block scales"):
        TracedKernel.on(kernel, SampledElements(words, words))
