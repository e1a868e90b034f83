"""Which reductions are the same function: the tree of their sums, whatever their text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.schedule import reduced
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.digest import digest, digest_of
from tcsmt.programs.steps.program import Indices, ProductRun, Value


@dataclass(frozen=True)
class _AnyUnit:
    """Stands for a unit, whose results no level may name."""

    name: str
    d_format: Format


_UNIT: Any = _AnyUnit("the unit", replace(FORMATS["f32"], name="the unit's"))


def expression(reduction: Reduction, length: int, k: int, *, c: bool = False) -> str:
    """A digest of the tree of a reduction's sums over so many products, for a unit with k.

    c: whether a C enters before the first product. Two reductions with the same digest do the same operations
    on the same values, and give their results in the same format; additions commute, their NaN results being
    one word. Of parts that are added in any order it stands for every order.
    """
    digests = []
    for order in reduction.orders(length, k, c=c):
        build = Builder()

        def chain(indices: Indices, start: Value | None, build: Builder = build) -> Value:
            return build.chain(_UNIT, (), [ProductRun(indices)], start)

        given = build.input("c", _UNIT.d_format) if c else None
        total = reduced(build, order, np.arange(length), k, chain, given)
        digests.append(digest(build.program(total)))
    return digests[0] if len(digests) == 1 else digest_of("any order", *sorted(digests))
