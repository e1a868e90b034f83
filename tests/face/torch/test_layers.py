"""Modules by name, and the passes of their products."""

from __future__ import annotations

import tcsmt
from tests.support.tensors import same, seeded, torch

emulate = tcsmt.torch.emulate


def test_names_of_modules() -> None:
    """Names as ``named_modules`` has them; of two networks, a number; products outside of modules."""
    nets = [torch.nn.Sequential(torch.nn.Linear(8, 8)) for _ in range(2)]
    x = seeded(2, 8)
    with emulate("h100", "bf16") as emulation:
        for net in (*nets, nets[0]):
            net(x)
        x @ x.T
        nets[1][0](x)
    counts = {layer: entry.products for (layer, _, _), entry in emulation.report.losses.items()}
    assert counts == {"0": 2, "0 #2": 2, "(no module)": 1}


def test_checkpoints_run_the_forward_pass_again() -> None:
    """Its products are forward ones, also inside of the backward pass; gradients keep their names.

    PyTorch stops as soon as it has what the backward pass needs: before the last product.
    """
    from torch.utils.checkpoint import checkpoint

    net, x = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(4, 4)), seeded(2, 8).requires_grad_()
    with emulate("h100", "bf16") as emulation:
        checkpoint(net, x, use_reentrant=False).sum().backward()
    counts = {(layer, run): entry.products for (layer, run, _), entry in emulation.report.losses.items()}
    gradients = {(layer, f"{name} gradient"): 1 for layer in "01" for name in ("input", "weight")}
    assert counts == {("0", "forward"): 2, ("1", "forward"): 1, **gradients}


def test_weights_are_told_from_activations() -> None:
    """By what they are: fp8-block scales weights by 128 x 128 in the forward pass and for the input."""
    layer, x = torch.nn.Linear(256, 256, bias=False), seeded(4, 256).requires_grad_()
    gradient = seeded(4, 256, seed=1)
    with emulate("h100", "fp8-block"):
        y = layer(x)
        y.backward(gradient)
    for result, a, b in ((y, x, layer.weight), (x.grad, gradient, layer.weight.T)):
        left, right = tcsmt.torch.quantise(a, "fp8-block"), tcsmt.torch.quantise(b, "fp8-block", "weight")
        assert right.scales.shape == (2, 2)
        with emulate("h100"):
            scaled = torch._scaled_mm(
                left.values, right.values.T, left.scales, right.scales.T, out_dtype=torch.float32
            )
        assert same(result, scaled)
