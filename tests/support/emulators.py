"""Emulators as people write them first."""

__all__ = ["EMULATOR"]

#: The text of a module: products in binary32, added in order.
EMULATOR = """
import numpy as np

def dot(a, b, c):
    with np.errstate(all="ignore"):
        for x, y in zip(a.astype(np.float32).T, b.astype(np.float32).T):
            c = c + x * y
    return c
"""
