"""The trees by which the elements of a matrix product are summed: read, and held against random products.

Elements are summed alike if they have the same results where A has one row, and B one column, everywhere.
Trees are held against the results of random products, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.kernels.regions import MatrixBlock, blocks_of
from tcsmt.identification.kernels.tree import SumTree
from tcsmt.identification.kernels.tree_arithmetic import larger_sums, read_arithmetic, with_unit
from tcsmt.identification.kernels.tree_order import AskedElement, MatrixProduct, read_order
from tcsmt.identification.kernels.tree_results import order_data, random_words, results
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.units import units_for
from tcsmt.simulate.rows import prepare
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]
#: Products of numbers that a tree computes for each product of matrices, about; elements at once.
_PORTION, _AT_ONCE = 1 << 15, 1 << 15
#: Products, and elements of each, that choose among trees.
_FEW = 64
#: Why results of matrices that were multiplied before are refused.
CHANGES = "the function is not repeatable: two calls on the same input differ"
#: A result is rarely another one in fewer than one of so many.
_RARE = 100


@dataclass(frozen=True)
class Summed:
    """Elements of D, (M, N) of booleans, and the tree that they are summed by."""

    elements: Array
    tree: SumTree


@dataclass(frozen=True)
class TreeComparison:
    """The numbers of products and elements that were compared, and of elements that differ.

    ``first``: the number of the first product that differs, the element, the tree's word and the result's.
    """

    products: int
    elements: int
    differing: int = 0
    first: tuple[int, tuple[int, int], int, int] | None = None


def held_against(
    product: MatrixProduct,
    parts: Sequence[Summed],
    count: int,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
) -> list[TreeComparison]:
    """Each part's tree against so many random products."""
    comparisons = [TreeComparison(0, 0) for _ in parts]
    waiting: list[list[tuple[int, Array, Array, Array, Array]]] = [[] for _ in parts]
    formats = {product.fmt, product.d_format}.union(*(_formats(part.tree) for part in parts))
    for number in range(count):
        a, b, d = _random_product(product, formats, seed, number)
        d = product.words_of(d)
        for part, held in zip(parts, waiting, strict=True):
            places = _sampled(part.elements, product.k, _rng(seed, number, 1))
            rows, columns = places.T
            held.append((number, places, a[rows], b[:, columns].T, d[rows, columns]))
        if number + 1 == count or max(sum(len(batch[1]) for batch in held) for held in waiting) >= _AT_ONCE:
            for which, (part, held) in enumerate(zip(parts, waiting, strict=True)):
                comparisons[which] = _joined(
                    comparisons[which], _compared(product, part.tree, held), number + 1
                )
                held.clear()
            progress(number + 1)
    return comparisons


def _rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _formats(tree: SumTree) -> Iterator[Format]:
    assert tree.arithmetic is not None
    yield tree.arithmetic.sums
    if tree.arithmetic.products is not None:
        yield tree.arithmetic.products
    for step in tree.steps:
        for part in step:
            if isinstance(part, SumTree):
                yield from _formats(part)


def _sampled(elements: Array, k: int, rng: np.random.Generator) -> Array:
    places = np.argwhere(elements)
    most = max(_PORTION // k, 1)
    return places if len(places) <= most else places[rng.choice(len(places), most, replace=False)]


def _compared(
    product: MatrixProduct, tree: SumTree, waiting: Sequence[tuple[int, Array, Array, Array, Array]]
) -> TreeComparison:
    numbers = np.concatenate([np.full(len(batch[1]), batch[0]) for batch in waiting])
    places, a, b, d = (np.concatenate([batch[n] for batch in waiting]) for n in range(1, 5))
    words = results(tree, product.fmt, product.d_format, a, b)
    wrong = np.flatnonzero(words != d)
    if not wrong.size:
        return TreeComparison(0, len(d))
    at = wrong[0]
    place = int(places[at, 0]), int(places[at, 1])
    return TreeComparison(0, len(d), len(wrong), (int(numbers[at]), place, int(words[at]), int(d[at])))


def _joined(before: TreeComparison, more: TreeComparison, products: int) -> TreeComparison:
    return TreeComparison(
        products,
        before.elements + more.elements,
        before.differing + more.differing,
        before.first or more.first,
    )


def first_fitting(
    product: MatrixProduct, trees: Sequence[SumTree], elements: Array, seed: int
) -> SumTree | None:
    """Return the first of some trees that gives some results of a few products.

    elements: booleans of the product's shape (M, N): of which results are some looked at.
    """
    few = np.zeros(elements.shape, bool)
    few[tuple(np.random.default_rng(seed).permutation(np.argwhere(elements))[:_FEW].T)] = True
    for tree in trees:
        (held,) = held_against(product, [Summed(few, tree)], _FEW, seed)
        if not held.differing:
            return tree
    return None


def repeats(product: MatrixProduct, seed: int) -> bool:
    """Return whether the same matrices give the same results twice."""
    first, second = (product.words_of(_random_product(product, {product.fmt}, seed, 0)[2]) for _ in range(2))
    return bool((first == second).all())


def _random_product(
    product: MatrixProduct, formats: set[Format], seed: int, number: int
) -> tuple[Array, Array, Array]:
    """Words of A and B, and D."""
    a, b = random_words(product.fmt, product.k, product.shape, formats, _rng(seed, number))
    return a, b, product.of_words(a, b)


def why_not(product: MatrixProduct, part: Summed, held: TreeComparison, seed: int) -> str:
    """Return what differs, and what of it a tree cannot state."""
    assert held.first is not None
    formats = {product.fmt, product.d_format, *_formats(part.tree)}
    number, (row, column), ours, theirs = held.first
    what = (
        f"D[{row}, {column}] of random product {number + 1} is {_shown(product.d_format, theirs)}, and the "
        f"tree gives {_shown(product.d_format, ours)}; {held.differing} of "
        f"{counted(held.elements, 'element differs', 'elements differ')}"
    )
    again = product.words_of(_random_product(product, formats, seed, number)[2])
    if again[row, column] != theirs:
        return f"{what}: {CHANGES}"
    wrong = sum(_orders_wrongly(product, part, _rng(seed, n, 2)) for n in range(held.products))
    checked = counted(held.products, "product")
    if wrong * _RARE >= held.products:
        return (
            f"{what}: the order depends on data, as {wrong} of {checked} in which no rounding matters "
            "are summed in another one"
        )
    if held.differing * _RARE < held.elements:
        why = "the tree holds but for rare results, which are not these sums"
    else:
        why = "some sum or product is rounded in a way that a tree cannot state"
    return f"{what}: {why} (the order is right in {checked} in which no rounding matters)"


def _shown(fmt: AnyFormat, word: int) -> str:
    value = (
        "NaN"
        if fmt.is_nan(word)
        else "infinity"
        if fmt.is_infinite(word)
        else f"{float(fmt.value(word)):.9g}"
    )
    return f"{fmt.hex(word)} ({value})"


def _orders_wrongly(product: MatrixProduct, part: Summed, rng: np.random.Generator) -> bool:
    """Return whether a product in which no rounding matters is not what the order of a tree gives."""
    data = order_data(product.fmt, product.d_format, product.k, product.shape, rng)
    d = product.of_words(data.a, data.b)
    rows, columns = _sampled(part.elements, product.k, rng).T
    return bool((d[rows, columns].astype(float) != data.results(part.tree, rows, columns)).any())


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
        members = remaining & ((words != words[:, first : first + 1]).sum(axis=0) <= _FORGIVEN)
        classes.append(members.reshape(m, n))
        remaining &= ~members
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
