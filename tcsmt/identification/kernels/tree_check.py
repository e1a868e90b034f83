"""Trees held against results: random products, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.kernels.tree import SumTree
from tcsmt.identification.kernels.tree_order import MatrixProduct
from tcsmt.identification.kernels.tree_results import order_data, random_words, results
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
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
        for part, own in zip(parts, waiting, strict=True):
            places = _sampled(part.elements, product.k, _rng(seed, number, 1))
            rows, columns = places.T
            own.append((number, places, a[rows], b[:, columns].T, d[rows, columns]))
        if number + 1 == count or max(sum(len(batch[1]) for batch in own) for own in waiting) >= _AT_ONCE:
            for which, (part, own) in enumerate(zip(parts, waiting, strict=True)):
                comparisons[which] = _joined(
                    comparisons[which], _compared(product, part.tree, own), number + 1
                )
                own.clear()
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
