"""Operands that were rounded to a narrower format before they were multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.compose.kernels.reduction import CHAINED
from tcsmt.compose.kernels.units import units_for
from tcsmt.identification.diagnosis.change import Change, Way
from tcsmt.identification.diagnosis.recorded import KernelInputs, RecordedResult
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES, converted
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.support.invariants import not_none

__all__ = ["rounded_operands"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Formats to which operands may have been rounded, those that are usual first.
_NARROWER = ("tf32", "bf16", "f16", "e4m3", "e5m2", "f32")
#: The rules, the most usual first.
_RULES = ("nearest-even", "truncate", "nearest-away")
_SIDES = (("operands", "ab"), ("A", "a"), ("B", "b"))


def rounded_operands(sample: ResultSample) -> Iterator[Change]:
    """A and B, or one of them, in each narrower format by each rule."""
    recorded = sample.recorded
    names = [name for name in _NARROWER if _is_narrower(FORMATS[name], recorded)]
    count = len(names) * len(_RULES) * len(_SIDES)
    for place, (name, rule) in enumerate(product(names, _RULES)):
        fmt = FORMATS[name]
        narrow = {side: _rounded(recorded, side, fmt, rule, sample.inputs) for side in "ab"}
        rounded = {side: words for side, words in narrow.items() if words is not None}
        differ = {side for side, x in rounded.items() if not np.array_equal(x, getattr(sample.inputs, side))}
        for number, (text, sides) in enumerate(_SIDES):
            if not rounded.keys() >= set(sides) or not differ & set(sides):
                continue
            if sides != "ab" and len(differ) < 2 and len(rounded) == 2:
                continue  # the other operand has only numbers of the format: it may be rounded as well
            inputs = replace(sample.inputs, **{side: rounded[side] for side in sides})
            units = Way(partial(_in_format, recorded, fmt, rule), partial(_units_of, fmt))
            yield Change(
                kind="operands",
                what=f"{text} rounded to {name} ({rule})",
                cost=1 + number / 10 + place / 1000,
                expected=sample.summed(sample.products_of(inputs)),
                count=count,
                ways=(Way(partial(_narrowed, recorded, sides, fmt, rule)),),
                others=(units,) if sides == "ab" else (),
            )


def _is_narrower(fmt: Format, recorded: RecordedResult) -> bool:
    """Return whether a format has fewer significand bits than both operands' have."""
    return all(own is not None and fmt.precision < own.precision for own in recorded.formats[:2])


def _rounded(
    recorded: RecordedResult, side: str, fmt: Format, rule: str, inputs: KernelInputs
) -> Array | None:
    """An operand's words of its own format again; None where this does not hold a value."""
    own = not_none(recorded.format_of(side))
    narrow = converted(getattr(inputs, side), own, fmt, OPERAND_RULES[rule])
    wide = converted(narrow.words, fmt, own, OPERAND_RULES[rule])
    if wide.inexact.any() or (narrow.absent.any() and not fmt.has_infinity):
        return None
    return wide.words.astype(unsigned(own))


def _narrowed(
    recorded: RecordedResult, sides: str, fmt: Format, rule: str, inputs: KernelInputs
) -> KernelInputs:
    """Rounded operands. One that does not fit somewhere stays as it is, which then gives not D."""
    rounded = {side: _rounded(recorded, side, fmt, rule, inputs) for side in sides}
    return replace(inputs, **{side: words for side, words in rounded.items() if words is not None})


def _in_format(recorded: RecordedResult, fmt: Format, rule: str, inputs: KernelInputs) -> KernelInputs:
    """Return the operands as words of the narrower format."""
    a, b = (
        converted(words, own, fmt, OPERAND_RULES[rule]).words.astype(unsigned(fmt))
        for words, own in (
            (inputs.a, not_none(recorded.formats[0])),
            (inputs.b, not_none(recorded.formats[1])),
        )
    )
    return replace(inputs, a=a, b=b)


def _units_of(fmt: Format, kernel: Kernel) -> list[Kernel]:
    """Return the same kernel on units of the narrower format whose C and results are in the same formats."""
    own = kernel.unit.model
    rows = [
        first
        for first, *_ in units_for(fmt, fmt)
        if (first.model.c_format, first.model.d_format) == (own.c_format, own.d_format)
    ]
    reductions = dict.fromkeys((kernel.reduction, CHAINED))
    return [replace(kernel, unit=row, reduction=reduction) for reduction in reductions for row in rows]
