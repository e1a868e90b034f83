"""Tolerances for a kernel's product of given matrices: ``tcsmt.tolerance``."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.enclosures import numbers
from tcsmt.analysis.tolerance.exact import outside
from tcsmt.analysis.tolerance.pairs import BoundedDifference
from tcsmt.analysis.tolerance.search import LargestError, largest_errors
from tcsmt.analysis.tolerance.upward import added
from tcsmt.identification.diagnosis.diagnose import Diagnosis, diagnose
from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.interface.api.arrays import as_numpy
from tcsmt.interface.api.tolerance_pair import TolerancePair
from tcsmt.interface.api.tolerance_sides import BoundedSide, is_algorithm, side_named
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.arithmetic.conversion import converted
from tcsmt.matrix_units.arithmetic.formats import (
    FORMATS,
    AnyFormat,
    IntegerFormat,
    float_format,
    format_named,
)
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.arithmetic.words import format_of, to_words
from tcsmt.programs.quantisation.recipe import recipe_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.files import replace_bytes
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]

#: Products of a stack in which errors are looked for.
_SEARCHED = 8
#: Of which operands exact results are.
REFERENCES = ("dequantised", "original")
#: What is said of a tolerance that checks next to nothing.
_VACUOUS = "VACUOUS: the tolerance exceeds the signal: a result of zeros would pass where most elements are"


@dataclass(frozen=True, repr=False)
class Tolerance(Result):
    """A bound of each element's error in a kernel's result: ``atol``; print it.

    kernel: its name. against: that of the second kernel, whose bounds are added; "" where there is none.
    largest: the largest error that a search found beside the bounds, in parts of them; None where nothing was
    searched. largest_place: of a stack of products, in which one. proof: the lemmas.
    """

    sides: tuple[BoundedSide, ...] = field(compare=False)
    largest: LargestError | None
    largest_place: tuple[int, ...] = ()

    @property
    def kernel(self) -> str:
        """Return the kernel's name, which reads back."""
        return self.sides[0].product.name

    @property
    def against(self) -> str:
        """Return the second kernel's name; "" where there is none."""
        return self.sides[1].product.name if len(self.sides) > 1 else ""

    @property
    def atol(self) -> Array:
        """float64, (..., M, N): the proved bound of each element; infinity where a step may overflow.

        Of two kernels, how far their results can be from each other: the sum of both bounds, and of how far
        their exact results are apart, where they do not read the same numbers.
        """
        total = self.sides[0].every("atol")
        for side in self.sides[1:]:
            total = added(total, side.off_from(self.sides[0]))
        return total

    @property
    def exact(self) -> Array:
        """float64, (..., M, N): alpha·A·B + beta·C + bias, the exact result to within ``exact_error``.

        alpha, beta and the bias are the numbers that the kernel has: of binary32, or of binary64.
        """
        return self.sides[0].every("exact")

    @property
    def exact_error(self) -> Array:
        """float64, (..., M, N): how far ``exact`` can be from the exact result, proved as well."""
        return self.sides[0].every("error")

    @property
    def _k(self) -> int:
        return int(self.sides[0].operands[0].a.shape[1])

    @property
    def signal(self) -> float:
        """Return the root mean square of the exact results that are numbers."""
        return float(np.sqrt(np.mean(self.exact[~np.isnan(self.exact)] ** 2)))

    @property
    def _of_numbers(self) -> Array:
        """``atol`` of the elements that are made of finite numbers."""
        return self.atol[~np.isnan(self.exact)]

    @property
    def above_signal(self) -> int:
        """Elements whose bound is not 0, and no less than their exact result: it says next to nothing."""
        atol = self.atol
        return int(((atol >= np.abs(self.exact)) & (atol > 0)).sum())

    @property
    def vacuous(self) -> bool:
        """Return whether the tolerance says next to nothing: the median bound is no less than the signal."""
        atol = float(np.median(self._of_numbers))
        return atol > 0 and not atol < self.signal

    @property
    def unbounded(self) -> int:
        """Elements without a bound: a step may overflow there, or an operand is not finite."""
        return int(np.isinf(self.atol).sum())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``atol`` (.npy, float64). Raises :class:`tcsmt.TcsmtError` for another suffix."""
        if Path(path).suffix.lower() != ".npy":
            raise TcsmtError(f"{path}: allowed suffix: .npy")
        content = io.BytesIO()
        np.save(content, self.atol, allow_pickle=False)
        replace_bytes(Path(path), content.getvalue())

    def pair(self, rtol: float | None = None, *, precision: str = "f64") -> TolerancePair:
        """Return (rtol, atol) for ``torch.testing.assert_close``, ``numpy.testing.assert_allclose`` and JAX,
        proved for these matrices, and limits of a cosine, a relative Frobenius norm and a PCC.

        The test is ``|actual - expected| <= atol + rtol·|expected|``. Expected is the exact result, computed
        in binary64 and rounded to the test's format; of two kernels, the second one's result. atol is the
        smallest that is proved to do for rtol. Elements without a bound are left out.

        Args:
            rtol: The pair's rtol. [default: half a unit in the last place of the result's format]
            precision: Format in which the test computes: f64 where both arrays become float64 first, else
                that of their dtype.

        Raises :class:`tcsmt.TcsmtError` for a format that does not hold the results', and a negative rtol.
        """
        fmt, own = float_format(format_named(precision)), self.sides[0].product.d_format
        for product in (side.product for side in self.sides):
            if not fmt.holds(product.d_format):
                raise TcsmtError(
                    f"precision {precision}: the results of {product.name} are in {product.d_format.name}, "
                    "which it does not hold"
                )
        rtol = 2.0 ** -float_format(own).precision if rtol is None else rtol
        if not 0 <= rtol < np.inf:
            raise TcsmtError(f"rtol = {rtol}: must be 0 or more")
        first, *others = self.sides
        some = np.isfinite(self.atol)
        reference = added(*(side.off_from(first) for side in others))[some] if others else None
        off, exact, error = (first.every(name)[some] for name in ("atol", "exact", "error"))
        return TolerancePair.of(
            BoundedDifference(off, exact, error, fmt, reference), rtol, names=(self.kernel, self.against),
            left_out=int((~some).sum()),
        )  # fmt: skip

    def check(self, d: Any) -> Closeness:
        """Return whether each element of a result, of shape (..., M, N), lies within its bound of the exact
        one.

        d: an array of any floating-point dtype, or words of the kernel's format. A value that this format
        does not have is wrong, however near. Of two kernels' tolerance, d is the first one's result. Raises
        :class:`tcsmt.TcsmtError` for another shape.
        """
        side = self.sides[0]
        values, fmt = _values(side.product.d_format, d)
        shape = side.every("exact").shape
        if values.shape != shape:
            raise TcsmtError(f"D has shape {values.shape}: must be {shape}, the shape of A·B")
        each = values.reshape(-1, *shape[-2:])
        products = zip(side.operands, side.bounds, each, strict=True)
        wrong = [outside(partial(side.product.exact_element, own), bounds, d) for own, bounds, d in products]
        foreign = _foreign(side.product.d_format, values)
        return Closeness(self, values, np.stack(wrong).reshape(shape) | foreign, foreign, fmt)

    def _facts(self) -> dict[str, Any]:
        largest = self.largest
        return {
            "kernel": self.kernel,
            "against": self.against or None,
            "shape": list(self.exact.shape),
            "k": self._k,
            "atol": _quantiles(self._of_numbers),
            "signal": self.signal,
            "above_signal": self.above_signal,
            "vacuous": self.vacuous,
            "unbounded": self.unbounded,
            "searched": None
            if largest is None
            else {
                "element": [*self.largest_place, largest.row, largest.column],
                "error": largest.error,
                "atol": largest.atol,
                "share": largest.share,
                "elements": largest.elements,
                "varied_share": largest.varied,
                "variants": largest.variants,
            },
            "lemmas": [side.proof.stage.split("; ") for side in self.sides],
        }

    def _lines(self) -> Iterator[str]:
        size = " x ".join(map(str, self.exact.shape))
        names = f"{self.kernel} and {self.against}" if self.against else self.kernel
        yield f"{names}, D = {size}, K = {self._k}"
        atol, apart = _quantiles(self._of_numbers), "|D1 - D2|" if self.against else "|D - exact|"
        least, median, most = (atol[name] for name in ("least", "median", "largest"))
        yield f"{apart} <= atol for each element, proved for these matrices"
        if any(side.kernel is None for side in self.sides):
            yield "exact: " + ", and ".join(dict.fromkeys(side.product.exact for side in self.sides))
        yield f"atol is from {least:.4g} to {most:.4g}, and {median:.4g} in the median"
        yield f"one number for all elements: atol={most:.17g}, rtol=0"
        special = int(np.isnan(self.exact).sum())
        if special:
            yield f"no bound for {counted(special, 'element')}: a number that they are made of is not finite"
        if self.unbounded > special:
            yield f"no bound for {counted(self.unbounded - special, 'element')}: a step may overflow there"
        yield f"the signal: exact results of {self.signal:.4g} (root mean square)"
        if self.vacuous:
            yield _VACUOUS
        else:
            share = f"{median / self.signal:.2g}" if self.signal else "0"
            within = f"{self.above_signal} of {self.exact.size} exact results lie within their own atol"
            yield f"the median is {share} of it; {within}"
        yield from self._search_lines()
        lemmas = {what: None for side in self.sides for what in side.proof.stage.split("; ")}
        yield f"proved by {counted(len(lemmas), 'lemma')} about the unit's graph, and by IEEE 754"

    def _search_lines(self) -> Iterator[str]:
        found = self.largest
        if found is None:
            return
        place = ", ".join(map(str, (*self.largest_place, found.row, found.column)))
        where = f"[{place}] ({counted(found.elements, 'element')} simulated)"
        sizes = f"{found.error:.4g} of {found.atol:.4g}"
        yield f"the largest error found is {found.share:.1%} of its bound: {sizes} at {where}"
        if found.variants:
            yield (
                f"  with its products in other orders and other signs: {found.varied:.1%} "
                f"({counted(found.variants, 'variant')})"
            )

    @property
    def _title(self) -> str:
        return f"of {self.kernel}: atol up to {float(self._of_numbers.max(initial=0.0)):.4g}"


@dataclass(frozen=True, repr=False)
class Closeness(Result):
    """A comparison of a result with a kernel's proved tolerance, with a diagnosis where it lies outside.

    values: D in float64, (..., M, N). wrong: booleans (..., M, N): the elements that are off by more than
    their bound, and those that are ``foreign``: not values of the kernel's format. format: D's own.
    """

    tolerance: Tolerance
    values: Array
    wrong: Array
    foreign: Array
    format: AnyFormat

    @property
    def close(self) -> bool:
        """Return whether every element is within its bound."""
        return not self.wrong.any()

    @property
    def exit_code(self) -> Exit:
        """0: every element is within its bound; 1: some are not."""
        return Exit.of(self.close)

    @property
    def worst(self) -> tuple[int, ...]:
        """Where the element is that is off by the largest part of its bound: row and column come last."""
        error, atol = self._errors(), self.tolerance.sides[0].every("atol")
        with np.errstate(all="ignore"):
            share = np.where(np.isnan(error), np.inf, error / np.maximum(atol, 5e-324))
        share = np.where(np.isinf(atol), 0.0, share)
        if not self.close:
            share = np.where(self.wrong, share, -1.0)
        return tuple(int(at) for at in np.unravel_index(int(np.argmax(share)), share.shape))

    @property
    def looks_like(self) -> list[str]:
        """Kinds of bugs that give such a result, the best explanation first; empty where none is known."""
        found = self.diagnosis
        return [] if found is None else [one.text for one in found.explanations]

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Return what explains the result; None where every element is within its bound.

        Of a stack, of the product that has the worst element.
        """
        side = self.tolerance.sides[0]
        if self.close or side.kernel is None:
            return None
        place = self.worst
        operands = side.operands[side.number(place)]
        words = {name: getattr(operands, name) for name in ("a", "b", "c", "bias")}
        recorded = RecordedResult.of(side.kernel, words, self.values[place[:-2]], self.format)
        return None if recorded is None else diagnose(recorded, [side.kernel])

    def _errors(self) -> Array:
        with np.errstate(invalid="ignore"):
            errors: Array = np.abs(self.values - self.tolerance.exact)
        return errors

    def _facts(self) -> dict[str, Any]:
        error, atol, exact = self._of(self.worst)
        return {
            "close": self.close,
            "outside": int(self.wrong.sum()),
            "worst": {"element": list(self.worst), "error": error, "atol": atol, "exact": exact},
            "foreign": int(self.foreign.sum()),
            "looks_like": self.looks_like,
            "diagnosis": [] if self.diagnosis is None else self.diagnosis.as_json(),
            "tolerance": self.tolerance.as_json(),
        }

    def _of(self, place: tuple[int, ...]) -> tuple[float, float, float]:
        side, (row, column) = self.tolerance.sides[0], place[-2:]
        number = side.number(place)
        right, bounds = side.product.exact_element(side.operands[number], row, column), side.bounds[number]
        exact = float(bounds.exact[row, column] if right is None else right)
        atol = float(bounds.atol[row, column])
        return abs(float(self.values[place]) - exact), atol, exact

    def _lines(self) -> Iterator[str]:
        name, count = self.tolerance.kernel, int(self.wrong.sum())
        worst = self.worst
        error, atol, exact = self._of(worst)
        place = ", ".join(map(str, worst))
        if self.close:
            yield f"D is within the proved tolerance of {name}"
            yield f"worst: D[{place}] is off by {error:.4g}, at most {atol:.4g}"
        else:
            yield (
                f"D is not what {name} can give: {count} of {counted(self.wrong.size, 'element')} "
                f"{'is' if count == 1 else 'are'} off by more than the proved tolerance"
            )
            times = f", {error / atol:.3g} times as much" if atol and np.isfinite(error) else ""
            yield (
                f"worst: D[{place}] = {self.values[worst]:.9g}, exact {exact:.9g}: "
                f"off by {error:.4g}, at most {atol:.4g}{times}"
            )
            if self.foreign.any():
                given, fmt = self.format.name, self.tolerance.sides[0].product.d_format.name
                many = counted(int(self.foreign.sum()), "element")
                yield f"D has values in {given}; {name} gives {fmt}, which does not have those of {many}"
            if self.diagnosis is not None:
                yield from self.diagnosis.lines()
        if self.tolerance.vacuous:
            yield _VACUOUS

    @property
    def _title(self) -> str:
        return "close" if self.close else f"{int(self.wrong.sum())} of {self.wrong.size} elements outside"


