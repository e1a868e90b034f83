"""Some elements of a product as a kernel computes them, instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.steps.on_arrays import ArrayRules
from tcsmt.programs.steps.program import ProductRun, read
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Elements:
    """Some elements of A·B + C as words: a, b of shape (elements, K), c and bias of shape (elements,).

    A kernel that takes no bias leaves it out.
    """

    a: Array
    b: Array
    c: Array | None = None
    bias: Array | None = None

    def one(self, number: int) -> Elements:
        """One of them."""
        part = slice(number, number + 1)
        c, bias = (None if words is None else words[part] for words in (self.c, self.bias))
        return Elements(self.a[part], self.b[part], c, bias)


@dataclass(frozen=True)
class Link:
    """One instruction of a chain.

    chain: indices of K that the chain has added when the instruction ends, in order.
    count: how many of them are this instruction's.
    from_c: whether the chain began with C.
    operands: the instruction's inputs, rows of padded lanes. after: its results, (elements,).
    """

    chain: Array
    count: int
    from_c: bool
    operands: Operands[Array, Array]
    after: Array

    @property
    def indices(self) -> Array:
        """Return the indices of K that this instruction adds: integers of shape (count,)."""
        return self.chain[-self.count :]

    @property
    def key(self) -> tuple[bool, bytes]:
        """Return what the sum so far is made of, whatever the instructions."""
        return self.from_c, np.sort(self.chain).tobytes()


@dataclass(frozen=True)
class FormattedWords:
    """Words, and the format in which they are read."""

    format: AnyFormat
    words: Array


@dataclass(frozen=True)
class Walk:
    """All instructions of a kernel on some elements, the sum before the epilogue, and the results."""

    links: tuple[Link, ...]
    total: FormattedWords
    result: FormattedWords

    @property
    def parts(self) -> list[Link]:
        """Return the last instruction of each chain."""
        ends = [*self.links[1:], None]
        return [
            link
            for link, after in zip(self.links, ends, strict=True)
            if after is None or len(after.chain) == after.count
        ]


def walk(kernel: Kernel, elements: Elements, reduction: Reduction) -> Walk:
    """A kernel on some elements that are all reduced alike, by this reduction (:meth:`.Reduction.on`).

    Raises :class:`.TcsmtError` for units with block scales, and for epilogues that take random bits.
    """
    model = kernel.unit.model
    if model.scales or kernel.epilogue.stochastic:
        what = "block scales" if model.scales else "random bits"
        raise TcsmtError(f"{kernel.name} takes {what}: its chains cannot be drawn side by side")
    links: list[Link] = []

    def chain(unit: Model, sides: Sequence[Array], runs: Sequence[ProductRun], start: Array | None) -> Array:
        words = np.zeros(len(elements.a), unsigned(unit.c_format)) if start is None else start
        indices = runs[0].indices
        for first in range(0, len(indices), unit.k):
            some = indices[first : first + unit.k]
            width = [(0, 0), (0, unit.k - len(some))]
            a, b = (np.pad(side[:, some], width) for side in sides)
            operands = Operands(a, b, words)
            words = run_words(unit, operands)
            links.append(Link(indices[: first + len(some)], len(some), start is not None, operands, words))
        return words

    schedule, c = kernel.schedule, elements.c
    rules = ArrayRules((len(elements.a),), chain, schedule.nans)
    given = {"A": elements.a, "B": elements.b, "c": c, "bias": elements.bias}
    total = read(schedule.sums(elements.a.shape[1], reduction, c=c is not None), rules, given)
    end = schedule.end(c=c is not None, bias=kernel.epilogue.bias)
    result = read(end, rules, {**given, "total": total})
    return Walk(
        tuple(links), FormattedWords(schedule.sum_format, total), FormattedWords(schedule.d_format, result)
    )


def common_links(left: Walk, right: Walk) -> Iterator[tuple[Link, Link]]:
    """Instructions after which both kernels have added the same products in one chain, in left's order."""
    there = {link.key: link for link in right.links}
    for link in left.links:
        if link.key in there:
            yield link, there[link.key]
