"""``tcsmt.triton``: launches captured and emulated, the bits of a GPU in CPU tensors."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.kernel_launches import CapturedLaunch, capture, emulate
from tests.support.launches import product_launch, tensor

_FOLDER = Path(__file__).parents[2] / "data" / "triton"


def test_a_launch_is_printed_and_read() -> None:
    words = np.zeros((64, 64), np.float16)
    given = (tensor(name, "fp16", words) for name in ("a", "b", "d"))
    one = CapturedLaunch("f.py:f", product_launch("f16_sm80", *given, target="ampere", rows=16, columns=16))
    assert str(one).splitlines()[:2] == [
        "matmul[4, 4, 1](BLOCK_M=16), compiled for ampere", "  a: fp16 [64, 64], strides [64, 1]",
    ]  # fmt: skip
    assert one.as_json()["arguments"][3] == {"name": "M", "type": "i32", "value": 64}
    assert one.read(64 * 63).as_json()["element"] == 64 * 63


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    pytest.importorskip("triton", reason="the extra `triton` is not installed")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(_FOLDER))
    yield importlib.import_module("products")
    del sys.modules["products"]


@pytest.mark.slow
def test_unmodified_kernels_write_the_bits_of_the_gpu(products: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((40, 64), (64, 48)))
    c, d = np.zeros((40, 48), np.float32), np.zeros((40, 48), np.float32)
    given = [products.Tensor(x) for x in (a, b)]
    with emulate("a100"):  # edges of M and N, and an autotuned kernel
        products.tuned[products.grid](*given, products.Tensor(c), 40, 48, 64, PLUS=False)
    expected = tcsmt.gemm(a, b, unit="a100/m16n8k16.f32.f16")
    assert np.array_equal(c.view(np.uint32), expected.view(np.uint32))
    with emulate("h100", {"BLOCK_M": 64, "BLOCK_K": 32, "num_warps": 4}):
        products.tuned[products.grid](*given, products.Tensor(d), 40, 48, 64, PLUS=False)
    expected = tcsmt.gemm(a, b, unit="h100/wgmma.m64nNk16.f32.f16")
    assert np.array_equal(d.view(np.uint32), expected.view(np.uint32))


@pytest.mark.slow
def test_several_launches_take_each_others_results(products: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((2, 16, 16)).astype(np.float16) for _ in range(2))
    parts, c = np.zeros((2, 16, 16), np.float32), np.zeros((16, 16), np.float32)
    with emulate("a100"):
        for x, y, part in zip(a, b, parts, strict=True):
            given = map(products.Tensor, (x, y, part))
            products.matmul[(1, 1)](*given, 16, 16, 16, 16, 16, 16, False, num_warps=1)
        products.add_parts[(1,)](products.Tensor(parts), products.Tensor(c), 256, 2, num_warps=1)
    whole = np.concatenate([*a], axis=1), np.concatenate([*b])
    expected = tcsmt.gemm(*whole, unit="a100/m16n8k16.f32.f16", reduction="split-k:2")
    assert np.array_equal(c.view(np.uint32), expected.view(np.uint32))


@pytest.mark.slow
def test_what_is_approximate_raises(products: Any) -> None:
    values = np.ones(256, np.float32)
    with emulate("h100"), pytest.raises(tcsmt.TcsmtError, match=r"ex2\.approx"):
        products.exponentials[(1,)](products.Tensor(values), products.Tensor(values.copy()), 256)
    assert len(capture(products.split, "h100")) == 3
