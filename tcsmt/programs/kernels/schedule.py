"""Kernels as programs: the steps of a reduction and of an epilogue, in order.

A kernel that is computed and a kernel that is proved about are one program
(:mod:`tcsmt.programs.steps.program`), read on arrays, as terms, or on whatever else stands for words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import (
    FORMATS,
    INTEGERS,
    AnyFormat,
    Format,
    IntegerFormat,
    float_format,
)
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.reduction import CHAINED, Reduction, fold
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Indices, ProductRun, UnitProgram, Value
from tcsmt.simulate.matmul import check_chain
from tcsmt.support.errors import TcsmtError

#: Of random bits, the lowest of which are read.
_BITS = INTEGERS["u32"]
#: What an epilogue's text says where it takes such numbers.
_TAKES = {"bias": "bias", "random": "stochastic=BITS"}


@dataclass(frozen=True)
class Schedule:
    """The steps of a kernel on a unit.

    Raises :class:`.TcsmtError` for what a kernel cannot do to the unit's results.
    """

    unit: Model
    reduction: Reduction = CHAINED
    epilogue: Epilogue = PLAIN

    def __post_init__(self) -> None:
        fmt = self.unit.d_format
        if not isinstance(fmt, IntegerFormat):
            self._check_overflow()
            return
        for level in self.reduction.levels:
            if not level.parts is level.total is level.sum is None:
                raise TcsmtError(
                    f"reduction {level}: parts, total and sum must be left out: the unit's results are "
                    f"integers ({fmt.name}), which are added as they are"
                )
        if self.reduction.levels and fmt.width != unsigned(fmt).itemsize * 8:
            raise TcsmtError(
                f"reduction {self.reduction}: no register adds partial sums of {fmt.width} bits ({fmt.name})"
            )
        epilogue = self.epilogue
        if (
            epilogue.out
            or epilogue.bias
            or epilogue.c == "epilogue"
            or epilogue.alpha != 1
            or epilogue.beta not in (0, 1)
        ):
            raise TcsmtError(
                f"epilogue {epilogue}: alpha and beta must be 1, and bias, out and c=epilogue must be left "
                f"out: the unit's results are integers ({fmt.name})"
            )

    def _check_overflow(self) -> None:
        """What the epilogue computes can overflow, which a format without infinities cannot say."""
        epilogue, fmt = self.epilogue, float_format(self.sum_format)
        computes = (
            epilogue.bias or epilogue.alpha != 1 or epilogue.beta not in (0, 1) or epilogue.c == "epilogue"
        )
        if computes and not epilogue.out and not fmt.has_infinity:
            raise TcsmtError(
                f"epilogue {epilogue}: out=FORMAT is missing: the unit's results are {fmt.name} words, which "
                "have no infinities; give a format that has, or out=FORMAT,saturate"
            )

    @property
    def sum_format(self) -> AnyFormat:
        """Return the format of the sum before the epilogue, whatever K."""
        return self.reduction.sum_format(self.unit.d_format)

    @property
    def working_format(self) -> Format:
        """Return the format in which the epilogue computes, and in which a bias is given."""
        return FORMATS["f64" if float_format(self.sum_format).name == "f64" else "f32"]

    @property
    def d_format(self) -> AnyFormat:
        """Return the format of the results, in which everything reads them."""
        return self.epilogue.out[-1] if self.epilogue.out else self.sum_format

    @property
    def nans(self) -> NanWords:
        """Return which words NaN results of its own arithmetic have."""
        return self.epilogue.nans

    def knows_nans(self, length: int) -> bool:
        """Return whether a source says which word a NaN result over so many products has.

        It does where the last operation before the result is the unit's, or one of a format whose NaN the
        rule has. The kernel takes no bias and no random bits.
        """
        last = self.program(length, c=True).result
        return last.kind == "chain" or self.nans.is_known(last.format)

    def chains(
        self, length: int, reduction: Reduction | None = None, *, c: bool = False
    ) -> list[tuple[Indices, bool]]:
        """Return the indices of K that each chain takes, and whether it begins with C.

        c: whether there is one.

        Raises :class:`.TcsmtError` for chains that the unit cannot make, and for parts in no order, or in
        one for another number of parts.
        """
        return self.chains_of(self.sums(length, reduction, c=c))

    def chains_of(self, program: UnitProgram) -> list[tuple[Indices, bool]]:
        """Return the same of a sum that is at hand."""
        found = [(step.how["runs"][0].indices, program.starts_with(step, "c")) for step in program.chains]
        check_chain(self.unit, max(len(part) for part, _ in found))
        return found

    def check_numbers(self, **numbers: bool) -> None:
        """Refuse a bias or random numbers that are missing, or not taken. Raises :class:`.TcsmtError`."""
        taken = {"bias": self.epilogue.bias, "random": bool(self.epilogue.stochastic)}
        for name, there in numbers.items():
            if taken[name] and not there:
                raise TcsmtError(f"{name} is missing: the epilogue takes it ({self.epilogue})")
            if there and not taken[name]:
                raise TcsmtError(
                    f"{name} is given, but the epilogue takes none: add {_TAKES[name]} to its text"
                )

    def sums(self, length: int, reduction: Reduction | None = None, *, c: bool = False) -> UnitProgram:
        """Return the sum over so many products, and of C where it enters before them, as a program.

        Its inputs are ``A``, ``B`` and, c saying whether there is one, ``c``. reduction: of the elements at
        hand, where those of others are reduced in another way (:meth:`.Reduction.on`).
        """
        return _sums(self, length, reduction or self.reduction, c)

    def end(
        self, *, c: bool = False, bias: bool = False, random: bool = False, alpha: bool = False
    ) -> UnitProgram:
        """Return what the epilogue makes of the sum, as a program.

        Its inputs are ``total`` and those of ``c``, ``bias``, ``random`` and ``alpha`` that there are. alpha:
        one for each element, in place of the epilogue's, in the format in which it computes; C must enter
        after the products then. Raises :class:`.TcsmtError` as :meth:`check_numbers` does.
        """
        self.check_numbers(bias=bias, random=random)
        return _end(self, c, bias, random, alpha)

    def program(
        self, length: int, *, c: bool = False, bias: bool = False, random: bool = False
    ) -> UnitProgram:
        """Return the whole kernel over so many products as a program.

        Its inputs are ``A``, ``B``, and those of ``c``, ``bias`` and ``random`` that there are. Raises
        :class:`.TcsmtError` as :meth:`check_numbers` does.
        """
        self.check_numbers(bias=bias, random=random)
        return _whole(self, length, c, bias, random)

    def write_sum(
        self, build: Builder, indices: Indices, c: Value | None, reduction: Reduction | None = None
    ) -> Value:
        """Write the sum of A·B over some indices of K, and of C where it enters first; return it."""
        operands = build.input("A", self.unit.a_format, "A"), build.input("B", self.unit.b_format, "B")

        def chain(part: Indices, start: Value | None) -> Value:
            return build.chain(self.unit, operands, [ProductRun(part)], start)

        start = self._given(c) if self.epilogue.c_first else None
        total = reduced(build, reduction or self.reduction, indices, self.unit.k, chain, start)
        return build.convert(total, self.sum_format)

    def write_end(
        self,
        build: Builder,
        total: Value,
        c: Value | None = None,
        bias: Value | None = None,
        random: Value | None = None,
        alpha: Value | None = None,
    ) -> Value:
        """Write what the epilogue makes of the sum; return it. None: there is none."""
        epilogue = self.epilogue
        added = None if epilogue.c_first else self._given(c)
        if alpha is not None or epilogue.alpha != 1 or added is not None:
            total = self._scaled(build, total, added, alpha)
        if bias is not None:
            fmt = self.working_format
            total = build.add(fmt, build.convert(total, fmt), bias)
        *middle, last = epilogue.out or (self.sum_format,)
        for wanted in middle:
            total = build.convert(total, wanted, epilogue.rounding)
        if random is None:
            return build.convert(total, last, epilogue.rounding, saturate=epilogue.saturate)
        return build.convert_randomly(
            total, float_format(last), random, epilogue.stochastic, saturate=epilogue.saturate
        )

    def numbers(self, build: Builder, **given: bool) -> dict[str, Value | None]:
        """Return the inputs besides A and B; given: which of c, bias, random and alpha there are."""

        def format_of(name: str) -> AnyFormat:
            match name:
                case "c":
                    return self.unit.c_format
                case "random":
                    return _BITS
                case _:
                    return self.working_format

        return {name: build.input(name, format_of(name)) if there else None for name, there in given.items()}

    def _given(self, c: Value | None) -> Value | None:
        """C, where it enters at all."""
        return None if self.epilogue.beta == 0 else c

    def _scaled(self, build: Builder, total: Value, c: Value | None, alpha: Value | None) -> Value:
        """fma(sum, alpha, beta·C); without a C the product alone, whose zeros keep their signs."""
        fmt = self.working_format
        nothing = build.constant(fmt, 1 << fmt.sign_bit)

        def number(value: float) -> Value:
            with np.errstate(over="ignore"):
                return build.constant(fmt, int(np.array(value, dtype_of(fmt)).view(unsigned(fmt))))

        added = nothing
        if c is not None:
            added = build.convert(c, fmt)
            if self.epilogue.beta != 1:
                added = build.multiply_add(fmt, added, number(self.epilogue.beta), nothing)
        words = build.convert(total, fmt)
        factor = number(self.epilogue.alpha) if alpha is None else alpha
        return build.multiply_add(fmt, words, factor, added)


@lru_cache(maxsize=1024)
def _sums(schedule: Schedule, length: int, reduction: Reduction, c: bool) -> UnitProgram:
    build = Builder()
    start = build.input("c", schedule.unit.c_format) if c else None
    return build.program(schedule.write_sum(build, np.arange(length), start, reduction))


@lru_cache(maxsize=1024)
def _end(schedule: Schedule, c: bool, bias: bool, random: bool, alpha: bool) -> UnitProgram:
    build = Builder()
    given = schedule.numbers(build, c=c, bias=bias, random=random, alpha=alpha)
    return build.program(schedule.write_end(build, build.input("total", schedule.sum_format), **given))


@lru_cache(maxsize=256)
def _whole(schedule: Schedule, length: int, c: bool, bias: bool, random: bool) -> UnitProgram:
    build = Builder()
    given = schedule.numbers(build, c=c, bias=bias, random=random)
    total = schedule.write_sum(build, np.arange(length), given["c"])
    return build.program(schedule.write_end(build, total, **given))


Chain = Callable[[Indices, Value | None], Value]


def reduced(
    build: Builder, reduction: Reduction, indices: Indices, k: int, chain: Chain, c: Value | None = None
) -> Value:
    """Write the sum over some indices of K; return it. k: the instruction's. c: enters first.

    chain: writes the unit's instructions over some indices, from a value or from +0. indices: integers of
    shape (length,).
    """
    if not reduction.levels:
        return chain(indices, c)
    level, inner = reduction.levels[0], Reduction(reduction.levels[1:])
    parts = [reduced(build, inner, part, k, chain) for part in level.cut(indices, k)]
    fmt = level.sum or parts[0].format

    def via(middle: Format | None, value: Value) -> Value:
        return build.convert(value if middle is None else build.convert(value, middle), fmt)

    start = None if c is None else build.convert(c, fmt)
    if c is None and level.from_zero:
        start = build.constant(fmt, 0)
    return fold(
        level, [via(level.parts, part) for part in parts], lambda x, y: build.add(fmt, x, y),
        lambda total: via(level.total, total), start,
    )  # fmt: skip
