"""Changes of a result as a whole: a factor, an addend, the other side of the diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import log2
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.recorded import Change, RecordedResult, Way
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.steps.outside import add
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements of a row, or column, at least, where each has a number of its own.
_ALONG = 4
#: How many factors there are to choose from, of all numbers and of powers of two.
_NUMBERS, _POWERS = 1 << 24, 1 << 7


def changed_result(sample: ResultSample) -> Iterator[Change]:
    """Each of them that has numbers of its own: factors and addends are those that fit best."""
    yield from _addends(sample)
    yield from _factors(sample)
    yield from _transposed(sample)
    yield from _along(sample)


def _addends(sample: ResultSample) -> Iterator[Change]:
    """C or the bias left out, added twice, or C times a number."""
    for text, term in sample.addends.items():
        left_out, others = ("c", {}) if text == "C" else ("bias", {"bias": False})
        for number, what in ((0, "left out"), (2, "added twice")):
            yield Change(
                kind="addend",
                what=f"{text} {what}",
                cost=2 + number / 10,
                expected=sample.exact + (number - 1) * term,
                count=4,
                ways=(Way(partial(_without, left_out), partial(_with_epilogue, others)),)
                if number == 0
                else (Way(partial(_twice, sample.recorded, left_out)),),
            )
    c = sample.addends.get("C")
    if c is not None and np.square(c).sum() > 0:
        weight = np.where(np.isfinite(sample.d), 1 / np.maximum(sample.size, 1e-300) ** 2, 0.0)
        apart = np.where(np.isfinite(sample.d), sample.d - sample.exact, 0.0)
        along = float((weight * np.square(c)).sum())
        times = 1 + float((weight * apart * c).sum()) / along if along else 1.0
        if np.isfinite(times) and min(abs(times), abs(times - 1), abs(times - 2)) > 1e-3:
            beta = _simple(times * sample.kernels[0].epilogue.beta, sample.noise)
            factor = beta / sample.kernels[0].epilogue.beta
            yield Change(
                kind="addend",
                what=f"another beta: D has C {beta:g} times",
                cost=3,
                expected=sample.exact + (factor - 1) * c,
                count=_NUMBERS,
                ways=(Way(kernels=partial(_with_epilogue, {"beta": beta})),),
            )


def _factors(sample: ResultSample) -> Iterator[Change]:
    """Every element is a number of times the exact result, or its product without what is added."""
    kernel = sample.kernels[0]
    finite = np.isfinite(sample.d) & np.isfinite(sample.exact)
    products = sample.summed(sample.products) - sample.added
    seen: set[tuple[str, float]] = set()
    for text, part, rest in (
        ("the exact result", sample.exact, np.zeros_like(sample.exact)),
        ("A·B", products, sample.added),
    ):
        along = part[finite] / np.maximum(sample.size[finite], 1e-300)
        apart = (sample.d - rest)[finite] / np.maximum(sample.size[finite], 1e-300)
        if finite.sum() < 2 or not along.any():
            continue
        ratio = float(apart @ along / (along @ along))
        if not ratio:
            continue
        if np.array_equal(part, sample.exact) and text == "A·B":
            continue
        power = float(np.copysign(np.exp2(np.rint(np.log2(abs(ratio)))), ratio))
        alpha = kernel.epilogue.alpha
        for factor, count in ((power, _POWERS), (1 / alpha, 2), (_simple(ratio, sample.noise), _NUMBERS)):
            if abs(factor - 1) < 1e-3 or (text, factor) in seen:
                continue
            seen.add((text, factor))
            yield Change(
                kind="scaling",
                what=f"alpha, or a scale: every element is {factor:g} times the exact result"
                if text != "A·B"
                else f"alpha, or a scale: D has A·B {factor:g} times",
                cost=3 + log2(count) / 10,
                expected=factor * part + rest,
                count=count,
                ways=(Way(kernels=partial(_with_epilogue, {"alpha": alpha * factor})),),
            )


def _transposed(sample: ResultSample) -> Iterator[Change]:
    """D, A or B on the other side of the diagonal, or A and B in the other order."""
    recorded = sample.recorded
    m, n, k = recorded.shape
    same = recorded.formats[0] == recorded.formats[1]
    across: dict[str, Any] = {side: np.ascontiguousarray(getattr(recorded, side).T) for side in "ab"}
    others: list[tuple[str, RecordedResult]] = []
    if m == n:
        others.append(("a transposed result: every element is that of D's transpose", recorded.transposed()))
    if m == k:
        others.append(("A transposed", replace(recorded, a=across["a"])))
    if n == k:
        others.append(("B transposed", replace(recorded, b=across["b"])))
    if m == n == k and same:
        swapped = replace(recorded, a=across["b"], b=across["a"])
        others.append(("A and B in the other order", swapped))
        others.append(("A and B transposed", replace(recorded, **across)))
    for number, (text, other) in enumerate(others):
        places = sample.places[:, ::-1] if number == 0 and m == n else sample.places
        beside = ResultSample(other, sample.kernels, np.ascontiguousarray(places))
        yield Change(
            kind="transposed",
            what=text,
            cost=2.5 + number / 10,
            expected=beside.exact,
            size=beside.size,
            count=len(others),
            recorded=other,
        )


def _along(sample: ResultSample) -> Iterator[Change]:
    """The same number is added in each column or row, or each has a factor of its own."""
    with np.errstate(all="ignore"):
        apart, ratio = sample.d - sample.exact, sample.d / sample.exact
    if not np.isfinite(apart).all() or sample.fits(sample.exact, 1):
        return
    for axis, what in ((1, "column"), (0, "row")):
        lines, where = np.unique(sample.places[:, axis], return_inverse=True)
        number = np.bincount(where)
        if len(sample.places) < _ALONG * len(lines):
            continue
        mean = np.array([np.median(apart[where == line]) for line in range(len(lines))])
        factors = np.array([_weighted(sample, ratio, where == line) for line in range(len(lines))])
        for kind, text, expected in (
            ("addend", f"D - A·B is the same number in each {what}: a bias for each {what}",
             sample.exact + mean[where]),
            ("scaling", f"a scale for each {what}: D is A·B times a number of each {what}",
             sample.exact * factors[where]),
        ):  # fmt: skip
            single = number[where] == 1  # says nothing
            yield Change(
                kind=kind,
                what=text,
                cost=6,
                expected=np.where(single, np.nan, expected),
                count=1 << min(900, 24 * len(lines)),
                ways=(),
            )


def _weighted(sample: ResultSample, ratio: Array, some: Array) -> float:
    """Return the factor of some elements: that of the one whose sum cancels least."""
    with np.errstate(all="ignore"):
        clear = np.abs(sample.exact) / sample.size
    return float(ratio[some][int(np.argmax(np.nan_to_num(clear[some])))])


def _simple(number: float, noise: float) -> float:
    """Return the number of few digits next to one that was measured, where there is one."""
    for digits in range(1, 5):
        short = float(f"{number:.{digits}g}")
        if abs(short - number) <= max(1e-5, noise) * abs(number):
            return short
    return number


def _without(name: str, inputs: SampledElements) -> SampledElements:
    return replace(inputs, c=None) if name == "c" else replace(inputs, bias=None)


def _twice(recorded: RecordedResult, name: str, inputs: SampledElements) -> SampledElements:
    """Return the numbers of C or of the bias twice, in their own format."""
    fmt, words = recorded.format_of(name), getattr(inputs, name)
    assert fmt is not None
    twice: dict[str, Any] = {name: add(fmt, words, words)}
    return replace(inputs, **twice)


def _with_epilogue(values: dict[str, Any], kernel: Kernel) -> list[Kernel]:
    """Return the kernel with other numbers in its epilogue; none where it cannot have them."""
    try:
        settings = {name: getattr(kernel.epilogue, name) for name in Epilogue.__dataclass_fields__}
        if settings["c"] == "first" and {"alpha", "beta"} & values.keys():
            settings["c"] = None
        return [replace(kernel, epilogue=Epilogue(**(settings | values)))]
    except TcsmtError:
        return []
