"""Numbers for tests that have one limit for all elements: (rtol, atol), a cosine, a relative norm, a PCC.

Each is proved from bounds of elements, |actual - exact| <= atol, and from how far the reference of the test
is from exact. The arithmetic of the test counts as well: it rounds, to ``u`` = 2^-p relative, p being the
significand bits of its format, or by half of the smallest subnormal number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.upward import added, multiplied
from tcsmt.matrix_units.arithmetic.conversion import converted, floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

Array = np.ndarray[Any, np.dtype[Any]]

#: More than what the operations on bounds here lose.
_UP = 1 + 2.0**-44
#: Squares of smaller norms, and of their inverses, may leave binary32.
_SMALL = 2.0**-50
#: From so many significand bits on, norms and sums of a test are bounded, too.
_WIDE = 24


@dataclass(frozen=True)
class BoundedDifference:
    """What is known of each element of a test: float64, of one shape.

    off: how far the result is from exact at most. exact: off by ``error``. reference: how far the reference
    is from exact at most, beside its rounding to ``format``, in which the test computes; None: the exact
    result, rounded once. Elements without a bound are left out.
    """

    off: Array
    exact: Array
    error: Array
    format: Format
    reference: Array | None = None

    @property
    def unit(self) -> float:
        """Return 2^-p, what the test's arithmetic loses at most, relative to its results."""
        return 2.0**-self.format.precision

    @property
    def _smallest(self) -> float:
        return float(2.0 ** max(self.format.e_min - self.format.fraction_bits, -1074))

    @property
    def _apart(self) -> Array:
        """How far the reference is from exact at most: a dot product in binary64, then rounded once."""
        if self.reference is not None:
            return self.reference
        size = np.abs(self.exact) + 2 * self.error
        rounded = added(self.error, size * (self.unit * _UP) + self._smallest)
        return np.where(size > 0, rounded, 0.0)

    @property
    def difference(self) -> Array:
        """Return |actual - reference| at most, of each element."""
        return added(self.off, self._apart)

    @property
    def _reference_size(self) -> Array:
        """|reference| at least."""
        least = np.abs(self.exact) - (self.error + self._apart) * _UP
        return np.maximum(least * (1 - 2.0**-50), 0.0)

    def atol(self, rtol: float) -> float:
        """Return the smallest number of the test's format that is proved to do for a given rtol.

        The test passes where fl(|actual - reference|) <= fl(atol + fl(rtol·|reference|)).
        """
        u, tiny = self.unit, self._smallest
        difference = (self.difference * ((1 + u) / (1 - u)) + 2 * tiny) * _UP
        given = self._reference_size * (rtol * (1 - u) ** 3 * (1 - 2.0**-48))
        # what rtol·|reference| loses below the normal numbers, and the rest, rounded upward
        least = np.max(np.maximum(difference - given, 0.0) * _UP, initial=0.0)
        return _in_format(self.format, float(least) + (4 * tiny if rtol and least else 0.0))

    @property
    def rtol(self) -> float:
        """Return the smallest rtol that is proved to do with atol = 0; infinity where no one does."""
        u, tiny = self.unit, self._smallest
        difference = (self.difference * ((1 + u) / (1 - u)) + 6 * tiny) * _UP
        size = self._reference_size * (1 - u) ** 3
        live = self.difference > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(live, difference / size * _UP, 0.0)
        return _in_format(self.format, float(np.max(shares, initial=0.0)))

    def _norms(self, *, centred: bool) -> tuple[float, float]:
        """Return the norm of the difference at most, and that of the reference at least.

        centred: of the reference less its mean. To subtract a mean does not lengthen a vector; what the
        test's arithmetic loses by it is a share of the vector's own norm.
        """
        difference, values = _norm(self.difference), self.exact
        if centred:
            values = values - values.mean()
        own = (self.exact.size + 8) * 2.0**-51  # what this arithmetic loses
        size = float(np.linalg.norm(values)) * (1 - own) - _norm(added(self.error, self._apart))
        if centred:
            lost = self._sums * _norm(added(np.abs(self.exact), self.error, self.difference, self._apart))
            difference += 2 * lost
            size -= lost + own * _norm(np.abs(self.exact))
        return difference * _UP, max(size * (1 - 2.0**-50), 0.0)

    @property
    def _sums(self) -> float:
        """What a sum of all elements loses in the test's arithmetic, relative to the sum of the sizes."""
        count = (self.exact.size + 8) * self.unit
        return count / (1 - count) if count < 1 else float("inf")

    def _cosine(self, *, centred: bool) -> float:
        difference, size = self._norms(centred=centred)
        if not _SMALL < size < 1 / _SMALL or difference >= size or not isfinite(self._sums):
            return -1.0
        angle = sqrt(max(0.0, (1 - difference / size * _UP) * (1 + difference / size))) * (1 - 2.0**-48)
        least = (angle - self._sums) * (1 - 4 * self._sums)
        return max(least, -1.0) if angle > self._sums else -1.0

    @property
    def cosine(self) -> float:
        """Return the smallest cosine of result and reference; -1: nothing is proved."""
        return self._cosine(centred=False)

    @property
    def pcc(self) -> float:
        """Return the smallest Pearson correlation of result and reference; -1: nothing is proved."""
        return self._cosine(centred=True)

    @property
    def relative_norm(self) -> float:
        """Return the largest Frobenius norm of the difference relative to the reference's."""
        difference, size = self._norms(centred=False)
        if not _SMALL < size < 1 / _SMALL or not isfinite(self._sums):
            return float("inf")
        return difference / size * (1 + 4 * self._sums) * _UP

    @property
    def sums_are_bounded(self) -> bool:
        """Return whether the format is one in which tests add squares up."""
        return self.format.precision >= _WIDE


def _norm(x: Array) -> float:
    """Return the Frobenius norm or more."""
    return float(np.sqrt(multiplied(x, x).sum())) * _UP * (1 + x.size * 2.0**-52)


def _in_format(fmt: Format, number: float) -> float:
    """Return the smallest number of a format that is no less, in binary64; infinity above them all."""
    if not isfinite(number) or fmt == FORMATS["f64"]:
        return number
    word = converted(np.array([number]).view(np.uint64), FORMATS["f64"], fmt, ROUNDINGS["RTP"]).words
    return float(floats(fmt, word)[0])
