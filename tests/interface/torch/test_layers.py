"""Modules by name, and the passes of their products."""

from __future__ import annotations

from typing import Any

import pytest

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


def runs_of(product: Any, x: Any) -> dict[str, int]:
    with emulate("h100", "bf16") as emulation:
        product(x).square().sum().backward()
    return {run: entry.products for (_, run, _), entry in emulation.report.losses.items()}


def test_one_tensor_as_both_operands() -> None:
    """Its two gradients are told apart by their formulas, which are alike where one operand is transposed."""
    x = seeded(8, 8).requires_grad_()
    assert runs_of(lambda x: x @ x, x) == {"forward": 1, "left gradient": 1, "right gradient": 1}
    for product in (lambda x: x @ x.T, lambda x: x.T @ x):
        assert runs_of(product, x) == {"forward": 1, "left or right gradient": 2}
    square = torch.nn.Parameter(x.detach().clone())
    assert runs_of(lambda x: x @ x.T, square) == {"forward": 1, "weight gradient": 2}


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_operands_that_lie_column_by_column(turned: tuple[bool, bool]) -> None:
    """Autograd computes the gradient of such an operand transposed; each has its name and its value."""
    plain = [seeded(6, 5), seeded(5, 4, seed=1)]
    gradients = []
    for turns in ((False, False), turned):
        a, b = (
            (x.T.contiguous().T if turn else x.clone()).requires_grad_()
            for x, turn in zip(plain, turns, strict=True)
        )
        assert runs_of(lambda x, b=b: x @ b, a) == {"forward": 1, "left gradient": 1, "right gradient": 1}
        gradients.append((a.grad, b.grad))
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-5)
