"""tcsmt: SMT-based formal models of GPU matrix units, and their bit-exact simulator."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcsmt.api import gemm
    from tcsmt.simulator.matmul import SEQUENTIAL, Reduction, promoted, split_k
    from tcsmt.simulator.rows import simulate

__version__ = "0.1.0"
__all__ = ["SEQUENTIAL", "Reduction", "gemm", "promoted", "simulate", "split_k"]

_HOMES = {
    "gemm": "tcsmt.api",
    "simulate": "tcsmt.simulator.rows",
    **dict.fromkeys(("SEQUENTIAL", "Reduction", "promoted", "split_k"), "tcsmt.simulator.matmul"),
}


def __getattr__(name: str) -> object:
    """Import what is asked for, so that the command line starts without NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tcsmt' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
