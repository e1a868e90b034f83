"""Products of quantised matrices on a unit, with their scales, and what a kernel makes of the sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN, NanWords
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.words import from_words
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.batched import batched
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.kernels.units import ieee_unit
from tcsmt.programs.quantisation.operands import QuantisedValues, write_product
from tcsmt.programs.quantisation.quantise import Quantised
from tcsmt.programs.quantisation.recipe import OperandRecipe
from tcsmt.programs.steps import outside
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import ProductRun, UnitProgram, read, read_values
from tcsmt.support.invariants import not_none

Array = np.ndarray[Any, np.dtype[Any]]
_F32 = FORMATS["f32"]
#: Bits of formats to which results are converted without overflow.
_SATURATED = 8
#: Whose formats an epilogue's are: binary32 throughout.
_BINARY32 = ieee_unit("ieee/fma.f32").model


@dataclass(frozen=True)
class ScaledSum:
    """What a unit made of a product: (..., M, N), binary32, and a binary32 factor that is still to come.

    With the factor of tensors (None: there is none), the epilogue multiplies, together with its alpha.
    """

    values: Array
    factor: np.float32 | None = None

    def numbers(self) -> Array:
        """Return what it stands for, in binary64: exact."""
        wide = self.values.astype(np.float64)
        return wide if self.factor is None else wide * np.float64(self.factor)


def scaled_sum(
    model: Model,
    recipe: OperandRecipe,
    a: Quantised,
    b: Quantised,
    reduction: Reduction = CHAINED,
    nans: NanWords = UNKNOWN,
) -> ScaledSum:
    """Return the sum of the products of A's rows and B's columns, with their scales.

    a: of A, values (..., M, K). b: of B transposed, values (..., N, K). No dimension is 0; the stacks
    broadcast. reduction: of the unit's chains. nans: which words NaN results have outside of the unit.
    Raises :class:`.TcsmtError` for what does not fit.
    """
    sides = {"A": (a, _Operand.of(a)), "B": (b, _Operand.of(b))}
    kinds = (kind for _, kind in sides.values())
    program, total, factor = _product(model, recipe, reduction, a.values.shape[-1], *kinds)
    given = {
        f"{side}{name}": x for side, (one, _) in sides.items() for name, x in _words_of(one, side).items()
    }
    stack = np.broadcast_shapes(a.values.shape[:-2], b.values.shape[:-2])
    shape = (*stack, a.values.shape[-2], b.values.shape[-2])
    wanted = (total,) if factor is None else (total, factor)
    sums, *factors = read_values(program, _Rules(shape, _chained, nans), given, wanted)
    return ScaledSum(
        np.ascontiguousarray(sums).view(np.float32), *(one.reshape(-1).view(np.float32)[0] for one in factors)
    )


class _Operand(NamedTuple):
    """What a product's program knows of an operand. blocks: along K, of a scale; 0: of all of K."""

    format: Format
    scaled: bool
    blocks: int
    whole: bool

    @classmethod
    def of(cls, matrix: Quantised) -> _Operand:
        return cls(matrix.format, matrix.scales is not None, matrix.block[1], matrix.whole is not None)


@lru_cache(maxsize=256)
def _product(
    model: Model, recipe: OperandRecipe, reduction: Reduction, length: int, a: _Operand, b: _Operand
) -> tuple[UnitProgram, int, int | None]:
    """Return the program, and which steps give the sum and its factor."""
    build = Builder()

    def operand(side: str, one: _Operand) -> QuantisedValues:
        row = side.lower()
        axes = f"{side}/{one.blocks}" if one.blocks else row
        scales = model.scale_format if recipe.block_scales else _F32
        return QuantisedValues(
            build.input(side, one.format, side),
            build.input(f"{side}.scales", not_none(scales), axes) if one.scaled else None,
            build.input(f"{side}.whole", _F32, row) if one.whole else None,
        )

    sides = operand("A", a), operand("B", b)
    total, factor = write_product(build, model, recipe, *sides, length, reduction)
    return build.program(total), total.number, None if factor is None else factor.number


