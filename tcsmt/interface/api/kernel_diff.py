"""Two results of one matrix product: how much they differ, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.diagnose import Diagnosis, diagnose
from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.kernels.differences import Differences
from tcsmt.identification.kernels.two_chains import (
    TwoChains,
    kernel_text,
    program_inputs,
    program_of_kernel,
    two_chains,
)
from tcsmt.interface.api.arrays import as_numpy
from tcsmt.interface.api.matching import formats_of, kernel_for_operands
from tcsmt.interface.api.pictures import sheet_of, view_of
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.api.views import WitnessView
from tcsmt.interface.pictures.difference_page import as_page
from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.text import as_text
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, format_named, leading_exponent
from tcsmt.matrix_units.arithmetic.words import format_of, operand_words, to_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.elements import SampledElements, on_elements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.units import ieee_rows
from tcsmt.programs.steps.on_arrays import ArrayRules, of_rows
from tcsmt.programs.steps.program import read
from tcsmt.programs.written.on_matrices import is_program_file
from tcsmt.programs.written.programs import WrittenProgram, row_of, written_program
from tcsmt.prove.statements.finding import shown
from tcsmt.simulate.matmul import check_shapes
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, columns
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]
#: Elements that differ, on which the kernels that were given are tried.
_TRIED = 32


@dataclass(frozen=True)
class _Element:
    """One element of both results, and the exact value where it is known."""

    row: int
    column: int
    words: tuple[int, int]
    ulps: int | None
    exact: Fraction | None


@dataclass(frozen=True, repr=False)
class KernelDiff(Result):
    """The differences between two results of A·B + C: print it, or see ``differences``, ``chains`` and
    ``sheet``.

    differences: the two matrices of words. first, worst, shown: elements.
    tried: how many elements the kernels were tried on. reproduced: each kernel's name, and on how many of
    them it gives what was recorded.
    diagnoses: of each side that no kernel that is known gives, what explains it; None of the others.
    chains: both kernels on the element shown, instruction by instruction; None without two kernels.
    sheet: the first instruction that differs, bit by bit. view: what a page shows of it.
    """

    differences: Differences
    first: _Element | None
    worst: _Element | None
    shown: _Element | None
    tried: int
    reproduced: tuple[tuple[str, int] | None, tuple[str, int] | None]
    diagnoses: tuple[Diagnosis | None, Diagnosis | None]
    chains: TwoChains | None
    sheet: Sheet | None
    view: WitnessView | None = None

    @property
    def equal(self) -> bool:
        """Return whether no element differs."""
        return self.differences.count == 0

    @property
    def why(self) -> str:
        """Return what differs within the first instruction that differs, and its cause; empty if there is
        none.
        """
        return "" if self.sheet is None else self.sheet.difference

    def _facts(self) -> dict[str, Any]:
        kernels = [
            None if match is None else {"kernel": match[0], "gives_recorded": match[1], "tried": self.tried}
            for match in self.reproduced
        ]
        return {
            "shape": list(self.differences.left.shape),
            "format": self.differences.format.name,
            "different": self.differences.count,
            "nan_words": self.differences.nan_words,
            "block": self.differences.block.as_json() if self.differences.count else None,
            "bands": [{"distance": band.text, "elements": band.count} for band in self.differences.bands()],
            "first": self._element_json(self.first),
            "worst": self._element_json(self.worst),
            "kernels": {"left": kernels[0], "right": kernels[1]},
            "diagnosis": {
                side: None if found is None else found.as_json()
                for side, found in zip(("left", "right"), self.diagnoses, strict=True)
            },
            "explained": None
            if self.chains is None or self.shown is None
            else {
                "element": [self.shown.row, self.shown.column],
                **self.chains.as_json(),
                "why": self.why or None,
                "picture": None if self.sheet is None else self.sheet.as_json(),
            },
        }

    def _element_json(self, element: _Element | None) -> dict[str, Any] | None:
        if element is None:
            return None
        fmt = self.differences.format
        errors = [_error(fmt, word, element.exact) for word in element.words]
        return {
            "row": element.row,
            "column": element.column,
            "ulps": element.ulps,
            "words": [fmt.hex(word) for word in element.words],
            "values": [fmt.describe(word) for word in element.words],
            "decimals": [shown(fmt, word)["decimal"] for word in element.words],
            "errors_ulps": [None if error is None else float(error) for error in errors],
        }

    def _differences(self) -> list[str]:
        """Return what is printed, without the picture."""
        diff = self.differences
        size = diff.left.size
        share = f"{diff.count / size:.2%}"
        m, n = diff.left.shape
        text = [f"{m} x {n}, {diff.format.name}: {diff.count} of {size} elements differ ({share})"]
        if diff.nan_words:
            text.append(
                f"  not counted: {counted(diff.nan_words, 'element')}, NaNs of different words on both sides"
            )
        if self.equal:
            return text
        bands = diff.bands()
        most = max(band.count for band in bands)
        table = [(b.text, f"{b.count:>8}", "#" * -(-30 * b.count // most)) for b in bands]
        text += [f"  {line}" for line in columns(table)]
        block = diff.block
        if block.elements < size:
            every = "all elements of" if block.elements == diff.count else "some of"
            text.append(f"they are {every} {block} ({counted(block.elements, 'element')})")
        text += [self._line("first", self.first), self._line("worst", self.worst)]
        for side, match, found in zip(("left", "right"), self.reproduced, self.diagnoses, strict=True):
            if match is not None:
                name, count = match
                text.append(f"{side}: {name} gives {count} of the {self.tried} elements that were tried")
            if found is not None:
                first, *rest = found.lines()
                text += [f"{side}: {first}", *(f"  {line}" for line in rest)]
        if self.chains is not None and self.shown is not None:
            text += ["", f"[{self.shown.row}, {self.shown.column}]: {self.chains.sentence()}"]
            text += [f"  in that instruction {self.why}"] if self.why else []
            text += self.chains.lines()
        elif None in self.reproduced:
            text.append(
                "with a kernel for each side (--left-kernel, --right-kernel) one element's chains are "
                "compared"
            )
        return text

    def _line(self, name: str, element: _Element | None) -> str:
        assert element is not None
        fmt = self.differences.format
        words = " | ".join(
            "{word} = {decimal} ({value})".format(**shown(fmt, word)) for word in element.words
        )
        apart = "" if element.ulps is None else f", {counted(element.ulps, 'ulp')} apart"
        errors = [_error(fmt, word, element.exact) for word in element.words]
        texts = [f"{float(error):.4g}" for error in errors if error is not None]
        exact = f"; errors {' | '.join(texts)} ulps" if len(texts) == 2 else ""
        return f"{name} [{element.row}, {element.column}]: {words}{apart}{exact}"

    def as_html(self) -> str:
        """A page that stands alone: a heat map of the differences, and what is printed."""
        return as_page(self.differences, self._differences(), self.sheet)

    def _lines(self) -> list[str]:
        picture = [] if self.sheet is None else ["", as_text(self.sheet, 110)]
        return [*self._differences(), *picture]

    @property
    def _title(self) -> str:
        return f"{self.differences.count} of {self.differences.left.size} elements differ"

    @property
    def exit_code(self) -> Exit:
        """0: no element differs; 1: some do."""
        return Exit.of(self.equal)

    def _repr_html_(self) -> str:
        return self.as_html()


def _check_shape(subject: str, words: Array, shape: tuple[int, ...], what: str) -> None:
    if words.shape != shape:
        raise TcsmtError(f"{subject} shape {words.shape}: must be {shape}, {what}")


@ieee_floats
def kernel_diff(
    a: Any,
    b: Any,
    left: Any,
    right: Any,
    c: Any = None,
    *,
    bias: Any = None,
    a_format: str | None = None,
    b_format: str | None = None,
    left_kernel: Kernel | UnitLike | None = None,
    right_kernel: Kernel | UnitLike | None = None,
    operands: str | None = None,
    element: tuple[int, int] | None = None,
) -> KernelDiff:
    """Return how two results of one matrix product differ, and, for two kernels, the first step that makes it
    so.

    Each array is of its format's dtype, or of words. A kernel is a unit, or ``UNIT+REDUCTION[+EPILOGUE]``
    (``"h100+split-k:2"``); they are needed for arrays of words, whose format they tell. A unit without an
    instruction is the most used one that takes A and B, in the formats of their dtypes or in a_format and
    b_format, and gives such results.

    Args:
        a: A, (M, K).
        b: B, (K, N).
        left: One result, (M, N).
        right: The other result, (M, N).
        c: C, (M, N). [default: none]
        bias: The bias of an epilogue, (N,).
        a_format: Format of A's words. [default: by the dtype]
        b_format: Format of B's words. [default: by the dtype]
        left_kernel: The kernel that computed the left result.
        right_kernel: The kernel that computed the right result.
        operands: As for :class:`tcsmt.Unit`.
        element: The element to explain, counted from 0. [default: the one that differs most]

    Raises :class:`tcsmt.TcsmtError` for shapes, formats and values that do not fit.

    >>> import numpy as np, tcsmt
    >>> a = np.zeros((1, 64), np.float16)
    >>> a[0, [0, 16, 32, 48]] = 1, 2**-12, 2**-12, 2**-12
    >>> one, two = (tcsmt.gemm(a, a.T, unit="h100", reduction=how) for how in ("chained", "split-k:2"))
    >>> tcsmt.kernel_diff(a, a.T, one, two, left_kernel="h100", right_kernel="h100+split-k:2")
    <KernelDiff 1 of 1 elements differ>
    """
    by_name = {"A": a, "B": b, "left": left, "right": right, "C": c, "bias": bias}
    arrays = {name: as_numpy(array, name, pairs=-2 if name == "B" else -1) for name, array in by_name.items()}
    formats = formats_of(
        {"a": arrays["A"], "b": arrays["B"]},
        {"a": a_format, "b": b_format},
        rounded=operands is not None,
    )
    made = getattr(arrays["left"], "dtype", None)
    of_results = None if made is None else format_of(made)
    length = np.shape(arrays["A"])[-1] if np.ndim(arrays["A"]) else 0
    kernels = (
        _kernel(left_kernel, formats, operands, of_results, length),
        _kernel(right_kernel, formats, operands, of_results, length),
    )
    known_kernels = [kernel for kernel in kernels if kernel is not None]
    models = [kernel.unit.model for kernel in known_kernels]
    outputs = [kernel.schedule.d_format for kernel in known_kernels]
    result = _format("left", arrays["left"], outputs)
    words = {name: to_words(result, arrays[name], name) for name in ("left", "right")}
    differences = Differences(result, words["left"], words["right"])
    inputs = {
        "A": _format("A", arrays["A"], _of(a_format, [model.a_format for model in models])),
        "B": _format("B", arrays["B"], _of(b_format, [model.b_format for model in models])),
    }
    words |= {name: operand_words(fmt, arrays[name], name, operands) for name, fmt in inputs.items()}
    check_shapes(words["A"], words["B"])
    shape = len(words["A"]), words["B"].shape[1]
    _check_shape("the results have", differences.left, shape, "the shape of A·B")
    if c is not None:
        inputs["C"] = _format("C", arrays["C"], [model.c_format for model in models])
        words["C"] = operand_words(inputs["C"], arrays["C"], "C", operands)
        _check_shape("C has", words["C"], shape, "the shape of A·B")
    if element is not None and not (0 <= element[0] < shape[0] and 0 <= element[1] < shape[1]):
        raise TcsmtError(f"element {element}: the results have {shape[0]} rows and {shape[1]} columns")
    if bias is not None:
        words["bias"] = operand_words(_bias_format(known_kernels, result), arrays["bias"], "bias", operands)
        _check_shape("bias has", words["bias"], shape[1:], "one for each column")
    plain = all(kernel.epilogue.plain for kernel in known_kernels) and bias is None
    problem = _Problem(differences, words, inputs, plain)
    return problem.solved(kernels, element)


def _of(named: str | None, formats: Sequence[AnyFormat]) -> Sequence[AnyFormat]:
    """Return the kernels' formats, or the one that is named where there are none."""
    return formats or ([] if named is None else [format_named(named)])


