"""Arrays of other libraries: PyTorch tensors of every format, and what only speaks DLPack."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt


def test_tensors() -> None:
    """PyTorch's tensors of every format come in, and a result of theirs comes back."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    cases = [
        ("volta", torch.float16, np.float16),
        ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", torch.bfloat16, ml_dtypes.bfloat16),
        ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn),
        ("hopper/wgmma.m64nNk32.f32.e5m2.e5m2", torch.float8_e5m2, ml_dtypes.float8_e5m2),
    ]
    for name, theirs, ours in cases:
        unit = tcsmt.unit(name)
        a = rng.standard_normal((7, unit.k)).astype(np.float32)
        tensor = torch.from_numpy(a).to(theirs)
        own = tensor.to(torch.float32).numpy().astype(ours)
        found = unit(tensor, tensor, torch.ones(7))
        assert isinstance(found, torch.Tensor)
        assert np.array_equal(found.numpy(), unit(own, own, np.float32(1)))
        assert type(unit(own, own)) is np.ndarray
    half = tcsmt.unit("volta/mma.m8n8k4.f16.f16.f16.f16")
    ones = torch.ones(3, 4, dtype=torch.float16, requires_grad=True)
    assert half(ones, ones).dtype == torch.float16
    product = tcsmt.gemm(ones, ones.T, unit="volta")
    assert isinstance(product, torch.Tensor) and product.tolist() == [[4.0] * 3] * 3


class OnlyDlpack:
    """What an array of another library offers at the least."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnTheDevice(OnlyDlpack):
    """An array that NumPy cannot reach."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("device memory")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_dlpack() -> None:
    """Objects that only speak DLPack; those on a device are refused by name."""
    a, c = np.ones((3, 4), np.float16), np.zeros(3, np.float32)
    volta = tcsmt.unit("volta")
    assert volta(OnlyDlpack(a), OnlyDlpack(a), OnlyDlpack(c)).tolist() == [4.0] * 3
    with pytest.raises(tcsmt.TcsmtError, match=r"b cannot be read as an array: .*device memory"):
        volta(a, OnTheDevice(a), c)
