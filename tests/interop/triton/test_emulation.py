"""Launches emulated: all elements are the simulator's, and what depends on the order of blocks is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tcsmt
from tcsmt.interop.triton.emulation import emulate_launch
from tcsmt.interop.triton.launches import KernelLaunch, LaunchArgument
from tcsmt.support.errors import TcsmtError
from tests.support.compiled import small_kernel
from tests.support.launches import SIZE, product_launch, tensor


def test_every_block_writes_its_elements() -> None:
    a, b = np.random.default_rng(1).standard_normal((2, SIZE, SIZE)).astype(np.float16)
    d = np.full((SIZE, SIZE), np.nan, np.float16)
    given = tensor("a", "fp16", a), tensor("b", "fp16", b), tensor("d", "fp16", d)
    emulate_launch(product_launch("f16_sm80", *given, target="ampere", rows=16, columns=16))
    expected = tcsmt.gemm(a, b, unit="a100/m16n8k16.f32.f16", epilogue="out=f16")
    assert np.array_equal(d.view(np.uint16), expected.view(np.uint16))


def _small(lines: str, a: np.ndarray, d: np.ndarray, blocks: int = 1) -> KernelLaunch:
    given = tensor("A", "fp32", a), tensor("D", "fp32", d), LaunchArgument("n", "i32", 7)
    return KernelLaunch("small", "ampere", small_kernel(lines), {}, (blocks, 1, 1), given)


_COPY = "ld.global.b32 %r9, [%rd4];\nst.global.b32 [%rd5], %r9;"


def test_what_depends_on_the_order_of_blocks_is_refused() -> None:
    a, d = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    emulate_launch(_small(_COPY, a, d, blocks=2))  # both store the same
    assert np.array_equal(d, np.where(np.arange(64) < 32, a, 0))
    own = "mov.u32 %r9, %ctaid.x;\nst.global.b32 [%rd5], %r9;"
    with pytest.raises(TcsmtError, match="small: two blocks store different values to the same place of D"):
        emulate_launch(_small(own, a, d, blocks=2))
    with pytest.raises(TcsmtError, match="small: the tensors A and D overlap, and one is written to"):
        emulate_launch(_small(_COPY, a, a[16:]))


def test_nothing_outside_of_a_tensor_is_read_or_written() -> None:
    a, d = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with pytest.raises(TcsmtError, match=r"small, block \(0, 0, 0\): it stores outside of the tensor D"):
        emulate_launch(_small(_COPY, a, d[:31]))
    with pytest.raises(TcsmtError, match=r"it stores what is read outside of a tensor"):
        emulate_launch(_small(_COPY, a[:31], d))
    assert not d.any()


def test_an_empty_grid_writes_nothing() -> None:
    d = np.zeros(32, np.float32)
    emulate_launch(replace(_small(_COPY, np.ones(32, np.float32), d), grid=(0, 1, 1)))
    assert not d.any()
