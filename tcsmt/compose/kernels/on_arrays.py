"""The steps of kernels on arrays of words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.compose.kernels import outside
from tcsmt.compose.kernels.schedule import Indices
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.nan_words import NanWords
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned

__all__ = ["ArraySteps", "Chain"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The words of a chain over some indices of K, of a unit that begins with these words of C (None: +0).
Chain = Callable[[Indices, Array | None], Array]


@dataclass(frozen=True)
class ArraySteps:
    """Each step on arrays of words of one shape; ``of_chain`` runs the unit's chains.

    nans: which words NaN results of the other steps have.
    """

    shape: tuple[int, ...]
    of_chain: Chain
    nans: NanWords

    def chain(self, indices: Indices, c: Array | None) -> Array:
        """As ``of_chain`` has it: words of ``shape``."""
        return self.of_chain(indices, c)

    def constant(self, fmt: AnyFormat, word: int) -> Array:
        """An array of ``shape`` and of ``unsigned(fmt)``, of the same word."""
        return np.full(self.shape, word, unsigned(fmt))

    def add(self, fmt: AnyFormat, x: Array, y: Array) -> Array:
        """x + y: words of ``unsigned(fmt)``; x has ``shape``, to which y broadcasts."""
        return outside.add(fmt, x, np.ascontiguousarray(np.broadcast_to(y, self.shape)), self.nans)

    def multiply_add(self, fmt: Format, x: Array, y: Array, z: Array) -> Array:
        """x·y + z: words of ``shape`` and of ``unsigned(fmt)``."""
        return outside.multiplied_and_added(fmt, x, y, z, self.nans)

    def convert(self, x: Array, source: Format, target: Format, rounding: Rounding, saturate: bool) -> Array:
        """Each word in another format, of the same shape."""
        return outside.converted(x, source, target, rounding, saturate=saturate, nans=self.nans)

    def convert_randomly(
        self, x: Array, source: Format, target: Format, random: Array, bits: int, saturate: bool
    ) -> Array:
        """Each word in another format, by its own random bits: integers below 2^bits, of the same shape."""
        return outside.stochastic(x, source, target, random, bits, saturate=saturate, nans=self.nans)
