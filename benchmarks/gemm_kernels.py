"""Whole matrix products with reductions and epilogues, beside one chain of instructions, in one run.

Processor time of one thread, the best of several turns in which every kernel has its turn; ratios are to the
chain without an epilogue.
Usage: python benchmarks/gemm_kernels.py [--unit UNIT] [--size M N K] [--turns N] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ["TCSMT_THREADS"] = "1"

import numpy as np
from machine import machine

import tcsmt

#: Reductions and epilogues.
KERNELS = (
    ("chained", ""), ("split-k:4", ""), ("split-k:4,parts=bf16", ""), ("sliced:2", ""), ("promote:128", ""),
    ("chained", "alpha=0.5,beta=2,bias,out=f16"), ("split-k:4", "alpha=0.5,beta=2,bias,out=f16"),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--unit", default="hopper/mma.m16n8k16.f32.f16.f16.f32")
    parser.add_argument("--size", nargs=3, type=int, default=(512, 512, 1024))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--output", type=Path, help="a JSON file for the table")
    options = parser.parse_args()
    rows, columns, length = options.size
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((rows, length)), rng.standard_normal((length, columns))
    a, b = a.astype(np.float16), b.astype(np.float16)
    c = rng.standard_normal((rows, columns)).astype(np.float32)
    bias = rng.standard_normal(columns).astype(np.float32)
    adds = rows * columns * length / tcsmt.unit(options.unit).k / 1e6
    best = dict.fromkeys(KERNELS, float("inf"))
    for turn in range(options.turns + 1):  # the first one compiles
        for kernel in KERNELS:
            reduction, epilogue = kernel
            start = time.process_time()
            tcsmt.gemm(
                a, b, c, unit=options.unit, reduction=reduction, epilogue=epilogue,
                bias=bias if "bias" in epilogue else None,
            )  # fmt: skip
            if turn:
                best[kernel] = min(best[kernel], time.process_time() - start)
    kernels = []
    for (reduction, epilogue), seconds in best.items():
        ratio = best[KERNELS[0]] / seconds
        rate = round(adds / seconds, 1)
        kernels.append({"reduction": reduction, "epilogue": epilogue, "rate": rate, "ratio": round(ratio, 3)})
        print(f"{seconds:6.2f} s  {rate:6.1f} M dot-adds/s  {ratio:4.2f}  {reduction}  {epilogue}")
    if options.output:
        unit = tcsmt.unit(options.unit)
        record = {
            "machine": machine(), "tcsmt": tcsmt.__version__, "models": {options.unit: unit.model.digest},
            "unit": options.unit, "size": options.size, "kernels": kernels,
        }  # fmt: skip
        options.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
