"""What a library's matrix products give on a GPU and on its CPU, on inputs that can be made again.

    python results/make/library_gemms.py FOLDER

Needs PyTorch and a GPU. Writes FOLDER/gemms.npz (the first 48 rows and columns of each product, as words)
and FOLDER/gemms.json: for each product its shape, the seed of its inputs (NumPy's generator) and their
SHA-256. A is (M, K); B is given transposed, (N, K). ``results/gemms`` has what an H100 and the Xeon beside
it gave.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = (
    (64, 64, 64), (64, 64, 512), (128, 128, 4096), (256, 256, 1024), (16, 64, 8192), (1, 256, 4096),
    (64, 64, 16384), (512, 512, 512),
)  # fmt: skip
#: Rows and columns of a product that are kept.
SIDE = 48


def inputs(m: int, n: int, k: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A and B transposed, binary32, before they are converted to a product's format."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k), np.float32), rng.standard_normal((n, k), np.float32)


def small_integers(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The operands of products of bytes."""
    return np.clip(x * 30, -127, 127).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder

    import torch  # slow, and not needed for the help

    words: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

    def bits(x: Any) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = x.detach().cpu().contiguous().view(integers[x.element_size()]).numpy()
        return found

    def keep(name: str, a: Any, b: Any, multiply: Any, seed: int) -> None:
        (m, k), n = a.shape, b.shape[0]
        try:
            d = multiply(a, b)
        except RuntimeError as error:
            print(f"{name} {m}x{n}x{k}: {str(error).splitlines()[0]}", file=sys.stderr)
            return
        key = f"{name}-{m}x{n}x{k}"
        words[key] = bits(d)[:SIDE, :SIDE]
        sums = {side: hashlib.sha256(bits(x).tobytes()).hexdigest() for side, x in (("a", a), ("b", b))}
        cases.append({"key": key, "m": m, "n": n, "k": k, "seed": seed, **sums, "d": str(d.dtype)})

    def on_gpu(a: Any, b: Any) -> Any:
        return torch.mm(a.cuda(), b.cuda().T)

    one = torch.ones((), device="cuda")
    for seed, (m, n, k) in enumerate(SHAPES):
        x, y = inputs(m, n, k, seed)
        for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16)):
            a, b = (torch.from_numpy(side).to(dtype) for side in (x, y))
            keep(name, a, b, on_gpu, seed)
            keep(
                f"{name}-f32out", a, b,
                lambda a, b: torch.mm(a.cuda(), b.cuda().T, out_dtype=torch.float32), seed,
            )  # fmt: skip
            keep(f"{name}-cpu", a, b, lambda a, b: torch.mm(a, b.T), seed)
        a, b = torch.from_numpy(x), torch.from_numpy(y)
        for tf32 in (False, True):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            keep("tf32" if tf32 else "f32", a, b, on_gpu, seed)
        keep("f32-cpu", a, b, lambda a, b: torch.mm(a, b.T), seed)
        a, b = (torch.from_numpy(side).to(torch.float8_e4m3fn) for side in (x, y))
        for fast in (False, True):
            for dtype in (torch.bfloat16, torch.float32):
                name = f"e4m3-{'fast' if fast else 'slow'}-{str(dtype).removeprefix('torch.')}"
                keep(
                    name, a, b,
                    lambda a, b, dtype=dtype, fast=fast: torch._scaled_mm(
                        a.cuda(), b.cuda().T, one, one, out_dtype=dtype, use_fast_accum=fast
                    ),
                    seed,
                )  # fmt: skip
        a, b = (torch.from_numpy(small_integers(side)) for side in (x, y))
        keep("s8", a, b, lambda a, b: torch._int_mm(a.cuda(), b.cuda().T), seed)
        if k <= 1024:
            a, b = (torch.from_numpy(side.astype(np.float64)) for side in (x, y))
            keep("f64", a, b, on_gpu, seed)
    about = {"torch": torch.__version__, "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name(0)}
    np.savez_compressed(folder / "gemms.npz", **words)
    (folder / "gemms.json").write_text(json.dumps({**about, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
