"""Rows (dot products with accumulation) per second, beside mmasim in the same run where it is installed.

Usage: python benchmarks/simulator.py [--rows N]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tcsmt.catalogue import row_named
from tcsmt.simulator import run_words

UNITS = (
    ("volta/mma.m8n8k4.f32.f16.f16.f32", "Volta", "m8n8k4.f32.f16.f16.f32"),
    ("ampere/mma.m16n8k8.f32.f16.f16.f32", "Ampere", "m16n8k8.f32.f16.f16.f32"),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", "Hopper", "m16n8k16.f32.f16.f16.f32"),
)


def rate(run: Callable[[], object], rows: int) -> float:
    run()
    best = min(_timed(run) for _ in range(3))
    return rows / best


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    rows = parser.parse_args().rows
    try:
        import torch
        from mmasim.nv_ptx import MMA
    except ImportError:
        torch = None
        print("mmasim is not installed: no peer in this run")
    rng = np.random.default_rng(1)
    for name, arch, shape in UNITS:
        model = row_named(name).model
        a, b = (rng.standard_normal((rows, model.k)).astype(np.float16) for _ in "ab")
        c = rng.standard_normal(rows).astype(np.float32)
        words = (a.view(np.uint16), b.view(np.uint16), c.view(np.uint32))
        mine = rate(lambda w=words, m=model: run_words(m, *w), rows)  # type: ignore[misc]
        line = f"{name}: {mine / 1e6:.2f} M rows/s"
        if torch is not None:
            unit = MMA(arch, shape)
            tensors = [torch.from_numpy(x) for x in (a, b, c)]
            theirs = rate(lambda u=unit, t=tensors: u.dpa(*t), rows)  # type: ignore[misc]
            same = np.array_equal(run_words(model, *words).view(np.float32), unit.dpa(*tensors).numpy())
            line += f"; mmasim {theirs / 1e6:.2f} M rows/s; ratio {mine / theirs:.1f}; same bits: {same}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
