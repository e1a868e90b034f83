"""How good public tests are: results/comparisons/public-tests.json, and a table in docs/howto/test-power.md.

    python results/make/public_tests.py

Their criteria and operands are facts, each with its source. Rows and columns of the result are fewer here;
K is theirs where they say it. Each is asked which wrong kernels it lets through
(``tcsmt.testing.power``).
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.interface.api.power import TestPower, power
from tcsmt.support.results import markdown

__all__ = ["TESTS", "text"]

FILE = Path(__file__).parents[1] / "comparisons" / "public-tests.json"
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "test-power.md"
_BF16, _F16 = "h100/mma.m16n8k16.f32.bf16.bf16.f32", "h100/mma.m16n8k16.f32.f16.f16.f32"
_ROWS = 48


def _given(draw: Callable[..., Any], k: int) -> dict[str, Any]:
    """Return A and B in FP16."""
    rng = np.random.default_rng(0)
    return {
        name: draw(rng, shape).astype(np.float16) for name, shape in (("a", (_ROWS, k)), ("b", (k, _ROWS)))
    }


#: Of each test: where it is, what it says, and the same as arguments.
TESTS = {
    "KernelBench": (
        "ScalingIntelligence/KernelBench, eval.py: torch.allclose, 1e-2 for BF16; torch.rand, 4096 x 4096",
        {"kernel": f"{_BF16}+out=bf16", "generator": "uniform", "shape": (_ROWS, _ROWS, 4096),
         "criterion": "rtol=0.01,atol=0.01,precision=bf16", "expected": "rounded"},
    ),
    "tt-metal": (
        "tenstorrent/tt-metal, test_matmul.py, test_tutorial_matmul_…: PCC 0.999; torch.randn, K = 1024",
        {"kernel": f"{_BF16}+out=bf16", "generator": "normal", "shape": (_ROWS, _ROWS, 1024),
         "criterion": "pcc>=0.999", "expected": "rounded"},
    ),
    "aiter": (
        "ROCm/aiter, test_common.py, checkAllclose: 1e-2, and 5 % of the elements may be outside, with a "
        "warning; torch.randn",
        {"kernel": f"{_BF16}+out=bf16", "generator": "normal", "shape": (_ROWS, _ROWS, 1024),
         "criterion": "rtol=0.01,atol=0.01,outside=0.05,precision=bf16", "expected": "rounded"},
    ),
    "onnxruntime": (
        "microsoft/onnxruntime, matmul_4bits_test.cc, FP16: absolute 0.055, relative 0.02; Gaussian numbers "
        "of deviation 0.25 (B is rounded to 4 bits there, and is not here), K = 1024",
        {"kernel": f"{_F16}+out=f16", **_given(lambda rng, shape: 0.25 * rng.standard_normal(shape), 1024),
         "criterion": "rtol=0.02,atol=0.055", "expected": "rounded"},
    ),
    "Triton": (
        "triton-lang/triton, test_matmul.py, test_simple_matmul, FP16 to FP32: assert_close with 0.01; "
        "torch.randn, K = 256",
        {"kernel": _F16, "generator": "normal", "shape": (_ROWS, _ROWS, 256),
         "criterion": "rtol=0.01,atol=0.01,precision=f32", "expected": "rounded"},
    ),
    "CUTLASS": (
        "NVIDIA/cutlass, test/unit/gemm/device/testbed.h: TensorEquals; integers from -5 to 5 for 16-bit "
        "results",
        {"kernel": f"{_F16}+split-k:2+out=f16", **_given(lambda rng, shape: rng.integers(-5, 6, shape), 120),
         "criterion": "equal", "expected": "rounded"},
    ),
}  # fmt: skip


_OPERANDS = {"onnxruntime": "normal, of deviation 0.25", "CUTLASS": "integers -5 to 5"}


def text(found: dict[str, TestPower]) -> str:
    """Return the table, and where the facts are from."""
    rows = [
        (
            name,
            f"`{power_of.criterion}`",
            _OPERANDS.get(name, power_of.operands.partition(",")[0]),
            f"{len(power_of.survivors)} of {len(power_of.survivors) + len(power_of.killed)}",
            ", ".join(one.name for one in power_of.survivors),
        )
        for name, power_of in found.items()
    ]
    head = ("test", "criterion", "operands", "wrong kernels that pass", "which")
    sources = (f"- {name}: {told}." for name, (told, _) in TESTS.items())
    return "\n".join(["", *markdown(head, rows), "", *sources, ""])


def main() -> None:
    """Write the file, and the table between the marks of the page."""
    ArgumentParser(description=__doc__).parse_args()
    found = {name: power(**how) for name, (_, how) in TESTS.items()}  # type: ignore[arg-type]
    facts = {name: {"source": TESTS[name][0], **power_of.as_json()} for name, power_of in found.items()}
    FILE.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    before, mark, rest = PAGE.read_text().partition("<!-- public tests -->\n")
    PAGE.write_text(before + mark + text(found) + "\n<!-- end -->\n" + rest.partition("<!-- end -->\n")[2])


if __name__ == "__main__":
    main()
