"""Launches of Triton kernels: what is compiled for which GPU, and what a launch says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tcsmt.interop.triton.launches import KernelLaunch, LaunchArgument
from tcsmt.support.errors import TcsmtError
from tests.support.launches import product_launch, tensor


def _launch() -> KernelLaunch:
    words = np.zeros((64, 64), np.float16)
    given = (tensor(name, "fp16", words) for name in ("A", "B", "c"))
    return product_launch("f16_sm80", *given, target="ampere", rows=16, columns=16)


def test_an_argument_knows_its_bytes() -> None:
    words = np.arange(24, dtype=np.uint16).reshape(4, 6)
    every = tensor("x", "bf16", words[::2, ::3])
    assert (every.size, every.extent) == (2, 2 * (1 + 12 + 3))
    assert every.memory().view(np.uint16).tolist() == list(range(16))
    assert [LaunchArgument("x", f"*{t}", 0, (3,), (1,)).size for t in ("fp8e4nv", "i1", "fp32", "i64")] == [
        1,
        1,
        4,
        8,
    ]
    assert LaunchArgument("x", "*fp32", 0, (0, 3), (3, 1)).extent == 0


def test_blocks_begin_with_the_first_and_the_last() -> None:
    launch = replace(_launch(), grid=(2, 3, 2))
    blocks = [*launch.blocks]
    assert blocks[:3] == [(0, 0, 0), (1, 2, 1), (1, 0, 0)]
    assert len({*blocks}) == math.prod(launch.grid) == 12


def test_elements_are_read_where_they_are_stored() -> None:
    launch = _launch()
    ((first, block),) = launch.read()
    assert (first.element, first.result, block) == (0, "c_", (0, 0, 0))
    assert first.text.units == {"U": "ampere/mma.m16n8k16.f32.f16.f16.f32"}
    found = launch.read([64 * 64 - 1, 17])
    assert [(read.element, block) for read, block in found] == [(4095, (3, 3, 0)), (17, (0, 1, 0))]
    with pytest.raises(TcsmtError, match="matmul: no block stores element 4096"):
        replace(launch, grid=(1, 1, 1)).read([4096])
