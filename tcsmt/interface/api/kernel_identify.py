"""Which kernels reproduce a recorded matrix product bit for bit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.diagnose import Cause, Diagnosis, diagnose
from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.kernels.hypotheses import same_function
from tcsmt.identification.kernels.identify import KernelMatches, SearchControl
from tcsmt.identification.kernels.identify import explain as explained_by
from tcsmt.identification.kernels.plan import Plan, planned
from tcsmt.interface.api.arrays import as_numpy
from tcsmt.interface.api.matching import rows_for_operands
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, format_named
from tcsmt.matrix_units.arithmetic.words import format_of, from_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.arrays import stored_form
from tcsmt.programs.kernels.elements import Product
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.files import make_folder
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import agreeing, counted

#: More kernels are not listed as text.
_LISTED = 20
#: Other names of one thing that are listed.
_FEW = 4


@dataclass(frozen=True, repr=False)
class KernelIdentified(Result):
    """The kernels that give every element of a product: see ``kernels``, or print it.

    found: everything that was found. diagnosis: where no kernel explains the product, what does besides.
    """

    found: KernelMatches
    diagnosis: Diagnosis | None = None

    @property
    def signs(self) -> tuple[Cause, ...]:
        """Return, where no kernel explains the product, what was done besides, the best explanation first."""
        return () if self.diagnosis is None else self.diagnosis.explanations

    @property
    def stopped(self) -> str:
        """Why the search ended before all hypotheses were held against the product; "": it did not."""
        return self.found.stopped

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels that explain the product; empty where none does."""
        return self.found.kernels

    def plan(
        self,
        *,
        solve: bool = True,
        seed: int = 1,
        options: SolvingOptions = SolvingOptions(timeout=20.0),
        progress: ProgressCallback = no_progress,
    ) -> KernelPlan:
        """A and B, of the shapes of the product's, on which the kernels that explain it would differ.

        Those that are the same function are proved to be: their graphs are the same, or, where the dot
        product is short, solvers say so.

        Args:
            solve: Let solvers say which kernels of a plan are the same function.
            seed: Of the numbers.
            options: Of solvers.
            progress: Called with how far it is.

        Raises :class:`tcsmt.TcsmtError` where no kernel explains the product, and where its elements are not
        all summed in one way.
        """
        product, kernels = self.found.product, (*self.found.kernels, *self.found.open)
        if not kernels:
            raise TcsmtError("no hypothesis explains D, so that there is nothing to tell apart")
        if any(kernel.reduction.tiled or kernel.reduction.unordered for kernel in kernels):
            raise TcsmtError("no plan: which sums an element of D has hangs on its tile, or on the moment")
        plan = planned(
            kernels, (product.a_format, product.b_format), product.a.shape[1], most=min(product.d.shape),
            solving=Solving(options) if solve else None, seed=seed, seen=progress,
        )  # fmt: skip
        return KernelPlan(product, plan)

    def _facts(self) -> dict[str, Any]:
        answer, product = self.found, self.found.product
        return {
            "shape": [len(product.a), product.a.shape[1], product.b.shape[1]],
            "formats": {
                "a": product.a_format.name,
                "b": product.b_format.name,
                "d": product.d_format.name,
            },
            "hypotheses": answer.hypotheses,
            "tested": answer.tested,
            "stopped": answer.stopped,
            "explained": bool(answer.kernels),
            "nan": int(product.nan.sum()),
            "kernels": [
                {
                    "kernel": kernel.name,
                    "unit": kernel.unit.name,
                    "reduction": str(kernel.reduction),
                    "epilogue": str(kernel.epilogue),
                    "same_unit": list(answer.alike.get(kernel.unit.name, ())),
                    "same_reduction": [str(reduction) for reduction in self._same(kernel)],
                }
                for kernel in answer.kernels
            ],
            "open": [kernel.name for kernel in answer.open],
            "looked_at": answer.looked_at,
            "deciding": [list(place) for place in answer.deciding],
            "missed": [
                {
                    "kernel": miss.kernel.name,
                    "elements": miss.count,
                    "of": miss.of,
                    "far": miss.far,
                    "first": [list(place) for place in miss.elements],
                }
                for miss in answer.missed
            ],
            "signs": [sign.as_json() for sign in self.signs],
            "regions": [
                {
                    "rows": [region.rows[0], region.rows[-1]],
                    "columns": [region.columns[0], region.columns[-1]],
                    "kernels": [kernel.name for kernel in region.kernels],
                }
                for region in answer.regions
            ],
        }

    def _lines(self) -> list[str]:
        answer, product = self.found, self.found.product
        m, n = product.d.shape
        formats = f"{product.a_format.name} x {product.b_format.name} to {product.d_format.name}"
        lines = [
            f"({m} x {product.a.shape[1]}) · ({product.a.shape[1]} x {n}), {formats}; "
            f"{counted(answer.hypotheses, 'hypothesis')}"
        ]
        if answer.stopped:
            lines.append(f"STOPPED: {answer.stopped}; {answer.tested} of them were held against D")
        nan = int(product.nan.sum())
        if nan:
            are = agreeing(nan, "is", "are")
            lines.append(f"{counted(nan, 'element')} of D {are} NaN; any NaN counts as the same")
        if not answer.kernels:
            lines.append(f"EXPLAINED BY NONE{' so far' if answer.stopped else ''}; the nearest:")
            for miss in answer.missed:
                first = ", ".join(f"D[{i}, {j}]" for i, j in miss.elements)
                more = ", ..." if miss.count > len(miss.elements) else ""
                lines.append(f"  {miss.kernel.name}: misses {miss.count} of {miss.of}: {first}{more}")
                lines.append(f"    its elements differ from D's by {miss.far:.2g} of their size on average")
            lines += self._open()
            lines += self._by_region()
            return lines + ([] if self.diagnosis is None else [*self.diagnosis.lines()])
        lines.append(f"EXPLAINED bit for bit by {counted(len(answer.kernels), 'kernel')}:")
        for kernel in answer.kernels[:_LISTED]:
            lines.append(f"  {kernel.name}")
            same = answer.alike.get(kernel.unit.name, ())
            lines += [f"    the same unit: {_few(same)}"] if same else []
            texts = [str(reduction) for reduction in self._same(kernel)]
            lines += [f"    the same function at this K: {_few(texts)}"] if texts else []
        if len(answer.kernels) > _LISTED:
            lines.append(f"  and {counted(len(answer.kernels) - _LISTED, 'other')}")
        lines += self._open()
        places = ", ".join(f"D[{i}, {j}]" for i, j in answer.deciding[:8])
        more = ", ..." if len(answer.deciding) > 8 else ""
        if answer.deciding:
            lines.append(f"{counted(len(answer.deciding), 'element')} exclude all others: {places}{more}")
        return lines

    def _open(self) -> list[str]:
        """Return how many hypotheses are neither excluded nor held against all of D."""
        count, looked_at = len(self.found.open), self.found.looked_at
        if not count:
            return []
        more, elements = counted(count, "hypothesis"), counted(looked_at, "element")
        state = f"give the {elements} that were looked at" if looked_at else "were not excluded"
        return [f"OPEN: {more} more that {state}"]

    def _by_region(self) -> list[str]:
        """Return which kernels explain which part of D."""
        parts = self.found.regions
        if not parts:
            return []
        every = "; together they give all of D" if all(part.kernels for part in parts) else ""
        lines = [f"BY REGION{every}:"]
        for part in parts:
            names = ", ".join(kernel.name for kernel in part.kernels[:_FEW]) or "none"
            more = " and others" if len(part.kernels) > _FEW else ""
            lines.append(f"  {part} ({counted(part.elements, 'element')}): {names}{more}")
        return lines

    def _same(self, kernel: Kernel) -> tuple[Reduction, ...]:
        product = self.found.product
        return same_function(kernel, product.d_format, product.a.shape[1], c=product.c is not None)

    @property
    def _title(self) -> str:
        return f"explained by {', '.join(kernel.name for kernel in self.kernels[:3]) or 'none'}"

    @property
    def exit_code(self) -> Exit:
        """0: explained; 1: no hypothesis explains D; 3: stopped before one did."""
        return Exit.ANSWERED if self.kernels else Exit.UNKNOWN if self.stopped else Exit.DIFFERS