def _kernel(
    kernel: Kernel | UnitLike | None,
    formats: Mapping[str, AnyFormat | None],
    operands: str | None,
    result: AnyFormat | None,
    length: int,
) -> Kernel | None:
    if kernel is None or isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and is_program_file(kernel):
        return Kernel(written_program(f"{kernel}@{length}", lambda name: side_of(name).row))
    if isinstance(kernel, str):
        return kernel_for_operands(kernel, formats, operands=operands, result=result)
    return Kernel(side_of(kernel).row)


def _unit(kernel: Kernel, chains: TwoChains, side: int) -> Row | None:
    """Return the unit of a kernel, or of the program's instruction at the first difference."""
    if chains.first is None or chains.first[side].unit == kernel.unit.model:
        return kernel.unit
    return row_of(chains.first[side].unit)


def _bias_format(kernels: Sequence[Kernel], result: AnyFormat) -> AnyFormat:
    """Return the format of a bias: that in which the kernels' epilogues compute, or would for such
    results.
    """
    formats = [
        kernel.unit.model.steps.inputs["bias"].format
        if isinstance(kernel.unit.model, WrittenProgram) and "bias" in kernel.unit.model.steps.inputs
        else kernel.schedule.working_format
        for kernel in kernels
    ]
    if any(fmt != formats[0] for fmt in formats):
        raise TcsmtError(f"the kernels take a bias as {' and '.join(fmt.name for fmt in formats)}")
    return formats[0] if formats else FORMATS["f64" if result == FORMATS["f64"] else "f32"]


