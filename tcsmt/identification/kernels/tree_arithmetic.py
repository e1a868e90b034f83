"""The roundings of a tree's sums, identified from elements whose order is known.

A sum keeps 2^-t beside 1 if its format has t + 1 bits: 1 is a product on its one side, 2^-t on the other, and
-1 joins in the next sum. A product is exact if all bits of (1 + 2^-i)(1 + 2^-j) are left where -(1 + 2^-j)
meets it. What comes last cannot be seen in this way, so there are some hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.kernels.tree import Arithmetic, SumTree, first_product
from tcsmt.identification.kernels.tree_order import AskedElement
from tcsmt.identification.kernels.tree_results import computable
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]
#: Formats that sums and products may have, the most likely first.
_FORMATS = tuple(FORMATS[name] for name in ("f32", "f64", "f16", "bf16"))
#: Bits up to which a sum is measured that has none of these formats.
_MOST_BITS = 120
_DOUBLE = FORMATS["f64"]


def larger_sums(tree: SumTree) -> Iterator[list[int]]:
    """A product of each part that is new, of each sum that has more than two parts."""
    for number, step in enumerate(tree.steps):
        if len(step) + (number > 0) > 2:
            yield [first_product(part) for part in step]
        for part in step:
            if isinstance(part, SumTree):
                yield from larger_sums(part)


def read_arithmetic(element: AskedElement, tree: SumTree) -> list[SumTree]:
    """Return the tree with what its sums can be, the most likely first; they differ in what cannot be seen.

    tree: of sums of two parts. Raises :class:`.TcsmtError` for sums that are rounded in another way.
    """
    asked = _Asked(element)
    formats = asked.formats(list(_sums(tree, None)))
    kinds = asked.kinds(dict(_meetings(tree)))
    fmt, d_format = element.product.fmt, element.product.d_format
    likely = formats.get((id(tree), len(tree.steps) - 2), d_format)
    trees = [
        _Stated(formats, kinds, fmt, last, widened).tree(tree, None)
        for last in dict.fromkeys([likely, d_format, *_FORMATS])
        for widened in (True, False)
    ]
    possible = list(dict.fromkeys(candidate for candidate in trees if candidate is not None))
    if not possible:
        raise TcsmtError(
            f"{element.name}: two products are added exactly and rounded once, or are rounded to another "
            "format than the sum that they enter: a tree has neither"
        )
    return possible


def with_unit(tree: SumTree, unit: Row, outside: Format) -> SumTree | None:
    """Return the tree whose products are added by a unit, and sums of sums in a format; None: no unit adds
    so.

    None, too, where the unit's c is not of its results' format.
    """
    model = unit.model
    if model.c_format != model.d_format or not isinstance(model.d_format, Format):
        return None
    inside = Arithmetic(model.d_format, unit=unit)
    steps: list[tuple[int | SumTree, ...]] = []
    current: Arithmetic | None = None
    for step in tree.steps:
        parts = [with_unit(part, unit, outside) if isinstance(part, SumTree) else part for part in step]
        lanes = {part % model.k for part in parts if isinstance(part, int)}
        if None in parts or len(lanes) not in (0, len(parts)) or (not lanes and len(parts) > 2):
            return None
        new = inside if lanes else Arithmetic(outside)
        if current is not None and new != current:
            parts = [SumTree(tuple(steps), current), *parts]
            steps = []
        current = new
        steps.append(tuple(part for part in parts if part is not None))
    return SumTree(tuple(steps), current)


@dataclass(frozen=True)
class _Sum:
    """One sum of two parts but the last: a product on each side, and one that joins in the next sum.

    key: the tree by identity, and the number of its step.
    """

    key: tuple[int, int]
    left: int
    right: int
    beyond: int


def _sums(tree: SumTree, outer: int | None) -> Iterator[_Sum]:
    """outer: a product that joins the tree's total."""
    product = first_product(tree.steps[0][0])
    for number, step in enumerate(tree.steps):
        after = first_product(tree.steps[number + 1][0]) if number + 1 < len(tree.steps) else outer
        if after is not None:
            yield _Sum((id(tree), number), product, first_product(step[-1]), after)
        for part in step:
            if isinstance(part, SumTree):
                other = product if number or part is not step[0] else first_product(step[1])
                yield from _sums(part, other)


def _meetings(tree: SumTree) -> Iterator[tuple[int, int]]:
    """Each product, and one of those that it meets first."""
    product = first_product(tree.steps[0][0])
    for number, step in enumerate(tree.steps):
        for part in step:
            if isinstance(part, SumTree):
                yield from _meetings(part)
            else:
                yield part, product if number or part is not step[0] else first_product(step[1])


