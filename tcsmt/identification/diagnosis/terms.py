"""Terms of the sum along K that are left out, added twice, or others in place of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.recorded import Change, Way
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Level, Reduction
from tcsmt.support.errors import TcsmtError
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Places at which a run of terms may begin or end, at most; with more, every so many products.
_ENDS = 1024
#: Products of a stage that a kernel loads at a time.
_STAGES = (8, 16, 32, 64, 128, 256)
#: Ends of K that are tried bit by bit, whatever the numbers say: so many terms.
_FEW = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def changed_terms(sample: ResultSample) -> Iterator[Change]:
    """Runs of terms along K that make D what it is, the best of each sort."""
    products = sample.products
    finite = np.isfinite(sample.d) & np.isfinite(sample.exact) & (sample.size > 0)
    length = products.shape[1]
    if not finite.any() or not length:
        return
    weight = 1 / sample.size[finite]
    terms = products[finite] * weight[:, None]
    missing = (sample.exact - sample.d)[finite] * weight
    runs = dict.fromkeys(
        (*_ends_of_k(terms, missing), *_single(terms, missing), *_runs(terms, missing), *_usual(sample))
    )
    for first, last, times in runs:
        if last - first + 1 < length:  # all of them are a factor, or a C alone
            yield _change(sample, first, last, times)
    yield from _replaced(sample, terms, missing)


def _change(sample: ResultSample, first: int, last: int, times: int) -> Change:
    """Terms from a first to a last one that are there so many times in place of once."""
    length = sample.products.shape[1]
    number = last - first + 1
    where = f"k = {first}" if number == 1 else f"k = {first} to {last}"
    tail = ", the last ones of K" if last + 1 == length and first and number > 1 else ""
    terms = "a term" if number == 1 else counted(number, "term")
    edge = first == 0 or last + 1 == length
    if times == 0:
        ways = [Way(partial(_zeroed, first, last))]
        ways.append(Way(partial(_without, first, last)))
    else:
        again = partial(_appended, first, last)
        ways = [Way(partial(_repeated, first, last)), Way(again)]
        ways.append(Way(again, partial(_with_part, first, last, length)))
    return Change(
        kind="terms",
        what=f"{terms} {'added twice' if times == 2 else 'left out'}: {where}{tail}",
        cost=4 + (0.0 if number == 1 else 0.2) + (0.0 if edge else 0.5) + 0.01 * times,
        expected=sample.exact + (times - 1) * sample.products[:, first : last + 1].sum(axis=1),
        count=length if number == 1 or edge else length * length,
        ways=tuple(ways),
    )


def _ends_of_k(terms: Array, missing: Array) -> Iterator[tuple[int, int, int]]:
    """Yield the last terms, of the number that fits best, and the first ones."""
    length = terms.shape[1]
    head = np.cumsum(terms, axis=1)
    tail = head[:, -1:] - head + terms
    for times, sign in ((0, 1), (2, -1)):
        last = int(np.argmin(np.square(sign * missing[:, None] - tail).sum(axis=0)))
        yield last, length - 1, times
        yield 0, int(np.argmin(np.square(sign * missing[:, None] - head).sum(axis=0))), times


def _single(terms: Array, missing: Array) -> Iterator[tuple[int, int, int]]:
    """Yield the one term that fits best."""
    for times, sign in ((0, 1), (2, -1)):
        at = int(np.argmin(np.square(sign * missing[:, None] - terms).sum(axis=0)))
        yield at, at, times


def _runs(terms: Array, missing: Array) -> Iterator[tuple[int, int, int]]:
    """Yield the run of terms that fits best of all."""
    length = terms.shape[1]
    step = -(-length // _ENDS)
    ends = np.unique([*range(0, length, step), length])
    sums = np.concatenate([np.zeros((len(terms), 1)), np.cumsum(terms, axis=1)], axis=1)[:, ends]
    for times, sign in ((0, 1), (2, -1)):
        far = _distances(sums, sign * missing)
        far[np.tril_indices(len(ends))] = np.inf  # a run ends after it begins
        first, last = np.unravel_index(int(np.argmin(far)), far.shape)
        yield int(ends[first]), int(ends[last]) - 1, times


def _distances(sums: Array, missing: Array) -> Array:
    """Σ (missing - (sums of column j - sums of column i))² of each i and j, but for a constant."""
    gram, along = sums.T @ sums, sums.T @ missing
    squares = np.diagonal(gram)
    result: Array = squares[:, None] + squares[None, :] - 2 * gram - 2 * (along[None, :] - along[:, None])
    return result


def _usual(sample: ResultSample) -> Iterator[tuple[int, int, int]]:
    """Yield what programs leave out most often: some of the first or last terms, or a part of the
    kernel's.
    """
    length = sample.products.shape[1]
    for number in _FEW:
        if number < length:
            for times in (0, 2):
                yield length - number, length - 1, times
                yield 0, number - 1, times
    for kernel in sample.kernels[:1]:
        for level in kernel.reduction.levels[:1]:
            try:
                parts = level.cut(np.arange(length), kernel.unit.model.k)
            except TcsmtError:
                continue
            for part in parts[:64] if len(parts) > 1 else ():
                if part[-1] - part[0] + 1 == len(part):
                    for times in (0, 2):
                        yield int(part[0]), int(part[-1]), times


def _replaced(sample: ResultSample, terms: Array, missing: Array) -> Iterator[Change]:
    """A stage of K that was read in place of another one."""
    length = terms.shape[1]
    for stage in _STAGES:
        number = length // stage
        if not 2 <= number <= _ENDS:
            continue
        sums = terms[:, : number * stage].reshape(len(terms), number, stage).sum(axis=2)
        far = _distances(sums, missing)
        np.fill_diagonal(far, np.inf)
        there, gone = (int(x) for x in np.unravel_index(int(np.argmin(far)), far.shape))
        columns = [sample.products[:, at * stage : (at + 1) * stage].sum(axis=1) for at in (there, gone)]
        ends = [f"k = {at * stage} to {(at + 1) * stage - 1}" for at in (there, gone)]
        yield Change(
            kind="terms",
            what=f"a stage of K in place of another: {ends[0]} in place of {ends[1]}",
            cost=5,
            expected=sample.exact + columns[0] - columns[1],
            count=number * number * len(_STAGES),
            ways=(Way(partial(_in_place, there * stage, gone * stage, stage)),),
        )


def _zeroed(first: int, last: int, inputs: SampledElements) -> SampledElements:
    """Zeros in A in place of terms."""
    a = inputs.a.copy()
    a[:, first : last + 1] = 0
    return replace(inputs, a=a)


def _without(first: int, last: int, inputs: SampledElements) -> SampledElements:
    """A shorter K."""
    return _along(inputs, np.r_[0:first, last + 1 : inputs.a.shape[1]])


def _repeated(first: int, last: int, inputs: SampledElements) -> SampledElements:
    """Terms that come again at once."""
    return _along(inputs, np.r_[0 : last + 1, first : inputs.a.shape[1]])


def _appended(first: int, last: int, inputs: SampledElements) -> SampledElements:
    """Terms that come again behind K."""
    return _along(inputs, np.r_[0 : inputs.a.shape[1], first : last + 1])


def _in_place(there: int, gone: int, stage: int, inputs: SampledElements) -> SampledElements:
    """Return the terms of a stage from ``there`` on in place of those from ``gone`` on."""
    order = np.arange(inputs.a.shape[1])
    order[gone : gone + stage] = order[there : there + stage]
    return _along(inputs, order)


def _along(inputs: SampledElements, order: Array) -> SampledElements:
    """These indices of K. order: integers (length,)."""
    return replace(inputs, a=inputs.a[:, order], b=inputs.b[:, order])


def _with_part(first: int, last: int, length: int, kernel: Kernel) -> list[Kernel]:
    """Return the kernel with one part more, of the terms that come again behind K: last, or after their
    own.
    """
    outer, *inner = kernel.reduction.levels or (Level(kind="cuts", number=0, at=(length,)),)
    try:
        parts = outer.cut(np.arange(length), kernel.unit.model.k)
    except TcsmtError:
        return []
    starts = [int(part[0]) for part in parts]
    if outer.order != "order" or any(part[-1] - part[0] + 1 != len(part) for part in parts):
        return []
    cut = replace(outer, kind="cuts", number=0, step=None, halved=0, at=(*starts[1:], length))
    found = [replace(kernel, reduction=Reduction((cut, *inner)))]
    if first in starts and len(starts) > 1:
        place = starts.index(first)
        order = [*range(place + 1), len(starts), *range(place + 1, len(starts))]
        again = replace(cut, order="-".join(map(str, order)))
        found.append(replace(kernel, reduction=Reduction((again, *inner))))
    return found
