"""The time of a PyTorch program under ``tcsmt.torch.emulate``, and that of its products alone.

    python benchmarks/emulation.py [--rounds 9] [--output results/benchmarks/emulation.json]

A transformer block, 128 wide, of 32 sequences of 16, forward and backward. "products" is the time inside of
the calls that simulate the unit, on operands that are quantised already; what remains is quantisation,
scales, the other operations of PyTorch, and, with 64 rows of each product, the measurement of errors.
Each round runs every recipe, with and without errors, and each run is compared with its own products; the
median of the rounds is printed. Times are the processor's, of all threads; and PyTorch and NumPy have one, as
other threads of theirs would wait for the simulator's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

# isort: off
import torch
from machine import machine

import tcsmt.torch
from tcsmt.programs.quantisation import product
from tests.support.tensors import Block

RECIPES = [
    ("h100", "bf16"),
    ("h100", "tf32"),
    ("h100", "fp8-tensor"),
    ("h100", "fp8-row"),
    ("mi300x", "bf16"),
    ("b200", "mxfp8"),
    ("b200", "nvfp4"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, help="JSON")
    asked = parser.parse_args()
    torch.manual_seed(0)
    net, x = Block(128, 4), torch.randn(32, 16, 128)
    spent = 0.0
    simulated = product.batched

    def timed(*args: Any, **named: Any) -> Any:
        nonlocal spent
        start = time.process_time()
        result = simulated(*args, **named)
        spent += time.process_time() - start
        return result

    product.batched = timed
    kinds = [(unit, recipe, rows) for unit, recipe in RECIPES for rows in (0, 64)]
    runs: dict[tuple[str, str, int], list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for number in range(asked.rounds + 1):
        for unit, recipe, rows in kinds:
            spent, start = 0.0, time.process_time()
            with tcsmt.torch.emulate(unit, recipe, rows=rows):
                net(x).square().mean().backward()
            if number:  # the first round compiles
                runs[unit, recipe, rows].append((time.process_time() - start, spent))
    results = []
    for (unit, recipe, rows), times in runs.items():
        whole, products = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(one / two for one, two in times)
        figures = {"ratio": ratio, "seconds": whole, "products": products}
        rounded = {name: round(value, 3) for name, value in figures.items()}
        results.append({"unit": unit, "recipe": recipe, "rows": rows, **rounded})
        seconds = f"{whole:.2f} s, products {products:.2f} s"
        print(f"{unit} {recipe}, errors of {rows:2} rows: {ratio:.2f} ({seconds})")
    if asked.output:
        about = {"machine": machine(), "rounds": asked.rounds, "runs": results}
        asked.output.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
