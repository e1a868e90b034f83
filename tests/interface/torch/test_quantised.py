"""Quantisers on tensors: PyTorch's own dtypes, and dequantised values."""

from __future__ import annotations

from typing import Any

import pytest

import tcsmt
from tests.support.tensors import seeded, torch

#: Values, scales.
DTYPES = {
    "bf16": (torch.bfloat16, None),
    "tf32": (torch.float32, None),
    "fp8-row": (torch.float8_e4m3fn, torch.float32),
    "mxfp8": (torch.float8_e4m3fn, torch.float8_e8m0fnu),
    "mxfp4": (torch.float4_e2m1fn_x2, torch.float8_e8m0fnu),
    "nvfp4": (torch.float4_e2m1fn_x2, torch.float8_e4m3fn),
}


@pytest.mark.parametrize("recipe", DTYPES)
def test_dtypes_and_shapes(recipe: str) -> None:
    for x in (seeded(3, 64), seeded(64), seeded(2, 3, 64).bfloat16(), seeded(64, 3).T):
        quantised = tcsmt.torch.quantise(x, recipe)
        values, scales = DTYPES[recipe]
        assert quantised.values.dtype == values
        assert (None if quantised.scales is None else quantised.scales.dtype) == scales
        packed = values == torch.float4_e2m1fn_x2
        assert quantised.values.shape == (*x.shape[:-1], 32 if packed else 64)
        assert (quantised.whole is not None) == (recipe == "nvfp4")


def test_what_is_refused() -> None:
    def refused(match: str, *given: Any, **named: Any) -> None:
        with pytest.raises(tcsmt.TcsmtError, match=match):
            tcsmt.torch.quantise(*given, **named)

    refused("has shape", torch.ones(()), "bf16")
    refused("K = 33: two FP4 numbers share a byte", torch.ones(2, 33), "mxfp4")
    refused("float64: must be float32 or narrower", torch.ones(2, 2).double(), "bf16")
    refused("unknown role 'weights': did you mean weight", torch.ones(2, 2), "bf16", "weights")
    refused("unknown format of recipe fp8-row 'e5m2'", torch.ones(2, 2), "fp8-row", format="e5m2")
    x = torch.ones(2, 4)
    assert tcsmt.torch.quantise(x, "fp8-tensor", format="e4m3fnuz").values.dtype == torch.float8_e4m3fnuz
    assert float(tcsmt.torch.quantise(x, "fp8-tensor", format="e4m3fnuz").scales) == pytest.approx(1 / 240)
