"""In which order a matrix product adds up: ``tcsmt.kernel_tree``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from tcsmt import __version__
from tcsmt.arithmetic.formats import Format, format_named
from tcsmt.kernels.tree import SumTree, read
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

__all__ = ["KernelTree", "kernel_tree"]


@dataclass(frozen=True, repr=False)
class KernelTree:
    """Which products are summed before which; print it.

    tree: the sums. k: products. format: of A and B. shape: of D. calls: products of matrices that were made.
    """

    tree: SumTree
    k: int
    format: Format
    shape: tuple[int, int]
    calls: int

    def as_json(self) -> dict[str, Any]:
        """As plain data: what ``tcsmt kernel tree --json`` prints.

        A tree is a list of steps, one added to the other; a step is a list of products' numbers and of trees.
        """
        return {
            "tcsmt": __version__,
            "k": self.k,
            "format": self.format.name,
            "shape": list(self.shape),
            "calls": self.calls,
            "tree": self.tree.as_json(),
        }

    def __str__(self) -> str:
        m, n = self.shape
        asked = counted(self.calls, "call")
        return f"({m} x {self.k}) · ({self.k} x {n}), {self.format.name}; {asked}\n{self.tree}"

    def __repr__(self) -> str:
        return f"<KernelTree of {self.k} products>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def kernel_tree(
    multiply: Callable[[Any, Any], Any],
    k: int,
    *,
    operands: str = "f32",
    shape: tuple[int, int] | None = None,
) -> KernelTree:
    """Read the order in which a function that multiplies matrices adds up the products of an element.

    multiply: of A (M, K) and B (K, N), arrays of the format's dtype, an array (M, N) of real numbers. k: K.
    operands: the format of A and B. shape: M and N; None: K and K, which takes one call. Libraries choose the
    order by the shape. Raises :class:`tcsmt.TcsmtError` for results that are no sums in one order for all
    elements, and for formats whose range is too small.

    >>> import numpy as np, tcsmt
    >>> halves = lambda a, b: a[:, :8] @ b[:8] + a[:, 8:] @ b[8:]
    >>> print(tcsmt.kernel_tree(halves, 16, shape=(16, 16)).tree)  # doctest: +SKIP
    2 sums, added:
    - sum of p0, p1
      then one at a time: p2..p7
    - likewise from p8 on
    """
    if k < 2:
        raise TcsmtError(f"k = {k}: must be 2 or more")
    if shape is not None and min(shape) < 1:
        raise TcsmtError(f"shape {shape}: M and N must be 1 or more")
    fmt = format_named(operands)
    if not isinstance(fmt, Format) or not fmt.signed:
        raise TcsmtError(f"format {fmt.name}: must be a signed floating-point format")
    m, n = shape or (k, k)
    given = min(m, k), min(n, k)
    tree, calls = read(multiply, fmt, k, given)
    return KernelTree(tree, k, fmt, given, calls)
