"""The order in which an element of a matrix product is summed, and how its sums are rounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Arithmetic:
    """The rounding of a tree's sums.

    sums: the format of each sum; a part of another format is converted to it first. Sums of two parts are
    rounded to nearest even, and subnormal numbers kept.
    products: the format to which a product is rounded before it is added; None: it is added exactly, in one
    rounding with the sum (a fused multiply-add). Then a product that comes first is rounded by itself.
    unit: where sums have more parts, the unit that adds products to c; product n in its lane n modulo k.
    """

    sums: Format
    products: Format | None = None
    unit: Row | None = None

    def __str__(self) -> str:
        if self.unit is not None:
            return f"as {self.unit.name}"
        products = "exact products" if self.products is None else f"products rounded to {self.products.name}"
        return f"{self.sums.name} sums of {products}"

    def as_json(self) -> dict[str, str | None]:
        """Return plain data."""
        if self.unit is not None:
            return {"sums": self.sums.name, "products": None, "unit": self.unit.name}
        products = "exact" if self.products is None else self.products.name
        return {"sums": self.sums.name, "products": products, "unit": None}


@dataclass(frozen=True)
class SumTree:
    """Sums one after the other: the first step's parts in one, then the total with those of each next step.

    A part is the number of a product, or a sum that was made before. arithmetic: how the sums are rounded;
    None: it was not asked.
    """

    steps: tuple[tuple[int | SumTree, ...], ...]
    arithmetic: Arithmetic | None = None

    @property
    def leaves(self) -> list[int]:
        """Return the products, in the order of the steps."""
        leaves: list[int] = []
        for step in self.steps:
            for part in step:
                leaves += part.leaves if isinstance(part, SumTree) else [part]
        return leaves

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, outer: Arithmetic | None = None) -> list[str]:
        """Return the tree for people, the last sum at the top: a line for a run of like steps.

        outer: the arithmetic that needs no mention.
        """
        first, *others = self._lines()
        return [first if self.arithmetic in (None, outer) else f"{first}  [{self._how()}]", *others]

    def _how(self) -> str:
        inner = [part.arithmetic for step in self.steps for part in step if isinstance(part, SumTree)]
        if self.arithmetic is not None and any(own is not None and own.unit is not None for own in inner):
            return f"{self.arithmetic.sums.name} sums"
        return str(self.arithmetic)

    def _lines(self) -> list[str]:
        arithmetic = self.arithmetic
        sums = self._all_sums()
        if sums:
            how = "added" if len(sums) == 2 else "added one after the other"
            return [f"{len(sums)} sums, {how}:", *_listed(sums, arithmetic)]
        first, *others = self.steps
        lines = _added("sum of", first, arithmetic)
        for run in _runs(others):
            (size,) = {len(step) for step in run}
            if len(run) == 1:
                lines += _added("then", run[0], arithmetic)
            elif size == 1:
                lines.append(f"then one at a time: {_names([step[0] for step in run])}")
            else:
                ends = f"{_names(run[0])} to {_names(run[-1])}"
                lines.append(f"then {size} at a time with the total in one sum, {len(run)} times: {ends}")
        return lines

    def _all_sums(self) -> list[SumTree]:
        """Sums that are added one after the other to the whole; those at its end have as many products."""
        last: list[SumTree] = []
        for step in reversed(self.steps[1:]):
            (part, *more) = step
            if more or isinstance(part, int) or (last and len(part.leaves) != len(last[0].leaves)):
                break
            last.insert(0, part)
        before = self.steps[: len(self.steps) - len(last)]
        first = [part for part in before[0] if isinstance(part, SumTree)]
        if len(before) == 1 and len(first) == len(before[0]) <= 2:
            return [*first, *last]
        return [SumTree(before, self.arithmetic), *last] if last else []

    def moved(self, by: int) -> SumTree:
        """Return the same sums of other products, each so much further along K."""
        steps = (
            tuple(part.moved(by) if isinstance(part, SumTree) else part + by for part in step)
            for step in self.steps
        )
        return SumTree(tuple(steps), self.arithmetic)

    def as_json(self) -> dict[str, Any]:
        """Return the formats, and the steps, each a list of products' numbers and of such sums."""
        arithmetic = {} if self.arithmetic is None else self.arithmetic.as_json()
        steps = [
            [part.as_json() if isinstance(part, SumTree) else part for part in step] for step in self.steps
        ]
        return {**arithmetic, "steps": steps}