class _Asked:
    def __init__(self, element: AskedElement) -> None:
        self.element = element
        self.fmt = element.product.fmt

    def formats(self, sums: Sequence[_Sum]) -> dict[tuple[int, int], Format]:
        """Return the narrower of each sum's format and the next one's."""
        format_of: dict[tuple[int, int], Format] = {}
        pending = list(sums)
        for fmt in _FORMATS:
            if not pending or not self._reaches(fmt.precision):
                continue
            survives, lost = (self._kept(pending, t) for t in (fmt.precision - 1, fmt.precision))
            fits = survives & ~lost
            format_of |= {total.key: fmt for total, fitting in zip(pending, fits, strict=True) if fitting}
            pending = [total for total, fitting in zip(pending, fits, strict=True) if not fitting]
        if pending:
            bits = [t for t in range(1, _MOST_BITS) if self._reaches(t) and self._kept(pending[:1], t)[0]]
            raise TcsmtError(
                f"{self.element.name}: the sum of products {pending[0].left} and {pending[0].right} has "
                f"{max(bits, default=0) + 1} bits, which no format that a tree has does"
            )
        return format_of

    def _reaches(self, t: int) -> bool:
        return self.fmt.e_min - self.fmt.fraction_bits <= -t

    def _kept(self, sums: Sequence[_Sum], t: int) -> Array:
        """Return which sums keep 2^-t beside 1."""
        questions = np.zeros((len(sums), self.element.product.k))
        for row, total in zip(questions, sums, strict=True):
            row[[total.left, total.right, total.beyond]] = 1, 2.0**-t, -1
        answers = self.element.answers(questions)
        survives = answers == 2.0**-t
        if (~survives & (answers != 0)).any():
            worst = int(np.argmax(~survives & (answers != 0)))
            total = sums[worst]
            raise TcsmtError(
                f"{self.element.name}: 1 as product {total.left}, 2^-{t} as {total.right} and -1 as "
                f"{total.beyond} give {answers[worst]:g}: sums are not rounded to nearest even"
            )
        return np.asarray(survives)

    def kinds(self, meetings: dict[int, int]) -> dict[int, Format | None]:
        """To what each product is rounded before it is added; None: to nothing."""
        exact = 2 * self.fmt.precision
        formats = [fmt for fmt in _FORMATS if fmt.precision < exact]
        formats.sort(key=lambda fmt: -fmt.precision)
        format_of: dict[int, Format | None] = {}
        pending = dict(meetings)
        bits: list[tuple[int, Format | None]] = [(formats[0].precision, None)]
        for t, fmt in bits + [(fmt.precision - 1, fmt) for fmt in formats]:
            if pending:
                survives = self._product_keeps(pending, t)
                format_of |= dict.fromkeys((leaf for leaf in pending if survives[leaf]), fmt)
                pending = {leaf: other for leaf, other in pending.items() if not survives[leaf]}
        if pending:
            raise TcsmtError(
                f"{self.element.name}: product {min(pending)} is rounded to fewer bits than any format has"
            )
        return format_of

    def _product_keeps(self, meetings: dict[int, int], t: int) -> dict[int, bool]:
        """Return which products keep the last bit, 2^-t, of (1 + 2^-i)(1 + 2^-j)."""
        i, j = t - t // 2, t // 2
        questions = np.zeros((len(meetings), self.element.product.k))
        for row, (leaf, other) in zip(questions, meetings.items(), strict=True):
            row[leaf], row[other] = 1 + 2.0**-i, -1
        answers = self.element.answers(questions, 1 + 2.0**-j)
        return dict(zip(meetings, (answers == 2.0**-i + 2.0**-t).tolist(), strict=True))


@dataclass(frozen=True)
class _Stated:
    """A tree with its arithmetic, of what was asked and what cannot be seen.

    last: the last sum's format. wide: whether a sum that is narrower than the one before it only because the
    next one is has that one's format.
    """

    formats: dict[tuple[int, int], Format]
    kinds: dict[int, Format | None]
    fmt: Format
    last: Format
    wide: bool

    def tree(self, tree: SumTree, above: Format | None) -> SumTree | None:
        """A new tree wherever the arithmetic changes. None where it cannot be stated.

        above: the format of the sum that has the tree's total.
        """
        steps: list[tuple[int | SumTree, ...]] = []
        current: Arithmetic | None = None
        for step, sums in zip(tree.steps, self._formats(tree, above), strict=True):
            parts = [self.tree(part, sums) if isinstance(part, SumTree) else part for part in step]
            if any(part is None for part in parts):
                return None
            made = self._step([part for part in parts if part is not None], sums, current)
            if made is None:
                return None
            stated, new = made
            if current is not None and new != current:
                stated = (SumTree(tuple(steps), current), *stated)
                steps = []
            current = new
            steps.append(stated)
        current = not_none(current)
        return SumTree(tuple(steps), current)

    def _step(
        self, parts: Sequence[int | SumTree], sums: Format, current: Arithmetic | None
    ) -> tuple[tuple[int | SumTree, ...], Arithmetic] | None:
        """A step's parts in the order in which they are added, and the arithmetic. current: of the total."""
        kinds = {self.kinds[part] for part in parts if isinstance(part, int)}
        # a product that comes first is rounded by itself, also where the others are exact
        ordered = sorted(parts, key=lambda part: isinstance(part, int) and self.kinds[part] is None)
        if not kinds:
            inner = [part.arithmetic for part in parts if isinstance(part, SumTree)]
            first = current or inner[0]
            first = not_none(first)
            kinds = {first.products}
        if kinds == {None, sums}:
            kinds = {None}
        elif kinds == {None} and all(isinstance(part, int) for part in parts) and len(parts) > 1:
            # both are exact in their sum: its format has all bits of a product
            wider_formats = [fmt for fmt in (sums, _DOUBLE) if fmt.precision >= 2 * self.fmt.precision]
            if not wider_formats:
                return None
            sums = wider_formats[0]
        (products, *more) = kinds
        if more or not computable(self.fmt, sums, products):
            return None
        return tuple(ordered), Arithmetic(sums, products)

    def _formats(self, tree: SumTree, above: Format | None) -> list[Format]:
        """Each step's."""
        seen = [self.formats.get((id(tree), number), self.last) for number in range(len(tree.steps))]
        formats = list(seen)
        for number, after in zip(range(1, len(seen)), [*seen[2:], above], strict=False):
            before, this = seen[number - 1], seen[number]
            if self.wide and this == after and before.precision > this.precision:
                formats[number] = before
        return formats
