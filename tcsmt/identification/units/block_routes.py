"""The blocks through which a structure puts a question: its route.

Routes of many structures and questions are numbered together, and so are their blocks, so that blocks of one
kind are computed at once, whichever route they are of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.identification.units.family import Family, Structure
from tcsmt.identification.units.questions import Questions, last_place, least_exponent, product_exponents
from tcsmt.matrix_units.arithmetic.formats import Format

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class BlockKind:
    """The facts that decide the graph of a block's sum."""

    lanes: int
    products: str
    order: str  #: as a structure's, but ``aligned`` where c is added last
    c_format: Format


class Doubt:
    """The blocks in which columns from 6 on can matter: never, always, or where its c is small."""

    NEVER, ALWAYS, SMALL = range(3)


@dataclass(frozen=True)
class BlockRoutes:
    """Blocks by their numbers, and routes as these numbers.

    kinds: those there are. kind: of every block. words: of a block, in a row of its kind's array: a's, then
    b's. place: which row. doubt: of every block, as :class:`Doubt`. turns: of shape (blocks of the longest
    route, routes); -1 beyond the end. starts: the first block's c, of every route.
    """

    kinds: Sequence[BlockKind]
    words: Sequence[Array]
    kind: Array
    place: Array
    doubt: Array
    turns: Array
    starts: Array


class _Blocks:
    """Blocks as they are numbered."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.kinds: dict[BlockKind, int] = {}
        self.words: list[list[Any]] = []
        self.kind: list[int] = []
        self.place: list[int] = []
        self.doubt: list[int] = []
        self.seen: dict[tuple[int, tuple[int, ...], int], int] = {}

    def kind_of(self, structure: Structure, lanes: int, *, first: bool) -> int:
        family = self.family
        last = structure.order == "last"
        fmt = family.c_format if first and not last else family.d_format
        kind = BlockKind(lanes, structure.products, "aligned" if last else structure.order, fmt)
        number = self.kinds.setdefault(kind, len(self.kinds))
        if number == len(self.words):
            self.words.append([])
        return number

    def one(self, kind: int, words: tuple[int, ...], doubt: int) -> int:
        """Return the number of a block."""
        key = kind, words, doubt
        number = self.seen.get(key)
        if number is None:
            number = self.seen[key] = len(self.kind)
            self.kind.append(kind)
            self.place.append(len(self.words[kind]))
            self.doubt.append(doubt)
            self.words[kind].append(words)
        return number

    def several(self, kind: int, words: Array) -> Array:
        """Return the numbers of blocks with these rows of words; equal rows have one number."""
        _, first, alike = np.unique(words, axis=0, return_index=True, return_inverse=True)
        start, place = len(self.kind), len(self.words[kind])
        self.words[kind].extend(words[first])
        self.kind.extend([kind] * len(first))
        self.place.extend(range(place, place + len(first)))
        self.doubt.extend([Doubt.NEVER] * len(first))
        numbers: Array = start + alike.reshape(-1)
        return numbers

    def routes(self, turns: Array, starts: Array) -> BlockRoutes:
        return BlockRoutes(
            list(self.kinds), [np.array(words, np.uint64) for words in self.words],
            np.array(self.kind), np.array(self.place), np.array(self.doubt), turns, starts,
        )  # fmt: skip


def _starts(structures: Sequence[Structure], questions: Questions) -> Array:
    """Return the first block's c of every structure and question: c, unless that is added last."""
    last = np.array([structure.order == "last" for structure in structures])
    return np.where(last, np.uint64(0), questions.c)


def whole_routes(family: Family, structure: Structure, questions: Questions) -> BlockRoutes:
    """A route for each question: all blocks of a structure."""
    blocks = _Blocks(family)
    turns = []
    for turn, lanes in enumerate(map(list, structure.blocks)):
        words = np.concatenate([questions.a[:, lanes], questions.b[:, lanes]], axis=1)
        turns.append(blocks.several(blocks.kind_of(structure, len(lanes), first=not turn), words))
    return blocks.routes(np.array(turns), _starts([structure] * len(questions), questions))


