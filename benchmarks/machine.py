"""What a benchmark was measured on."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np

from tcsmt.language.run import jit

__all__ = ["machine"]


def machine() -> dict[str, str]:
    """What this was measured on."""
    about = {"python": platform.python_version(), "numpy": np.__version__, "system": platform.platform()}
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    about["processor"] = next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "")
    if jit.available():
        import llvmlite.binding as llvm

        about["LLVM target"] = llvm.get_host_cpu_name()
        about["LLVM"] = ".".join(map(str, llvm.llvm_version_info))
        vectors = ("avx512f", "avx2", "sse4.2", "neon", "sve")
        about["vectors"] = next((v for v in vectors if llvm.get_host_cpu_features().get(v)), "")
    return about
