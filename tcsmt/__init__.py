"""tcsmt: SMT-based formal models of GPU matrix units, and their bit-exact simulator."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcsmt.matmul import SEQUENTIAL, Reduction, gemm, promoted, split_k
    from tcsmt.simulator import simulate

__version__ = "0.1.0"
__all__ = ["SEQUENTIAL", "Reduction", "gemm", "promoted", "simulate", "split_k"]


def __getattr__(name: str) -> object:
    """Import what is asked for, so that the command line starts without NumPy."""
    if name not in __all__:
        raise AttributeError(f"module 'tcsmt' has no attribute {name!r}")
    home = "tcsmt.simulator" if name == "simulate" else "tcsmt.matmul"
    return getattr(import_module(home), name)
