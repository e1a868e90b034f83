"""Computations on which every interpretation of terms is held against integers: random ones, and short cuts.

The integers are ``wordmath``'s, which uses nothing of tcsmt. A computation is a description; its term is
built by the constructors, which simplify, and once more node by node as described. Its shapes are of
no model, too.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
import pytest

from tcsmt.language import terms
from tcsmt.language.graphs.limbs import pieces
from tcsmt.language.terms import Term
from tests.oracles import wordmath
from tests.oracles.wordmath import Maker, Node
from tests.support.computations import constructed

__all__ = [
    "MANY", "Case", "Machine", "by_node", "cases", "corner_cases", "on_many_compiled",
    "on_many_random_cases", "on_random_cases", "on_shapes", "unsimplified",
]  # fmt: skip

#: Domain of a computation: a multiple of every vector's rows.
ROWS = 16


def unsimplified(node: Node, a: Sequence[Term]) -> Term:
    """The node's term as described, by the one function that makes nodes."""
    negated = {"ne": ("eq", a), "ule": ("ult", a[::-1]), "sle": ("slt", a[::-1])}
    if node.op in negated:
        op, args = negated[node.op]
        return terms._make("not", 1, (terms._make(op, 1, tuple(args)),))
    if node.op in ("const", "var", "leading_zeros", "normalised", "fma"):
        return constructed(node, a)
    data = node.data if node.op == "extract" else None
    return terms._make(node.op, node.width, tuple(a), data)


@dataclass(frozen=True)
class Case:
    """A computation, its inputs row by row, and the value of every node in every row."""

    name: str
    nodes: list[Node]
    inputs: dict[str, list[int]]

    @classmethod
    def random(cls, seed: int, *, steps: int, widest: int = 200) -> Case:
        """Of a seed, which is its name."""
        rng = random.Random(seed)
        nodes = wordmath.described(rng, widest, steps)
        inputs = {str(n.data): wordmath.words(rng, n.width, ROWS) for n in nodes if n.op == "var"}
        return cls(f"seed {seed}", nodes, inputs)

    def rows(self) -> Iterator[dict[str, int]]:
        """The inputs of each row."""
        for row in zip(*self.inputs.values(), strict=True):
            yield dict(zip(self.inputs, row, strict=True))

    @cached_property
    def values(self) -> list[list[int]]:
        """By node, the value in each row."""
        return by_node(wordmath.evaluate(self.nodes, row) for row in self.rows())

    def made(self, make: Callable[[Node, Sequence[Term]], Term]) -> list[Term]:
        """Every node's term."""
        found: list[Term] = []
        for node in self.nodes:
            found.append(make(node, [found[place] for place in node.args]))
        return found

    @cached_property
    def terms(self) -> list[Term]:
        """By the constructors."""
        return self.made(constructed)

    @cached_property
    def variables(self) -> list[Term]:
        """Of the inputs."""
        return [term for node, term in zip(self.nodes, self.terms, strict=True) if node.op == "var"]

    def hold(self, got: Sequence[Sequence[int]], who: str, places: Sequence[int] | None = None) -> None:
        """Fails where the values of some nodes (of all) are not the integers'."""
        for place, found in zip(range(len(self.nodes)) if places is None else places, got, strict=True):
            right = self.values[place]
            wrong = [row for row, (x, y) in enumerate(zip(right, found, strict=True)) if x != y]
            if wrong:
                row = wrong[0]
                listed = "\n".join(
                    f"  {number}: {node} = {self.values[number][row]:#x}"
                    for number, node in enumerate(self.nodes[: place + 1])
                )
                pytest.fail(
                    f"{self.name}: {who} gives {found[row]:#x} for node {place}, not {right[row]:#x}; "
                    f"{len(wrong)} of {len(right)} rows are wrong\n{listed}"
                )


