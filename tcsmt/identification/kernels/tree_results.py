"""The results of a tree of sums, bit for bit or its order alone, and matrices to hold it against.

The matrices are random products, and products in which no rounding matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.identification.kernels.tree_order import levels
from tcsmt.matrix_units.arithmetic.boundary_words import from_fields
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.words import from_words, to_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.steps.outside import add, converted, multiplied_and_added
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import InternalError
from tcsmt.support.invariants import not_none

# --- Results -------------------------------------------------------------------------------------


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
    arithmetic = tree.arithmetic
    arithmetic = not_none(arithmetic)
    total: Array | None = None
    for step in tree.steps:
        products = [part for part in step if isinstance(part, int)]
        if arithmetic.unit is not None:
            total = _by_unit(arithmetic.unit.model, products, total, a, b)
            continue
        for part in step:
            if isinstance(part, SumTree):
                value = _of(part, arithmetic.sums, fmt, a, b)
                total = value if total is None else add(arithmetic.sums, total, value)
            else:
                total = _with_product(part, total, arithmetic, fmt, a, b)
    total = not_none(total)
    return converted(total, arithmetic.sums, wanted)


def _by_unit(model: Model, products: Sequence[int], total: Array | None, a: Array, b: Array) -> Array:
    """All in one sum, each product in its lane."""
    x, y = (np.zeros((a.shape[1], model.k), words.dtype) for words in (a, b))
    for part in products:
        x[:, part % model.k], y[:, part % model.k] = a[part], b[part]
    c = np.zeros(a.shape[1], unsigned(model.c_format)) if total is None else total
    return run_words(model, Operands(x, y, c))


def _with_product(
    part: int, total: Array | None, arithmetic: Arithmetic, fmt: Format, a: Array, b: Array
) -> Array:
    if total is not None and arithmetic.products is None and not _exact_in(fmt, arithmetic.sums):
        x, y = (converted(words[part], fmt, arithmetic.sums) for words in (a, b))
        return multiplied_and_added(arithmetic.sums, x, y, total)
    rounded_to = arithmetic.products or arithmetic.sums
    value = converted(_product(fmt, rounded_to, a[part], b[part]), rounded_to, arithmetic.sums)
    return value if total is None else add(arithmetic.sums, total, value)


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
            is_sum = isinstance(part, SumTree)
            parts.append(order_results(part, large, small) if is_sum else (large[:, part], small[:, part]))  # type: ignore[arg-type,index]
        swallowed = np.logical_or.reduce([x != 0 for x, _ in parts])
        left = np.where(swallowed, 0, np.sum([y for _, y in parts], axis=0))
        count = np.sum([x for x, _ in parts], axis=0), left
    return count


# --- Matrices ------------------------------------------------------------------------------------


#: Powers of two between the largest and the smallest operands, at most; pairs of X and -X, if 4 X is finite.
_WIDEST, _PAIRS = 48, 4
#: Bits of the significands of X and y; powers between X and y that leave room for them.
_BITS, _APART = 8, 80


def random_words(
    fmt: Format, k: int, shape: tuple[int, int], formats: Iterable[Format], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Words of A (M, K) and B (K, N): random significands and signs, exponents in a narrow or a wide range.

    In one of four, each second product nearly cancels the one before it. No sum leaves the range of the
    formats, of which those of operands, sums and results are given.
    """
    m, n = shape
    # products reach 2^(2 · most + 2); fewer bits below them than a sum in the narrowest format has powers
    most = min(
        _WIDEST // 2,
        *((narrow.e_max - k.bit_length() - 2) // 2 for narrow in formats),
        *((-narrow.e_min - narrow.precision) // 2 for narrow in formats),
    )
    spread = max(int(rng.choice([0, most // 4, most // 2, most])), 0)
    a, b = (_random(fmt, size, spread, rng) for size in ((m, k), (k, n)))
    if rng.integers(4) == 0:
        half = k // 2
        a[:, 1 : 2 * half : 2] = a[:, : 2 * half : 2] ^ a.dtype.type(1 << fmt.sign_bit)
        b[1 : 2 * half : 2] = b[: 2 * half : 2] ^ (
            rng.integers(0, 2, (half, n)).astype(b.dtype) << b.dtype.type(fmt.ignored_low_bits)
        )
    return a, b


def _random(fmt: Format, shape: tuple[int, int], spread: int, rng: np.random.Generator) -> Array:
    field = rng.integers(-spread, spread + 1, shape) + fmt.bias
    fraction = rng.integers(0, 1 << fmt.fraction_bits, shape)
    return from_fields(fmt, rng.integers(0, 2, shape), field, fraction).astype(unsigned(fmt))


@dataclass(frozen=True)
class OrderData:
    """Matrices whose products are X, -X, y or 0.

    a, b: words. by_rows: whether rows of A have X and y, and columns of B 0 and 1; else the other way round.
    large, small: how many X and y (-1, 0, 1) each of these numbers is, mask: the 0 and 1 of the other side;
    (M or N, K). big, tiny: X and y of each row or column, (M or N, 1).
    """

    a: Array
    b: Array
    by_rows: bool
    large: Array
    small: Array
    mask: Array
    big: Array
    tiny: Array

    def results(self, tree: SumTree, rows: Array, columns: Array) -> Array:
        """Return what some elements are by the order of a tree.

        rows, columns: of each element, integers of shape (elements,), as the values returned.
        """
        mine, other = (rows, columns) if self.by_rows else (columns, rows)
        mask = self.mask[other]
        large, small = order_results(tree, self.large[mine] * mask, self.small[mine] * mask)
        result: Array = large * self.big[mine, 0] + small * self.tiny[mine, 0]
        return result


def order_data(
    fmt: Format, d_format: Format, k: int, shape: tuple[int, int], rng: np.random.Generator
) -> OrderData:
    """X and y are those that orders are read with, with random significands where the formats allow it."""
    big, tiny = levels(fmt, k)
    by_rows = bool(rng.integers(2))
    count, others = shape if by_rows else shape[::-1]
    large = np.zeros((count, k), np.int64)
    most = min(_PAIRS, k // 2) if 4 * big < float(fmt.largest_finite) else 1
    for row in large:
        places = rng.permutation(k)[: 2 * int(rng.integers(1, most + 1))]
        row[places] = np.where(np.arange(len(places)) % 2 == 0, 1, -1)
    small = np.where(large == 0, rng.integers(0, 4, (count, k)) > 0, 0)
    mask = (rng.integers(0, 8, (others, k)) > 0).astype(np.int64)
    bigs, tinies = (np.full((count, 1), value) for value in (big, tiny))
    if min(fmt.precision, d_format.precision) >= _BITS + 2 * k.bit_length() and big / tiny > 2.0**_APART:
        bigs = bigs * rng.integers(1 << (_BITS - 1), 1 << _BITS, (count, 1)) / (1 << (_BITS - 1))
        tinies = tinies * rng.integers(1, 1 << _BITS, (count, 1))
    first = to_words(fmt, large * bigs + small * tinies, "A")
    other = to_words(fmt, mask.astype(float), "B")
    a, b = (first, other.T) if by_rows else (other, first.T)
    return OrderData(
        np.ascontiguousarray(a), np.ascontiguousarray(b), by_rows, large, small, mask, bigs, tinies
    )
