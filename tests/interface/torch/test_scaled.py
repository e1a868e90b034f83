"""``_scaled_mm``: mmaemu's bits, those of an H100; scales of rows, of blocks, and in cuBLAS's order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tcsmt
from tests.support.tensors import same, seeded, torch

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
emulate = tcsmt.torch.emulate


def words(tensor: Any) -> Any:
    return tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.element_size()])


@pytest.mark.parametrize("types", [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3)])
def test_same_bits_as_mmaemu(types: Any) -> None:
    """Fast and slow accumulation, results in every format; finite words, a NaN, numbers that cancel."""
    mmaemu = pytest.importorskip("mmaemu", reason="the extra `oracle` is not installed")
    generator = torch.Generator().manual_seed(6)
    for kind, (m, n, k) in enumerate([(16, 32, 96), (32, 16, 272)]):
        if kind:
            a, b = (
                torch.randn(shape, generator=generator).to(t)
                for shape, t in zip(((m, k), (n, k)), types, strict=True)
            )
        else:
            a, b = (
                torch.randint(0, 256, shape, generator=generator, dtype=torch.uint8).view(t)
                for shape, t in zip(((m, k), (n, k)), types, strict=True)
            )
            for x in (a, b):
                words(x)[~torch.isfinite(x.float())] = 1
            words(a)[3, 5] = 0x7F
        scales = torch.rand((), generator=generator), torch.rand((), generator=generator) * 0.01
        for out in (torch.float32, torch.bfloat16, torch.float16, E4M3):
            for fast in (True, False):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of what mmaemu holds to be experimental
                    wanted = mmaemu.scaled_mm(a, b.T, *scales, out_dtype=out, use_fast_accum=fast, splitk=1)
                with emulate("h100", rows=0):
                    result = torch._scaled_mm(a, b.T, *scales, out_dtype=out, use_fast_accum=fast)
                assert (words(result) == words(wanted)).all(), (out, fast)


@pytest.mark.parametrize(
    ("recipe", "unit"), [("fp8-row", "h100"), ("fp8-block", "h100"), ("mxfp8", "b200"), ("nvfp4", "b200")]
)
def test_quantised_by_hand_or_by_the_recipe(recipe: str, unit: str) -> None:
    """A product of tensors that ``quantise`` made has the bits of the same recipe's product."""
    a, b = seeded(130, 256), seeded(256, 192, seed=1)
    with emulate(unit, recipe):
        wanted = a @ b
    left, right = (tcsmt.torch.quantise(x, recipe) for x in (a, b.T))
    scales = [left.scales, right.scales]
    if recipe in ("mxfp8", "nvfp4"):
        scales = [swizzled(scale) for scale in scales]
    else:
        scales[1] = scales[1].T
    with emulate(unit) as emulation:
        result = torch._scaled_mm(
            left.values, right.values.T, *scales, out_dtype=torch.float32, use_fast_accum=True
        )
    if left.whole is not None:
        result = (result.double() * (left.whole * right.whole).double()).float()
    assert same(result, wanted)
    ((_, _, operation),) = emulation.report.losses
    assert operation == "_scaled_mm"


def swizzled(scales: Any) -> Any:
    """As cuBLAS reads them, element by element from its documentation: tiles of 128 rows and 4 blocks."""
    rows, blocks = scales.shape
    across = -(-blocks // 4)
    array = np.zeros(-(-rows // 128) * across * 512, np.uint8)
    source = scales.view(torch.uint8).numpy()
    for row in range(rows):
        for block in range(blocks):
            tile = row // 128 * across + block // 4
            array[tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + block % 4] = source[row, block]
    return torch.from_numpy(array).view(scales.dtype)


def test_a_bias_and_refusals() -> None:
    a, b = torch.ones(16, 32).to(E4M3), torch.ones(32, 16).to(E4M3)
    one = torch.ones(())
    with emulate("h100"):
        biased = torch._scaled_mm(a, b, one, one, bias=torch.ones(16).bfloat16(), out_dtype=torch.bfloat16)
        assert (biased == 33).all()
        halved = torch._scaled_mm(a, b, one, one, scale_result=one / 2, out_dtype=E4M3)
        assert (halved.float() == 16).all()
        with pytest.raises(tcsmt.TcsmtError, match=r"scales have shapes \(3, 1\) and \(1, 16\)"):
            torch._scaled_mm(a, b, torch.ones(3, 1), torch.ones(1, 16))
        with pytest.raises(tcsmt.TcsmtError, match=r"scales of A have 4 elements: .* it must be 512"):
            torch._scaled_mm(a, b, *(torch.ones(4).to(torch.float8_e8m0fnu),) * 2)
    with pytest.raises(tcsmt.TcsmtError, match=r"fp8-tensor .*v100"), emulate("v100"):
        torch._scaled_mm(a, b, one, one)
