"""The time of a PyTorch program under ``tcsmt.torch.emulate``, and that of its products alone.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/emulation.py [--rounds 5]

A transformer block, 128 wide, of 32 sequences of 16, forward and backward. "products" is the time inside of
the calls that simulate the unit, on operands that are quantised already; what remains is quantisation,
scales, the other operations of PyTorch, and, with 64 rows of each product, the measurement of errors.
Both are of one run, and the run with the least ratio is printed. With one thread for PyTorch and NumPy, as
other threads of theirs would wait for the simulator's.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
from torch.nn import functional

import tcsmt.torch
from tcsmt.compose.quantisation import product

RECIPES = [
    ("h100", "bf16"),
    ("h100", "tf32"),
    ("h100", "fp8-tensor"),
    ("h100", "fp8-row"),
    ("mi300x", "bf16"),
    ("b200", "mxfp8"),
    ("b200", "nvfp4"),
]


class Block(torch.nn.Module):
    """Attention of four heads, and two linear layers."""

    def __init__(self, width: int = 128, heads: int = 4) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    net, x = Block(), torch.randn(32, 16, 128)
    spent = 0.0
    simulated = product.batched

    def timed(*args: Any, **named: Any) -> Any:
        nonlocal spent
        start = time.perf_counter()
        result = simulated(*args, **named)
        spent += time.perf_counter() - start
        return result

    product.batched = timed
    for unit, recipe in RECIPES:
        for rows in (0, 64):
            runs = []
            for _ in range(rounds):
                spent, start = 0.0, time.perf_counter()
                with tcsmt.torch.emulate(unit, recipe, rows=rows):
                    net(x).square().mean().backward()
                whole = time.perf_counter() - start
                runs.append((whole / spent, whole, spent))
            ratio, whole, products = min(runs)
            times = f"{whole:.2f} s, products {products:.2f} s"
            print(f"{unit} {recipe}, errors of {rows:2} rows: {ratio:.2f} ({times})")


if __name__ == "__main__":
    main()