def by_node(rows: Iterator[list[int]]) -> list[list[int]]:
    """Rows of values as columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def cases(seeds: range, *, steps: int = 8) -> Iterator[Case]:
    """Random computations, every second one without words wider than machines have."""
    for seed in seeds:
        yield Case.random(seed, steps=steps, widest=64 if seed % 2 else 200)


class Compiled(Protocol):
    """What checks some computations at a time: the last node of each, or all nodes."""

    def check(self, some: Sequence[Case], *, last: bool) -> None:
        """Fails where one is wrong."""


@dataclass(frozen=True)
class Machine:
    """A back end that compiles: bits of its words, rows side by side, and how it makes code."""

    name: str
    limb: int
    rows: int
    source: Callable[[str, Sequence[Term], Sequence[Term]], str]
    link: Callable[[Sequence[str], Sequence[str]], dict[str, int]]
    lower: Callable[[Sequence[Term]], list[list[Term]]]

    def check(self, some: Sequence[Case], *, last: bool) -> None:
        """The last node of each computation, or all nodes."""
        names = [f"case{number}" for number in range(len(some))]
        chosen = [range(len(case.nodes))[-1 if last else 0 :] for case in some]
        lowered = [
            self.lower([case.terms[place] for place in p]) for case, p in zip(some, chosen, strict=True)
        ]
        inputs = [[piece for x in case.variables for piece in pieces(x, self.limb)] for case in some]
        texts = [
            self.source(name, [limb for root in roots for limb in root], given)
            for name, roots, given in zip(names, lowered, inputs, strict=True)
        ]
        addresses = self.link(texts, names)
        for name, case, places, roots in zip(names, some, chosen, lowered, strict=True):
            case.hold(self._run(addresses[name], case, roots), self.name, places)

    def _run(self, address: int, case: Case, roots: Sequence[Sequence[Term]]) -> list[list[int]]:
        dtype = {32: np.uint32, 64: np.uint64}[self.limb]
        given = [
            np.array([word >> place * self.limb & ((1 << piece.width) - 1) for word in words], dtype)
            for x, words in zip(case.variables, case.inputs.values(), strict=True)
            for place, piece in enumerate(pieces(x, self.limb))
        ]
        rows = len(given[0])
        # what code does not write, or is free to write, is not right by chance
        found = [[np.full(rows, 0x5A5A5A5A, dtype) for _ in root] for root in roots]
        pointers = [
            (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
            for arrays in (given, [limb for root in found for limb in root])
        ]
        ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(address)(
            rows // self.rows, *(ctypes.cast(p, ctypes.c_void_p) for p in pointers)
        )
        return [
            [
                sum(int(limb[row]) << place * self.limb for place, limb in enumerate(root))
                for row in range(rows)
            ]
            for root in found
        ]


# --- shapes at which back ends take a short cut ---------------------------------------------------


class Shape(Maker):
    """A computation written out, on two inputs of 64 bits."""

    def __init__(self) -> None:
        super().__init__(random.Random(0), 200)
        self.x, self.y = (self.add("var", 64, data=name) for name in ("x0", "x1"))

    def const(self, width: int, value: int) -> int:
        """A constant modulo 2^width."""
        return self.add("const", width, data=value % (1 << width))

    def low(self, place: int, width: int) -> int:
        """The lowest bits of a word."""
        return self.add("extract", width, place, data=(width - 1, 0))

    def sext(self, width: int, place: int, narrow: int) -> int:
        """The lowest bits of a word, sign-extended."""
        return self.add("sext", width, self.low(place, narrow)) if narrow < width else self.low(place, narrow)


def reductions(op: str, width: int, narrow: int) -> Shape:
    """Of sign-extended words: sums of them are made in 32 bits."""
    made = Shape()
    x, y = (made.sext(width, place, narrow) for place in (made.x, made.y))
    empty = made.add("lshr", width, y, made.const(width, width))
    for args in ((x, y), (x, y, x, x, y, y), (x, empty), (made.const(width, -1), x, y)):
        made.add(op, width, *args)
    return made


def one_sided(width: int) -> Shape:
    """Sums of 31-bit words of one sign, sign-extended: one end leaves 32 bits long before the other."""
    made = Shape()
    for place in (made.x, made.y):
        positive = made.add("lshr", 31, made.low(place, 31), made.const(31, 1))
        for narrow in (positive, made.add("neg", 31, positive)):
            term = made.add("sext", width, narrow)
            for count in range(2, 7):
                made.add("add", width, *[term] * count)
    return made


def carries(width: int) -> Shape:
    """Sums and differences of words that are not below, or not above, a constant."""
    made = Shape()
    x, y = (made.sext(width, place, min(width, 60)) for place in (made.x, made.y))
    for least, constant in ((1, -1), (1, -2), (9, -2), (9, -9)):
        bounded = made.add("umax", width, x, made.const(width, least))
        made.add("add", width, made.const(width, constant), bounded)
        made.add("add", width, made.const(width, constant), bounded, y)
        for most in (least, least + 1):
            made.add("sub", width, bounded, made.add("and", width, y, made.const(width, most)))
    zero = made.add("eq", 1, x, made.const(width, 0))
    chosen = made.add("ite", width, zero, made.const(width, 3), x)
    made.add("add", width, made.const(width, -1), chosen)
    return made


def signs(width: int) -> Shape:
    """Signed readings of words that were negated, extended or chosen."""
    made = Shape()
    x, y = (made.sext(width, place, min(width, 60)) for place in (made.x, made.y))
    negative, narrow = made.add("neg", width, x), made.sext(width, made.x, width // 2)
    chosen = made.add("ite", width, made.low(made.y, 1), negative, narrow)
    sums = [made.add("add", width, word, y) for word in (x, narrow, negative)]
    for word in (negative, chosen, made.add("neg", width, narrow), made.add("neg", width, chosen), *sums):
        made.add("sext", width + 7, word)
        made.add("slt", 1, word, y)
        made.add("ashr", width, word, made.const(width, 1))
    return made


def moves(width: int) -> Shape:
    """Shifts around the sizes of machines' words, comparisons, leading zeros."""
    made = Shape()
    x, y = (made.sext(width, place, min(width, 64)) for place in (made.x, made.y))
    for op in wordmath.SHIFTS:
        made.add(op, width, x, y)
        for amount in {width - 1, width, 16, 32, 64}:
            places = made.const(width, amount)
            made.add(op, width, x, places)
            made.add(op, width, x, made.add("and", width, y, places))
    for op in wordmath.COMPARISONS:
        made.add(op, 1, x, y)
    made.add("leading_zeros", max(1, (width - 1).bit_length()), x)
    made.add("normalised", width, x)
    return made


