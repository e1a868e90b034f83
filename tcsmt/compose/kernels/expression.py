"""Which reductions are the same function: the tree of their sums, whatever their text."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from tcsmt.compose.kernels.reduction import Reduction
from tcsmt.compose.kernels.schedule import FormattedWords, Indices, reduced
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import Rounding

__all__ = ["expression"]

#: Stands for the format of the unit's results, which no level may name.
_OWN = replace(FORMATS["f32"], name="the unit's")


def expression(reduction: Reduction, length: int, k: int, *, c: bool = False) -> str:
    """A digest of the tree of a reduction's sums over so many products, for a unit with k.

    c: whether a C enters before the first product. Two reductions with the same digest do the same operations
    on the same values, and give their results in the same format; additions commute, their NaN results being
    one word. Of parts that are added in any order it stands for every order.
    """
    start = FormattedWords[str](_OWN, "c") if c else None
    orders = (
        reduced(_Digests(), order, np.arange(length), k, _OWN, start)
        for order in reduction.orders(length, k, c=c)
    )
    digests = [_digest(total.format.name, total.words) for total in orders]
    return digests[0] if len(digests) == 1 else _digest("any order", *sorted(digests))


class _Digests:
    """The steps on digests of what they are applied to."""

    def chain(self, indices: Indices, c: str | None) -> str:
        return _digest(f"chain from {c or '+0'}", indices.tobytes().hex())

    def constant(self, fmt: AnyFormat, word: int) -> str:
        return _digest("constant", fmt.name, str(word))

    def add(self, fmt: AnyFormat, x: str, y: str) -> str:
        return _digest("sum", fmt.name, *sorted((x, y)))

    def convert(self, x: str, source: Format, target: Format, rounding: Rounding, saturate: bool) -> str:
        return _digest("converted", source.name, target.name, rounding.name, str(saturate), x)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