def blocks_used(structure: Structure, used: frozenset[int], *, c: bool) -> list[tuple[int, ...]]:
    """Return the blocks without lanes and blocks that change nothing in the answer to an ordinary question.

    used: the lanes whose products are not zero. c: whether c is not zero.

    A zero product's exponent is no maximum there, so that it only counts as one of the additions
    with normalisation after every addition, which lose bits of what came before, but once only.
    So does a block of zeros.
    """
    blocks: list[tuple[int, ...]] = []
    # whether another block of zeros changes nothing
    settled = structure.order == "last" or not c
    every = structure.order == "every"
    for lanes in structure.blocks:
        lanes_left = tuple([lane for lane in lanes if lane in used]) if not used.isdisjoint(lanes) else ()
        if lanes_left:
            if every:
                lanes_left = tuple(
                    n for i, n in enumerate(lanes) if n in used or not i or lanes[i - 1] in used
                )
            blocks.append(lanes_left)
            settled = False
        elif not settled:
            blocks.append(lanes[:1])
            settled = True
    return blocks or [structure.blocks[0][:1]]


def signature(structure: Structure, used: frozenset[int], *, c: bool) -> tuple[object, ...]:
    """Structures with the same one answer alike to an ordinary question, carry bits by number."""
    blocks = blocks_used(structure, used, c=c)
    return (
        tuple([tuple([n if n in used else -1 for n in lanes]) for lanes in blocks]),
        structure.products,
        structure.order,
    )


def lanes_used(questions: Questions) -> list[frozenset[int]]:
    """Return the lanes of ordinary questions whose products are not zero."""
    return [frozenset(np.flatnonzero(row).tolist()) for row in questions.a]


def used_routes(
    family: Family, structures: Sequence[Structure], asked: Sequence[int], questions: Questions
) -> BlockRoutes:
    """A route for each of some structures, with the ordinary question of that number.

    It has the blocks that it uses; a block has the lanes that it uses, and as many zeros that blocks of many
    sizes have few kinds.
    """
    blocks, zeros = _Blocks(family), [z for z in family.zero_exponents if z is not None]
    least, coarsest = least_exponent(family), max(zeros)
    exponents, used = product_exponents(family, questions), questions.a != 0
    a, b, c, _ = family.formats
    fine = last_place(a, questions.a) + last_place(b, questions.b) < coarsest
    fine_c = (questions.c != 0) & (last_place(c, questions.c) < coarsest)
    coarse = ~(fine & used).any(axis=1) & ~fine_c
    words = [
        list(zip(*rows, strict=True)) for rows in zip(questions.a.tolist(), questions.b.tolist(), strict=True)
    ]
    lanes_of, large, with_c = lanes_used(questions), exponents >= least, (questions.c != 0).tolist()
    routes: list[list[int]] = []
    for structure, number in zip(structures, asked, strict=True):
        route: list[int] = []
        lanes_in = lanes_of[number]
        for lanes in blocks_used(structure, lanes_in, c=with_c[number]):
            if structure.order == "every" and not coarse[number]:
                doubt = Doubt.ALWAYS
            elif lanes_in.isdisjoint(lanes):
                doubt = Doubt.SMALL
            else:
                doubt = Doubt.NEVER if large[number, list(lanes)].any() else Doubt.ALWAYS
            pairs = _padded(structure, lanes, [words[number][lane] for lane in lanes], lanes_in)
            kind = blocks.kind_of(structure, len(pairs), first=not route)
            route.append(blocks.one(kind, tuple(x for side in zip(*pairs, strict=True) for x in side), doubt))
        routes.append(route)
    turns = np.full((max(map(len, routes)), len(routes)), -1)
    for number, route in enumerate(routes):
        turns[: len(route), number] = route
    return blocks.routes(turns, _starts(structures, questions[np.asarray(asked)]))


def _padded(
    structure: Structure, lanes: Sequence[int], pairs: list[tuple[int, int]], used: frozenset[int]
) -> list[tuple[int, int]]:
    """A block's words with more zero lanes, up to a power of two.

    With normalisation after every addition, a zero is repeated that is there already: only where an addition
    of zero follows another one does it change nothing.
    """
    more = min(1 << (len(lanes) - 1).bit_length(), structure.n_fma) - len(lanes)
    if structure.order != "every":
        return pairs + more * [(0, 0)]
    zero = next((place for place, lane in enumerate(lanes) if lane not in used), None)
    return pairs if zero is None else pairs[:zero] + more * [pairs[zero]] + pairs[zero:]
