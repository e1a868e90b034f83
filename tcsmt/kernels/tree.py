"""The order in which a matrix product adds up, read through its results alone.

One product of K × K × K asks about every pair of products at once: element (i, j) of D has X as product i and
-X as product j; the others are a small y. Whatever meets X or -X before they meet each other is swallowed, so
that the result counts the products outside of the smallest sum that has both (FPRev; Xie et al. 2025). The
tree that is made of these sizes must give all of them back: else the elements are not summed up alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.words import from_words, unsigned
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

__all__ = ["SumTree", "products_for", "read", "sizes_of"]

Array = np.ndarray[Any, np.dtype[Any]]
#: X / y swallows sums of K numbers y in arithmetic of 53 bits; where the format does not reach as far, of 24.
_WIDE, _NARROW = 53, 24


@dataclass(frozen=True)
class SumTree:
    """Sums one after the other: the first step's parts in one, then the total with those of each next step.

    A part is the number of a product, or a sum that was made before.
    """

    steps: tuple[tuple[int | SumTree, ...], ...]

    @property
    def leaves(self) -> list[int]:
        """The products, in the order of the steps."""
        found: list[int] = []
        for step in self.steps:
            for part in step:
                found += part.leaves if isinstance(part, SumTree) else [part]
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The tree for people, the last sum at the top: a line for a run of like steps."""
        last = self._last_sums()
        if last:
            sums = [SumTree(self.steps[: -len(last)]), *last]
            how = "added" if len(sums) == 2 else "added one after the other"
            return [f"{len(sums)} sums, {how}:", *_listed(sums)]
        first, *others = self.steps
        lines = _added("sum of", first)
        for run in _runs(others):
            (size,) = {len(step) for step in run}
            if len(run) == 1:
                lines += _added("then", run[0])
            elif size == 1:
                lines.append(f"then one at a time: {_names([step[0] for step in run])}")
            else:
                ends = f"{_names(run[0])} to {_names(run[-1])}"
                lines.append(f"then {size} at a time with the total in one sum, {len(run)} times: {ends}")
        return lines

    def _last_sums(self) -> list[SumTree]:
        """The last steps, where each adds one sum, and all of these have as many products."""
        found: list[SumTree] = []
        for step in reversed(self.steps[1:]):
            (part, *more) = step
            if more or isinstance(part, int) or (found and len(part.leaves) != len(found[0].leaves)):
                break
            found.insert(0, part)
        return found

    def moved(self, by: int) -> SumTree:
        """The same sums of other products, each so much further along K."""
        steps = (
            tuple(part.moved(by) if isinstance(part, SumTree) else part + by for part in step)
            for step in self.steps
        )
        return SumTree(tuple(steps))

    def as_json(self) -> list[list[Any]]:
        """As plain data: the steps, each a list of products' numbers and of sums (lists of steps)."""
        return [
            [part.as_json() if isinstance(part, SumTree) else part for part in step] for step in self.steps
        ]


def _added(word: str, step: Sequence[int | SumTree]) -> list[str]:
    own = [part for part in step if isinstance(part, int)]
    sums = [part for part in step if isinstance(part, SumTree)]
    parts = [_names(own)] if own else []
    parts += [f"{counted(len(sums), 'sum')}:"] if sums else []
    return [f"{word} {' and '.join(parts)}", *_listed(sums)]


def _listed(sums: Sequence[SumTree]) -> list[str]:
    """Sums one below the other; of those that are alike but for their place, the first alone."""
    lines: list[str] = []
    left = list(sums)
    while left:
        one = left.pop(0)
        first, *rest = one.lines()
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
        alike: list[int] = []
        while left and left[0] == one.moved(_first(left[0]) - _first(one)):
            alike.append(_first(left.pop(0)))
        if alike:
            lines.append(f"- likewise from {_names(alike)} on")
    return lines


