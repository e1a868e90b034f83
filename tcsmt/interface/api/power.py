"""What a test lets through: ``tcsmt.testing.power``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcsmt.analysis.power.criteria import Criterion, CriterionFunction, criterion_named
from tcsmt.analysis.power.operands import drawn, values_in
from tcsmt.analysis.power.tested import NotApplicable, TestedProduct
from tcsmt.analysis.power.wrong_kernels import NO_SOURCE, WRONG_KERNELS, WrongKernel
from tcsmt.analysis.tolerance.exact import in_kernel
from tcsmt.analysis.tolerance.quantised import inputs_of
from tcsmt.interface.api.arrays import as_numpy
from tcsmt.interface.api.matching import formats_of, kernel_for_operands
from tcsmt.interface.api.tolerance_sides import quantised_product
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, float_format, format_named
from tcsmt.matrix_units.arithmetic.words import operand_words
from tcsmt.programs.quantisation.recipe import recipe_named
from tcsmt.simulate.matmul import check_shapes
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns

Array = np.ndarray[Any, np.dtype[Any]]

#: What a test compares with.
EXPECTED = ("exact", "rounded", "original")


@dataclass(frozen=True)
class WrongKernelOutcome:
    """What became of a wrong kernel.

    name, title, source: of the wrong kernel. survives: whether the test accepts its result; None: the kernel
    cannot have this bug, and ``reason`` says why. changed: elements that differ from the right kernel's.
    """

    name: str
    title: str
    source: str
    survives: bool | None
    changed: int = 0
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        state = {True: "survived", False: "killed", None: "not applicable"}[self.survives]
        facts = {"name": self.name, "title": self.title, "source": self.source, "outcome": state}
        return facts | ({"reason": self.reason} if self.survives is None else {"changed": self.changed})


@dataclass(frozen=True)
class TestedOperands:
    """A right kernel on operands, with what a test compares with.

    kernel, quantiser, expected: as they were asked for. arrays: a, b, c and bias. exact: what results are
    compared with, float64.
    """

    __test__ = False  # of pytest's

    kernel: str
    quantiser: str | None
    expected: str
    arrays: dict[str, Any]
    product: TestedProduct
    exact: Array

    @classmethod
    def of(cls, kernel: str, quantiser: str | None, expected: str, arrays: dict[str, Any]) -> TestedOperands:
        """Return the kernel on arrays. Raises :class:`tcsmt.TcsmtError` for what does not fit."""
        product, exact = product_and_expected(kernel, arrays, quantiser, expected)
        return cls(kernel, quantiser, expected, arrays, product, exact)

    def wrong_results(self, names: Sequence[str] = ()) -> Iterator[tuple[WrongKernel, Array | NotApplicable]]:
        """Yield each wrong kernel, or those of these names, with its results, or why there are none."""
        for wrong in WRONG_KERNELS:
            if not names or wrong.name in names:
                try:
                    yield wrong, wrong.results(self.product)
                except NotApplicable as why:
                    yield wrong, why


@dataclass(frozen=True, repr=False)
class TestPower(Result):
    """Which wrong kernels a test lets through; print it.

    kernel: the right one. operands: what A and B are. criterion: of the test. expected: what it compares
    with. accepts_right: whether the right kernel passes. outcomes: of each wrong kernel.
    """

    __test__ = False  # of pytest's

    kernel: str
    operands: str
    shape: tuple[int, int, int]
    criterion: str
    expected: str
    accepts_right: bool
    outcomes: tuple[WrongKernelOutcome, ...]
    test: TestedOperands = field(compare=False)

    @property
    def survivors(self) -> list[WrongKernelOutcome]:
        """Return the wrong kernels that the test accepts."""
        return [one for one in self.outcomes if one.survives]

    @property
    def killed(self) -> list[WrongKernelOutcome]:
        """Return those that it rejects."""
        return [one for one in self.outcomes if one.survives is False]

    @property
    def exit_code(self) -> Exit:
        """0: the right kernel passes, and no wrong one; 1: otherwise."""
        return Exit.of(self.accepts_right and not self.survivors)

    def _facts(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel, "operands": self.operands, "shape": list(self.shape),
            "criterion": self.criterion, "expected": self.expected, "accepts_right": self.accepts_right,
            "survivors": [one.name for one in self.survivors], "killed": [one.name for one in self.killed],
            "wrong_kernels": [one.as_json() for one in self.outcomes],
        }  # fmt: skip

    def _lines(self) -> Iterator[str]:
        m, n, k = self.shape
        yield f"{self.kernel}, D = {m} x {n}, K = {k}; A and B: {self.operands}"
        yield f"criterion: {self.criterion}; expected: {self.expected}"
        yield "the right kernel passes" if self.accepts_right else "the RIGHT kernel FAILS this test"
        survivors, killed = self.survivors, self.killed
        every = len(survivors) + len(killed)
        yield f"{len(survivors)} of {every} wrong kernels pass{'' if not survivors else ':'}"
        yield from columns(
            [
                (f"  {one.name}", one.title, self._told(one), one.source if one.source != NO_SOURCE else "")
                for one in survivors
            ]
        )
        if killed:
            yield f"{len(killed)} fail: " + ", ".join(one.name for one in killed)
        rest = [one for one in self.outcomes if one.survives is None]
        if rest:
            yield "not applicable: " + ", ".join(f"{one.name} ({one.reason})" for one in rest)

    def _told(self, one: WrongKernelOutcome) -> str:
        m, n, _ = self.shape
        return f"{one.changed} of {m * n} differ" if one.changed else "no element differs"

    @property
    def _title(self) -> str:
        return f"of {self.criterion} for {self.kernel}: {len(self.survivors)} wrong kernels pass"


@ieee_floats
def power(
    a: Any = None,
    b: Any = None,
    c: Any = None,
    *,
    kernel: str,
    criterion: str | Callable[..., Any] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    bias: Any = None,
    generator: str | None = None,
    shape: tuple[int, int, int] | None = None,
    seed: int = 0,
    format: str | None = None,  # noqa: A002
    quantiser: str | None = None,
    expected: str = "exact",
    only: Sequence[str] = (),
) -> TestPower:
    """Say which wrong kernels a test lets through: its operands, and its criterion.

    Wrong kernels are made from the right one, each simulated bit for bit: elements that are never written,
    terms of K left out or added twice, races, narrower formats, truncation, another unit, wrong scales, and
    so on (:data:`tcsmt.analysis.power.wrong_kernels.WRONG_KERNELS`). One that the kernel cannot be is listed
    with the reason.

    Args:
        a: A, (M, K), of any dtype that the kernel's unit takes.
        b: B, (K, N).
        c: C, (M, N).
        kernel: The right kernel, ``UNIT[+REDUCTION[+EPILOGUE]]``.
        criterion: ``rtol=1e-2,atol=1e-2`` (also with outside=SHARE, precision=FORMAT, equal_nan), ``equal``,
            ``cosine>=0.99``, ``pcc>=0.99``, ``norm<=0.01``, ``max<=0.1``; or a function of the arrays actual
            and expected, in float64, that says whether it accepts, or raises AssertionError.
        rtol: In place of a criterion: of ``|actual - expected| <= atol + rtol·|expected|``.
        atol: The same.
        bias: The bias of the epilogue, (N,).
        generator: In place of a and b: normal, uniform (0 to 1), symmetric (-1 to 1), ones, few (integers -3
            to 3), structured, mixed (magnitudes), cancelling, nan.
        shape: Of a generator: M, N and K.
        seed: Of a generator.
        format: Of a generator: format of A and B. [default: that of the kernel's unit]
        quantiser: A recipe of :func:`tcsmt.quantise`, which rounds A and B, of FP32, for the kernel.
        expected: What the test compares with: the ``exact`` result of the operands as the unit gets them, the
            same ``rounded`` to the result's format, or that of the ``original`` matrices before a quantiser;
            or a kernel, whose results these are.
        only: Names of wrong kernels; the others are left out. [default: all]

    Raises :class:`tcsmt.TcsmtError` for what does not fit.

    >>> import tcsmt
    >>> found = tcsmt.testing.power(kernel="ieee/fma.f32.bf16", generator="normal", shape=(16, 16, 64),
    ...                             criterion="pcc>=0.99")
    >>> "last-k" in {one.name for one in found.survivors}, found.accepts_right
    (True, True)
    """
    chosen = _criterion(criterion, rtol, atol)
    for name in only:
        choose("wrong kernel", name, [wrong.name for wrong in WRONG_KERNELS])
    arrays, told = _operands(a, b, kernel, generator, shape, seed, format, quantiser)
    arrays |= {"c": as_numpy(c, "c"), "bias": as_numpy(bias, "bias")}
    test = TestedOperands.of(kernel, quantiser, expected, arrays)
    product, exact = test.product, test.exact
    outcomes = [_outcome(wrong, results, test, chosen) for wrong, results in test.wrong_results(only)]
    return TestPower(
        product.name, told, product.shape, str(chosen), expected, chosen.accepts(product.right, exact),
        tuple(outcomes), test,
    )  # fmt: skip


def _outcome(
    wrong: WrongKernel, results: Array | NotApplicable, test: TestedOperands, criterion: Criterion
) -> WrongKernelOutcome:
    about = wrong.name, wrong.title, wrong.source
    if isinstance(results, NotApplicable):
        return WrongKernelOutcome(*about, None, reason=str(results))
    right = test.product.right
    same = (results == right) | (np.isnan(results) & np.isnan(right))
    return WrongKernelOutcome(*about, criterion.accepts(results, test.exact), int((~same).sum()))


def _criterion(criterion: Any, rtol: float | None, atol: float | None) -> Criterion:
    if (criterion is None) is (rtol is None and atol is None):
        raise TcsmtError("give one criterion: rtol and atol, or criterion")
    if criterion is None:
        return criterion_named(f"rtol={rtol or 0.0},atol={atol or 0.0}")
    return criterion_named(criterion) if isinstance(criterion, str) else CriterionFunction(criterion)


def _operands(
    a: Any, b: Any, kernel: str, generator: str | None, shape: Sequence[int] | None, seed: int,
    form: str | None, quantiser: str | None,
) -> tuple[dict[str, Any], str]:  # fmt: skip
    """Return A and B, and what they are."""
    if generator is None:
        if a is None or b is None:
            raise TcsmtError("give A and B, or a generator with its shape: generator, shape (M, N, K), seed")
        arrays = {"a": np.asarray(as_numpy(a, "a")), "b": np.asarray(as_numpy(b, "b", pairs=-2))}
        return arrays, "given"
    if a is not None or b is not None:
        raise TcsmtError("give A and B, or a generator, not both")
    if shape is None or len(shape) != 3 or min(shape) < 1:
        raise TcsmtError(f"shape = {shape}: a generator needs M, N and K, each 1 or more")
    if quantiser is not None:
        formats = FORMATS["f32"], FORMATS["f32"]
    elif form is not None:
        formats = float_format(format_named(form)), float_format(format_named(form))
    else:
        unit = kernel_for_operands(kernel, {}).unit.model
        formats = float_format(unit.a_format), float_format(unit.b_format)
    m, n, k = shape
    left, right = drawn(generator, formats, (m, n, k), seed)
    return {"a": left, "b": right}, f"{generator}, seed {seed}"


@ieee_floats
def operands(generator: str, format: str, shape: Sequence[int], *, seed: int = 0) -> tuple[Any, Any]:  # noqa: A002
    """Return A (M, K) and B (K, N) of a generator of :func:`tcsmt.testing.power`, of a format's dtype.

    shape: M, N and K. Raises :class:`tcsmt.TcsmtError` for unknown names.

    >>> import tcsmt
    >>> a, b = tcsmt.testing.operands("few", "bf16", (2, 3, 8))
    >>> a.shape, b.shape, a.dtype.name
    ((2, 8), (8, 3), 'bfloat16')
    """
    fmt = float_format(format_named(format))
    m, n, k = shape
    left, right = drawn(generator, (fmt, fmt), (m, n, k), seed)
    return left, right


def product_and_expected(
    kernel: str, arrays: dict[str, Any], quantiser: str | None, expected: str
) -> tuple[TestedProduct, Array]:
    """Return the right kernel on operands, and what the test compares with, float64."""
    if quantiser is not None:
        product, exact = _quantised(kernel, arrays, quantiser, expected)
    else:
        product, exact = _plain(kernel, arrays)
        if expected == "original":
            raise TcsmtError("expected original: the operands are what they were, without a quantiser")
    if expected == "rounded":
        return product, values_in(product.format, exact)
    if expected in EXPECTED:
        return product, exact
    reference = {name: arrays.get(name) for name in ("a", "b", "c", "bias")}
    other, _ = _plain(expected, reference)
    return product, other.right


def _plain(name: str, arrays: dict[str, Any]) -> tuple[TestedProduct, Array]:
    kernel = kernel_for_operands(name, formats_of(arrays))
    unit, schedule = kernel.unit.model, kernel.schedule
    if kernel.reduction.tiled or kernel.reduction.unordered:
        raise TcsmtError(f"{kernel.name}: name one order of the sum for all elements, such as split-k:4")
    if unit.scale_format is not None:
        raise TcsmtError(f"{kernel.name}: name a quantiser for a unit with block scales")
    forms = {"a": unit.a_format, "b": unit.b_format, "c": unit.c_format, "bias": schedule.working_format}
    for letter, fmt in forms.items():
        if not isinstance(fmt, Format):
            raise TcsmtError(f"{kernel.name}: {letter} is {fmt.name}: sums of integers are exact or wrap")
    words = {
        letter: operand_words(fmt, arrays[letter], letter if letter == "bias" else letter.upper(), None)
        for letter, fmt in forms.items()
        if arrays.get(letter) is not None
    }
    check_shapes(words["a"], words["b"])
    (m, k), n = words["a"].shape, words["b"].shape[1]
    given = {letter: letter in words for letter in ("c", "bias")}
    for letter, wanted in (("c", (m, n)), ("bias", (n,))):
        if letter in words and words[letter].shape != wanted:
            raise TcsmtError(f"{letter} has shape {words[letter].shape}: must be {wanted}")
    program = schedule.program(k, **given)
    values = {letter: floats(float_format(forms[letter]), x) for letter, x in words.items()}
    alpha, beta = (float(in_kernel(schedule, x)) for x in (kernel.epilogue.alpha, kernel.epilogue.beta))
    with np.errstate(all="ignore"):
        exact = alpha * (values["a"] @ values["b"])
        exact = exact + beta * values["c"] if "c" in values and beta else exact
        exact = exact + values["bias"] if "bias" in values else exact
    by_name = {"A": words.pop("a"), "B": words.pop("b"), **words}
    return TestedProduct(kernel.name, kernel, program, by_name, (m, n, k)), exact


def _quantised(
    name: str, arrays: dict[str, Any], quantiser: str, expected: str
) -> tuple[TestedProduct, Array]:
    if arrays.get("c") is not None or arrays.get("bias") is not None:
        raise TcsmtError("C or a bias is given: a quantised product has A and B alone")
    a, b = (np.asarray(arrays[letter], np.float32) for letter in "ab")

    def by(recipe_name: str) -> tuple[TestedProduct, Any]:
        recipe = recipe_named(recipe_name)
        kernel, made = quantised_product(name, recipe, a, b)
        title = f"{kernel.name} of {recipe.name} operands"
        shape = len(a), b.shape[1], a.shape[1]
        words = inputs_of(made.words, made.program)
        return TestedProduct(title, kernel, made.program, words, shape, recipe, lambda x: by(x)[0]), made

    product, made = by(quantiser)
    left, right = made.dequantised if expected != "original" else (a.astype(np.float64), b.astype(np.float64))
    with np.errstate(all="ignore"):
        return product, left @ right


__all__ = ["EXPECTED", "TestPower", "WrongKernelOutcome", "operands", "power"]
