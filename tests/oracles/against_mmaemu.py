"""Whole FP8 products of mmaemu 0.1.0, with its preset of the H100, against tcsmt's `wgmma`, bit for bit.

    python -m tests.oracles.against_mmaemu --output results/against-mmaemu.json

Needs the extra ``oracle`` (mmaemu, PyTorch). Fast accumulation is one chain of instructions; else each 128
products are promoted to binary32. Operands: any finite words; numbers of few binades, whose products cancel;
small integers. Exit code 1 where an element differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.arithmetic.formats import FORMATS
from tcsmt.catalogue import row_named
from tcsmt.catalogue.digests import models_named
from tcsmt.kernels.gemm import gemm
from tcsmt.kernels.reduction import CHAINED, promoted

#: Types of A and of B; both e5m2 is no product of cuBLAS.
TYPES = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"))
KINDS = ("any", "near", "integers")
SHAPES = ((64, 32, 256), (128, 64, 1024), (16, 16, 4096))

Array = np.ndarray[Any, np.dtype[Any]]


def words(rng: np.random.Generator, name: str, shape: tuple[int, int], kind: str) -> Array:
    """Finite words of a format."""
    fmt = FORMATS[name]
    found = [w for w in range(256) if not (fmt.is_nan(w) or fmt.is_infinite(w))]
    if kind == "near":
        found = [w for w in found if 0.25 <= abs(fmt.value(w)) < 4]
    elif kind == "integers":
        found = [w for w in found if abs(fmt.value(w)) <= 8 and fmt.value(w).denominator == 1]
    return rng.choice(np.array(found, dtype=np.uint8), shape)


def theirs(a: Array, b: Array, types: tuple[str, str], fast: bool) -> Array:
    """mmaemu's words of D, without splitting K."""
    import mmaemu
    import torch

    dtypes = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
    left = torch.from_numpy(a).view(dtypes[types[0]])
    right = torch.from_numpy(np.ascontiguousarray(b.T)).view(dtypes[types[1]]).t()
    one = torch.ones(1)
    d = mmaemu.scaled_mm(
        left, right, one, one, out_dtype=torch.float32, use_fast_accum=fast, profile="hopper", splitk=1,
        backend="reference",
    )  # fmt: skip
    return np.asarray(d.numpy()).view(np.uint32)


def unit_of(types: tuple[str, str]) -> str:
    """Our unit."""
    return f"hopper/wgmma.m64nNk32.f32.{types[0]}.{types[1]}"


def ours(a: Array, b: Array, types: tuple[str, str], fast: bool) -> Array:
    """Our words of D."""
    reduction = CHAINED if fast else promoted(128)
    return np.asarray(gemm(a, b, model=row_named(unit_of(types)).model, reduction=reduction)).view(np.uint32)


def compared(shapes: tuple[tuple[int, int, int], ...], seed: int = 1) -> Iterator[dict[str, Any]]:
    """A record for each product."""
    rng = np.random.default_rng(seed)
    for types, fast, (m, n, k), kind in product(TYPES, (True, False), shapes, KINDS):
        a, b = words(rng, types[0], (m, k), kind), words(rng, types[1], (k, n), kind)
        differ = int((theirs(a, b, types, fast) != ours(a, b, types, fast)).sum())
        yield {
            "unit": unit_of(types), "accumulation": "fast" if fast else "promoted", "shape": [m, n, k],
            "operands": kind, "elements": m * n, "differ": differ,
        }  # fmt: skip


def main() -> None:
    """Compare all, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = []
    for record in compared(SHAPES, given.seed):
        print(json.dumps(record), flush=True)
        found.append(record)
    units = [unit_of(types) for types in TYPES]
    data = {
        "made by": "python -m tests.oracles.against_mmaemu", "mmaemu": "0.1.0", "seed": given.seed,
        "models": models_named(units), "products": found,
    }  # fmt: skip
    if given.output is not None:
        given.output.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(record["differ"] for record in found))


if __name__ == "__main__":
    main()
