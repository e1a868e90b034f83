"""Reductions: how a kernel cuts K into parts and adds their sums up, as data with a short text.

``chained`` is one chain of instructions along K. ``split-k:4,pairs`` is one level of parts. Levels nest, the
outermost first: in ``split-k:2/promote:128`` each of two parts is added up in blocks of 128.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations
from math import ceil
from typing import Any, TypeVar

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, format_named
from tcsmt.programs.steps.trees import TREES, summed
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.floats import ieee_floats

Array = np.ndarray[Any, np.dtype[Any]]
Value = TypeVar("Value")

#: What a level can be, and what its number is.
_KINDS = {
    "split-k": "PARTS",
    "sliced": "PARTS",
    "promote": "EVERY",
    "cuts": "K1-K2-...",
    "stream-k": "WORKERS",
}
#: How parts can be added up.
_ORDERS = (*TREES, "any")
#: Parts whose orders are all looked at: 120 of five, and 60 where the first two are not told apart.
_MOST_ORDERED = 5


@dataclass(frozen=True, kw_only=True)
class Level:
    """K cut into parts, and how their sums are added up.

    kind: ``split-k``: so many contiguous parts, as equal as their multiples of ``step`` allow; ``sliced``: so
        many parts to which stripes of ``step`` products are dealt in turn; ``promote``: a part for each
        ``number`` products; ``cuts``: parts that begin at 0 and at each of ``at``; ``stream-k``: ``number``
        workers share the steps of all tiles of the result evenly, and a tile's K is cut where a worker ends.
    number: parts, products or workers (of ``cuts``: 0).
    step: products that stay together. None: the instruction's K, as no kernel cuts inside of an instruction;
        for ``split-k`` only where the products to be cut are a multiple of it (else 1).
    halved: of ``promote``: what is left after the whole blocks, between one and two blocks, is cut in halves,
        each a multiple of this, as GotoBLAS does (0: not).
    at: of ``cuts``: where parts begin.
    tile: of ``stream-k``: rows, columns and products of one step of a worker.
    order: ``order``: one after the other; ``reversed``: the last part first; ``pairs``: neighbours, then
        neighbours of these sums; ``halves``: the first half to the second, until one is left; ``folded``: to
        the last part, one after the other, the sums of two parts that lie half of all apart; ``any``: each as
        it arrives (atomic additions), another one in every element and every run; ``2-0-1``: the parts of
        these numbers, one after the other.
    parts: the format to which each part is rounded before it is added (None: as it is).
    total: the format to which the running total is rounded after each addition (None: not).
    sum: the format of the additions, and of the whole sum (None: that of the sums of the parts).
    from_zero: the total begins with +0, to which the first part is added (else with the first part).
    """

    kind: str
    number: int = 0
    step: int | None = None
    halved: int = 0
    at: tuple[int, ...] = ()
    tile: tuple[int, int, int] = (0, 0, 0)
    order: str = "order"
    parts: Format | None = None
    total: Format | None = None
    sum: Format | None = None
    from_zero: bool = False

    def __post_init__(self) -> None:
        choose("reduction", self.kind, _KINDS)
        if not self.sequence:
            choose("order of the parts", self.order, _ORDERS)
        for name in ("parts", "total", "sum"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, format_named(value))
            fmt = getattr(self, name)
            usual = fmt is None or (isinstance(fmt, Format) and fmt.signed and fmt.has_infinity)
            self._check(usual, f"{name} must be a floating-point format with infinities and a sign")
        least = 0 if self.kind == "cuts" else 1
        what = {"promote": "products", "stream-k": "workers"}.get(self.kind, "parts")
        self._check(self.number >= least, f"the number of {what} must be 1 or more")
        self._check(self.step is None or self.step >= 1, "step must be 1 or more")
        self._check(
            self.step is None or self.kind in ("split-k", "sliced"), "only split-k and sliced have a step"
        )
        self._check(self.halved >= 0, "halved must be 1 or more")
        self._check(not self.halved or self.kind == "promote", "only promote can be halved")
        rising = all(before < after for before, after in pairwise((0, *self.at)))
        self._check(bool(self.at) == (self.kind == "cuts") and rising, "cuts must be positive and rising")
        tiled = all(side >= 1 for side in self.tile) == (self.kind == "stream-k")
        self._check(tiled, "stream-k needs tile=ROWSxCOLUMNSxPRODUCTS, each 1 or more; nothing else has one")
        is_order = not self.sequence or sorted(self.sequence) == list(range(len(self.sequence)))
        self._check(is_order, f"order={self.order} must have each number from 0 on once")
        in_order = bool(self.sequence) or self.order in ("order", "reversed", "any")
        self._check(
            in_order or (self.total is None and not self.from_zero),
            f"{self.order} keeps no running total: neither total nor from-zero fits",
        )

    def _check(self, holds: bool, why: str) -> None:
        if not holds:
            raise TcsmtError(f"reduction {self}: {why}")

    @property
    def sequence(self) -> tuple[int, ...]:
        """Return the numbers of the parts in the order in which they are added; empty where a name says
        it.
        """
        numbers = self.order.split("-")
        return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else ()

    def cut(self, indices: Array, k: int) -> list[Array]:
        """Return the indices of K, of shape (length,), in parts that are not empty. k: the instruction's
        K.
        """
        length = len(indices)
        match self.kind:
            case "split-k":
                step = self.step or (1 if length % k else k)
                share = ceil(ceil(length / self.number) / step) * step
                starts = list(range(0, length, share))
            case "promote":
                starts = self._blocks(length)
            case "cuts":
                starts = [0, *(place for place in self.at if place < length)]
            case "sliced":
                stripe = np.arange(length) // (self.step or k) % self.number
                return [part for n in range(self.number) if (part := indices[stripe == n]).size]
            case _:
                raise TcsmtError(
                    f"reduction {self}: where K is cut depends on the tile of the result; use cuts"
                )
        return [indices[start:stop] for start, stop in pairwise([*starts, length])]

    def _blocks(self, length: int) -> list[int]:
        starts, start = [], 0
        while start < length:
            starts.append(start)
            remaining = length - start
            if self.halved and self.number < remaining < 2 * self.number:
                start += -(-(remaining // 2) // self.halved) * self.halved
            else:
                start += self.number
        return starts

    def __str__(self) -> str:
        counts = {"cuts": "-".join(map(str, self.at))}.get(self.kind, str(self.number))
        text = f"{self.kind}:{counts}"
        if any(self.tile):
            text += f",tile={'x'.join(map(str, self.tile))}"
        if self.step is not None:
            text += f",step={self.step}"
        if self.halved:
            text += f",halved={self.halved}"
        if self.order != "order":
            text += f",order={self.order}" if self.sequence else f",{self.order}"
        if self.from_zero:
            text += ",from-zero"
        for name in ("parts", "total", "sum"):
            fmt = getattr(self, name)
            if fmt is not None:
                text += f",{name}={fmt.name if isinstance(fmt, AnyFormat) else fmt}"
        return text


@dataclass(frozen=True)
class Reduction:
    """The order in which a kernel adds up the products of one element of D; its text is its name.

    levels: the outermost first; none: one chain of instructions along the whole of K, which begins with C.
    The innermost parts are chains that begin with +0. Additions outside the unit are IEEE additions to
    nearest even (integers wrap).

    >>> import tcsmt
    >>> tcsmt.reduction("split-k:4,pairs,parts=bf16")
    Reduction('split-k:4,pairs,parts=bf16')
    """

    levels: tuple[Level, ...] = field(default=())

    def __post_init__(self) -> None:
        if any(level.kind == "stream-k" for level in self.levels[1:]):
            raise TcsmtError(f"reduction {self}: stream-k must be the outermost level")

    def __str__(self) -> str:
        return "/".join(map(str, self.levels)) or "chained"

    def __repr__(self) -> str:
        return f"Reduction({str(self)!r})"

    @property
    def tiled(self) -> bool:
        """Return whether where K is cut depends on the tile of D."""
        return bool(self.levels) and self.levels[0].kind == "stream-k"

    def sum_format(self, unit: AnyFormat) -> AnyFormat:
        """The format of the whole sum, for a unit with results of this one: that of the outermost additions
        that name one, whether or not K is long enough for any."""
        return next((level.sum for level in self.levels if level.sum is not None), unit)

    @property
    def unordered(self) -> bool:
        """Return whether parts are added in any order, so that D is not one value."""
        return any(level.order == "any" for level in self.levels)

    def on(self, m: int, n: int, length: int) -> Iterator[tuple[slice, slice, Reduction]]:
        """Rows and columns of D that are reduced alike, and how, whatever their tile."""
        if not self.tiled:
            yield slice(0, m), slice(0, n), self
            return
        height, width, _ = self.levels[0].tile
        for row in range(0, m, height):
            for column in range(0, n, width):
                resolved = self.of_element(row, column, (m, n, length))
                yield slice(row, row + height), slice(column, column + width), resolved

    def of_element(self, row: int, column: int, shape: tuple[int, int, int]) -> Reduction:
        """Return how an element of D is reduced, whatever its tile. shape: M, N and K."""
        if not self.tiled:
            return self
        first, *others = self.levels
        m, n, length = shape
        height, width, deep = first.tile
        steps, across = -(-length // deep), -(-n // width)
        share = -(-(-(-m // height) * across * steps) // first.number)
        before = (row // height * across + column // width) * steps
        ends = range(-(-(before + 1) // share) * share, before + steps, share)
        at = tuple((end - before) * deep for end in ends)
        cut = [replace(first, kind="cuts", number=0, at=at, tile=(0, 0, 0))] if at else []
        return Reduction((*cut, *others))

    def orders(self, length: int, k: int, *, c: bool) -> list[Reduction]:
        """Return, of parts that are added in any order, every order; else the reduction alone.

        length: products. k: the instruction's. c: whether a C may enter before the products. Two orders that
        only swap the first two parts are one, where nothing is added to the first one, and it is not rounded.
        Raises :class:`.TcsmtError` where there are too many, or where inner parts are not in order.
        """
        if not self.unordered:
            return [self]
        first, *others = self.levels
        parts = len(first.cut(np.arange(length), k))
        if any(level.order == "any" for level in others):
            raise TcsmtError(f"reduction {self}: only the outermost parts can be added in any order")
        if parts > _MOST_ORDERED:
            raise TcsmtError(
                f"reduction {self}: {parts} parts at K = {length}: at most {_MOST_ORDERED} in any order"
            )
        alike = not c and first.total is None
        orders = [
            order
            for order in permutations(range(parts))
            if not alike or order[:2] == tuple(sorted(order[:2]))
        ]
        named = ["-".join(map(str, order)) for order in orders]
        return [Reduction((replace(first, order=name), *others)) for name in named]


#: One chain along the whole of K.
CHAINED = Reduction()


@ieee_floats
def split_k(parts: int) -> Reduction:
    """So many chains side by side, each over its contiguous share of K; their sums are added in order.

    Raises :class:`.TcsmtError` for less than one.

    >>> import tcsmt
    >>> tcsmt.split_k(4)
    Reduction('split-k:4')
    """
    return Reduction((Level(kind="split-k", number=parts),))


@ieee_floats
def promoted(every: int) -> Reduction:
    """A new chain after every so many products, its sum promoted to a second accumulator.

    DeepGEMM does so for FP8 on Hopper with every = 128 (DeepSeek-V3's N_C). Raises :class:`.TcsmtError` for
    less than one.

    >>> import tcsmt
    >>> tcsmt.promoted(128)
    Reduction('promote:128')
    """
    return Reduction((Level(kind="promote", number=every),))


def fold(
    level: Level,
    parts: Sequence[Value],
    add: Callable[[Value, Value], Value],
    kept: Callable[[Value], Value],
    start: Value | None = None,
) -> Value:
    """Return the sum of the parts in the level's order. kept: what becomes of a running total in memory.

    start: what the parts are added to, one after the other; or the sum of all, where they are a tree.
    """
    if level.order == "any":
        raise TcsmtError(f"reduction {level}: the result hangs on the order of the parts: give order=1-0-...")
    if level.sequence and len(level.sequence) != len(parts):
        raise TcsmtError(f"reduction {level}: an order of {len(level.sequence)} parts, of {len(parts)}")
    return summed(level.order, parts, add, kept, start)


def reduction_named(text: str) -> Reduction:
    """Return the reduction of a text: ``chained``, or levels such as ``split-k:4,pairs/promote:128``.

    Raises :class:`.TcsmtError`, which names what is allowed.
    """
    if text.strip() == "chained":
        return CHAINED
    return Reduction(tuple(_level(part) for part in text.split("/")))


def _level(text: str) -> Level:
    head, *options = (part.strip() for part in text.split(","))
    name, colon, number = head.partition(":")
    kind = choose("reduction", name, ["chained", *_KINDS])
    if kind == "chained":
        raise TcsmtError(f"reduction {text!r}: chained stands alone, without options and other levels")
    values: dict[str, Any] = {"kind": kind}
    if kind == "cuts":
        values["at"] = tuple(_integer(text, "cuts", place) for place in number.split("-"))
    else:
        if not (colon and number.isdecimal()):
            raise TcsmtError(f"reduction {text!r}: expected {kind}:{_KINDS[kind]}")
        values["number"] = int(number)
    for option in options:
        key, equals, value = option.partition("=")
        if not equals and key in _ORDERS:
            values["order"] = key
            continue
        key = choose("option of a reduction", key, [*_OPTIONS, *_ORDERS])
        if key == "order":
            values["order"] = value
        elif key == "from-zero":
            values["from_zero"] = True
        elif key == "tile":
            values["tile"] = tuple(_integer(text, key, side) for side in value.split("x"))
            if len(values["tile"]) != 3:
                raise TcsmtError(f"reduction {text!r}: expected tile=ROWSxCOLUMNSxPRODUCTS")
        elif key in ("step", "halved"):
            values[key] = _integer(text, key, value)
        else:
            values[key] = format_named(value)
    return Level(**values)


_OPTIONS = ("step", "halved", "tile", "order", "from-zero", "parts", "total", "sum")


def separate(text: str) -> list[str]:
    """Return the reductions of a list, in which commas also stand before the options of one.

    >>> separate("chained,split-k:4,pairs,split-k:2/promote:128")
    ['chained', 'split-k:4,pairs', 'split-k:2/promote:128']
    """
    parts: list[str] = []
    for part in map(str.strip, text.split(",")):
        if parts and part.partition("=")[0] in (*_OPTIONS, *_ORDERS):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _integer(text: str, name: str, value: str) -> int:
    if not value.isdecimal():
        raise TcsmtError(f"reduction {text!r}: {name} = {value!r}: must be an integer")
    return int(value)