def _runs(steps: Sequence[tuple[int | SumTree, ...]]) -> Iterator[list[tuple[int | SumTree, ...]]]:
    """Steps of products alone at one distance from each other, together; every other step by itself."""
    run: list[tuple[int | SumTree, ...]] = []
    for step in steps:
        if run and not _continues(run, step):
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def _continues(run: Sequence[tuple[int | SumTree, ...]], step: tuple[int | SumTree, ...]) -> bool:
    before = run[-1]
    if len(before) != len(step) or any(isinstance(part, SumTree) for part in (*before, *step)):
        return False
    distances = {_first(two) - _first(one) for one, two in zip(before, step, strict=True)}
    distance = None if len(run) == 1 else _first(before[0]) - _first(run[-2][0])
    return len(distances) == 1 and (distance is None or distances == {distance})


def _names(parts: Sequence[int | SumTree]) -> str:
    numbers = [part for part in parts if isinstance(part, int)]
    return _progression(numbers) or ", ".join(f"p{n}" for n in numbers)


def _progression(numbers: Sequence[int]) -> str:
    """``p0..p7``, or ``p0, p8, ..., p56``; else empty."""
    steps = {two - one for one, two in pairwise(numbers)}
    if len(numbers) < 3 or len(steps) != 1:
        return ""
    if steps == {1}:
        return f"p{numbers[0]}..p{numbers[-1]}"
    return f"p{numbers[0]}, p{numbers[1]}, ..., p{numbers[-1]}" if len(numbers) > 4 else ""


