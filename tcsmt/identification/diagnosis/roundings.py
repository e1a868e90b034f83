"""Roundings that may have been others: of operands, results, parts, totals, accumulators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.recorded import Change, RecordedResult, Way
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.identification.kernels.hypotheses import hypotheses, reductions
from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES, converted
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import CHAINED, Level, Reduction
from tcsmt.programs.kernels.units import units_for
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

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
        rounded: dict[str, Any] = {side: words for side, words in narrow.items() if words is not None}
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
    return all(operand is not None and fmt.precision < operand.precision for operand in recorded.formats[:2])


def _rounded(
    recorded: RecordedResult, side: str, fmt: Format, rule: str, inputs: SampledElements
) -> Array | None:
    """An operand's words of its own format again; None where this does not hold a value."""
    source = not_none(recorded.format_of(side))
    narrow = converted(getattr(inputs, side), source, fmt, OPERAND_RULES[rule])
    restored = converted(narrow.words, fmt, source, OPERAND_RULES[rule])
    if restored.inexact.any() or (narrow.absent.any() and not fmt.has_infinity):
        return None
    return restored.words.astype(unsigned(source))


def _narrowed(
    recorded: RecordedResult, sides: str, fmt: Format, rule: str, inputs: SampledElements
) -> SampledElements:
    """Rounded operands. One that does not fit somewhere stays as it is, which then gives not D."""
    rounded = {side: _rounded(recorded, side, fmt, rule, inputs) for side in sides}
    fitting: dict[str, Any] = {side: words for side, words in rounded.items() if words is not None}
    return replace(inputs, **fitting)


def _in_format(recorded: RecordedResult, fmt: Format, rule: str, inputs: SampledElements) -> SampledElements:
    """Return the operands as words of the narrower format."""
    a, b = (
        converted(words, source, fmt, OPERAND_RULES[rule]).words.astype(unsigned(fmt))
        for words, source in (
            (inputs.a, not_none(recorded.formats[0])),
            (inputs.b, not_none(recorded.formats[1])),
        )
    )
    return replace(inputs, a=a, b=b)


def _units_of(fmt: Format, kernel: Kernel) -> list[Kernel]:
    """Return the same kernel on units of the narrower format whose C and results are in the same formats."""
    model = kernel.unit.model
    rows = [
        first
        for first, *_ in units_for(fmt, fmt)
        if (first.model.c_format, first.model.d_format) == (model.c_format, model.d_format)
    ]
    reductions = dict.fromkeys((kernel.reduction, CHAINED))
    return [replace(kernel, unit=row, reduction=reduction) for reduction in reductions for row in rows]


#: Formats of sums that are narrower than binary32, and of results.
_SUMS = ("bf16", "f16")
_RESULTS = ("f32", "tf32", "bf16", "f16", "e4m3", "e5m2")
#: How results are rounded, the most usual first.
_ROUNDINGS = ("RNE", "RTZ", "RNA")
#: Products after which an accumulator is rounded, beside one and the instruction's.
_BLOCKS = (4, 8, 16, 32, 64, 128)
#: Kind, phrase and cost of a change, and the kernel that has it.
Tried = tuple[str, str, float, Kernel]


def other_roundings(kernel: Kernel, recorded: RecordedResult) -> list[Change]:
    """Return the kernel with other formats of its results and sums, each as a change."""
    return _changes(kernel, (*_results(kernel, recorded), *_sums(kernel, recorded)))


def other_units(kernel: Kernel, recorded: RecordedResult) -> list[Change]:
    """Return the kernel on other units of the same operands, those with narrow accumulators among them."""
    return _changes(kernel, _units(kernel, recorded))


def _changes(kernel: Kernel, tried: Iterable[Tried]) -> list[Change]:
    found: dict[Kernel, Change] = {}
    for kind, what, cost, other in tried:
        if other != kernel and other not in found:
            found[other] = Change(kind=kind, what=what, cost=cost, ways=(Way(kernels=_always(other)),))
    return list(found.values())


def other_reductions(
    kernels: Sequence[Kernel], recorded: RecordedResult, ends: Sequence[Epilogue]
) -> Iterator[Change]:
    """All reductions that are tried on these kernels' units, with narrow parts and totals, too."""
    for kernel in dict.fromkeys(replace(kernel, reduction=kernels[0].reduction) for kernel in kernels):
        unit, length = kernel.unit, recorded.shape[2]
        tried = hypotheses(unit, recorded.d_format, length, ends, c=recorded.c is not None)
        usual = tried or hypotheses(unit, unit.model.d_format, length, ends)
        for other in usual:
            yield _reduced(kernel, other.reduction, "order", "another order of sums", 7)
        for name in _SUMS:
            every = reductions(unit.model.k, length, ordinary=unit.model.k <= 2, narrow=FORMATS[name])
            for reduction in every:
                if any(level.parts or level.total for level in reduction.levels):
                    yield _reduced(kernel, reduction, "format", f"{_told(reduction)} in {name}", 6)


def _reduced(kernel: Kernel, reduction: Reduction, kind: str, what: str, cost: float) -> Change:
    other = replace(kernel, reduction=reduction)
    return Change(kind=kind, what=f"{what}: {reduction}", cost=cost, ways=(Way(kernels=_always(other)),))


