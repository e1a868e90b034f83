"""Quantised operands, and their products, as steps of programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.kernels.schedule import reduced
from tcsmt.programs.quantisation.recipe import OperandRecipe, Role
from tcsmt.programs.quantisation.scales import Scales, ScaleSteps
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Indices, ProductRun, Value
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

_F32 = FORMATS["f32"]


@dataclass(frozen=True)
class QuantisedValues:
    """Words of an operand, of its scales (of axes A/n, or of its row), and of the factor of all numbers."""

    values: Value
    scales: Value | None = None
    whole: Value | None = None

    @property
    def all(self) -> tuple[Value, ...]:
        """Return those that there are."""
        return tuple(x for x in (self.values, self.scales, self.whole) if x is not None)


def write_quantised(
    build: Builder,
    x: Value,
    recipe: OperandRecipe,
    role: Role,
    form: Format,
    length: int,
    largest: Value | None = None,
) -> QuantisedValues:
    """Write the steps by which a recipe rounds a row of A, or a column of B; return what they give.

    x: binary32, of axes A or B; length: K. largest: the largest magnitude of the numbers of other rows that
    a scale is for, too: of axes a, or A/n where blocks lie along K. Raises :class:`.TcsmtError` where it is
    missing, or not taken, and for recipes with a named rule of rounding.
    """
    if recipe.rounding is not None:
        raise TcsmtError(f"recipe {recipe.name}: operands rounded by {recipe.rounding} are no steps")
    if x.format != _F32 or build.axes(x) not in ("A", "B"):
        raise TcsmtError(f"recipe {recipe.name}: binary32 numbers of A or B are quantised")
    scales = recipe.scales_of(role)
    together = scales is not None and (scales.rows != 1 or scales.format == "ue4m3")
    if together is (largest is None):
        told = "must be given, since scales are for several rows" if together else "is not taken"
        raise TcsmtError(f"recipe {recipe.name}: the largest magnitude of other rows {told}")
    if scales is None:
        return QuantisedValues(build.convert(x, form))
    takes = [x] if largest is None else [x, largest]

    def write() -> tuple[Value, ...]:
        return _scaled(build, x, scales, form, length, largest).all

    return QuantisedValues(*build.compound("quantise", takes, write, recipe=recipe.name, role=role))


def _scaled(
    build: Builder, x: Value, scales: Scales, form: Format, length: int, others: Value | None
) -> QuantisedValues:
    size = build.absolute(_F32, x)
    largest = build.maximum(_F32, size, nan="propagated", every=scales.columns)
    top = largest
    if others is not None and scales.rows == 1:
        top = build.maximum(_F32, build.maximum(_F32, largest, nan="propagated"), others, nan="propagated")
    elif others is not None:
        top = largest = build.maximum(_F32, largest, others, nan="propagated")
    steps = scales.write(build, largest, top, form)
    values = build.convert(_times(build, x, steps, length), form, saturate=True)
    return QuantisedValues(values, steps.scales, steps.whole)


def _times(build: Builder, x: Value, steps: ScaleSteps, length: int) -> Value:
    """Write each number times, or over, the factor of its block."""
    blocks = "/" in build.axes(steps.factor)
    factor = build.spread(steps.factor, length) if blocks else steps.factor
    return build.divide(_F32, x, factor) if steps.divides else build.multiply(_F32, x, factor)


def write_product(
    build: Builder,
    unit: Model,
    recipe: OperandRecipe,
    a: QuantisedValues,
    b: QuantisedValues,
    length: int,
    reduction: Reduction = CHAINED,
) -> tuple[Value, Value | None]:
    """Write the sum of products with their scales, binary32; return it, and a factor that is still to come.

    The reduction is a compound step (``reduction``): of matrices, regions may be reduced in other ways.
    """
    inside = recipe.block_scales is not None
    operands = [a.values, b.values]
    if inside and a.scales is not None and b.scales is not None:
        operands += [a.scales, b.scales]

    def chain(part: Indices, start: Value | None = None) -> Value:
        return build.chain(unit, operands, [ProductRun(part)], start)

    if recipe.promote:
        if reduction != CHAINED:
            raise TcsmtError(f"recipe {recipe.name}: its kernel promotes sums itself: leave reduction out")
        total = _promoted(build, lambda part: build.convert(chain(part), _F32), recipe.promote, a, b, length)
        return total, None

    def write() -> tuple[Value]:
        return (reduced(build, reduction, np.arange(length), unit.k, chain),)

    (total,) = build.compound("reduction", operands, write, unit=unit, order=reduction)
    total = build.convert(total, _F32)
    if inside:
        return total, None if a.whole is None or b.whole is None else build.multiply(_F32, a.whole, b.whole)
    if a.scales is None or b.scales is None:
        return total, None
    if recipe.rows_last:
        return build.multiply(_F32, build.multiply(_F32, total, a.scales), b.scales), None
    return total, build.multiply(_F32, a.scales, b.scales)


def write_finished(
    build: Builder, unit: Model, recipe: OperandRecipe, a: QuantisedValues, b: QuantisedValues, length: int
) -> Value:
    """Write the same with the factor, as cuBLAS multiplies by it: fma(sum, factor, +0)."""
    total, factor = write_product(build, unit, recipe, a, b, length)
    return total if factor is None else build.multiply_add(_F32, total, factor, build.constant(_F32, 0))


def check_unit(recipe: OperandRecipe, unit: Model, role_a: Role, role_b: Role) -> None:
    """Refuse a unit that does not take a recipe's formats and scales. Raises :class:`.TcsmtError`."""
    for side, fmt, role in (("A", unit.a_format, role_a), ("B", unit.b_format, role_b)):
        if fmt.name not in (formats := recipe.formats_of(role)):
            raise TcsmtError(
                f"recipe {recipe.name}: {side} becomes {' or '.join(formats)}, and the unit takes {fmt.name}"
            )
    if fault := scale_fault(recipe, unit):
        raise TcsmtError(f"recipe {recipe.name}: {fault}")


def scale_fault(recipe: OperandRecipe, unit: Model) -> str:
    """Return why a unit does not take a recipe's block scales; empty where it does."""
    wanted, taken = recipe.block_scales, unit.scale_format
    if wanted != (None if taken is None else taken.name):
        return f"a unit with {'no scales' if wanted is None else f'{wanted} scales'} of blocks is needed"
    if wanted is not None and unit.k // unit.scales != (columns := not_none(recipe.scales).columns):
        return f"its blocks have {columns} numbers, and the unit's {unit.k // unit.scales}"
    return ""


def _promoted(
    build: Builder, unit_sum: Callable[[Indices], Value], every: int, a: QuantisedValues, b: QuantisedValues,
    length: int,
) -> Value:  # fmt: skip
    """Write chains of ``every`` products, each times the product of its scales, added by multiply-adds from
    +0.
    """
    total = build.constant(_F32, 0)
    for first in range(0, length, every):
        part = unit_sum(np.arange(first, min(first + every, length)))
        scale = build.multiply(_F32, _of_block(build, a, first), _of_block(build, b, first))
        total = build.multiply_add(_F32, scale, part, total)
    return total


def _of_block(build: Builder, x: QuantisedValues, first: int) -> Value:
    scales = not_none(x.scales)
    return build.pick(scales, first // int(build.axes(scales).partition("/")[2]))
