"""The pass that computes a product, and which operands are gradients, in every way to compute gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tcsmt
from tests.support.tensors import same, seeded, torch

emulate = tcsmt.torch.emulate
#: Whose gradients are E5M2, and whose scales of weights are others.
RECIPES = ("fp8-tensor", "fp8-block")


def inputs() -> tuple[Any, Any]:
    return seeded(32, 64).requires_grad_(), seeded(64, 48, seed=1).requires_grad_()


class Product(torch.autograd.Function):
    """A product whose backward is written by hand, with an intermediate result of the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        x, w = ctx.saved_tensors
        scaled = gradient * 1.0
        return scaled @ w.T, x.clone().T @ scaled


class Again(torch.autograd.Function):
    """A product whose backward computes the forward product again, as checkpoints by hand do."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        with torch.no_grad():
            return x @ w

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        x, w = (one.detach().requires_grad_() for one in ctx.saved_tensors)
        with torch.enable_grad():
            y = x @ w
        return torch.autograd.grad(y, [x, w], gradient)


def by_grad(product: Any, x: Any, w: Any, **options: Any) -> Any:
    return torch.autograd.grad(product(x, w).square().sum(), [x, w], **options)


def by_backward(product: Any, x: Any, w: Any) -> Any:
    product(x, w).square().sum().backward()
    return x.grad, w.grad


def checkpointed(reentrant: bool) -> Any:
    from torch.utils.checkpoint import checkpoint

    return lambda x, w: by_backward(lambda x, w: checkpoint(torch.mm, x, w, use_reentrant=reentrant), x, w)


def with_frozen(x: Any, w: Any) -> Any:
    """Products that need no gradient stand between."""
    y = x @ w
    frozen = seeded(16, 64, seed=2)
    frozen @ seeded(64, 16, seed=3)
    with torch.no_grad():
        x @ w
    return torch.autograd.grad(y.square().sum(), [x, w])


def twice(x: Any, w: Any) -> Any:
    """The first gradients, of which others are computed."""
    first = by_grad(torch.mm, x, w, create_graph=True)
    sum(g.square().sum() for g in first).backward()
    return first


def hooked(x: Any, w: Any) -> Any:
    y = x @ w
    y.register_hook(lambda gradient: gradient * 1.0)
    return torch.autograd.grad(y.square().sum(), [x, w])


#: Ways to the gradients of (x @ w)²: all give the same words.
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda x, w: by_grad(torch.mm, x, w),
    "backward": lambda x, w: by_backward(torch.mm, x, w),
    "create_graph": lambda x, w: by_grad(torch.mm, x, w, create_graph=True),
    "retain_graph": lambda x, w: by_grad(torch.mm, x, w, retain_graph=True),
    "twice": twice,
    "func.grad": lambda x, w: torch.func.grad(lambda x, w: (x @ w).square().sum(), (0, 1))(
        x.detach(), w.detach()
    ),
    "func.vjp": lambda x, w: torch.func.vjp(lambda x, w: (x @ w).square().sum(), x.detach(), w.detach())[1](
        torch.ones(())
    ),
    "function": lambda x, w: by_grad(Product.apply, x, w),
    "function, create_graph": lambda x, w: by_grad(Product.apply, x, w, create_graph=True),
    "function that computes again": lambda x, w: by_grad(Again.apply, x, w),
    "checkpoint": checkpointed(False),
    "checkpoint, reentrant": checkpointed(True),
    "frozen products between": with_frozen,
    "hooks": hooked,
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_gradients_gives_the_same_words(way: str, recipe: str) -> None:
    found = []
    for name in ("grad", way):
        x, w = inputs()
        with emulate("h100", recipe, rows=0):
            found.append([one.detach() for one in WAYS[name](x, w)])
    for one, other in zip(*found, strict=True):
        assert same(one, other)


def test_gradients_are_what_the_recipe_makes_of_them() -> None:
    """By products of operands that are quantised by hand."""
    x, w = inputs()
    seed = seeded(32, 48, seed=4)
    with emulate("h100", "fp8-tensor", rows=0):
        (found,) = torch.autograd.grad(x @ w, [x], seed)
    left = tcsmt.torch.quantise(seed, "fp8-tensor", "gradient")
    right = tcsmt.torch.quantise(w.detach().T.contiguous().T, "fp8-tensor")
    assert left.values.dtype == torch.float8_e5m2
    with emulate("h100", rows=0):
        wanted = torch._scaled_mm(
            left.values,
            right.values.T,
            left.scales,
            right.scales,
            out_dtype=torch.float32,
            use_fast_accum=True,
        )
    assert same(found, wanted)


def test_a_product_of_which_it_is_not_known_is_refused() -> None:
    """Its forward product was not emulated, or a hook computes it. Others take it."""
    for recipe, refused in (("fp8-tensor", True), ("fp8-block", True), ("bf16", False)):
        x, w = inputs()
        y = x @ w
        with emulate("h100", recipe, rows=0):
            if refused:
                with pytest.raises(tcsmt.TcsmtError, match="not known which operand is a gradient"):
                    torch.autograd.grad(y.sum(), [x])
            else:
                torch.autograd.grad(y.sum(), [x])
        x, w = inputs()
        with emulate("h100", recipe, rows=0):
            y = x @ w
            y.register_hook(lambda gradient: gradient + gradient @ gradient.T @ gradient)
            if refused:
                with pytest.raises(tcsmt.TcsmtError, match="Python code computes it"):
                    torch.autograd.grad(y.sum(), [x])
            else:
                torch.autograd.grad(y.sum(), [x])


def test_passes_are_named() -> None:
    x, w = inputs()
    with emulate("h100", "fp8-tensor", rows=0) as emulation:
        by_grad(torch.mm, x, w, create_graph=True)
    assert [run for _, run, _ in emulation.report.losses] == ["forward", "right gradient", "left gradient"]