def _told(reduction: Reduction) -> str:
    first = reduction.levels[0]
    return "partial sums" if first.parts else "a running total"


def _always(other: Kernel) -> Any:
    return lambda kernel: [other]


def _results(kernel: Kernel, recorded: RecordedResult) -> Iterator[Tried]:
    """Results in the formats that have all of D, and as the sum is."""
    schedule, epilogue = kernel.schedule, kernel.epilogue
    total = schedule.sum_format
    plain = replace(epilogue, out=(), rounding=ROUNDINGS["RNE"], saturate=False, stochastic=0)
    if epilogue.out and isinstance(total, Format):
        yield "result", f"results in {total.name}: without out={_out(epilogue)}", 2.0, _ended(kernel, plain)
    given = recorded.d_format.name
    for place, name in enumerate([given] if given in _RESULTS and given != total.name else _RESULTS):
        fmt = FORMATS[name]
        if not isinstance(total, Format) or not total.holds(fmt) or total == fmt or not _has(fmt, recorded.d):
            continue
        for number, rounding in enumerate(_ROUNDINGS):
            saturate = not fmt.has_infinity or bool((np.abs(recorded.d) == float(fmt.largest_finite)).any())
            other = _out_in(plain, fmt, ROUNDINGS[rounding], saturate)
            how = f" ({ROUNDINGS[rounding].title})" if number else ""
            cost = 2 + place / 100 + number / 10
            yield "result", f"results in {name}{how}: +{other}", cost, _ended(kernel, other)


def _out(epilogue: Epilogue) -> str:
    return ":".join(fmt.name for fmt in epilogue.out)


def _out_in(plain: Epilogue, fmt: Format, rounding: Rounding, saturate: bool) -> Epilogue:
    return replace(plain, out=(fmt,), rounding=rounding, saturate=saturate)


def _ended(kernel: Kernel, epilogue: Epilogue) -> Kernel:
    return replace(kernel, epilogue=epilogue)


def _has(fmt: Format, values: Array) -> bool:
    """Return whether a format has every value that is finite."""
    finite = np.where(np.isfinite(values), values, 0.0)
    return not converted(finite.view(np.uint64), FORMATS["f64"], fmt, ROUNDINGS["RNE"]).inexact.any()


def _sums(kernel: Kernel, recorded: RecordedResult) -> Iterator[Tried]:
    """Partial sums, running totals and accumulators in narrower formats."""
    levels, sum_format = kernel.reduction.levels, kernel.unit.model.d_format
    if kernel.reduction.tiled or not isinstance(sum_format, Format):
        return
    ends = [kernel]
    if recorded.c is not None and kernel.epilogue.c_first:
        ends.append(_ended(kernel, replace(kernel.epilogue, c="epilogue")))
    for place, name in enumerate(_SUMS):
        fmt = FORMATS[name]
        if not sum_format.holds(fmt) or sum_format == fmt:
            continue
        for number, level in enumerate(levels):
            for cost, text, names in (
                (2.4, "partial sums", ("parts",)),
                (2.5, "a running total", ("total",)),
                (2.6, "partial sums and their total", ("parts", "total")),
                (2.7, "additions of partial sums", ("sum",)),
            ):
                formats = dict.fromkeys(names, fmt)
                yield from _with_level(
                    kernel, number, level, formats, f"{text} in {name}", cost + place / 100
                )
        for inner in dict.fromkeys((1, kernel.unit.model.k, *_BLOCKS)):
            for cost, formats in ((2.8, {"total": fmt}), (2.9, {"parts": fmt, "total": fmt})):
                level = Level(kind="promote", number=inner, **formats)  # type: ignore[arg-type]
                for outer in dict.fromkeys((levels, ())):
                    reduction = Reduction((*outer, level))
                    for end in ends:
                        other = replace(end, reduction=reduction)
                        text = f"accumulation in {name}: {reduction}"
                        yield "format", text, cost + place / 100 + (inner > 1) / 1000, other


def _with_level(
    kernel: Kernel, number: int, level: Level, formats: dict[str, Format], text: str, cost: float
) -> Iterator[Tried]:
    """One level with other formats; none where it cannot have them."""
    levels = kernel.reduction.levels
    try:
        reduction = Reduction((*levels[:number], replace(level, **formats), *levels[number + 1 :]))  # type: ignore[arg-type]
        replace(kernel, reduction=reduction).schedule  # noqa: B018
    except TcsmtError:
        return
    yield "format", f"{text}: {reduction}", cost, replace(kernel, reduction=reduction)


def _units(kernel: Kernel, recorded: RecordedResult) -> Iterator[Tried]:
    """Other units of the same operands, those with narrow accumulators among them."""
    a, b = recorded.formats[:2]
    current = kernel.unit.model
    for place, (row, *_) in enumerate(units_for(a, b)):
        model = row.model
        if model.digest == current.digest or (recorded.c is not None and model.c_format != current.c_format):
            continue
        for reduction in dict.fromkeys((kernel.reduction, Reduction())):
            other = replace(kernel, unit=row, reduction=reduction)
            narrow = isinstance(model.d_format, Format) and model.d_format != current.d_format
            what = f"accumulation in {model.d_format.name}" if narrow else "another unit"
            yield (
                "format" if narrow else "unit",
                f"{what}: {other.name}",
                (3.0 if narrow else 5.0) + place / 1000,
                other,
            )
