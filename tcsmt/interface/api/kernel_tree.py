"""In which order a matrix product adds up: ``tcsmt.kernel_tree``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tcsmt.identification.kernels.tree import SumTree
from tcsmt.identification.kernels.tree_reading import TreeRegion, read
from tcsmt.interface.api.matching import kernel_for_operands
from tcsmt.interface.api.renamed import renamed
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, format_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import callers_floats, ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted

#: Random products that every tree is held against, at least.
PRODUCTS = 1000
#: Blocks of a region that are printed.
_SHOWN = 3


@dataclass(frozen=True, repr=False)
class KernelTree(Result):
    """The order in which products are summed, and how sums are rounded; print it.

    regions: elements of D that are summed alike, each with its tree, and how many random products and
    elements the tree gives bit for bit. k: products of an element. format: of A and B. shape: of D.
    calls: how often the function was called.
    """

    regions: tuple[TreeRegion, ...]
    k: int
    format: Format
    shape: tuple[int, int]
    calls: int

    @property
    def tree(self) -> SumTree:
        """Return the tree of all elements. Raises :class:`tcsmt.TcsmtError` where they are summed
        differently.
        """
        (first, *others) = self.regions
        if others or first.tree is None:
            raise TcsmtError(f"the elements of D have {len(self.regions)} trees: see regions")
        return first.tree

    @property
    def complete(self) -> bool:
        """Return whether there is a tree for every element."""
        return all(region.tree is not None for region in self.regions)

    def _facts(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "format": self.format.name,
            "shape": list(self.shape),
            "calls": self.calls,
            "tree": self.tree.as_json() if len(self.regions) == 1 else None,
            "regions": [_region_as_json(region) for region in self.regions],
        }

    def _lines(self) -> Iterator[str]:
        m, n = self.shape
        yield f"({m} x {self.k}) · ({self.k} x {n}), {self.format.name}; {counted(self.calls, 'call')}"
        if len(self.regions) == 1:
            yield _held(self.regions[0])
            yield from self.tree.lines()
            return
        yield f"BY REGION; elements of D are summed in {len(self.regions)} ways:"
        for region in self.regions:
            yield f"{_blocks(region)}:"
            if region.tree is None:
                yield f"  none: {region.why}"
            else:
                yield from (f"  {line}" for line in (_held(region), *region.tree.lines()))

    @property
    def _title(self) -> str:
        return f"of {self.k} products"

    @property
    def exit_code(self) -> Exit:
        """0: a tree for every element; 3: for some."""
        return Exit.ANSWERED if self.complete else Exit.UNKNOWN


def _region_as_json(region: TreeRegion) -> dict[str, Any]:
    return {
        "blocks": [block.as_json() for block in region.blocks],
        "elements": region.elements,
        "products": region.products,
        "compared": region.compared,
        "tree": None if region.tree is None else region.tree.as_json(),
        "why": region.why or None,
    }


def _held(region: TreeRegion) -> str:
    compared = f"{counted(region.products, 'random product')}, {counted(region.compared, 'element')}"
    return f"held against {compared}: the tree gives every bit"


def _blocks(region: TreeRegion) -> str:
    shown = [str(block) for block in region.blocks[:_SHOWN]]
    more = len(region.blocks) - len(shown)
    if more:
        shown.append(counted(more, "more block"))
    return f"{'; '.join(shown)} ({counted(region.elements, 'element')})"


@renamed(operands="format")
@ieee_floats
def kernel_tree(
    multiply: Callable[[Any, Any], Any] | Kernel | str,
    k: int,
    *,
    format: str | None = None,  # noqa: A002
    shape: tuple[int, int] | None = None,
    products: int = PRODUCTS,
    unit: UnitLike | None = None,
    progress: ProgressCallback = no_progress,
) -> KernelTree:
    """Read the order in which a function or a kernel that multiplies matrices adds up an element's products.

    Every tree is held against random products before it is returned: it gives all bits of their results.

    Args:
        multiply: Of A (M, K) and B (K, N), arrays of the format's dtype, an array (M, N) of floating-point
            numbers; or a kernel, such as ``"h100+split-k:2"``.
        k: Products of an element of D.
        format: Format of A and B. [default: that of the kernel's unit, or f32]
        shape: Rows of A and columns of B, by which libraries choose the order. [default: K K]
        products: Random products on which every tree is tried, 1000 or more.
        unit: The unit whose fused sums have more than two parts. [default: that of the kernel, or it is
            looked for in the catalogue]
        progress: Takes what is done, of how many, and what it is.

    Raises :class:`tcsmt.TcsmtError` for results that no tree gives, with the reason, and for formats whose
    range is too small.

    >>> import numpy as np, tcsmt
    >>> halves = lambda a, b: sum_of(a[:, :8], b[:8]) + sum_of(a[:, 8:], b[8:])
    >>> sum_of = lambda a, b: np.cumsum(a[:, :, None] * b, axis=1, dtype=np.float32)[:, -1]
    >>> print(tcsmt.kernel_tree(halves, 16, shape=(4, 4)).tree)
    2 sums, added:  [f32 sums of products rounded to f32]
    - sum of p0, p1
      then one at a time: p2..p7
    - likewise from p8 on
    """
    fmt = None if format is None else format_named(format)
    if isinstance(multiply, str):
        multiply = kernel_for_operands(multiply, dict.fromkeys("ab", fmt))
    if isinstance(multiply, Kernel):
        kernel, multiply = multiply, multiply.multiply
        fmt, unit = fmt or kernel.unit.model.a_format, unit or kernel.unit
    else:
        multiply = callers_floats(multiply)
    fmt = fmt or FORMATS["f32"]
    if k < 2:
        raise TcsmtError(f"k = {k}: must be 2 or more")
    if shape is not None and min(shape) < 1:
        raise TcsmtError(f"shape {shape}: M and N must be 1 or more")
    if products < PRODUCTS:
        raise TcsmtError(f"products = {products}: must be {PRODUCTS} or more")
    if not isinstance(fmt, Format) or not fmt.signed:
        raise TcsmtError(f"format {fmt.name}: must be a signed floating-point format")
    output_shape = shape or (k, k)
    units = None if unit is None else [side_of(unit).row]
    tree = read(multiply, fmt, k, output_shape, products=products, units=units, progress=progress)
    return KernelTree(tree.regions, k, fmt, output_shape, tree.calls)
