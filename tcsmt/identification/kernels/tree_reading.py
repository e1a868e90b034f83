"""The trees by which the elements of a matrix product are summed: read, and held against random products.

Elements are summed alike if they have the same results where A has one row, and B one column, everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.kernels.regions import MatrixBlock, blocks_of
from tcsmt.identification.kernels.tree import SumTree
from tcsmt.identification.kernels.tree_arithmetic import larger_sums, read_arithmetic, with_unit
from tcsmt.identification.kernels.tree_check import (
    CHANGES,
    Summed,
    TreeComparison,
    first_fitting,
    held_against,
    repeats,
    why_not,
)
from tcsmt.identification.kernels.tree_order import AskedElement, MatrixProduct, read_order
from tcsmt.identification.kernels.tree_results import random_words
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.units import units_for
from tcsmt.simulate.rows import prepare
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress

Array = np.ndarray[Any, np.dtype[Any]]
#: Ways of summing at most. Products that tell them apart; in one of these any element may differ, as where
#: a result is rarely wrong: that is found later, and said.
_MOST, _TELLING, _FORGIVEN = 12, 32, 1
#: Seeds of the products that tell elements apart, that choose a tree, and that trees are held against.
_APART, _CHOOSING, _HOLDING = 0, 1, 2
#: How often matrices are multiplied again where what they give fits no tree.
_AGAIN = 8


@dataclass(frozen=True)
class TreeRegion:
    """Elements of D that are summed alike. tree: None where none gives their results; why: then the reason.

    blocks: the elements. products, compared: how many products of matrices, and elements of theirs, the tree
    gives bit for bit.
    """

    blocks: tuple[MatrixBlock, ...]
    tree: SumTree | None
    why: str = ""
    products: int = 0
    compared: int = 0

    @property
    def elements(self) -> int:
        """Return how many elements of D it has."""
        return sum(block.elements for block in self.blocks)


@dataclass(frozen=True)
class TreeReading:
    """The regions of D, the one that has the first element first, and how often the function was called."""

    regions: tuple[TreeRegion, ...]
    calls: int


def read(
    multiply: Callable[[Array, Array], Any],
    fmt: Format,
    k: int,
    shape: tuple[int, int],
    *,
    products: int,
    units: Sequence[Row] | None = None,
    progress: ProgressCallback = no_progress,
) -> TreeReading:
    """Return the trees of a matrix product.

    multiply: of A (M, K) and B (K, N), arrays of the format's dtype, an array (M, N) of floating-point
    numbers. shape: M and N. products: random products that each tree is held against. units: those that may
    make sums of more than two parts; None: those of the catalogue that take the format. Raises
    :class:`.TcsmtError` where no element has a tree.
    """
    for unit in units or ():
        prepare(unit.model)  # thousands of products follow, each of which may be small
    product = MatrixProduct(multiply, fmt, k, shape)
    if not repeats(product, _APART):
        raise TcsmtError(CHANGES)
    regions = _Reader(product, units, products, progress).regions()
    if all(region.tree is None for region in regions):
        raise TcsmtError(regions[0].why)
    return TreeReading(tuple(regions), product.calls)


def _alike(product: MatrixProduct) -> tuple[list[Array], Array]:
    """Elements that are summed alike, each (M, N) of booleans; and those that are left over."""
    m, n = product.shape
    seen: list[Array] = []
    for number in range(_TELLING):
        rng = np.random.default_rng((_APART, number))
        a, b = random_words(product.fmt, product.k, (1, 1), [product.fmt, product.d_format], rng)
        d = product.of_words(np.repeat(a, m, axis=0), np.repeat(b, n, axis=1))
        seen.append(product.words_of(d).reshape(-1))
    words = np.stack(seen)
    remaining = np.ones(m * n, bool)
    classes: list[Array] = []
    while remaining.any() and len(classes) < _MOST:
        first = int(remaining.argmax())
        own = remaining & ((words != words[:, first : first + 1]).sum(axis=0) <= _FORGIVEN)
        classes.append(own.reshape(m, n))
        remaining &= ~own
    return classes, remaining.reshape(m, n)


@dataclass(frozen=True)
class _Reader:
    product: MatrixProduct
    units: Sequence[Row] | None
    products: int
    progress: ProgressCallback

    def regions(self) -> list[TreeRegion]:
        """Return the first element's first."""
        classes, rest = _alike(self.product)
        parts: list[Summed | TreeRegion] = []
        for number, elements in enumerate(classes):
            self.progress(number, len(classes), "ways of summing read")
            try:
                parts.append(Summed(elements, self._tree(elements)))
            except TcsmtError as error:
                why = str(error) if self.product.repeats_last(_AGAIN) else CHANGES
                parts.append(TreeRegion(blocks_of(elements), None, why))
        trees = [part for part in parts if isinstance(part, Summed)]
        held = iter(self._held(trees))
        regions = [part if isinstance(part, TreeRegion) else self._judged(part, next(held)) for part in parts]
        if rest.any():
            why = f"elements are summed in more than {_MOST} ways: give a smaller shape"
            regions.append(TreeRegion(blocks_of(rest), None, why))
        return regions

    def _held(self, parts: Sequence[Summed]) -> list[TreeComparison]:
        def seen(done: int) -> None:
            self.progress(done, self.products, "random products")

        return held_against(self.product, parts, self.products, _HOLDING, seen) if parts else []

    def _judged(self, part: Summed, held: TreeComparison) -> TreeRegion:
        blocks = blocks_of(part.elements)
        if held.differing:
            return TreeRegion(blocks, None, why_not(self.product, part, held, _HOLDING))
        return TreeRegion(blocks, part.tree, "", held.products, held.elements)

    def _tree(self, elements: Array) -> SumTree:
        element = AskedElement(self.product, elements)
        order = read_order(element)
        together = max(larger_sums(order), key=len, default=None)
        if together is None:
            trees = read_arithmetic(element, order)
            return first_fitting(self.product, trees, elements, _CHOOSING) or trees[0]
        fmt = self.product.fmt
        formats = dict.fromkeys((self.product.d_format, FORMATS["f32"], FORMATS["f64"]))
        trees = [
            tree
            for unit in self.units or [pair[0] for pair in units_for(fmt, fmt)]
            for outside in formats
            if (tree := with_unit(order, unit, outside)) is not None
        ]
        fitting = first_fitting(self.product, list(dict.fromkeys(trees)), elements, _CHOOSING)
        if fitting is None:
            giving = f"{self.units[0].name} does not give" if self.units else f"no unit for {fmt.name} gives"
            raise TcsmtError(
                f"{element.name}: products {together[0]} and {together[1]} and others are read as one sum, "
                f"whose results {giving}: another arithmetic, or an order that depends on data"
            )
        return fitting
