"""Better tests than one that lets wrong kernels through: ``tcsmt.testing.propose``."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.analysis.power.criteria import Criterion, ElementwiseCloseness, MeasuredCriterion
from tcsmt.analysis.power.operands import drawn
from tcsmt.analysis.tolerance.pairs import BoundedDifference
from tcsmt.interface.api.power import TestedOperands, TestPower
from tcsmt.interface.api.tolerance import tolerance
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.arithmetic.words import format_of
from tcsmt.support.errors import Contradiction, TcsmtError
from tcsmt.support.files import replace_bytes
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns

__all__ = ["ProposedTest", "TestProposal", "propose"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Operands that are tried, those first that tell the most.
_GENERATORS = ("mixed", "cancelling", "few", "structured", "nan", "normal")


@dataclass(frozen=True)
class ProposedTest:
    """Operands and bounds of elements: a test that accepts every right kernel.

    operands: what they are. a, b, expected, atol: the arrays; a and b as numbers. kills: the wrong kernels
    that it rejects.
    """

    operands: str
    a: Array
    b: Array
    expected: Array
    atol: Array
    kills: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class TestProposal(Result):
    """Better criteria for a test, and more operands; print it.

    right: the kernels that each of them is proved to accept. criteria: for the test's own operands, each with
    the names of the wrong kernels that it lets through, the best one first. tests: operands that kill what
    the best criterion lets through. open: the wrong kernels that nothing here kills.
    """

    __test__ = False  # of pytest's

    right: tuple[str, ...]
    criteria: tuple[tuple[str, tuple[str, ...]], ...]
    tests: tuple[ProposedTest, ...] = field(compare=False)
    open: tuple[str, ...]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tests' arrays (.npz): NAME_a and NAME_b as numbers, NAME_expected and NAME_atol.

        Raises :class:`tcsmt.TcsmtError` for another suffix.
        """
        if Path(path).suffix.lower() != ".npz":
            raise TcsmtError(f"{path}: allowed suffix: .npz")
        arrays = {
            f"{test.operands.partition(',')[0]}_{name}": getattr(test, name)
            for test in self.tests
            for name in ("a", "b", "expected", "atol")
        }
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, **arrays)
        replace_bytes(Path(path), content.getvalue())

    def _facts(self) -> dict[str, Any]:
        return {
            "right": list(self.right),
            "criteria": [{"criterion": text, "survivors": list(names)} for text, names in self.criteria],
            "tests": [{"operands": test.operands, "kills": list(test.kills)} for test in self.tests],
            "open": list(self.open),
        }

    def _lines(self) -> Iterator[str]:
        yield f"proposed, and proved to accept {', '.join(self.right)} on these operands:"
        yield from columns(
            [
                (f"  {text}", f"{len(names)} wrong kernels pass", ", ".join(names))
                for text, names in self.criteria
            ]
        )
        if self.tests:
            yield "operands that kill the others, with one atol for each element:"
            yield from columns([(f"  {one.operands}", "kills " + ", ".join(one.kills)) for one in self.tests])
            name = self.tests[0].operands.partition(",")[0]
            yield "as a test, with the file that `save` writes:"
            yield '  t = np.load("tests.npz")'
            yield f'  d = my_kernel(t["{name}_a"], t["{name}_b"])'
            close = f'np.isclose(d, t["{name}_expected"], rtol=0, atol=t["{name}_atol"], equal_nan=True)'
            yield f"  assert {close}.all()"
        if self.open:
            yield "open (nothing here tells them from right kernels): " + ", ".join(self.open)

    @property
    def _title(self) -> str:
        return f"for {', '.join(self.right)}: {len(self.tests)} tests, {len(self.open)} open"


@ieee_floats
def propose(power: TestPower, right: Sequence[str] = ()) -> TestProposal:
    """Return a better test than one whose power is known.

    Each criterion is proved to accept every right kernel on the operands, by the bounds of
    :func:`tcsmt.tolerance`; the wrong kernels that it rejects are simulated. For those that the best one
    lets through, operands of the generators are tried with the same shape and formats.

    Args:
        power: Of the test.
        right: More kernels that the test must accept: of other units, splits, tiles. [default: the test's]

    Raises :class:`tcsmt.TcsmtError` where no bound is proved, with the reason.

    >>> import tcsmt
    >>> weak = tcsmt.testing.power(kernel="ieee/fma.f32.bf16", generator="normal", shape=(8, 8, 64),
    ...                            criterion="pcc>=0.99")
    >>> better = tcsmt.testing.propose(weak)
    >>> len(better.criteria[0][1]) < len(weak.survivors)
    True
    """
    test, kernels = power.test, tuple(dict.fromkeys((power.test.kernel, *right)))
    limits = _limits(test, kernels)
    wrong = [(one.name, results) for one, results in test.wrong_results() if isinstance(results, np.ndarray)]
    found = []
    for criterion in _criteria(test, limits):
        if not criterion.accepts(test.product.right, test.exact):
            raise Contradiction(f"every right kernel passes {criterion}", f"{test.kernel} does not")
        names = tuple(name for name, results in wrong if criterion.accepts(results, test.exact))
        found.append((str(criterion), names))
    found.sort(key=lambda one: len(one[1]))
    tests, survivors = [], list(found[0][1])
    for generator in _GENERATORS:
        if survivors and (more := _tried(test, kernels, generator, survivors)) is not None:
            tests.append(more)
            survivors = [name for name in survivors if name not in more.kills]
    return TestProposal(kernels, tuple(found), tuple(tests), tuple(survivors))