def _added(word: str, step: Sequence[int | SumTree], arithmetic: Arithmetic | None) -> list[str]:
    products = [part for part in step if isinstance(part, int)]
    sums = [part for part in step if isinstance(part, SumTree)]
    parts = [_names(products)] if products else []
    parts += [f"{counted(len(sums), 'sum')}:"] if sums else []
    return [f"{word} {' and '.join(parts)}", *_listed(sums, arithmetic)]


def _listed(sums: Sequence[SumTree], outer: Arithmetic | None) -> list[str]:
    """Sums one below the other; of those that are alike but for their place, the first alone."""
    lines: list[str] = []
    pending = list(sums)
    while pending:
        subtree = pending.pop(0)
        first, *rest = subtree.lines(outer)
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
        alike: list[int] = []
        while pending and pending[0] == subtree.moved(first_product(pending[0]) - first_product(subtree)):
            alike.append(first_product(pending.pop(0)))
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
    distances = {
        first_product(second) - first_product(first) for first, second in zip(before, step, strict=True)
    }
    distance = None if len(run) == 1 else first_product(before[0]) - first_product(run[-2][0])
    return len(distances) == 1 and (distance is None or distances == {distance})


def _names(parts: Sequence[int | SumTree]) -> str:
    numbers = [part for part in parts if isinstance(part, int)]
    return _progression(numbers) or ", ".join(f"p{n}" for n in numbers)


def _progression(numbers: Sequence[int]) -> str:
    """``p0..p7``, or ``p0, p8, ..., p56``; else empty."""
    steps = {second - first for first, second in pairwise(numbers)}
    if len(numbers) < 3 or len(steps) != 1:
        return ""
    if steps == {1}:
        return f"p{numbers[0]}..p{numbers[-1]}"
    return f"p{numbers[0]}, p{numbers[1]}, ..., p{numbers[-1]}" if len(numbers) > 4 else ""


def first_product(part: int | SumTree) -> int:
    """Return the lowest number of its products."""
    return min(part.leaves) if isinstance(part, SumTree) else part


def sizes_of(tree: SumTree, k: int) -> Array:
    """Return how many products the smallest sum has that has both of two (1 on the diagonal): int64 (k,
    k).
    """
    sizes = np.ones((k, k), np.int64)

    def fill(subtree: SumTree) -> list[int]:
        total: list[int] = []
        for step in subtree.steps:
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


def tree_of(sizes: Array) -> SumTree:
    """Return the tree of which :func:`sizes_of` gives these sizes, (K, K)."""
    return _tree(list(range(len(sizes))), sizes)


def _tree(leaves: list[int], sizes: Array) -> SumTree:
    """Build the tree from the two that meet first outwards, so that a chain is a loop and not a recursion."""
    inner_sizes = sizes[np.ix_(leaves, leaves)]
    far = inner_sizes + np.where(np.eye(len(leaves), dtype=bool), np.iinfo(np.int64).max // 2, 0)
    pivot = int(far.min(axis=1).argmin())
    steps: list[tuple[int | SumTree, ...]] = []
    met = inner_sizes[pivot]
    for size in sorted({int(s) for s in met if s > 1}):
        joining = [leaves[place] for place in np.flatnonzero(met == size) if place != pivot]
        branches = _branches(joining, sizes, size)
        parts = tuple(branch[0] if len(branch) == 1 else _tree(branch, sizes) for branch in branches)
        steps.append(parts if steps else (leaves[pivot], *parts))
    return SumTree(tuple(tuple(sorted(step, key=first_product)) for step in steps))


def _branches(leaves: Sequence[int], sizes: Array, size: int) -> list[list[int]]:
    """Return the leaves in branches: those that meet in a sum of fewer belong together."""
    branches: list[list[int]] = []
    remaining = np.array(leaves)
    while remaining.size:
        near = sizes[remaining[0], remaining] < size
        branches.append([int(leaf) for leaf in remaining[near]])
        remaining = remaining[~near]
    return branches