class VacuousTolerance(UserWarning):
    """A tolerance exceeds the signal: what is asserted says next to nothing."""


@ieee_floats
def assert_close(
    actual: Any,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    kernel: str,
    bias: Any = None,
    operands: str | None = None,
    quantiser: str | None = None,
    reference: str = "dequantised",
    options: SolvingOptions = SolvingOptions(),
) -> None:
    """Raise AssertionError where a result is not within a kernel's proved tolerance of the exact one.

    actual: D, (..., M, N), of any floating-point dtype and library, or words of the kernel's format. The
    other arguments as for :func:`tcsmt.tolerance`. The message names the worst element, its bound, its error,
    and what explains the result, bit for bit if something does: operands rounded to TF32, partial sums in
    BF16, a term left out. A tolerance that exceeds the signal is warned of (:class:`VacuousTolerance`): the
    assertion then says next to nothing. Raises :class:`tcsmt.TcsmtError` as :func:`tcsmt.tolerance` does.

    >>> import numpy as np
    >>> from tcsmt.testing import assert_close
    >>> a = np.arange(64, dtype=np.float16).reshape(2, 32)
    >>> assert_close(a.astype("f4") @ a.T.astype("f4"), a, a.T, kernel="ieee/fma.f32.f16")
    """
    __tracebackhide__ = True  # pytest shows the test's own line, and the message
    try:
        bounds = tolerance(
            a, b, c, kernel=kernel, bias=bias, operands=operands, quantiser=quantiser, reference=reference,
            search=0, options=options,
        )  # fmt: skip
        closeness = bounds.check(actual)
        failure = "" if closeness.close else str(closeness)
    except TcsmtError as error:
        raise error.with_traceback(None) from None
    if failure:
        raise AssertionError(failure)
    if bounds.vacuous:
        warnings.warn(f"{bounds.kernel}: {_VACUOUS}", VacuousTolerance, stacklevel=3)


