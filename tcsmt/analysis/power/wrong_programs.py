"""Wrong kernels that are other programs: steps that are left out, repeated, or rounded otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tcsmt.analysis.power.tested import NotApplicable, Rule, TestedProduct, copied, rewritten
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.units import units_for
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import ProductRun, ProgramStep, UnitProgram, Value
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]
Change = Callable[[TestedProduct], UnitProgram]

#: Products of a tile along K, the most usual first; parts of a split K, at most.
_TILES, _PARTS = (64, 32, 128), 64


def without_k(indices: Callable[[int], Array]) -> Change:
    """Leave some indices of K out of every chain. indices: of a K."""

    def change(product: TestedProduct) -> UnitProgram:
        gone = indices(product.shape[2])

        def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
            if step.kind != "chain" or not np.isin(_indices(step), gone).any():
                return None
            runs = [
                replace(run, indices=run.indices[~np.isin(run.indices, gone)]) for run in step.how["runs"]
            ]
            return _chain(build, step, taken, [run for run in runs if run.indices.size])

        return rewritten(product.program, rule)

    return change


def tail_of(length: int) -> Array:
    """Return the indices that cuBLASLt leaves out, by the condition that was measured.

    With tiles of so many products, and s parts: K % tile != 0, (K // tile) % s == 0, s > K % tile. Raises
    :class:`NotApplicable` where no tile and no number of parts meet it.
    """
    for tile in _TILES:
        tiles, rest = divmod(length, tile)
        if rest and any(tiles % parts == 0 for parts in range(max(2, rest + 1), min(tiles, _PARTS) + 1)):
            return np.arange(length - rest, length)
    tiles_told = ", ".join(map(str, _TILES))
    raise NotApplicable(f"K = {length} does not meet its condition with tiles of {tiles_told}")


def twice(product: TestedProduct) -> UnitProgram:
    """Take k = 0 twice in the first chain."""
    return rewritten(product.program, _of_chain(0, _again))


def _again(build: Builder, step: ProgramStep, taken: list[Value | None]) -> Value:
    first, *others = step.how["runs"]
    again = replace(first, indices=np.r_[first.indices, first.indices[:1]])
    if step.how["unit"].scales:
        raise NotApplicable("a chain of a unit with block scales takes whole blocks")
    return _chain(build, step, taken, [again, *others])


def part_twice(product: TestedProduct) -> UnitProgram:
    """Add the second part of K twice."""
    return rewritten(product.program, _of_chain(_second(product), _doubled))


def _doubled(build: Builder, step: ProgramStep, taken: list[Value | None]) -> Value:
    part = copied(build, step, taken)
    return build.add(step.format, part, part)


def part_missing(product: TestedProduct) -> UnitProgram:
    """Add nothing in place of the second part of K."""
    return rewritten(product.program, _of_chain(_second(product), _start))


def _second(product: TestedProduct) -> int:
    if len(product.program.chains) < 2:
        raise NotApplicable("the kernel adds up K in one chain")
    return 1


def _of_chain(wanted: int, change: Callable[[Builder, ProgramStep, list[Value | None]], Value]) -> Rule:
    """Change one chain, by its number."""
    seen = -1

    def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
        nonlocal seen
        seen += step.kind == "chain"
        return change(build, step, taken) if step.kind == "chain" and seen == wanted else None

    return rule


def _chain(build: Builder, step: ProgramStep, taken: list[Value | None], runs: list[ProductRun]) -> Value:
    return copied(build, step, taken, runs=tuple(runs)) if runs else _start(build, step, taken)


def _start(build: Builder, step: ProgramStep, taken: list[Value | None]) -> Value:
    """Return what a chain begins with."""
    start = taken[0]
    return build.constant(step.format, 0) if start is None else build.convert(start, step.format)


def _indices(step: ProgramStep) -> Array:
    return np.concatenate([run.indices for run in step.how["runs"]])


def narrow_parts(name: str) -> Change:
    """Round each part's sum to a narrower format before it is added."""

    def change(product: TestedProduct) -> UnitProgram:
        _second(product)
        return rewritten(product.program, _after("chain", FORMATS[name]))

    return change


def narrow_total(name: str) -> Change:
    """Round the running total to a narrower format after each instruction, and each addition."""
    fmt = FORMATS[name]

    def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
        if step.kind == "add":
            return _after("add", fmt)(build, step, taken, number)
        if step.kind != "chain" or not _is_wider(step.format, fmt):
            return None
        unit, total = step.how["unit"], taken[0]
        for run in step.how["runs"]:
            for first in range(0, len(run.indices), unit.k):
                part = replace(run, indices=run.indices[first : first + unit.k])
                total = _through(build, copied(build, step, [total, *taken[1:]], runs=(part,)), fmt)
        return total

    return lambda product: rewritten(product.program, rule)


def narrow_result(name: str) -> Change:
    """Round the result to a narrower format."""
    fmt = FORMATS[name]

    def change(product: TestedProduct) -> UnitProgram:
        program = product.program
        if not _is_wider(program.result.format, fmt):
            raise NotApplicable(f"the results are in {program.result.format.name}")

        def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
            if number != program.output:
                return None
            return _through(build, copied(build, step, taken), fmt)

        return rewritten(program, rule)

    return change


def narrow_operands(name: str) -> Change:
    """Round A and B to a narrower format before they are multiplied."""
    fmt = FORMATS[name]

    def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
        if step.kind != "input" or step.how["name"] not in "AB" or not _is_wider(step.format, fmt):
            return None
        return _through(build, copied(build, step, taken), fmt, saturate=not fmt.has_infinity)

    return lambda product: rewritten(product.program, rule)


def _is_wider(own: AnyFormat, fmt: Format) -> bool:
    return isinstance(own, Format) and own.precision > fmt.precision


def _through(build: Builder, own: Value, fmt: Format, *, saturate: bool = False) -> Value:
    """Return a value rounded to a narrower format, in its own one again."""
    return build.convert(build.convert(own, fmt, saturate=saturate), own.format)


def _after(kind: str, fmt: Format) -> Rule:
    def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
        if step.kind != kind or not _is_wider(step.format, fmt):
            return None
        return _through(build, copied(build, step, taken), fmt)

    return rule


def truncated(product: TestedProduct) -> UnitProgram:
    """Truncate where additions and conversions outside of the unit round to nearest."""

    def rule(build: Builder, step: ProgramStep, taken: list[Value | None], number: int) -> Value | None:
        rounding = step.how.get("rounding")
        if not isinstance(rounding, Rounding) or not isinstance(step.format, Format):
            return None
        if step.kind == "convert" and step.format.holds(step.how["source"]):
            return None
        return copied(build, step, taken, rounding=ROUNDINGS["RTZ"])

    return rewritten(product.program, rule)


def unsaturated(product: TestedProduct) -> UnitProgram:
    """Leave the last conversion out where it saturates: the result is the sum, in its own format.

    Raises :class:`NotApplicable` where it does not, and for formats without a NaN.
    """
    last = product.program.result
    if last.kind != "convert" or not last.how["saturate"]:
        raise NotApplicable("the results do not saturate")
    return UnitProgram(product.program.steps, not_none(last.takes[0]))


def unpromoted(product: TestedProduct) -> UnitProgram:
    """Add all of K up in the unit where sums are promoted to another accumulator."""
    levels = product.kernel.reduction.levels
    kept = tuple(level for level in levels if level.kind != "promote")
    if kept == levels:
        raise NotApplicable("the kernel does not promote sums")
    other = replace(product.kernel, reduction=Reduction(kept))
    given = {name: name in product.words for name in ("c", "bias")}
    return other.schedule.program(product.shape[2], **given)


def on_another_unit(product: TestedProduct) -> UnitProgram:
    """Compute on another architecture's unit of the same formats and the same K."""
    own = product.kernel.unit
    model = own.model
    if model.scale_format is not None:
        raise NotApplicable("units with block scales are not put in place of each other")
    for row, *_ in units_for(model.a_format, model.b_format):
        other = row.model
        alike = (other.k, other.c_format, other.d_format) == (model.k, model.c_format, model.d_format)
        if alike and other.digest != model.digest and row.architecture != own.architecture:

            def rule(
                build: Builder, step: ProgramStep, taken: list[Value | None], number: int, unit: Any = other
            ) -> Value | None:
                return copied(build, step, taken, unit=unit) if step.kind in ("chain", "padding") else None

            return rewritten(product.program, rule)
    raise NotApplicable("no unit of another architecture has these formats, this K and another function")


def allowed(change: Change, product: TestedProduct) -> UnitProgram:
    """Return the changed program. Raises :class:`NotApplicable` for one that cannot be made."""
    try:
        return change(product)
    except TcsmtError as why:
        raise NotApplicable(str(why)) from None


def format_of(product: TestedProduct, name: str) -> Format:
    """Return the format of an input."""
    return float_format(product.program.inputs[name].format)
