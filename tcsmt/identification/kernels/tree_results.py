"""The results of a tree of sums for products: its arithmetic bit for bit, or its order alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tcsmt.compose.kernels.outside import add, converted, multiplied_and_added
from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.words import from_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import InternalError
from tcsmt.support.invariants import not_none

__all__ = ["computable", "order_results", "results"]

Array = np.ndarray[Any, np.dtype[Any]]
_DOUBLE = FORMATS["f64"]


def computable(fmt: Format, sums: Format, products: Format | None) -> bool:
    """Return whether products of a format can enter sums so: exactly, or rounded once."""
    if products is None and not (_exact_in(fmt, sums) or sums.holds(fmt)):
        return False
    return _exact_in_double(fmt) or (products or sums) == fmt == _DOUBLE


def results(tree: SumTree, fmt: Format, d_format: Format, a: Array, b: Array) -> Array:
    """Return the words of D, (elements,), of words a and b (elements, K), by a tree with its arithmetic."""
    return _of(tree, d_format, fmt, a.T, b.T)


def _of(tree: SumTree, wanted: Format, fmt: Format, a: Array, b: Array) -> Array:
    """A tree's words in the format of what they enter."""
    own = tree.arithmetic
    own = not_none(own)
    total: Array | None = None
    for step in tree.steps:
        products = [part for part in step if isinstance(part, int)]
        if own.unit is not None:
            total = _by_unit(own.unit.model, products, total, a, b)
            continue
        for part in step:
            if isinstance(part, SumTree):
                value = _of(part, own.sums, fmt, a, b)
                total = value if total is None else add(own.sums, total, value)
            else:
                total = _with_product(part, total, own, fmt, a, b)
    total = not_none(total)
    return converted(total, own.sums, wanted)


def _by_unit(model: Model, products: Sequence[int], total: Array | None, a: Array, b: Array) -> Array:
    """All in one sum, each product in its lane."""
    x, y = (np.zeros((a.shape[1], model.k), words.dtype) for words in (a, b))
    for part in products:
        x[:, part % model.k], y[:, part % model.k] = a[part], b[part]
    c = np.zeros(a.shape[1], unsigned(model.c_format)) if total is None else total
    return run_words(model, Operands(x, y, c))


def _with_product(part: int, total: Array | None, own: Arithmetic, fmt: Format, a: Array, b: Array) -> Array:
    if total is not None and own.products is None and not _exact_in(fmt, own.sums):
        x, y = (converted(words[part], fmt, own.sums) for words in (a, b))
        return multiplied_and_added(own.sums, x, y, total)
    rounded_to = own.products or own.sums
    value = converted(_product(fmt, rounded_to, a[part], b[part]), rounded_to, own.sums)
    return value if total is None else add(own.sums, total, value)


def _product(fmt: Format, rounded_to: Format, x: Array, y: Array) -> Array:
    """Return the words of products rounded once."""
    if not _exact_in_double(fmt):
        if not fmt == rounded_to == _DOUBLE:
            raise InternalError(f"products of {fmt.name} words rounded to {rounded_to.name}")
        return np.asarray((from_words(fmt, x) * from_words(fmt, y)).view(unsigned(fmt)))
    return converted((floats(fmt, x) * floats(fmt, y)).view(np.uint64), _DOUBLE, rounded_to)


def _exact_in(fmt: Format, sums: Format) -> bool:
    """Return whether every product of numbers of ordinary size is a number of the sums' format."""
    return 2 * fmt.precision <= sums.precision and sums.e_max >= 2 * fmt.e_max + 1


def _exact_in_double(fmt: Format) -> bool:
    return _exact_in(fmt, _DOUBLE)


def order_results(tree: SumTree, large: Array, small: Array) -> tuple[Array, Array]:
    """Return how many X and y a result is, of products that are so many each: integers (elements, K).

    A sum that has some X loses all y, however it is rounded.
    """
    count = np.zeros(large.shape[0], np.int64), np.zeros(large.shape[0], np.int64)
    for number, step in enumerate(tree.steps):
        parts = [count] if number else []
        for part in step:
            own = isinstance(part, SumTree)
            parts.append(order_results(part, large, small) if own else (large[:, part], small[:, part]))  # type: ignore[arg-type,index]
        swallowed = np.logical_or.reduce([x != 0 for x, _ in parts])
        kept = np.where(swallowed, 0, np.sum([y for _, y in parts], axis=0))
        count = np.sum([x for x, _ in parts], axis=0), kept
    return count
