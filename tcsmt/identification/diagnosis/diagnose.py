"""Why a result is not a kernel's: what explains D bit for bit comes first, then what explains its numbers.

Each change of what a kernel does is computed by the simulator and held against D. Where none gives D's bits,
a change of the inputs that explains D to within a kernel's own rounding errors is named, with that said; what
is about rounding alone (a narrow accumulator, say) is named only where it gives the bits, as a wide enough
error explains anything. Where nothing does, nothing is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log2
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.recorded import (
    Change,
    RecordedResult,
    Way,
    kernel_values,
    same_values,
    unchanged,
)
from tcsmt.identification.diagnosis.roundings import (
    other_reductions,
    other_roundings,
    other_units,
    rounded_operands,
)
from tcsmt.identification.diagnosis.sample import MARGIN, ResultSample, wrong_elements
from tcsmt.identification.diagnosis.terms import changed_terms
from tcsmt.identification.diagnosis.whole import changed_result
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements on which all changes are tried first; elements against which an explanation is held.
_FIRST, _ALL = 8, 4096
#: Explanations that are told, of those that explain D alike; kernels whose own variants are tried.
_TOLD, _UNITS = 4, 4
#: Bits by which elements must be off for them to be others than the rest, whatever that is.
_APART = 6
#: Residuals within this factor of the smallest are alike.
_ALIKE = 2.0
_SEED = 20261128


@dataclass(frozen=True)
class Cause:
    """An explanation of D.

    kind: ``operands``, ``terms``, ``addend``, ``scaling``, ``transposed``, ``result``, ``format``, ``unit``,
        ``order``, ``zero``, ``special``, ``region`` or ``errors``.
    text: what was done, as a phrase. evidence: what was seen of it. kernel: that gives D's bits with it; None
        where none is known.
    """

    kind: str
    text: str
    evidence: str = ""
    kernel: Kernel | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        kernel = None if self.kernel is None else self.kernel.name
        return {"kind": self.kind, "text": self.text, "evidence": self.evidence, "kernel": kernel}


@dataclass(frozen=True)
class Diagnosis:
    """The explanations of a result, the best one first; empty where there is none.

    measured: what is said of D's errors where nothing explains them.
    """

    explanations: tuple[Cause, ...]
    measured: str = ""

    def lines(self) -> Iterator[str]:
        """Return lines for people."""
        if not self.explanations:
            yield "not explained by any bug that is known here" + (f"; {self.measured}" * bool(self.measured))
        for number, explanation in enumerate(self.explanations):
            yield f"{'  or' if number else 'it looks'} like: {explanation.text}"
            if explanation.evidence:
                yield f"    {explanation.evidence}"

    def as_json(self) -> list[dict[str, Any]]:
        """Return the explanations as plain data."""
        return [explanation.as_json() for explanation in self.explanations]


def diagnose(recorded: RecordedResult, kernels: Iterable[Kernel]) -> Diagnosis | None:
    """Return what was done in place of what some kernels do; None where one of them gives D, or no one
    computes it.

    kernels: what D should be, or what is supposed. They take a, b, c and a bias in the formats recorded, and
    have one alpha and one beta.
    """
    able = list(kernels)
    if not able or not recorded.d.size or not recorded.shape[2]:
        return None
    wrong = wrong_elements(recorded, able)
    pool, part = _pool(wrong)
    if len(pool) < recorded.d.size and not _is_apart(recorded, able, wrong):
        pool, part = _pool(np.zeros_like(wrong))
    sample = ResultSample.of(recorded, able, pool)
    if not sample.own:
        return None
    return _Search(recorded, tuple(sample.own), sample, pool, part).diagnosis()


def _is_apart(recorded: RecordedResult, kernels: Sequence[Kernel], wrong: Array) -> bool:
    """Whether the elements that are off are others than the rest: these are a kernel's own, bit for bit, or
    those are off by far more than what tells them apart."""
    off = ResultSample.of(recorded, kernels, np.argwhere(wrong))
    if float(np.median(off.informative)) > _APART or not np.isfinite(off.d).all():
        return True
    rest = ResultSample.of(recorded, kernels, np.argwhere(~wrong))
    return any(
        bool(same_values(values, rest.d[: values.shape[1]]).any(axis=0).all()) for values in rest.own.values()
    )


def _pool(wrong: Array) -> tuple[Array, str]:
    """Places among which the elements lie that are off, and where they are, where that is a part of D."""
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    grid = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    every_element = np.argwhere(np.ones(wrong.shape, bool))
    if not len(grid) or 2 * len(grid) > wrong.size:
        return every_element, ""
    if 4 * wrong.sum() < 3 * len(grid):
        grid = np.argwhere(wrong)
    (top, bottom), (left, right) = ((int(x[0]), int(x[-1])) for x in (rows, columns))
    inside = (bottom - top + 1) * (right - left + 1)
    return grid, f"rows {top} to {bottom}, columns {left} to {right}" if 4 * inside <= wrong.size else ""


Candidate = tuple[Change, Kernel]


@dataclass(frozen=True)
class _Search:
    recorded: RecordedResult
    kernels: tuple[Kernel, ...]
    sample: ResultSample
    pool: Array
    part: str

    def diagnosis(self) -> Diagnosis | None:
        """All that is tried, in turn."""
        if any(same_values(values, self._d(values)).all() for values in self.sample.own.values()) and any(
            self._gives(kernel) for kernel in self.kernels
        ):
            return None
        found = [*self._zeros()]
        fitting: list[Change] = []
        if not found:
            changes = [*rounded_operands(self.sample), *changed_terms(self.sample)]
            changes += changed_result(self.sample)
            fitting = [one for one in changes if self._fits(one)]
            fitting = [one for one in fitting if one.ways] or fitting  # a number for each row fits as well
            found = self._given([*fitting, *self._other(other_roundings)])
        if not found:
            found = self._given([replace(one, ways=one.others) for one in fitting if one.others])
        if not found:
            small = [replace(one, ways=one.ways[:1]) for one in changes if self._may(one)]
            found = self._given([*small, *self._other(other_units)])
        if not found:
            found = self._near(fitting) if fitting else self._given([*self._reduced()])
        found = found or [*self._special()]
        if self.part:
            found.append(Cause("region", f"a tile, or memory: all that is off lies in {self.part}"))
        return Diagnosis(tuple(found), "" if found else self._measured())

    def _other(self, kernels: Callable[[Kernel, RecordedResult], list[Change]]) -> Iterator[Change]:
        """Changes of the first kernels."""
        return chain.from_iterable(kernels(kernel, self.recorded) for kernel in self.kernels[:_UNITS])

    def _d(self, values: Array) -> Array:
        return self.sample.d[: values.shape[-1]]

    def _gives(self, kernel: Kernel) -> bool:
        """Return whether a kernel gives all elements that are tried of the whole of D."""
        return self._verified(
            Change("order", "", 0), kernel, np.argwhere(np.ones(self.recorded.d.shape, bool))
        )

    def _fits(self, change: Change) -> bool:
        return change.expected is not None and self.sample.fits(change.expected, change.count, change.size)

    def _may(self, change: Change) -> bool:
        return change.expected is not None and self.sample.residual(change.expected, change.size) <= 1

    def _zeros(self) -> Iterator[Cause]:
        d = self.recorded.d[self.pool[:, 0], self.pool[:, 1]]
        if not d.any() and self.sample.informative.sum() > MARGIN:
            yield Cause("zero", "elements that were never computed: they are zero")

    def _reduced(self) -> Iterator[Change]:
        """Yield the first kernels with other reductions."""
        ends = [*dict.fromkeys(kernel.epilogue for kernel in self.kernels)]
        yield from other_reductions(self.kernels[:_UNITS], self.recorded, ends)

    def _residual(self, change: Change) -> float:
        assert change.expected is not None
        return self.sample.residual(change.expected, change.size)

    def _given(self, changes: Sequence[Change]) -> list[Cause]:
        """Changes with which a kernel gives D, the cheapest first, each with the first such kernel."""
        groups: dict[tuple[int, Any], list[Candidate]] = {}
        for change in changes:
            for way in change.ways:
                members = groups.setdefault((id(change.recorded), way.inputs), [])
                members += [(change, other) for given in self.kernels for other in way.kernels(given)]
        count = sum(map(len, groups.values()))
        if self._told() <= log2(max(count, 1)) + MARGIN:
            return []
        survivors: list[tuple[Change, Kernel, Any]] = []
        for (_, inputs), members in groups.items():
            for size in (_FIRST, len(self.sample.places)):
                members = self._surviving(members, inputs, self.sample.places[:size])
            survivors += [(change, kernel, inputs) for change, kernel in members]
        survivors.sort(key=lambda one: one[0].cost)
        found: dict[str, Cause] = {}
        for change, kernel, inputs in survivors:
            name = change.what.partition(":")[0] if change.expected is None else change.what
            if len(found) < _TOLD and name not in found:
                places = self._checked()
                if self._verified(replace(change, ways=(Way(inputs),)), kernel, places):
                    text = f"{self._with(inputs)}{kernel.name} gives {self._count(places)}, bit for bit"
                    found[name] = Cause(change.kind, change.what, text, kernel)
        return list(found.values())

    def _with(self, inputs: Any) -> str:
        return "" if inputs is unchanged else "with that, "

    def _told(self) -> float:
        """Return the bits that D says against the kernels: how far its values are from theirs, in last
        places.
        """
        sample, kernel = self.sample, next(iter(self.sample.own))
        ((_, orders),) = kernel_values([kernel], sample.inputs)
        values, d = orders[0], self._d(orders[0])
        pairs = np.unique(np.stack([d, values]), axis=1)
        fmt = self.recorded.d_format
        with np.errstate(all="ignore"):
            exponent = np.maximum(np.frexp(pairs[0])[1] - 1, fmt.e_min)
            apart = np.abs(pairs[0] - pairs[1]) / np.ldexp(1.0, exponent - fmt.fraction_bits)
            bits = np.where(np.isfinite(pairs[0]), np.log2(1 + np.minimum(apart, 2.0**24)), 1.0)
        return float(np.nan_to_num(bits).sum())

    def _surviving(self, members: Sequence[Candidate], inputs: Any, places: Array) -> list[Candidate]:
        """Return those that give some elements. They all take the same inputs."""
        if not members:
            return []
        recorded = members[0][0].recorded or self.recorded
        at = places if members[0][0].recorded is None else self._beside(members[0][0], places)
        d = recorded.d[at[:, 0], at[:, 1]]
        kernels = [*dict.fromkeys(kernel for _, kernel in members)]
        given = {
            kernel
            for kernel, values in kernel_values(kernels, inputs(recorded.at(at)))
            if same_values(values, d).any(axis=0).all()
        }
        return [(change, kernel) for change, kernel in members if kernel in given]

    def _beside(self, change: Change, places: Array) -> Array:
        """Return the places of the same elements of D in what a change compares it with."""
        turned = change.recorded is not None and change.recorded.d is not self.recorded.d
        return np.ascontiguousarray(places[:, ::-1]) if turned else places

    def _checked(self) -> Array:
        """Return the elements against which an explanation is held: all that are off, or some drawn by
        chance.
        """
        if len(self.pool) <= _ALL:
            return self.pool
        return self.pool[np.sort(np.random.default_rng(_SEED).permutation(len(self.pool))[:_ALL])]

    def _verified(self, change: Change, kernel: Kernel, places: Array) -> bool:
        """Return whether a kernel gives some elements with a change's inputs, so many at a time as are in
        memory.
        """
        step = max(1, (1 << 22) // self.recorded.shape[2])
        inputs = change.ways[0].inputs
        return all(
            bool(self._surviving([(change, kernel)], inputs, places[first : first + step]))
            for first in range(0, min(len(places), _ALL), step)
        )

    def _count(self, places: Array) -> str:
        number = counted(len(places), "element")
        if len(places) < len(self.pool):
            return f"the {number} of {len(self.pool)} that were tried"
        return f"all {number}" + (" that are off" if len(self.pool) < self.recorded.d.size else "")

    def _near(self, fitting: Sequence[Change]) -> list[Cause]:
        """Return what explains the numbers of D, but not its bits: the best of those that fit, one at
        least.
        """
        best = min(map(self._residual, fitting))
        alike = [one for one in fitting if self._residual(one) <= _ALIKE * best]
        kernel = self.kernels[0]
        evidence = (
            f"not bit for bit: with that, none of the {counted(len(self.sample.places), 'element')} tried is "
            f"off by more than the rounding errors of {kernel.name}"
        )
        told = {one.what: one for one in sorted(alike, key=lambda one: one.cost)}
        return [Cause(one.kind, what, evidence) for what, one in told.items()][:_TOLD]

    def _special(self) -> Iterator[Cause]:
        d = self.recorded.d[self.pool[:, 0], self.pool[:, 1]]
        nans, infinite, count = int(np.isnan(d).sum()), int(np.isinf(d).sum()), counted(len(d), "element")
        if nans:
            text = f"memory that was never written, or Inf - Inf: {nans} of {count} are NaNs"
            yield Cause("special", text)
        elif infinite and self._overflows(self.pool[np.isinf(d)]):
            text = f"an overflow, as of FP16 partial sums: {infinite} of {count} are infinite"
            yield Cause("special", text)

    def _overflows(self, places: Array) -> bool:
        """Return whether elements are infinite whose exact results D's format has room for."""
        exact = ResultSample.of(self.recorded, self.kernels, places).exact
        return bool((np.abs(exact) <= float(self.recorded.d_format.largest_finite)).any())

    def _measured(self) -> str:
        """D's errors beside a kernel's own."""
        kernel, values = next(iter(self.sample.own.items()))
        exact, size = (x[: values.shape[1]] for x in (self.sample.exact, self.sample.size))
        with np.errstate(all="ignore"):
            errors = [(x - exact) / size for x in (self._d(values), values[0])]
            finite = [each[np.isfinite(each)] for each in errors]
            recorded, near = (float(np.sqrt(np.mean(each**2))) if each.size else np.nan for each in finite)
        if not (np.isfinite(recorded) and np.isfinite(near) and near > 0):
            return ""
        return f"errors of D are {recorded / near:.2g} times those of {kernel.name}"