@ieee_floats
def tolerance(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    kernel: str,
    unit: UnitLike | None = None,
    against: str | None = None,
    bias: Any = None,
    a_format: str | None = None,
    b_format: str | None = None,
    operands: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    quantiser: str | None = None,
    reference: str = "dequantised",
    search: float = 1.0,
    options: SolvingOptions = SolvingOptions(),
) -> Tolerance:
    """An array ``atol`` of D's shape with ``|D - exact| <= atol`` proved for a kernel on these matrices.

    Stacks of products, dtypes and ``operands`` as for :func:`tcsmt.gemm`; what is exact is about the operands
    as the unit reads them, after ``operands`` has rounded them. A kernel is ``UNIT[+REDUCTION[+EPILOGUE]]``
    (``"h100+split-k:6,parts=bf16+out=bf16"``); a unit without an instruction is the most used one that takes
    A and B, in the formats of their dtypes or in a_format and b_format. With another kernel, ``atol`` is the
    sum of both bounds, within which the results of both lie from each other. Lemmas about the unit are kept
    for the next call.

    Args:
        a: A, (..., M, K).
        b: B, (..., K, N).
        c: C, (..., M, N).
        kernel: The kernel; or a program's file, or a name of :func:`tcsmt.accuracy.recipes`.
        unit: Of an algorithm's name: architecture, GPU, ARCH/INSTRUCTION or a model file.
        bias: The bias of the epilogue, (..., N).
        against: Bound how far the results of both kernels can be apart.
        a_format: Format of A's words. [default: by the dtype]
        b_format: Format of B's words. [default: by the dtype]
        operands: As for :class:`tcsmt.Unit`.
        inputs: Further inputs of a program, by name: scales, zero points, a bias. [default: nothing]
        quantiser: A recipe of :func:`tcsmt.quantise`, which rounds A and B (in fp8-block, B is a weight); a
            unit that does not take its formats gets the dequantised numbers. [default: none]
        reference: Exact results are those of ``dequantised`` operands, as the unit gets them, or of the
            ``original`` matrices; or another kernel's results, of the original matrices.
        search: Time for the search for the largest error, in seconds (0: no search).
        options: Of solvers, which prove the lemmas about the unit.

    A bound follows the kernel's own steps: what alignment and rounding lose in each instruction, at most,
    for sums of the size that they have on these matrices, and half of the last bit for each addition and
    conversion outside.

    Of an algorithm, and of a program that adds products and C up, exact is ``A·B + C``: what splits leave
    over, and products that are left out, count as errors. Of any other program exact is what its steps give
    without any rounding, a split's last word being all that is left over. ``unbounded`` elements are those in
    which a step may overflow, a divisor may be 0, or an integer may wrap.

    Elements that are made of a NaN or an infinity have no bound: ``atol`` is infinite there, and ``exact`` is
    NaN.

    Raises :class:`tcsmt.TcsmtError` for shapes and values that do not fit, where no element is made of finite
    numbers alone, and, with the reason, where no lemma covers a step: block scales, integers, more than five
    parts that are added in any order (of fewer, the bounds are the largest of all orders).

    >>> import numpy as np, tcsmt
    >>> a = np.ones((2, 64), np.float16)
    >>> bound = tcsmt.tolerance(a, a.T, kernel="ieee/fma.f32.f16+split-k:2+out=f16", search=0)
    >>> bound.atol.shape, bool(bound.atol.max() < 0.04), bound.vacuous
    ((2, 2), True, False)
    """
    arrays = {
        name: as_numpy(values, name, pairs=-2 if name == "b" else -1)
        for name, values in {"a": a, "b": b, "c": c, "bias": bias}.items()
    }
    if search < 0:
        raise TcsmtError(f"search = {search}: must be 0 or more seconds")
    formats = {"a": a_format, "b": b_format}
    recipe = None if quantiser is None else recipe_named(quantiser)
    if reference not in REFERENCES:
        if against is not None:
            raise TcsmtError(
                f"reference {reference} and against {against}: one kernel is a reference at most"
            )
        against, reference = reference, "original"
    if recipe is None and reference == "original" and operands is not None:
        raise TcsmtError(
            "operands rounds A and B: for bounds against the originals, name a quantiser "
            "(tf32, bf16, fp16), or a kernel that takes them as they are"
        )
    names = [kernel] if against is None else [kernel, against]
    if unit is not None and not any(map(is_algorithm, names)):
        raise TcsmtError(f"{kernel} names its unit: give no other one")
    given = {name: as_numpy(values, name) for name, values in (inputs or {}).items()}
    sides = tuple(
        side_named(
            options, name, unit, arrays, formats, operands, given,
            None if recipe is None or number else (recipe, reference == "original"),
        )
        for number, name in enumerate(names)
    )  # fmt: skip
    return Tolerance(sides, *_searched(sides[0], search))


