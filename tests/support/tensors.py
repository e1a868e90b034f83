"""Tensors and a small network for tests of ``tcsmt.torch``, which need PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tcsmt

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
functional = torch.nn.functional

BF16 = "h100/m16n8k16.f32.bf16"


def product(a: Any, b: Any, unit: str = BF16, **named: Any) -> Any:
    """A·B in binary32 by the unit's own call, of operands that are rounded by PyTorch."""
    narrow = (x.detach().to(torch.bfloat16).contiguous() for x in (a, b))
    return tcsmt.gemm(*narrow, unit=unit, **named)


def seeded(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def same(first: Any, second: Any) -> bool:
    return bool(torch.equal(first.detach(), second.detach())) and first.dtype == second.dtype


class Block(torch.nn.Module):  # type: ignore[name-defined]
    """A transformer's block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.into, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        parts = self.into(functional.layer_norm(x, (width,))).chunk(3, -1)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(functional.layer_norm(x, (width,)))))


def emulated_block(unit: str, recipe: str, **named: Any) -> Any:
    torch.manual_seed(1)
    net, x = Block(32, 2), seeded(2, 8, 32)
    with tcsmt.torch.emulate(unit, recipe, **named) as emulation:
        for _ in range(2):
            net(x).square().mean().backward()
    return emulation.report
