"""Products of quantised matrices on a unit, with their scales, and what a kernel makes of the sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.nan_words import UNKNOWN, NanWords
from tcsmt.matrix_units.arithmetic.words import from_words
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.batched import batched
from tcsmt.programs.kernels.epilogue import Epilogue
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.kernels.units import ieee_unit
from tcsmt.programs.quantisation.quantise import Quantised
from tcsmt.programs.quantisation.recipe import OperandRecipe
from tcsmt.programs.steps import outside
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read
from tcsmt.support.errors import TcsmtError

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
    right = b.values.swapaxes(-1, -2)
    epilogue = Epilogue(nan=nans)
    if recipe.promote:
        if reduction != CHAINED:
            raise TcsmtError(f"recipe {recipe.name}: its kernel promotes sums itself: leave reduction out")
        return ScaledSum(_promoted(model, recipe.promote, a, b, nans))
    if recipe.block_scales is not None and a.scales is not None and b.scales is not None:
        values = batched(
            a.values,
            right,
            model=model,
            reduction=reduction,
            epilogue=epilogue,
            scale_a=a.scales,
            scale_b=b.scales.swapaxes(-1, -2),
        )
        factor = None if a.whole is None or b.whole is None else a.whole * b.whole
        return ScaledSum(_wide(values, nans), factor)
    values = _wide(batched(a.values, right, model=model, reduction=reduction, epilogue=epilogue), nans)
    if a.scales is None or b.scales is None:
        return ScaledSum(values)
    if recipe.rows_last:
        return ScaledSum(_scaled(_scaled(values, a.scales, nans), b.scales.swapaxes(-1, -2), nans))
    with np.errstate(all="ignore"):
        return ScaledSum(values, np.float32(a.scales * b.scales))


def _scaled(values: Array, factor: Array, nans: NanWords) -> Array:
    """Values times what broadcasts to them, in binary32."""
    with np.errstate(all="ignore"):
        return outside.with_nan_words(_F32, values * factor, nans).view(np.float32)


def _promoted(model: Model, every: int, a: Quantised, b: Quantised, nans: NanWords) -> Array:
    """Chains of ``every`` products, each times the product of its scales, added by multiply-adds from +0."""
    left, right = a.scales_of_numbers(), b.scales_of_numbers()
    total: Array | None = None
    for first in range(0, a.values.shape[-1], every):
        here = slice(first, first + every)
        part = _wide(batched(a.values[..., here], b.values[..., here].swapaxes(-1, -2), model=model), nans)
        with np.errstate(all="ignore"):
            scale = left[..., first][..., :, None] * right[..., first][..., None, :]
        total = np.zeros_like(part) if total is None else total
        scale = np.broadcast_to(scale, part.shape)
        words = outside.multiplied_and_added(_F32, _words(scale), _words(part), _words(total), nans)
        total = words.view(np.float32)
    if total is None:
        raise TcsmtError("K is 0: there are no products")
    return total


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
        return finished(ScaledSum(_scaled(values, scale, nans)), out, nans=nans)
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
        "total": _words(total.values),
        "c": None if c is None else _words(np.broadcast_to(c, shape)),
        "bias": None if bias is None else _words(np.broadcast_to(bias[..., None, :], shape)),
    }
    return from_words(out, read(end, ArrayRules(shape, no_chain, nans), given))


def _wide(values: Array, nans: NanWords) -> Array:
    """In binary32; what is in it already stays what it is."""
    if values.dtype == np.float32:
        return values
    return outside.with_nan_words(_F32, values.astype(np.float32), nans).view(np.float32)


def _words(values: Array) -> Array:
    words: Array = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return words
