"""A matrix multiplication in binary32 made of a narrower unit's instructions, as a model of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Kind, Model, Stage
from tcsmt.matrix_units.models.base import Terms, choice
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.operations import scaled_sum
from tcsmt.programs.steps.program import ProductRun, UnitProgram, read
from tcsmt.programs.steps.running_sum import COMPENSATIONS, PLAIN, Outside, RunningSum
from tcsmt.programs.steps.split import RNE, Split

#: One instruction: which word of a, which word of b, and the lanes of the dot product that it takes.
Step = tuple[int, int, range]


@dataclass(frozen=True)
class Sum:
    """Products of words that the unit itself adds up.

    products: (word of a, word of b), in the order in which they are added.
    every: a new chain of instructions, beginning with +0, after so many products of the dot
        product; its result is added outside (0: one chain over all of k). The unit's K: nothing is
        ever accumulated inside (Ootomo and Yokota); 128: DeepSeek-V3's N_C.
    first: products of the first of these chains (0: as many as of the others).
    """

    products: tuple[tuple[int, int], ...]
    every: int = 0
    first: int = 0


@dataclass(frozen=True, kw_only=True)
class Algorithm(Model):
    """A dot product of binary32 numbers, c + Σ a·b, through words of a narrower format.

    (Of numbers of ``split.wide``, where that is another format.)

    It is a model: it has a trace, runs on arrays, and can be asked about like a unit.
    unit: the instruction that is used, or several as a sequence. Its formats have the fields of the words'
        and of the wide format; words are passed as they are, also where only one of both calls them infinite.
    split: how a and b become words.
    sums: what the unit adds up; the sums are added outside in this order, each first multiplied by
        2^(-scale·(i+j)), by binary32 multiply-adds with ``rounding``.
    interleaved: whether an instruction's lanes see all products of a sum before the next lanes
        (else each product runs along all of k before the next one).
    c_enters: ``unit``: as the first c of the first chain; ``first``: outside, before the first sum;
        ``last``: outside, after the last.
    compensated: how the additions outside carry along what they lose (``none``: they do not).
    """

    kind: ClassVar[str] = "algorithm"
    title: ClassVar[str] = "an algorithm on a matrix unit"
    #: An error budget needs no graph of the whole dot product.
    longest: ClassVar[int] = 1 << 16
    a_format: Format = field(init=False)
    b_format: Format = field(init=False)
    c_format: Format = field(init=False)
    d_format: Format = field(init=False)
    unit: Model
    split: Split
    sums: tuple[Sum, ...]
    interleaved: bool = True
    c_enters: str = choice("unit", "first", "last")
    rounding: Rounding = RNE
    compensated: str = choice(PLAIN, *COMPENSATIONS)

    def __post_init__(self) -> None:
        for name in ("a_format", "b_format", "c_format", "d_format"):
            object.__setattr__(self, name, self.wide)
        super().__post_init__()

    @property
    def wide(self) -> Format:
        """Return the format of a, b, c and the result."""
        return self.split.wide

    def validate(self) -> None:
        """The unit takes the words and accumulates in the wide format; sums are made of words that exist."""
        unit, split = self.unit, self.split
        narrow = split.format.has_fields_of(unit.a_format) and split.format.has_fields_of(unit.b_format)
        plain = narrow and unit.scale_format is None
        self.check("unit", plain, f"a unit with {split.format.name} operands and no block scales")
        has_fields = self.wide.has_fields_of(unit.c_format) and self.wide.has_fields_of(unit.d_format)
        self.check("unit", has_fields, f"a unit with {self.wide.name} for c and the result")
        places = [p for total in self.sums for product in total.products for p in product]
        self.check("sums", bool(places) and all(total.products for total in self.sums), "one product or more")
        products = [product for total in self.sums for product in total.products]
        self.check("sums", len(set(products)) == len(products), "each product of words once")
        self.check("sums", all(0 <= p < split.words for p in places), f"words 0 to {split.words - 1}")
        shifts = [{split.scale * (i + j) for i, j in total.products} for total in self.sums]
        self.check("sums", all(len(shift) == 1 for shift in shifts), "products of one scale in each sum")
        self.check("sums", shifts[0] == {0}, "a first sum that is not scaled")
        self.check("sums", all(total.every >= 0 for total in self.sums), "0 or more for every")
        fits = all(0 <= total.first <= total.every for total in self.sums)
        self.check("sums", fits, "first from 0 to every")

    def chains(self, k: int) -> Iterator[tuple[int, list[Step]]]:
        """For each chain of instructions in order: the scale of its result, 2^-shift, and its steps."""
        for total in self.sums:
            shift = self.split.scale * sum(total.products[0])
            first = total.first or total.every or k
            for start, stop in pairwise([0, *range(first, k, total.every or k), k]):
                lanes = [range(s, min(s + self.unit.k, stop)) for s in range(start, stop, self.unit.k)]
                if self.interleaved:
                    yield shift, [(i, j, part) for part in lanes for i, j in total.products]
                else:
                    yield shift, [(i, j, part) for i, j in total.products for part in lanes]

    def program(self, k: int) -> UnitProgram:
        """Return a dot product of k as a program, with inputs ``A``, ``B`` and ``c``."""
        return _program(self, k)

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Split, run the chains, add their results outside."""
        return self._read({"A": x.a, "B": x.b, "c": x.c}, stages)

    def after_split(self, a: Sequence[Sequence[Term]], b: Sequence[Sequence[Term]], c: Term) -> list[Stage]:
        """Return the stages from the words of each a and b on; the last one is the result."""
        stages: list[Stage] = []
        splits = [n for n, step in enumerate(self.program(self.k).steps) if step.kind == "split"]
        self._read({"A": a, "B": b, "c": c}, stages, dict(zip(splits, (a, b), strict=True)))
        return stages

    def added(self, x: Term, shift: int, y: Term) -> ieee.Operation:
        """x·2^-shift + y, rounded once, as outside the unit."""
        return scaled_sum(self.wide, x, shift, y, self.rounding, QUIET.computed(self.wide))

    def _read(
        self, inputs: Mapping[str, Any], stages: list[Stage], given: Mapping[int, Any] | None = None
    ) -> Term:
        word: Term = read(self.program(self.k), TermRules(stages, QUIET), inputs, given=given)
        if stages[-1].kind is not Kind.RESULT:
            stages.append(Stage(None, Kind.RESULT, None, self.wide, word))
        return word


@lru_cache(maxsize=256)
def _program(algorithm: Algorithm, k: int) -> UnitProgram:
    build, wide = Builder(), algorithm.wide
    operands = [build.split(build.input(axes, wide, axes), algorithm.split) for axes in "AB"]
    c = build.input("c", wide)
    first = build.note(c, Kind.C_OUTSIDE) if algorithm.c_enters == "first" else None
    outside = Outside(build, wide, algorithm.rounding)
    total = RunningSum(algorithm.compensated, outside, first)
    for number, (shift, steps) in enumerate(algorithm.chains(k)):
        start = c if number == 0 and algorithm.c_enters == "unit" else None
        runs = [ProductRun(np.arange(part.start, part.stop), (i, j)) for i, j, part in steps]
        total.add(build.chain(algorithm.unit, operands, runs, start), shift, number)
    if algorithm.c_enters == "last":
        total.add(c, 0, None)
    return build.program(total.result())
