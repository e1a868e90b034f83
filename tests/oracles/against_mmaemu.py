"""Whole FP8 products of mmaemu 0.1.0, as an H100 and an RTX 4060 make them, against tcsmt, bit for bit.

    python -m tests.oracles.against_mmaemu --output results/comparisons/against-mmaemu.json

Needs the extra ``oracle`` (mmaemu, PyTorch). Fast accumulation is one chain of instructions; else each 128
products are promoted to binary32. Operands: any finite words; numbers of few binades, whose products cancel;
small integers. Exit code 1 where an element differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import reduction_named

#: Types of A and of B; both e5m2 is no product of cuBLAS.
TYPES = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"))
KINDS = ("any", "near", "integers")
SHAPES = ((64, 32, 256), (128, 64, 1024), (16, 16, 4096))
#: Of products whose K is split; the last tile of K is not a whole one in the first.
SPLIT_SHAPES = ((16, 16, 1040), (8, 16, 4096), (4, 16, 8192))

Array = np.ndarray[Any, np.dtype[Any]]
Types = tuple[str, str]


@dataclass(frozen=True)
class Gpu:
    """A profile of mmaemu, our unit of operands of two types, and the ways in which its cuBLAS splits K.

    ways: by mmaemu's name, our reduction of so many parts.
    """

    unit: str
    ways: dict[str, str]


GPUS = {
    "hopper": Gpu("hopper/wgmma.m64nNk32.f32.{}.{}", {"contiguous": "split-k:{},step=128"}),
    "ada": Gpu(
        "ada/mma.m16n8k32.f32.{}.{}.f32",
        {"serial": "sliced:{},step=64", "pairwise": "sliced:{},step=64,folded"},
    ),
}
#: Each 128 products of what is not "fast" begin a new chain, which is added from +0.
PROMOTED = "promote:128,from-zero"


@dataclass(frozen=True)
class Way:
    """How a product is made. parts: K is split into; 1: not. way: mmaemu's name of how."""

    gpu: str
    fast: bool
    parts: int = 1
    way: str = ""

    @property
    def reduction(self) -> str:
        """Ours."""
        split = [GPUS[self.gpu].ways[self.way].format(self.parts)] if self.parts > 1 else []
        return "/".join([*split, *([] if self.fast else [PROMOTED])]) or "chained"


WHOLE = [Way(gpu, fast) for gpu in GPUS for fast in (True, False)]
SPLIT = [
    Way(gpu, fast, parts, way)
    for gpu, known in GPUS.items()
    for way, fast, parts in product(known.ways, (True, False), (2, 3, 4, 5, 8, 13))
]


def words(rng: np.random.Generator, name: str, shape: tuple[int, int], kind: str) -> Array:
    """Finite words of a format."""
    fmt = FORMATS[name]
    found = [w for w in range(256) if not (fmt.is_nan(w) or fmt.is_infinite(w))]
    if kind == "near":
        found = [w for w in found if 0.25 <= abs(fmt.value(w)) < 4]
    elif kind == "integers":
        found = [w for w in found if abs(fmt.value(w)) <= 8 and fmt.value(w).denominator == 1]
    return rng.choice(np.array(found, dtype=np.uint8), shape)


def theirs(a: Array, b: Array, types: Types, way: Way) -> Array:
    """mmaemu's words of D."""
    import mmaemu
    import torch

    dtypes = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
    left = torch.from_numpy(a).view(dtypes[types[0]])
    right = torch.from_numpy(np.ascontiguousarray(b.T)).view(dtypes[types[1]]).t()
    one = torch.ones(1)
    d = mmaemu.scaled_mm(
        left, right, one, one, out_dtype=torch.float32, use_fast_accum=way.fast, profile=way.gpu,
        splitk=(way.parts, way.way) if way.parts > 1 else 1, backend="reference",
    )  # fmt: skip
    return np.asarray(d.numpy()).view(np.uint32)


def unit_of(types: Types, gpu: str) -> str:
    """Our unit."""
    return GPUS[gpu].unit.format(*types)


def ours(a: Array, b: Array, types: Types, way: Way) -> Array:
    """Our words of D."""
    model = row_named(unit_of(types, way.gpu)).model
    return np.asarray(gemm(a, b, model=model, reduction=reduction_named(way.reduction))).view(np.uint32)


def compared(
    ways: Sequence[Way],
    shapes: Sequence[tuple[int, int, int]],
    types: Sequence[Types] = TYPES,
    kinds: Sequence[str] = KINDS,
    seed: int = 1,
) -> Iterator[dict[str, Any]]:
    """A record for each product."""
    rng = np.random.default_rng(seed)
    for two, way, (m, n, k), kind in product(types, ways, shapes, kinds):
        a, b = words(rng, two[0], (m, k), kind), words(rng, two[1], (k, n), kind)
        differ = int((theirs(a, b, two, way) != ours(a, b, two, way)).sum())
        yield {
            "unit": unit_of(two, way.gpu), "fast": way.fast, "reduction": way.reduction, "shape": [m, n, k],
            "operands": kind, "elements": m * n, "differ": differ,
        }  # fmt: skip


def main() -> None:
    """Compare all, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = []
    whole = compared(WHOLE, SHAPES, seed=given.seed)
    for record in chain(whole, compared(SPLIT, SPLIT_SHAPES, TYPES[:1], KINDS[:1], given.seed + 1)):
        print(json.dumps(record), flush=True)
        found.append(record)
    units = [unit_of(types, gpu) for gpu in GPUS for types in TYPES]
    data = {
        "made by": "python -m tests.oracles.against_mmaemu", "mmaemu": "0.1.0", "seed": given.seed,
        "models": models_named(units), "products": found,
    }  # fmt: skip
    if given.output is not None:
        given.output.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(record["differ"] for record in found))


if __name__ == "__main__":
    main()