def _limits(test: TestedOperands, kernels: Sequence[str]) -> BoundedDifference:
    """Return what right kernels are off by at most, of every element; infinity where operands are not finite.

    Raises :class:`.TcsmtError` where an element of finite numbers has no bound.
    """
    reference = "original" if test.expected == "original" else "dequantised"
    given = test.arrays
    sides = [
        tolerance(
            given["a"], given["b"], given.get("c"), kernel=kernel, bias=given.get("bias"),
            quantiser=test.quantiser, reference=reference, search=0,
        ).sides[0]
        for kernel in kernels
    ]  # fmt: skip
    off = np.maximum.reduce([side.off_from(sides[0]) for side in sides])
    exact, error = sides[0].every("exact"), sides[0].every("error")
    if (np.isinf(off) & np.isfinite(exact)).any():
        raise TcsmtError(f"{', '.join(kernels)}: a step may overflow: no criterion is proved")
    apart = np.abs(test.exact - exact)  # of what the test compares with: another order of sums, a rounding
    apart = np.where(np.isfinite(exact), np.nextafter(apart, np.inf) + 2 * error, 0.0)
    return BoundedDifference(off, test.exact, error, FORMATS["f64"], apart)


def _criteria(test: TestedOperands, limits: BoundedDifference) -> Iterator[Criterion]:
    some = np.isfinite(limits.off)
    own = BoundedDifference(
        limits.off[some], limits.exact[some], limits.error[some], limits.format,
        None if limits.reference is None else limits.reference[some],
    )  # fmt: skip
    rtol = 2.0**-test.product.format.precision
    yield ElementwiseCloseness(rtol, own.atol(rtol), equal_nan=True)
    yield ElementwiseCloseness(0.0, own.atol(0.0), equal_nan=True)
    yield ElementwiseCloseness(0.0, limits.difference, equal_nan=True)
    if some.all():
        yield MeasuredCriterion("norm", own.relative_norm)
        if own.cosine > -1:
            yield MeasuredCriterion("cosine", own.cosine)
        if own.pcc > -1:
            yield MeasuredCriterion("pcc", own.pcc)


def _tried(
    test: TestedOperands, kernels: Sequence[str], generator: str, survivors: Sequence[str]
) -> ProposedTest | None:
    """Return operands of a generator that kill a survivor; None: they do not, or have no bounds."""
    formats = [format_of(np.asarray(test.arrays[name]).dtype) for name in "ab"]
    if any(fmt is None for fmt in formats):
        return None
    m, n, k = test.product.shape
    left, right = (float_format(fmt) for fmt in formats if fmt is not None)
    a, b = drawn(generator, (left, right), (m, n, k), 0)
    expected = "exact" if test.expected not in ("original",) else test.expected
    try:
        other = TestedOperands.of(test.kernel, test.quantiser, expected, {**test.arrays, "a": a, "b": b})
        limits = _limits(other, kernels)
    except TcsmtError:
        return None
    atol = np.where(np.isfinite(limits.off), limits.difference, 0.0)  # else NaN, or an infinity
    criterion = ElementwiseCloseness(0.0, atol, equal_nan=True)
    if not criterion.accepts(other.product.right, other.exact):
        raise Contradiction(f"{test.kernel} passes on {generator} operands", "it does not")
    kills = tuple(
        wrong.name
        for wrong, results in other.wrong_results(tuple(survivors))
        if isinstance(results, np.ndarray) and not criterion.accepts(results, other.exact)
    )
    if not kills:
        return None
    wide = np.float32 if max(a.dtype.itemsize, b.dtype.itemsize) <= 4 else np.float64
    return ProposedTest(f"{generator}, seed 0", a.astype(wide), b.astype(wide), other.exact, atol, kills)
