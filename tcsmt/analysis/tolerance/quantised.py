"""Products of matrices that a quantiser rounds first: their programs, their words, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.bounded import BoundedProgram, against
from tcsmt.analysis.tolerance.kernels import ElementBounds, MatrixWords
from tcsmt.analysis.tolerance.products import of_matrices, of_rows
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.arithmetic.words import dtype_of, to_words
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.quantisation.operands import QuantisedValues, check_unit, write_product
from tcsmt.programs.quantisation.quantise import Quantised, quantise
from tcsmt.programs.quantisation.recipe import OperandRecipe, Role
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import UnitProgram, Value
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]

#: What :class:`.MatrixWords` calls the numbers that were there before, of A and of B.
ORIGINALS = {"A": "A before", "B": "B before"}
#: Exponents below which products might leave binary64: smaller operands count as these.
_LEAST = -400


@dataclass(frozen=True)
class QuantisedOperands:
    """A program over the words of quantised operands, and these words.

    program: its inputs are A, B and, where there are any, their scales (``sa``, ``sb``) and the factors of
    all numbers (``wa``, ``wb``). words: of A and B, and of the other inputs and of the originals with their
    axes, as :class:`.MatrixWords` has them. dequantised: A (M, K) and B (K, N) as numbers.
    """

    program: UnitProgram
    words: MatrixWords
    dequantised: tuple[Array, Array]

    @classmethod
    def of(cls, kernel: Kernel, recipe: OperandRecipe, a: Array, b: Array) -> QuantisedOperands:
        """Quantise both matrices, and multiply them by a kernel.

        A unit that does not take the recipe's formats gets the dequantised numbers, which its formats must
        hold: so do kernels that widen weights first. A recipe's rule for weights is B's. Raises
        :class:`.TcsmtError` for what does not fit.
        """
        unit = kernel.unit.model
        roles: tuple[Role, Role] = ("activation", "weight" if recipe.weights else "activation")
        sides = [np.asarray(x, np.float32) for x in (a, np.ascontiguousarray(b.T))]
        formats = [unit.a_format.name, unit.b_format.name]
        taken = all(name in recipe.formats_of(role) for name, role in zip(formats, roles, strict=True))
        if taken or unit.scale_format is not None:
            check_unit(recipe, unit, *roles)
        forms = formats if taken else [recipe.formats_of(role)[0] for role in roles]
        both = [quantise(x, recipe, role, form) for x, role, form in zip(sides, roles, forms, strict=True)]
        before = {ORIGINALS[side]: (side, np.asarray(x, np.float64)) for side, x in (("A", a), ("B", b))}
        wide = [x.numbers() for x in both]
        if taken:
            program, words = _scaled_program(kernel, recipe, both)
            return cls(program, replace(words, more={**words.more, **before}), (wide[0], wide[1].T))
        schedule = kernel.schedule
        program = schedule.program(a.shape[1])
        left, right = (
            to_words(fmt, _held(x, fmt, name), name)
            for x, fmt, name in ((wide[0], unit.a_format, "A"), (wide[1].T, unit.b_format, "B"))
        )
        words = MatrixWords(left, np.ascontiguousarray(right), more=before)
        return cls(program, words, (wide[0], wide[1].T))


def _held(x: Array, fmt: Any, name: str) -> Array:
    """Return dequantised numbers, which a unit's format must hold. Raises :class:`.TcsmtError`."""
    narrow = x.astype(dtype_of(float_format(fmt))).astype(np.float64)
    if fmt.name == "tf32" or not np.array_equal(narrow, x, equal_nan=True):
        raise TcsmtError(
            f"{name}: the unit takes {fmt.name}, which is not a format of the quantiser, and does not hold "
            "each dequantised number"
        )
    return x


