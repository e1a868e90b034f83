"""Scales shared by blocks of numbers, and the scaled numbers: on NumPy arrays.

Each rule follows a published one, bit for bit (``tests/programs/quantisation`` compares).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.words import dtype_of

Array = np.ndarray[Any, np.dtype[Any]]

#: The least amax, so that no scale is infinite (torchao, ``float8_utils.EPS``).
_LEAST = 1e-12
#: Where the exponent of binary32 begins, and its bias, which is that of E8M0, too.
_FRACTION, _BIAS = 23, 127
_NAN_SCALE = 255


@dataclass(frozen=True)
class Scaled:
    """Numbers times their factors, in binary32, before they are rounded; and what is kept of the scales.

    values: as the blocks that were given. scales: what a number of the block is multiplied by to have it
    back, one for each block, of the dtype of the scales' format. whole: the factor of all blocks, if any.
    """

    values: Array
    scales: Array
    whole: np.float32 | None = None


class Scales(Protocol):
    """A rule: from blocks of binary32 numbers, and their largest magnitudes, to scaled numbers."""

    format: ClassVar[str]

    @property
    def rows(self) -> int:
        """Of a block; 0: all that there are."""

    @property
    def columns(self) -> int:
        """Of a block; 0: all that there are."""

    def of(self, blocks: Array, largest: Array, target: Format) -> Scaled:
        """Numbers to be rounded to ``target``. blocks: (..., 1 or rows, columns) as they are cut.

        largest: of each block, NaN where it has one.
        """


@dataclass(frozen=True, kw_only=True)
class FloatScales:
    """A binary32 factor, the format's largest number over the block's, and its binary32 reciprocal as scale.

    rows, columns: of a block; 0: all that there are.
    """

    rows: int
    columns: int
    format: ClassVar[str] = "f32"

    def of(self, blocks: Array, largest: Array, target: Format) -> Scaled:
        """The factor is rounded once, from a quotient in binary64; the product is one in binary32."""
        wide = np.maximum(largest.astype(np.float64), _LEAST)
        with np.errstate(all="ignore"):
            factor = (float(target.largest_finite) / wide).astype(np.float32)
            return Scaled(blocks * factor, np.float32(1) / factor)


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

    def of(self, blocks: Array, largest: Array, target: Format) -> Scaled:
        """Each of the three steps is rounded in binary32."""
        with np.errstate(all="ignore"):
            scales = np.maximum(largest, np.float32(self.least)) / np.float32(target.largest_finite)
            return Scaled(blocks * (np.float32(1) / scales), scales)


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

    def of(self, blocks: Array, largest: Array, target: Format) -> Scaled:
        """E8M0 words are exponents; 255 is a NaN, which a block with a NaN has."""
        nan = np.isnan(largest)
        with np.errstate(all="ignore"):
            word = self._up(largest, target) if self.up else self._down(largest, target)
            word = np.where(nan, _NAN_SCALE, word).astype(np.int32)
            values = blocks * self._factor(word) if self.up else blocks / self._divisor(word)
        return Scaled(values, word.astype(np.uint8).view(dtype_of(FORMATS["ue8m0"])))

    @staticmethod
    def _down(largest: Array, target: Format) -> Array:
        exponent = (largest.view(np.int32) >> _FRACTION & 0xFF) - _BIAS
        word: Array = np.clip(exponent - target.e_max, -_BIAS, _BIAS + 1) + _BIAS
        return word

    @staticmethod
    def _up(largest: Array, target: Format) -> Array:
        """Return the exponent of the quotient, one more where it is no power of two: ``cvt.rp`` to E8M0."""
        quotient = largest / np.float32(target.largest_finite)
        significand, exponent = np.frexp(quotient)
        above = exponent - (significand == np.float32(0.5))
        word = np.where(quotient == 0, 0, np.clip(above, -_BIAS, _BIAS) + _BIAS)
        return np.where(np.isinf(quotient), _NAN_SCALE - 1, word)

    @staticmethod
    def _divisor(word: Array) -> Array:
        """As torchao, whose least divisor is a normal number: blocks below it are divided by 2^-126."""
        return np.maximum((word << _FRACTION).view(np.float32), np.float32(2.0**-126))

    @staticmethod
    def _factor(word: Array) -> Array:
        """As TransformerEngine's ``exp2f_rcp``: 1 where the word is 0, and 2^-127 where it is 254."""
        exact = np.ldexp(np.float32(1), _BIAS - word)
        return np.where(word == 0, np.float32(1), np.where(word == _NAN_SCALE, np.float32(np.nan), exact))


@dataclass(frozen=True, kw_only=True)
class TwoLevelScales:
    """An E4M3 scale for each block, and a binary32 factor of all, with which these use all their range."""

    columns: int
    rows: int = 1
    format: ClassVar[str] = "ue4m3"

    def of(self, blocks: Array, largest: Array, target: Format) -> Scaled:
        """Return the steps of torchao's ``nvfp4_quantize``, each rounded in binary32; of zeros alone all is
        1.
        """
        fmt = FORMATS["e4m3"]
        most = np.float32(target.largest_finite)
        one = np.float32(1)
        with np.errstate(all="ignore"):
            top = np.max(largest, initial=0.0).astype(np.float32)
            whole = one if top == 0 else top / np.float32(fmt.largest_finite * target.largest_finite)
            wanted = largest / most / whole
            least = np.float32(2.0**fmt.e_min)
            scales = np.clip(wanted, least, np.float32(fmt.largest_finite)).astype(dtype_of(fmt))
            values = blocks * ((one / whole) / scales.astype(np.float32))
        return Scaled(values, scales, np.float32(whole))