def products_for(fmt: Format, k: int, rows: range, columns: range) -> tuple[Array, Array, float]:
    """A (rows, K), B (K, columns) and y. Element (i, j): X at the row's number, -X at the column's, else y.

    Raises :class:`.TcsmtError` where the format has no numbers so far apart.
    """
    room = k.bit_length() + 2
    normal = fmt.e_max - fmt.e_min
    least = fmt.e_min - (fmt.fraction_bits if normal < _NARROW + room else 0)
    reach = min(fmt.e_max - least, _WIDE + room)
    if reach < _NARROW + room:
        raise TcsmtError(
            f"{fmt.name} reaches from 2^{least} to 2^{fmt.e_max}: {k} products need {_NARROW + room} powers"
        )
    big = min(fmt.e_max, (reach + 1) // 2)
    small = big - reach
    words = [fmt.word(sign * Fraction(2) ** power) for sign, power in ((1, small), (1, big), (-1, big))]
    a = np.full((len(rows), k), words[0], unsigned(fmt))
    b = np.full((k, len(columns)), words[0], unsigned(fmt))
    a[np.arange(len(rows)), np.array(rows)] = words[1]
    b[np.array(columns), np.arange(len(columns))] = words[2]
    return from_words(fmt, a), from_words(fmt, b), 2.0 ** (2 * small)


def read(
    multiply: Callable[[Array, Array], Any], fmt: Format, k: int, shape: tuple[int, int] | None = None
) -> tuple[SumTree, int]:
    """The tree of a matrix product, and how often it was called.

    multiply: of A (M, K) and B (K, N), arrays of the format's dtype, an array (M, N) of real numbers.
    shape: M and N; None: K and K, one call. Raises :class:`.TcsmtError` for results that are no such sums.
    """
    m, n = shape or (k, k)
    sizes = np.zeros((k, k), np.int64)
    calls = 0
    for i in range(0, k, m):
        for j in range(0, k, n):
            # the last tiles reach back, so that all calls have the same shape
            rows, columns = _tile(i, m, k), _tile(j, n, k)
            a, b, tiny = products_for(fmt, k, rows, columns)
            d = _numbers(multiply(a, b), (len(rows), len(columns)))
            calls += 1
            counted = d / tiny
            off = np.array(rows)[:, None] != np.array(columns)[None, :]
            wrong = off & ~((counted >= 0) & (counted <= k - 2) & (counted == np.rint(counted)))
            if wrong.any():
                row, column = (int(x) for x in np.argwhere(wrong)[0])
                raise TcsmtError(
                    f"D[{row}, {column}] is {d[row, column]:g}, not 0 to {k - 2} times {tiny:g}: "
                    "it is not a sum in which large numbers swallow small ones"
                )
            part = np.where(off, k - counted, 1).astype(np.int64)
            sizes[rows.start : rows.stop, columns.start : columns.stop] = part
    if (sizes != sizes.T).any():
        row, column = (int(x) for x in np.argwhere(sizes != sizes.T)[0])
        raise TcsmtError(
            f"products {row} and {column} meet in a sum of {sizes[row, column]} products in one element of D "
            f"and of {sizes[column, row]} in another: elements are not summed up alike; give a smaller shape"
        )
    if k > 2 and sizes.max() == 2:
        raise TcsmtError(f"nothing is lost in any sum: {fmt.name} does not reach far enough to show an order")
    tree = _tree(list(range(k)), sizes)
    if (sizes_of(tree, k) != sizes).any():
        row, column = (int(x) for x in np.argwhere(sizes_of(tree, k) != sizes)[0])
        raise TcsmtError(
            f"no order of sums fits all elements of D (first products {row} and {column}): "
            "elements are not summed up alike, or some sums are exact; give a smaller shape"
        )
    return tree, calls


def _tile(start: int, size: int, k: int) -> range:
    if size >= k:
        return range(k)
    stop = min(start + size, k)
    return range(stop - size, stop)


def _numbers(d: Any, shape: tuple[int, int]) -> Array:
    found = np.asarray(d)
    if found.shape != shape:
        raise TcsmtError(f"the product has shape {found.shape}: must be {shape}")
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        raise TcsmtError(f"the product has dtype {found.dtype}: must be of real numbers") from None


def _tree(leaves: list[int], sizes: Array) -> SumTree:
    """From the two that meet first outwards, so that a chain is a loop and not a recursion."""
    own = sizes[np.ix_(leaves, leaves)]
    far = own + np.where(np.eye(len(leaves), dtype=bool), np.iinfo(np.int64).max // 2, 0)
    pivot = int(far.min(axis=1).argmin())
    steps: list[tuple[int | SumTree, ...]] = []
    met = own[pivot]
    for size in sorted({int(s) for s in met if s > 1}):
        joining = [leaves[place] for place in np.flatnonzero(met == size) if place != pivot]
        branches = _branches(joining, sizes, size)
        parts = tuple(branch[0] if len(branch) == 1 else _tree(branch, sizes) for branch in branches)
        steps.append(parts if steps else (leaves[pivot], *parts))
    return SumTree(tuple(tuple(sorted(step, key=_first)) for step in steps))


def _first(part: int | SumTree) -> int:
    return min(part.leaves) if isinstance(part, SumTree) else part


def _branches(leaves: Sequence[int], sizes: Array, size: int) -> list[list[int]]:
    """Those that meet in a sum of fewer belong together."""
    branches: list[list[int]] = []
    left = np.array(leaves)
    while left.size:
        near = sizes[left[0], left] < size
        branches.append([int(leaf) for leaf in left[near]])
        left = left[~near]
    return branches


def sizes_of(tree: SumTree, k: int) -> Array:
    """How many products the smallest sum has that has both of two (1 on the diagonal)."""
    sizes = np.ones((k, k), np.int64)

    def fill(one: SumTree) -> list[int]:
        total: list[int] = []
        for step in one.steps:
            parts = [total] if total else []
            parts += [fill(part) if isinstance(part, SumTree) else [part] for part in step]
            total = [leaf for part in parts for leaf in part]
            for number, part in enumerate(parts):
                rest = [leaf for other in parts[:number] for leaf in other]
                sizes[np.ix_(part, rest)] = len(total)
                sizes[np.ix_(rest, part)] = len(total)
        return total

    fill(tree)
    return sizes