def _searched(side: BoundedSide, seconds: float) -> tuple[LargestError | None, tuple[int, ...]]:
    """Return the largest error found beside the bounds, in some products of a stack, and in which one."""
    if not seconds:
        return None, ()
    numbers = np.unique(np.linspace(0, len(side.operands) - 1, _SEARCHED).astype(int)).tolist()
    found = {
        number: largest_errors(side.product, side.operands[number], seconds / len(numbers))
        for number in numbers
    }
    errors = {number: error for number, error in found.items() if error is not None}
    if not errors:
        return None, ()
    number = max(errors, key=lambda number: errors[number].share)
    return errors[number], tuple(int(at) for at in np.unravel_index(number, side.stack)) if side.stack else ()


def _values(fmt: AnyFormat, d: Any) -> tuple[Array, AnyFormat]:
    """A result in binary64: of a floating-point dtype as it is, else words of the result's format."""
    array = np.asarray(as_numpy(d, "D"))
    if array.dtype.kind in "fV":
        return array.astype(np.float64), format_of(array.dtype) or fmt
    return numbers(fmt, to_words(fmt, array, "D")), fmt


def _foreign(fmt: AnyFormat, values: Array) -> Array:
    """Return which numbers a format does not have."""
    finite = np.where(np.isfinite(values), values, 0.0)
    if isinstance(fmt, IntegerFormat):
        counts = finite * 2.0**fmt.fraction_bits
        return np.asarray((counts != np.rint(counts)) | (counts < fmt.low) | (counts > fmt.high))
    return converted(finite.view(np.uint64), FORMATS["f64"], float_format(fmt), ROUNDINGS["RNE"]).inexact


def _quantiles(atol: Array) -> dict[str, float]:
    return {"least": float(atol.min()), "median": float(np.median(atol)), "largest": float(atol.max())}