def _format(name: str, array: Any, formats: Sequence[AnyFormat]) -> AnyFormat:
    """Return the format of an array: the kernels', or that of its dtype."""
    if any(fmt != formats[0] for fmt in formats):
        raise TcsmtError(f"the kernels take or give {name} as {' and '.join(fmt.name for fmt in formats)}")
    if formats:
        return formats[0]
    array_format = format_of(np.asarray(array).dtype)
    if array_format is None:
        raise TcsmtError(
            f"{name} has dtype {np.asarray(array).dtype}, which names no format: give a unit for one side"
        )
    return array_format


@dataclass(frozen=True)
class _Problem:
    """Return all words (operands and both results), and the formats of A, B and C."""

    differences: Differences
    words: dict[str, Array]
    formats: Mapping[str, AnyFormat]
    plain: bool

    def solved(
        self, kernels: tuple[Kernel | None, Kernel | None], element: tuple[int, int] | None
    ) -> KernelDiff:
        """Return what is found of kernels, if there are any, and of an element."""
        diff = self.differences
        first, worst = (
            (None, None) if not diff.count else (self.element(diff.first), self.element(diff.worst))
        )
        shown = self.element(element) if element is not None else worst
        some = diff.some(_TRIED)
        reproduced = [
            None if k is None else (kernel_text(k), self.reproduced(k, side, some))
            for side, k in enumerate(kernels)
        ]
        left, right = kernels
        chains = sheet = view = None
        if left is not None and right is not None and shown is not None:
            chains = two_chains((left, right), self.elements([(shown.row, shown.column)]))
            units = [_unit(kernel, chains, side) for side, kernel in enumerate((left, right))]
            if chains.same_instruction and units[0] is not None:
                sheet = sheet_of(units[0], units[1], chains.values)
                view = view_of(units[0], units[1], chains.values)
        gives = (reproduced[0], reproduced[1])
        diagnoses = self.diagnosis(kernels, 0), self.diagnosis(kernels, 1)
        return KernelDiff(diff, first, worst, shown, len(some), gives, diagnoses, chains, sheet, view)

    def diagnosis(self, kernels: tuple[Kernel | None, Kernel | None], side: int) -> Diagnosis | None:
        """Return what explains one side, where its kernel does not give it; without one, where the other's
        does not.

        Where no kernel is known, those of IEEE operations on these operands are supposed.
        """
        fmt, diff = self.differences.format, self.differences
        kernel = kernels[side] or kernels[1 - side]
        program = kernel is not None and isinstance(kernel.unit.model, WrittenProgram)
        if not diff.count or not isinstance(fmt, Format) or program:
            return None
        supposed = [kernel] if kernel else [Kernel(row) for row in self.usual_units()]
        words = {name.lower(): array for name, array in self.words.items() if name in ("A", "B", "C", "bias")}
        values = floats(fmt, (diff.left, diff.right)[side])
        if not supposed or (supposed[0].epilogue.bias and "bias" not in words):
            return None
        recorded = RecordedResult.of(supposed[0], words, values, fmt)
        return None if recorded is None else diagnose(recorded, supposed)

    def usual_units(self) -> list[Row]:
        """Units of IEEE operations that take the operands and give such results."""
        return [
            row
            for row in ieee_rows()
            if (row.model.a_format, row.model.b_format) == (self.formats["A"], self.formats["B"])
            and row.model.c_format in (self.formats.get("C", row.model.c_format),)
        ]

    def element(self, place: tuple[int, int]) -> _Element:
        row, column = place
        diff = self.differences
        words = int(diff.left[place]), int(diff.right[place])
        special = any(diff.format.is_nan(word) for word in words)
        return _Element(row, column, words, None if special else int(diff.ulps[place]), self.exact(place))

    def exact(self, place: tuple[int, int]) -> Fraction | None:
        """Return the dot product and c, not rounded; None where a word is no number, or an epilogue changes
        it.
        """
        row, column = place
        operands = {"A": self.words["A"][row], "B": self.words["B"][:, column]}
        if "C" in self.words:
            operands["C"] = self.words["C"][row : row + 1, column]
        words = [(self.formats[name], int(word)) for name, some in operands.items() for word in some]
        if not self.plain or any(fmt.is_special(word) for fmt, word in words):
            return None
        values = {
            name: [self.formats[name].value(int(word)) for word in some] for name, some in operands.items()
        }
        products = (x * y for x, y in zip(values["A"], values["B"], strict=True))
        return sum([*products, *values.get("C", [])], Fraction(0))

    def elements(self, places: Sequence[tuple[int, int]]) -> SampledElements:
        """Return some elements of the product."""
        where = np.array(places)
        rows, columns = where.T
        (m, length), n = self.words["A"].shape, self.words["B"].shape[1]
        c = self.words["C"][rows, columns] if "C" in self.words else None
        bias = self.words["bias"][columns] if "bias" in self.words else None
        a, b = self.words["A"][rows], self.words["B"][:, columns].T
        return SampledElements(a, b, c, where, (m, n, length), bias)

    def reproduced(self, kernel: Kernel, side: int, places: Sequence[tuple[int, int]]) -> int:
        """On how many elements the kernel gives what was recorded; two NaNs are the same."""
        if not places:
            return 0
        recorded = (self.differences.left, self.differences.right)[side]
        elements = self.elements(places)
        program = program_of_kernel(kernel, elements.a.shape[1])
        if program is not None:
            rules = ArrayRules((len(places),), of_rows, program.nans)
            words = read(program.program, rules, program_inputs(program, elements))
        else:
            ((_, words),) = on_elements([kernel], elements)
        fmt, same = self.differences.format, 0
        for found, place in zip(words.T.tolist(), places, strict=True):
            wanted = int(recorded[place])
            orders = found if isinstance(found, list) else [found]
            same += any(word == wanted or (fmt.is_nan(word) and fmt.is_nan(wanted)) for word in orders)
        return same


def _error(fmt: AnyFormat, word: int, exact: Fraction | None) -> Fraction | None:
    """Return how far a word is from the exact value, in units in the last place of that value."""
    if exact is None or fmt.is_special(word):
        return None
    if not isinstance(fmt, Format) or exact == 0:
        return abs(fmt.value(word) - exact)
    exponent = max(leading_exponent(abs(exact)), fmt.e_min)
    return abs(fmt.value(word) - exact) / Fraction(2) ** (exponent - fmt.fraction_bits)
