"""tcsmt: SMT-based formal models of GPU matrix units, and their bit-exact simulator."""

__version__ = "0.1.0"

from tcsmt.matmul import SEQUENTIAL, Reduction, gemm, promoted, split_k
from tcsmt.simulator import simulate

__all__ = ["SEQUENTIAL", "Reduction", "gemm", "promoted", "simulate", "split_k"]
