"""Processor time of `tcsmt check` beside the implementation's own, where all answers agree.

The implementation is the unit's own simulator, compiled before; its time is taken off. Each unit is checked
in a process of its own.
Usage: python benchmarks/check_rows.py [--rows N] [UNIT...]
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import time
from typing import Any

import numpy as np

import tcsmt

UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", "x86/tdpbf16ps",
)  # fmt: skip


def checked(name: str, rows: int) -> None:
    """Print the seconds."""
    gc.set_threshold(100_000, 20, 20)  # as the command does
    unit = tcsmt.unit(name)
    own = 0.0

    def implementation(a: Any, b: Any, c: Any) -> Any:
        nonlocal own
        start = time.process_time()
        found = unit(a, b, c)
        own += time.process_time() - start
        return found

    zeros = np.zeros((1 << 15, unit.k), np.float32)
    unit(zeros, zeros, zeros[:, 0])
    start = time.process_time()
    found = tcsmt.check(name, implementation, rows=rows)
    beside = time.process_time() - start - own
    assert found.agrees
    print(f"{beside:6.2f} s beside {own:.2f} s of the implementation  {found.rows} rows  {name}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("units", nargs="*", default=UNITS)
    parser.add_argument("--rows", type=int, default=10**6)
    given = parser.parse_args()
    for name in given.units:
        child = multiprocessing.Process(target=checked, args=(name, given.rows))
        child.start()
        child.join()


if __name__ == "__main__":
    main()
