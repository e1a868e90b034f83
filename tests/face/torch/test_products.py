"""Products by a recipe: operands in the formats of their roles, and units that have no instruction."""

from __future__ import annotations

from typing import Any

import pytest

import tcsmt
from tests.support.tensors import seeded, torch

emulate = tcsmt.torch.emulate


def test_gradients_are_products_of_the_unit() -> None:
    """A linear layer's three products, in FP8 with gradients in E5M2."""
    layer, x = torch.nn.Linear(64, 32), seeded(8, 64).requires_grad_()
    gradient = seeded(8, 32, seed=2)
    with emulate("h100", "fp8-tensor") as emulation:
        y = layer(x)
        y.backward(gradient)
    quantised = {
        (name, role): tcsmt.torch.quantise(tensor, "fp8-tensor", role)
        for name, tensor, role in (
            ("x", x, "activation"),
            ("w", layer.weight, "weight"),
            ("g", gradient, "gradient"),
            ("x^T", x.T, "activation"),
            ("w^T", layer.weight.T, "weight"),
            ("g^T", gradient.T, "gradient"),
        )
    }

    def own(a: Any, b: Any, unit: str, c: Any = None) -> Any:
        scale = float(quantised[a].scales * quantised[b].scales)
        total = tcsmt.gemm(quantised[a].values, quantised[b].values.T.contiguous(), unit=unit)
        wide = total.double() * scale + (0.0 if c is None else c.double())
        return wide.float()  # one rounding too many in rare cases

    fast = "h100/wgmma.m64nNk32.f32.{}.{}"
    forward = own(("x", "activation"), ("w", "weight"), fast.format("e4m3", "e4m3"), layer.bias.detach())
    of_x = own(("g", "gradient"), ("w^T", "weight"), fast.format("e5m2", "e4m3"))
    of_w = own(("g^T", "gradient"), ("x^T", "activation"), fast.format("e5m2", "e4m3"))
    for result, expected in ((y, forward), (x.grad, of_x), (layer.weight.grad, of_w)):
        assert torch.allclose(result.detach(), expected, rtol=2**-23, atol=0)
        assert (result.detach() == expected).float().mean() > 0.99
    runs = {(layer, run) for layer, run, _ in emulation.report.losses}
    assert runs == {("Linear", "forward"), ("Linear", "input gradient"), ("Linear", "weight gradient")}


def test_refusals() -> None:
    with pytest.raises(tcsmt.TcsmtError, match=r"recipe mxfp8 .*ue8m0 scales.*h100"):
        emulate("h100", "mxfp8")
    with pytest.raises(tcsmt.TcsmtError, match="unknown recipe 'bf17': did you mean bf16"):
        emulate("h100", "bf17")
    with pytest.raises(tcsmt.TcsmtError, match="is a kernel: give its unit, and reduction="):
        emulate("h100+split-k:2", "bf16")
    with (
        pytest.raises(tcsmt.TcsmtError, match="A is on meta: products are emulated on the CPU"),
        emulate("h100", "bf16"),
    ):
        torch.ones(2, 2, device="meta") @ torch.ones(2, 2, device="meta")
    emulation = emulate("h100", "bf16")
    with emulation, pytest.raises(tcsmt.TcsmtError, match="running already"):
        emulation.__enter__()
