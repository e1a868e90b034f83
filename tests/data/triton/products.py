"""Triton kernels, and functions that launch them on CPU tensors as their author does."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl


class Tensor:
    """What Triton asks of a tensor: enough where PyTorch is not installed."""

    def __init__(self, values: Any, dtype: str = "") -> None:
        self.values, self.shape, self.dtype = values, values.shape, dtype or str(values.dtype)

    def data_ptr(self) -> int:
        return int(self.values.ctypes.data)

    def stride(self) -> list[int]:
        return [stride // self.values.itemsize for stride in self.values.strides]


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
           PLUS: tl.constexpr):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :], mask=(n < N)[None, :])
        if PLUS:
            acc += tl.dot(a, b)
        else:
            acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


tuned = triton.autotune(
    [
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 32}, num_warps=1),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 256}, num_stages=4),
    ],
    key=["M", "N", "K"],
)(matmul)


@triton.jit
def add_parts(parts_ptr, c_ptr, SIZE: tl.constexpr, PARTS: tl.constexpr):
    at = tl.arange(0, SIZE)
    total = tl.load(parts_ptr + at)
    for part in tl.static_range(1, PARTS):
        total += tl.load(parts_ptr + part * SIZE + at)
    tl.store(c_ptr + at, total)


def grid(meta: Any) -> tuple[int, int]:
    return triton.cdiv(meta["M"], meta["BLOCK_M"]), triton.cdiv(meta["N"], meta["BLOCK_N"])


def plain(rows: int = 32) -> None:
    a, b, c = (
        Tensor(np.ones((rows, 64), np.float16)),
        Tensor(np.ones((64, 16), np.float16)),
        Tensor(np.zeros((rows, 16), np.float32)),
    )
    matmul[grid](a, b, c, rows, 16, 64, 16, 16, 32, False, num_warps=1)


def autotuned() -> None:
    a, b, c = (Tensor(np.ones((64, 64), dtype)) for dtype in (np.float16, np.float16, np.float32))
    tuned[grid](a, b, c, 64, 64, 64, PLUS=False)


def split() -> None:
    parts, c = np.zeros((2, 256), np.float32), np.zeros(256, np.float32)
    for part in parts:
        a, b = (Tensor(np.ones((16, 16), np.float16)) for _ in range(2))
        matmul[(1, 1)](a, b, Tensor(part), 16, 16, 16, 16, 16, 16, False, num_warps=1)
    add_parts[(1,)](Tensor(parts), Tensor(c), 256, 2, num_warps=1)


def broken() -> None:
    matmul[(1 // 0,)]()


@triton.jit
def exponentials(x_ptr, y_ptr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(y_ptr + at, tl.exp2(tl.load(x_ptr + at)))
