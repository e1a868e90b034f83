"""The state of the floating-point unit, which native multiply-adds rely on."""

from __future__ import annotations

import numpy as np

from tcsmt.support.errors import TcsmtError

__all__ = ["check_floats", "usual_floats"]


def usual_floats() -> bool:
    """Whether this thread's floating-point unit is in IEEE 754's default state."""
    ones, small = np.ones(2, dtype=np.float32), np.array([1e-20, -1e-20], dtype=np.float32)
    tiny = small * small
    return bool(tiny.all() and (ones + small == ones).all())


def check_floats() -> None:
    """Refuse a thread whose floating-point unit is not in IEEE 754's default state."""
    if not usual_floats():
        raise TcsmtError(
            "this thread's floating-point unit flushes subnormals or does not round to nearest "
            "(set by another library): native fused multiply-adds would not be IEEE 754's"
        )