def wide_product() -> Shape:
    """One of 100 bits: as an integer of LLVM's it came out wrong."""
    made = Shape()
    bit = made.add("zext", 100, made.low(made.x, 1))
    product = made.add("mul", 100, bit, made.sext(100, made.x, 16))
    made.add("extract", 2, product, data=(69, 68))
    return made


def shapes() -> Iterator[tuple[str, Shape]]:
    """Every shape with a name."""
    for op, width, narrow in itertools.product(wordmath.REDUCTIONS, (33, 48, 64), (17, 31, 32)):
        yield f"{op} of words of {narrow} bits sign-extended to {width}", reductions(op, width, narrow)
    for width in (40, 64):
        yield f"sums of one sign in {width} bits", one_sided(width)
    for width in (5, 20, 32, 40, 64, 90):
        yield f"carries of {width} bits", carries(width)
        yield f"signs of {width} bits", signs(width)
    for width in (1, 2, 16, 17, 31, 32, 33, 64, 65, 128):
        yield f"moves of {width} bits", moves(width)
    yield "a wide product", wide_product()


@cache
def corner_cases() -> list[Case]:
    """The shapes on all pairs of words at the ends of ranges, of 64 bits and of those that are cut out."""
    rng, found = random.Random(0), []
    for name, made in shapes():
        widths = {node.width for node in made.nodes if node.op == "extract"} | {64}
        pairs = [
            pair for width in sorted(widths) for pair in itertools.product(wordmath.ends(width), repeat=2)
        ]
        pairs += [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(-len(pairs) % 16)]
        x, y = zip(*pairs, strict=True)
        found.append(Case(name, made.nodes, {"x0": list(x), "x1": list(y)}))
    return found


# --- checks of one computation after the other -----------------------------------------------------

#: How many steps the many random computations of the long tests have.
MANY = (5, 12, 30)


def on_shapes(check: Callable[[Case], None]) -> None:
    """Every shape."""
    for case in corner_cases():
        check(case)


def on_random_cases(check: Callable[[Case], None], count: int) -> None:
    """So many random computations."""
    for case in cases(range(count)):
        check(case)


def many(steps: int) -> Iterator[list[Case]]:
    """Random computations of so many steps, 40 at a time."""
    for first in range(10_000 * steps, 10_000 * steps + 800, 40):
        yield list(cases(range(first, first + 40), steps=steps))


def on_many_random_cases(check: Callable[[Case], None], steps: int) -> None:
    """Each of these."""
    for some in many(steps):
        for case in some:
            check(case)


def on_many_compiled(machine: Compiled, steps: int) -> None:
    """All nodes, and the last one alone, so that compilers are free to do as they like."""
    for some in many(steps):
        machine.check(some, last=False)
        machine.check(some, last=True)