def _words_of(matrix: Quantised, side: str) -> dict[str, Array]:
    """Return a matrix, its scales and its factor as arrays (..., M, K) and (..., K, N) with one scale for
    each row and block; binary32 as words.
    """
    given = {"": matrix.values}
    if matrix.scales is not None:
        scales = matrix.scales.reshape(1, 1) if matrix.scales.ndim == 0 else matrix.scales
        if matrix.block[0] > 1:
            scales = np.repeat(scales, matrix.block[0], -2)[..., : matrix.values.shape[-2], :]
        given[".scales"] = scales.view(np.uint32) if scales.dtype == np.float32 else scales
    if matrix.whole is not None:
        given[".whole"] = np.full((1, 1), matrix.whole).view(np.uint32)
    return {name: x.swapaxes(-1, -2) if side == "B" else x for name, x in given.items()}


class _Rules(ArrayRules):
    """The rules of steps where a reduction is that of a kernel on matrices."""

    def reduction(self, *operands: Array, unit: Model, order: Reduction) -> tuple[Array]:
        """Return the sums of stacks of products: words."""
        a, b, scale_a, scale_b = (*operands, None, None)[:4]
        epilogue = Epilogue(nan=self.nans)
        total = batched(
            a, b, model=unit, reduction=order, epilogue=epilogue, scale_a=scale_a, scale_b=scale_b
        )
        return (_words(total),)


def _chained(unit: Model, operands: Sequence[Array], runs: Sequence[ProductRun], c: Array | None) -> Array:
    """Return a chain from +0 of stacks of products: words."""
    (run,), (a, b) = runs, operands
    part = slice(int(run.indices[0]), int(run.indices[-1]) + 1)
    return _words(batched(a[..., part], b[..., part, :], model=unit))


def finished(
    total: ScaledSum,
    out: Format = _F32,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    c: Array | None = None,
    bias: Array | None = None,
    scale: Array | None = None,
    nans: NanWords = UNKNOWN,
) -> Array:
    """alpha·sum + beta·C + bias in binary32, in the format ``out``: (..., M, N).

    c: what broadcasts to (..., M, N), and bias: (..., N), in binary32. scale: one binary32 number, by which a
    result in FP8 is multiplied before it is converted; others leave it out, as cuBLAS does. A sum with a
    factor to come is multiplied as cuBLAS does it: fma(sum, alpha·factor, +0), where there is no C. nans:
    which words NaN results have.
    """
    narrow = out.width <= _SATURATED
    if narrow and scale is not None:
        values = finished(total, _F32, alpha=alpha, beta=beta, c=c, bias=bias, nans=nans)
        factor, zero = (_words(np.full(values.shape, x, np.float32)) for x in (scale, -0.0))
        scaled = outside.multiplied_and_added(_F32, _words(values), factor, zero, nans)
        return finished(ScaledSum(scaled.view(np.float32)), out, nans=nans)
    shape = total.values.shape
    if total.factor is not None:
        with np.errstate(all="ignore"):
            alpha = float(np.float32(alpha) * total.factor)
        if c is None:
            c, beta = np.zeros((), np.float32), 1.0
    epilogue = Epilogue(
        alpha=alpha, beta=beta, c="epilogue", bias=bias is not None, out=(out,), saturate=narrow, nan=nans
    )
    end = Schedule(_BINARY32, CHAINED, epilogue).end(c=c is not None, bias=bias is not None)
    given = {
        "total": _binary32(total.values),
        "c": None if c is None else _binary32(np.broadcast_to(c, shape)),
        "bias": None if bias is None else _binary32(np.broadcast_to(bias[..., None, :], shape)),
    }
    return from_words(out, read(end, ArrayRules(shape, no_chain, nans), given))


def _words(values: Array) -> Array:
    """Return numbers as words of their dtype."""
    contiguous = np.ascontiguousarray(values)
    return contiguous.view(f"u{contiguous.itemsize}")


def _binary32(values: Array) -> Array:
    return _words(np.asarray(values, np.float32))