@dataclass(frozen=True, repr=False)
class KernelPlan(Result):
    """Matrices that would tell kernels apart: ``a`` and ``b``, to be multiplied as the product was.

    found: the inputs and what each kernel gives on them.
    """

    product: Product
    found: Plan

    @property
    def a(self) -> Any:
        """(M, K), of A's format: an input in each row, again and again; zeros where none was found."""
        return self._filled(self.found.a, self.product.a, self.product.a_format)

    @property
    def b(self) -> Any:
        """(K, N), of B's format: an input in each column."""
        return self._filled(self.found.b, self.product.b.T, self.product.b_format).T

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``A.npy`` and ``B.npy`` into a folder, which is made."""
        make_folder(Path(folder))
        for name, matrix in (("A", self.a), ("B", self.b)):
            np.save(Path(folder, f"{name}.npy"), stored_form(matrix))

    @staticmethod
    def _filled(inputs: Any, like: Any, fmt: AnyFormat) -> Any:
        rows = inputs[np.arange(len(like)) % len(inputs)] if len(inputs) else np.zeros_like(like)
        return from_words(fmt, rows)

    def as_json(self) -> dict[str, Any]:
        """Return what separates the kernels, as plain data."""
        plan, fmt = self.found, self.product.d_format
        return {
            "inputs": len(plan.a),
            "classes": [
                {
                    "kernels": [kernel.name for kernel in kernels],
                    "answers": [fmt.hex(word) for word in words],
                }
                for kernels, words in zip(plan.classes, plan.answers, strict=True)
            ],
            "equal": [{"kernels": [left.name, right.name], "proved": how} for left, right, how in plan.equal],
            "open": [[left.name, right.name] for left, right in plan.open],
        }

    def _lines(self) -> list[str]:
        plan, fmt = self.found, self.product.d_format
        count = counted(len(plan.a), "element")
        lines = [f"PLAN: {count} of the diagonal of A·B for {counted(len(plan.classes), 'class')}:"]
        for kernels, words in zip(plan.classes, plan.answers, strict=True):
            told = ", ".join(f"D[{i}, {i}] = {fmt.hex(word)}" for i, word in enumerate(words))
            lines.append(f"  {told or 'no input'}: {_few([kernel.name for kernel in kernels])}")
        lines += [f"EQUAL (proved, {how}): {left.name} and {right.name}" for left, right, how in plan.equal]
        for left, right in plan.open:
            lines.append(f"OPEN: no input found, no proof: {left.name} and {right.name}")
        return lines

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.found.a), 'input')} for {counted(len(self.found.classes), 'class')}"


def _few(texts: Sequence[str]) -> str:
    """Return the first ones, and how many more there are."""
    more = f" and {len(texts) - _FEW} more" if len(texts) > _FEW else ""
    return ", ".join(texts[:_FEW]) + more


@ieee_floats
def kernel_identify(
    a: Any,
    b: Any,
    d: Any,
    c: Any = None,
    *,
    a_format: str | None = None,
    b_format: str | None = None,
    c_format: str | None = None,
    d_format: str | None = None,
    units: Iterable[UnitLike] | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    operands: str | None = None,
    seed: int = 1,
    time_limit: float | None = None,
    progress: ProgressCallback = no_progress,
    explained: Callable[[Kernel], None] = lambda kernel: None,
) -> KernelIdentified:
    """Return which units, reductions and epilogues give D of A and B (and C), bit for bit.

    Formats are those of the dtypes; words (unsigned integers) need theirs named. Kernels are tried on all
    units of the catalogue that take A's and B's formats, and on chains of IEEE operations, where no units are
    given; of a unit without an instruction, on all that take these formats. A search that ends in time, or is
    interrupted, says so in ``stopped``; the last kernels and nearest ones are still held against D.

    Args:
        a: A, (M, K).
        b: B, (K, N).
        d: The product that was recorded, (M, N).
        c: C, (M, N).
        a_format: Format of A's words. [default: by the dtype]
        b_format: Format of B's words. [default: by the dtype]
        c_format: Format of C's words. [default: by the dtype]
        d_format: Format of D's words. [default: by the dtype]
        units: Only kernels on this unit.
        alpha: alpha of the call.
        beta: beta of the call.
        operands: As for :class:`tcsmt.Unit`, into formats that are named or the units', such as FP32 matrices
            of a TF32 product.
        seed: Seed of the elements that are looked at first.
        time_limit: Stop after this time with what was found, as Ctrl-C does. [default: none]
        progress: Called with how far it is.
        explained: Called with each kernel that gives all of D, as soon as it is found; the simplest are
            looked at first.

    Raises :class:`tcsmt.TcsmtError` for arrays that do not fit, and where no unit takes them.

    >>> import numpy as np, tcsmt
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.random((8, 256)).astype(np.float16), rng.random((256, 8)).astype(np.float16)
    >>> d = tcsmt.gemm(a, b, unit="h100", reduction="split-k:2")
    >>> [k.name for k in tcsmt.kernel_identify(a, b, d, units=["h100", "a100"]).kernels]
    ['hopper/mma.m16n8k16.f32.f16.f16.f32+split-k:2']
    """
    arrays = {name: as_numpy(x, name.upper()) for name, x in (("a", a), ("c", c), ("d", d))}
    arrays["b"] = as_numpy(b, "B", pairs=-2)
    named = {"a": a_format, "b": b_format, "c": c_format, "d": d_format}
    formats = {name: _format(name, arrays[name], named[name]) for name in "abcd" if arrays[name] is not None}
    free = operands is not None and a_format is b_format is None  # the words' formats are the units' own
    rows = None if units is None else _rows(units, formats, operands if free else None)
    if rows is not None:
        _take_formats(rows, formats, [name for name in "ab" if named[name] is None], operands)
    elif free:
        raise TcsmtError(
            "operands says how A and B became words of other formats than their own: name these (a_format, "
            "b_format; --a-format, --b-format), or a unit"
        )
    product = Product.of(
        arrays["a"],
        arrays["b"],
        arrays["c"],
        arrays["d"],
        (formats["a"], formats["b"], formats.get("c"), formats["d"]),
        operands,
    )
    if time_limit is not None and not time_limit > 0:
        raise TcsmtError(f"time_limit = {time_limit}: must be a positive number of seconds")
    watch = SearchControl(progress, explained, None if time_limit is None else monotonic() + time_limit)
    ends = None if alpha == beta == 1 else [Epilogue(alpha=alpha, beta=beta)]
    found = explained_by(product, rows, ends=ends, seed=seed, watch=watch)
    return KernelIdentified(found, None if found.kernels or found.stopped else _diagnosis(found))


def _diagnosis(found: KernelMatches) -> Diagnosis | None:
    """Return what explains a product that no kernel gives, of those numbers that are held against it."""
    product, kernels = found.product, found.simplest
    words = {"a": product.a, "b": product.b, "c": product.c}
    if not kernels or not isinstance(product.d_format, Format):
        return None
    recorded = RecordedResult.of(kernels[0], words, floats(product.d_format, product.d), product.d_format)
    return None if recorded is None else diagnose(recorded, kernels)


def _rows(units: Iterable[UnitLike], formats: Mapping[str, AnyFormat], rule: str | None) -> list[Row]:
    """Return the rows that units stand for: all those of a unit that take A and B.

    rule: how A and B were rounded to the formats of a unit; then its rows with the formats of the first.
    """
    given = {name: formats[name] for name in "ab"}
    rows: dict[Row, None] = {}
    for unit in units:
        taking = rows_for_operands(unit, given, values=rule is not None, operands=rule)
        first = taking[0].model
        same = (
            row
            for row in taking
            if (row.model.a_format, row.model.b_format) == (first.a_format, first.b_format)
        )
        rows.update(dict.fromkeys(same if rule is not None else taking))
    return [*rows]


def _take_formats(
    rows: Sequence[Row], formats: dict[str, AnyFormat], unnamed: Iterable[str], operands: str | None
) -> None:
    """Operands that became others' words have the format that all units take, if there is one."""
    for name in unnamed:
        taken = {row.model.operand_formats.named[name] for row in rows}
        if operands is not None and len(taken) == 1:
            (formats[name],) = taken
    for row in rows:
        _check_operands(row, formats, operands)


def _check_operands(row: Row, formats: Mapping[str, AnyFormat], operands: str | None) -> None:
    """Raises :class:`.TcsmtError` where a unit takes A or B in another format than that of the matrix."""
    for name, fmt in (("a", row.model.a_format), ("b", row.model.b_format)):
        if fmt != formats[name]:
            raise TcsmtError(
                f"{row.name} takes {name.upper()} in {fmt.name}, and {name.upper()} is {formats[name].name}: "
                + (
                    "if it was rounded before, say how (operands, --operands)"
                    if operands is None
                    else f"name its format ({name}_format, --{name}-format)"
                )
            )


def _format(name: str, array: Any, format_name: str | None) -> AnyFormat:
    """Return the format that is named, or the one whose dtype the array has. Raises :class:`.TcsmtError`."""
    if format_name is not None:
        return format_named(format_name)
    dtype = np.asarray(array).dtype
    fmt = format_of(dtype)
    if fmt is None:
        raise TcsmtError(
            f"{name.upper()} has dtype {dtype}, which does not say its format: name it "
            f"({name}_format, --{name}-format)"
        )
    return fmt