def _scaled_program(
    kernel: Kernel, recipe: OperandRecipe, both: list[Quantised]
) -> tuple[UnitProgram, MatrixWords]:
    schedule, build = kernel.schedule, Builder()
    length = both[0].values.shape[1]
    values, more, words = [], {}, []
    for name, side, one in zip("AB", "ab", both, strict=True):
        fmt = one.format
        element = build.input(name, fmt, name)
        words.append(to_words(fmt, one.values if side == "a" else one.values.T, name))
        given: dict[str, Value] = {}
        for what, (axes, own) in _factors(recipe, one, side).items():
            form = FORMATS["f32"] if what == "w" else FORMATS[not_none(recipe.scales).format]
            given[what] = build.input(f"{what}{side}", form, axes)
            more[f"{what}{side}"] = (axes, to_words(form, own, f"the scales of {name}"))
        values.append(QuantisedValues(element, given.get("s"), given.get("w")))
    total, factor = write_product(
        build, kernel.unit.model, recipe, values[0], values[1], length, kernel.reduction
    )
    if factor is not None:  # as cuBLAS multiplies by it
        total = build.multiply_add(FORMATS["f32"], total, factor, build.constant(FORMATS["f32"], 0))
    program = build.program(schedule.write_end(build, total))
    left, right = words
    return program, MatrixWords(left, np.ascontiguousarray(right), more=more)


def _factors(recipe: OperandRecipe, one: Quantised, side: str) -> dict[str, tuple[str, Array]]:
    """Return the scales (``s``) and the factor of all numbers (``w``), each with its axes and an array."""
    rows = one.values.shape[0]
    found: dict[str, tuple[str, Array]] = {}

    def column(x: Any) -> tuple[str, Array]:
        whole = np.broadcast_to(np.asarray(x).reshape(-1, 1), (rows, 1))
        return side, whole if side == "a" else whole.T

    if one.scales is not None:
        tall, wide = one.block
        scales = one.scales
        if scales.ndim and tall > 1:
            scales = np.repeat(scales, tall, 0)[:rows]
        found["s"] = (
            column(scales)
            if not wide or not scales.ndim
            else (f"{side.upper()}/{wide}", scales if side == "a" else np.ascontiguousarray(scales.T))
        )
    if one.whole is not None:
        found["w"] = column(one.whole)
    return found


@dataclass(frozen=True)
class BoundedQuantisedProduct(BoundedProgram):
    """A product of quantised operands, held against that of these, or of the numbers that were there before.

    original: whether the exact result is that of the originals: what the quantiser changes counts as an
    error then, element by element.
    """

    original: bool = False

    @property
    def exact(self) -> str:
        """Return what results are held against."""
        return f"Σ a·b of the {'original' if self.original else 'dequantised'} matrices"

    def _bounded(self, operands: MatrixWords, together: int, *, rows: bool = False) -> ElementBounds:
        bounds = super()._bounded(operands, together, rows=rows)
        a, b = (operands.more[name][1] for name in ORIGINALS.values())
        bad = [~np.isfinite(x) for x in (a, b)]
        left, right = np.asarray(bad[0].any(axis=1)), np.asarray(bad[1].any(axis=1 if rows else 0))
        unknown = np.isnan(bounds.exact)
        unknown |= left | right if rows else np.logical_or.outer(left, right)
        if self.original:
            a, b = (np.where(where, 0.0, x) for where, x in zip(bad, (a, b), strict=True))
            of = of_rows if rows else of_matrices
            before = of(a, b, (_LEAST, _LEAST))(np.arange(a.shape[1]))
            bounds = against(bounds, before.value, before.error)
        atol, exact = np.where(unknown, np.inf, bounds.atol), np.where(unknown, np.nan, bounds.exact)
        return replace(bounds, atol=atol, exact=exact)

    def exact_element(self, operands: MatrixWords, row: int, column: int) -> Fraction | None:
        """Return Σ a·b of the originals, in fractions; of dequantised operands it is known to binary64."""
        if not self.original:
            return super().exact_element(operands, row, column)
        a, b = (operands.more[name][1] for name in ORIGINALS.values())
        pairs = zip(a[row].tolist(), b[:, column].tolist(), strict=True)
        return sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))


def inputs_of(words: MatrixWords, program: UnitProgram) -> Mapping[str, Array]:
    """Return the words of a program's inputs by name."""
    given = {"A": words.a, "B": words.b, "c": words.c, "bias": words.bias}
    given |= {name: own for name, (_, own) in words.more.items()}
    return {name: own for name in program.inputs if (own := given.get(name)) is not None}
