"""The steps of a kernel, written once: for arrays of words, for terms, and for whatever else stands for
words.

A kernel that is computed and a kernel that is proved about are the same steps in the same order. What a step
is on one kind of words is a :class:`SumSteps`, or a :class:`KernelSteps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from tcsmt.compose.kernels.epilogue import PLAIN, Epilogue
from tcsmt.compose.kernels.reduction import CHAINED, Level, Reduction, fold
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.arithmetic.words import dtype_of, unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.matmul import check_chain
from tcsmt.support.errors import TcsmtError

__all__ = ["FormattedWords", "Indices", "KernelSteps", "Schedule", "SumSteps", "reduced"]

Indices = np.ndarray[Any, np.dtype[Any]]
Words = TypeVar("Words")
_NEAREST = ROUNDINGS["RNE"]


#: What an epilogue's text says where it takes such numbers.
_TAKES = {"bias": "bias", "random": "stochastic=BITS"}


@dataclass(frozen=True)
class FormattedWords(Generic[Words]):
    """Words, or what stands for them, and the format in which they are read."""

    format: AnyFormat
    words: Words


class SumSteps(Protocol[Words]):
    """The steps that sums of a kernel are made of, on one kind of words.

    Words are terms, or arrays of unsigned integers: one of them for each element of D, all of one shape.
    indices: of K, integers of shape (length,).
    """

    def chain(self, indices: Indices, c: Words | None) -> Words:
        """Return the unit's instructions, one after the other, over these indices of K, from c (None: from
        +0).

        indices: integers (length,).
        """

    def constant(self, fmt: AnyFormat, word: int) -> Words:
        """Return the same word everywhere."""

    def add(self, fmt: AnyFormat, x: Words, y: Words) -> Words:
        """x + y, to nearest even; integers wrap."""

    def convert(self, x: Words, source: Format, target: Format, rounding: Rounding, saturate: bool) -> Words:
        """x in another format, rounded once (:func:`.rounded`)."""


class KernelSteps(SumSteps[Words], Protocol[Words]):
    """The steps that whole kernels are made of, on one kind of words."""

    def multiply_add(self, fmt: Format, x: Words, y: Words, z: Words) -> Words:
        """x·y + z, rounded once to nearest even."""

    def convert_randomly(
        self, x: Words, source: Format, target: Format, random: Words, bits: int, saturate: bool
    ) -> Words:
        """x in another format, rounded by so many random bits (:func:`.randomly_rounded`)."""


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
        steps = _KnownNans(self.nans)
        return self.end(steps, self.sum(steps, np.arange(length), True), True).words

    def chains(
        self, indices: Indices, reduction: Reduction | None = None, *, c: bool = False
    ) -> list[tuple[Indices, bool]]:
        """Return the indices that each chain takes, and whether it begins with C. c: whether there is one.

        indices: integers (length,).
        Raises :class:`.TcsmtError` for chains that the unit cannot make, and for parts in no order, or in
        one for another number of parts.
        """
        noted = _Noted()
        self.sum(noted, indices, _C if c else None, reduction)
        check_chain(self.unit, max(len(part) for part, _ in noted.chains))
        return noted.chains

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

    def sum(
        self,
        steps: SumSteps[Words],
        indices: Indices,
        c: Words | None = None,
        reduction: Reduction | None = None,
    ) -> FormattedWords[Words]:
        """Return the sum over some indices of K, and of C where it enters before the products.

        c: None: there is no C. reduction: of the elements at hand, where those of others are reduced in
        another way (:meth:`.Reduction.on`). indices: integers (length,).
        """
        start = self._given(c) if self.epilogue.c_first else None
        total = reduced(steps, reduction or self.reduction, indices, self.unit.k, self.unit.d_format, start)
        return _converted(steps, total, self.sum_format)

    def end(
        self,
        steps: KernelSteps[Words],
        total: FormattedWords[Words],
        c: Words | None = None,
        bias: Words | None = None,
        random: Words | None = None,
        alpha: Words | None = None,
    ) -> FormattedWords[Words]:
        """Return what the epilogue makes of the sum. c, bias, random: None: there is none.

        alpha: one for each element, in place of the epilogue's, in the format in which it computes; C must
        enter after the products then.

        Raises :class:`.TcsmtError` as :meth:`check_numbers` does.
        """
        epilogue = self.epilogue
        self.check_numbers(bias=bias is not None, random=random is not None)
        added = None if epilogue.c_first else self._given(c)
        if alpha is not None or epilogue.alpha != 1 or added is not None:
            total = self._scaled(steps, total, added, alpha)
        if bias is not None:
            fmt = self.working_format
            total = _converted(steps, total, fmt)
            total = FormattedWords(fmt, steps.add(fmt, total.words, bias))
        *middle, last = epilogue.out or (self.sum_format,)
        for wanted in middle:
            total = _converted(steps, total, wanted, epilogue.rounding)
        if random is None:
            return _converted(steps, total, last, epilogue.rounding, saturate=epilogue.saturate)
        words = steps.convert_randomly(
            total.words,
            float_format(total.format),
            float_format(last),
            random,
            epilogue.stochastic,
            epilogue.saturate,
        )
        return FormattedWords(last, words)

    def _given(self, c: Words | None) -> FormattedWords[Words] | None:
        """C, where it enters at all."""
        return None if c is None or self.epilogue.beta == 0 else FormattedWords(self.unit.c_format, c)

    def _scaled(
        self,
        steps: KernelSteps[Words],
        total: FormattedWords[Words],
        c: FormattedWords[Words] | None,
        alpha: Words | None = None,
    ) -> FormattedWords[Words]:
        """fma(sum, alpha, beta·C); without a C the product alone, whose zeros keep their signs."""
        fmt = self.working_format
        nothing = steps.constant(fmt, 1 << fmt.sign_bit)

        def number(value: float) -> Words:
            with np.errstate(over="ignore"):
                return steps.constant(fmt, int(np.array(value, dtype_of(fmt)).view(unsigned(fmt))))

        added = nothing
        if c is not None:
            added = _converted(steps, c, fmt).words
            if self.epilogue.beta != 1:
                added = steps.multiply_add(fmt, added, number(self.epilogue.beta), nothing)
        words = _converted(steps, total, fmt).words
        factor = number(self.epilogue.alpha) if alpha is None else alpha
        return FormattedWords(fmt, steps.multiply_add(fmt, words, factor, added))


def reduced(
    steps: SumSteps[Words],
    reduction: Reduction,
    indices: Indices,
    k: int,
    fmt: AnyFormat,
    c: FormattedWords[Words] | None = None,
) -> FormattedWords[Words]:
    """Return the sum over some indices of K. k: the instruction's; fmt: of its results. c: enters first.

    indices: integers of shape (length,). Words are those of ``steps``: terms, or arrays of one shape.
    """
    if not reduction.levels:
        return FormattedWords(fmt, steps.chain(indices, None if c is None else c.words))
    level, inner = reduction.levels[0], Reduction(reduction.levels[1:])
    parts = [reduced(steps, inner, part, k, fmt) for part in level.cut(indices, k)]
    return _combined(steps, level, parts, c)


def _combined(
    steps: SumSteps[Words],
    level: Level,
    parts: Sequence[FormattedWords[Words]],
    c: FormattedWords[Words] | None,
) -> FormattedWords[Words]:
    fmt = level.sum or parts[0].format

    def via(middle: Format | None, value: FormattedWords[Words]) -> FormattedWords[Words]:
        return _converted(steps, value if middle is None else _converted(steps, value, middle), fmt)

    def add(first: FormattedWords[Words], second: FormattedWords[Words]) -> FormattedWords[Words]:
        return FormattedWords(fmt, steps.add(fmt, first.words, second.words))

    start = None if c is None else _converted(steps, c, fmt)
    if c is None and level.from_zero:
        start = FormattedWords(fmt, steps.constant(fmt, 0))
    return fold(
        level, [via(level.parts, part) for part in parts], add, lambda sum_: via(level.total, sum_), start
    )


def _converted(
    steps: SumSteps[Words],
    source: FormattedWords[Words],
    wanted: AnyFormat,
    rounding: Rounding = _NEAREST,
    *,
    saturate: bool = False,
) -> FormattedWords[Words]:
    """In another format. A word stays what it is where the format stays, but for infinities that saturate."""
    if source.format == wanted and not saturate:
        return source
    fmt = float_format(wanted)
    words = steps.convert(source.words, float_format(source.format), fmt, rounding, saturate)
    return FormattedWords(fmt, words)


@dataclass(frozen=True)
class _KnownNans:
    """Steps on truth values: whether the word of a NaN result is known."""

    nans: NanWords

    def chain(self, indices: Indices, c: bool | None) -> bool:
        return True  # the unit's own rule has it

    def constant(self, fmt: AnyFormat, word: int) -> bool:
        return True

    def add(self, fmt: AnyFormat, x: bool, y: bool) -> bool:
        return self.nans.is_known(fmt)

    def multiply_add(self, fmt: Format, x: bool, y: bool, z: bool) -> bool:
        return self.nans.is_known(fmt)

    def convert(self, x: bool, source: Format, target: Format, rounding: Rounding, saturate: bool) -> bool:
        return self.nans.is_known(target)

    def convert_randomly(
        self, x: bool, source: Format, target: Format, random: bool, bits: int, saturate: bool
    ) -> bool:
        return self.nans.is_known(target)


#: What stands for words where only chains are noted: those of C, and others.
_C, _OTHERS = "C", ""


class _Noted:
    """Steps on nothing, which note what chains take."""

    def __init__(self) -> None:
        self.chains: list[tuple[Indices, bool]] = []

    def chain(self, indices: Indices, c: str | None) -> str:
        self.chains.append((indices, c == _C))
        return _OTHERS

    def constant(self, *ignored: object) -> str:
        return _OTHERS

    add = convert = constant
