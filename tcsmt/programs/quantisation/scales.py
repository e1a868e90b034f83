"""Scales shared by blocks of numbers: rules, each written as steps of a program.

Each rule follows a published one, bit for bit (``tests/programs/quantisation`` compares).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Value

#: The least amax, so that no scale is infinite (torchao, ``float8_utils.EPS``).
_LEAST = 1e-12
_F32, _F64, _E4M3 = FORMATS["f32"], FORMATS["f64"], FORMATS["e4m3"]


@dataclass(frozen=True)
class ScaleSteps:
    """What steps make of the largest magnitudes of blocks.

    factor: binary32, by which the numbers of a block are multiplied before they are rounded; divides: by
    which they are divided. scales: by which a number of the block is multiplied to have it back. whole: the
    factor of all blocks, if any.
    """

    factor: Value
    scales: Value
    whole: Value | None = None
    divides: bool = False


class Scales(Hashable, Protocol):
    """A rule: from the largest magnitudes of blocks to factors and scales."""

    format: ClassVar[str]

    @property
    def rows(self) -> int:
        """Of a block; 0: all that there are."""

    @property
    def columns(self) -> int:
        """Of a block; 0: all that there are."""

    def write(self, build: Builder, largest: Value, top: Value, target: Format) -> ScaleSteps:
        """Write the steps for numbers that are to be rounded to ``target``.

        largest: the largest magnitude of each block, binary32, NaN where it has one. top: of all blocks.
        """


@dataclass(frozen=True, kw_only=True)
class FloatScales:
    """A binary32 factor, the format's largest number over the block's, and its binary32 reciprocal as scale.

    rows, columns: of a block; 0: all that there are.
    """

    rows: int
    columns: int
    format: ClassVar[str] = "f32"

    def write(self, build: Builder, largest: Value, top: Value, target: Format) -> ScaleSteps:
        """The factor is rounded once, from a quotient in binary64; the product is one in binary32."""
        wide = build.convert(largest, _F64)
        wide = build.maximum(_F64, wide, _number(build, _LEAST, _F64), nan="propagated")
        quotient = build.divide(_F64, _number(build, target.largest_finite, _F64), wide)
        factor = build.convert(quotient, _F32)
        return ScaleSteps(factor, build.divide(_F32, _number(build, 1), factor))


@dataclass(frozen=True, kw_only=True)
class QuotientScales:
    """A binary32 scale, the block's largest number over the format's; its binary32 reciprocal is the factor.

    It is the formula of :class:`FloatScales` in another order, which rounds to other words.

    rows, columns: of a block; 0: all that there are. least: what a smaller largest number counts as.
    """

    rows: int
    columns: int
    least: float
    format: ClassVar[str] = "f32"

    def write(self, build: Builder, largest: Value, top: Value, target: Format) -> ScaleSteps:
        """Each of the three steps is rounded in binary32."""
        least = _number(build, float(np.float32(self.least)))
        size = build.maximum(_F32, largest, least, nan="propagated")
        scales = build.divide(_F32, size, _number(build, target.largest_finite))
        return ScaleSteps(build.divide(_F32, _number(build, 1), scales), scales)


@dataclass(frozen=True, kw_only=True)
class PowerScales:
    """A power of two for each block, in E8M0.

    up: the least one with which the block's largest number does not overflow (as cuBLAS and
        TransformerEngine); else the largest one not above 2^(exponent of the block's largest number -
        exponent of the format's largest number), with which it may (OCP MX 1.0, section 6.3).
    """

    columns: int
    up: bool = False
    rows: int = 1
    format: ClassVar[str] = "ue8m0"

    def write(self, build: Builder, largest: Value, top: Value, target: Format) -> ScaleSteps:
        """A block with a NaN has E8M0's NaN as its scale."""
        if self.up:
            quotient = build.divide(_F32, largest, _number(build, target.largest_finite))
            scales = build.power_of_two(quotient, up=True)
            return ScaleSteps(self._factor(build, build.convert(scales, _F32)), scales)
        scales = build.power_of_two(largest, -target.e_max)
        return ScaleSteps(self._divisor(build, build.convert(scales, _F32)), scales, divides=True)

    @staticmethod
    def _divisor(build: Builder, scales: Value) -> Value:
        """As torchao, whose least divisor is a normal number, and whose divisor of a NaN's block is infinite:
        what the scale's word is as the exponent of binary32.
        """
        least = _number(build, Fraction(2) ** _F32.e_min)
        divisor = build.maximum(_F32, scales, least, nan="propagated")
        number = build.compare(_F32, divisor, divisor, "equal")
        return build.select(_F32, number, divisor, build.constant(_F32, _F32.infinity_word))

    @staticmethod
    def _factor(build: Builder, scales: Value) -> Value:
        """As TransformerEngine's ``exp2f_rcp``: 1 where the word is 0, and 2^-127 where it is 254."""
        first = build.compare(_F32, scales, _number(build, Fraction(2) ** -127), "equal")
        one = _number(build, 1)
        return build.select(_F32, first, one, build.divide(_F32, one, scales))


@dataclass(frozen=True, kw_only=True)
class TwoLevelScales:
    """An E4M3 scale for each block, and a binary32 factor of all, with which these use all their range."""

    columns: int
    rows: int = 1
    format: ClassVar[str] = "ue4m3"

    def write(self, build: Builder, largest: Value, top: Value, target: Format) -> ScaleSteps:
        """Write those of torchao's ``nvfp4_quantize``, each rounded in binary32; of zeros alone all is 1."""
        one, most = _number(build, 1), _number(build, _E4M3.largest_finite)
        nothing = build.compare(_F32, top, _number(build, 0), "equal")
        range_of_both = _number(build, _E4M3.largest_finite * target.largest_finite)
        whole = build.select(_F32, nothing, one, build.divide(_F32, top, range_of_both))
        wanted = build.divide(_F32, largest, _number(build, target.largest_finite))
        wanted = build.divide(_F32, wanted, whole)
        wanted = build.maximum(_F32, wanted, _number(build, Fraction(2) ** _E4M3.e_min), nan="propagated")
        beyond = build.compare(_F32, most, wanted, "less")
        scales = build.convert(build.select(_F32, beyond, most, wanted), _E4M3)
        each = build.divide(_F32, one, whole)
        return ScaleSteps(build.divide(_F32, each, build.convert(scales, _F32)), scales, whole)


def _number(build: Builder, value: float | Fraction, fmt: Format = _F32) -> Value:
    """Return a number that the format has."""
    return build.constant(fmt, fmt.word(Fraction(value)))
