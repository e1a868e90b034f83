"""``torch._scaled_mm``: operands that are quantised already, and their scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.interface.torch.layers import ProductPlace
from tcsmt.interface.torch.products import EmulatedProducts
from tcsmt.interface.torch.tensors import array_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format
from tcsmt.matrix_units.arithmetic.words import format_of
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.programs.kernels.reduction import CHAINED, Reduction, reduction_named
from tcsmt.programs.quantisation.quantise import Quantised
from tcsmt.programs.quantisation.recipe import RECIPES, OperandRecipe
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Without fast accumulation, a narrow sum is promoted so, where the kernel does not do it for other reasons.
_PROMOTED = reduction_named("promote:128,from-zero")
#: Rows and columns of what cuBLAS stores together of block scales, and how rows of it are arranged.
_TILE, _WITHIN = (128, 4), (4, 32)


def scaled_mm(
    products: EmulatedProducts,
    a: Any,
    b: Any,
    scale_a: Any,
    scale_b: Any,
    bias: Any = None,
    scale_result: Any = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> Any:
    """A (M, K) and B (K, N) in FP8, or pairs of FP4, with the scales that PyTorch takes.

    For each tensor, row, or 1 x 128 or 128 x 128 block: float32; for 32 or 16 numbers: ``float8_e8m0fnu`` or
    ``float8_e4m3fn``, in the order in which cuBLAS reads them.
    Raises :class:`.TcsmtError` for scales that fit none of these.
    """
    left, right = array_of(a, "A"), array_of(b, "B", pairs=-2).swapaxes(-1, -2)
    scales = array_of(scale_a, "scale_a"), array_of(scale_b, "scale_b")
    recipe = _recipe(left, right, scales)
    transposed = scales[1] if recipe.block_scales else scales[1].T  # as B is, but for block scales
    quantised = _quantised(left, recipe, scales[0], "A"), _quantised(right, recipe, transposed, "B")
    out = out_dtype or a.dtype
    forms = tuple(q.format.name.removesuffix("fnuz") for q in quantised)
    row = products.instruction(recipe, *forms)
    if 0 in left.shape or 0 in right.shape:
        return products.nothing(a, b, None, 0, bias, out)
    products.admit((left, right.swapaxes(-1, -2)))
    place = ProductPlace(products.layers.next_product(), "forward", "activation", "activation")
    given = quantised[0].numbers(), quantised[1].numbers()
    return products.finish(
        "_scaled_mm",
        place,
        row,
        recipe,
        given,
        quantised,
        bias=bias,
        out=out,
        reduction=_reduction(row.model, recipe, use_fast_accum, products.reduction),
        scale=None if scale_result is None else array_of(scale_result, "scale_result").reshape(()),
    )


def _reduction(model: Model, recipe: OperandRecipe, fast: bool, wanted: Reduction) -> Reduction:
    """Without fast accumulation, sums with fewer bits than their format are promoted, as cuBLAS does."""
    narrow = isinstance(model, FusedDotAdd) and model.parameters.round_fraction_bits is not None
    if wanted != CHAINED or fast or not narrow or recipe.promote:
        return wanted
    return _PROMOTED


def _recipe(a: Array, b: Array, scales: tuple[Array, Array]) -> OperandRecipe:
    """Return the recipe of scales of these shapes and dtypes."""
    fmt = format_of(scales[0].dtype)
    if scales[0].dtype != scales[1].dtype or fmt is None:
        raise TcsmtError(f"scale_a and scale_b have dtypes {scales[0].dtype} and {scales[1].dtype}")
    if fmt.name == "ue8m0":
        return RECIPES["mxfp4" if format_of(a.dtype) == FORMATS["e2m1"] else "mxfp8"]
    if fmt.name == "e4m3":
        return RECIPES["nvfp4"]
    if scales[0].size == scales[1].size == 1:
        return RECIPES["fp8-tensor"]
    if scales[0].shape == (len(a), 1) and scales[1].shape == (1, len(b)):
        return RECIPES["fp8-row"]
    across = -(-a.shape[1] // 128)
    sides = zip(scales, (a, b), (1, 0), strict=True)
    if all(
        scale.ndim == 2
        and scale.shape[axis] == across
        and scale.shape[1 - axis] in (len(matrix), -(-len(matrix) // 128))
        for scale, matrix, axis in sides
    ):
        return RECIPES["fp8-block"]
    shapes = " and ".join(str(scale.shape) for scale in scales)
    raise TcsmtError(
        f"scales have shapes {shapes}: for A {a.shape} and B {b.shape[::-1]} they must be of one number, "
        f"{(len(a), 1)} and {(1, len(b))}, or one for each 1 x 128 or 128 x 128 block"
    )


def _quantised(matrix: Array, recipe: OperandRecipe, scales: Array, name: str) -> Quantised:
    """A (M, K), or B transposed, with scales of its own rows."""
    fmt = float_format(_format(matrix, name))
    rules = recipe.scales
    if rules is None:
        raise TcsmtError(f"{name}: there are no scales")
    block = rules.rows, rules.columns
    if recipe.block_scales is not None:
        scales = _in_order(scales, len(matrix), -(-matrix.shape[1] // rules.columns), name)
    elif scales.size == 1:
        scales = scales.reshape(())
    elif recipe.promote:
        block = (1 if scales.shape[0] == len(matrix) else 128), rules.columns
    return Quantised(matrix, fmt, scales, block, None, 0, 0)


def _format(matrix: Array, name: str) -> Any:
    """Return the format of a matrix's dtype. Raises :class:`.TcsmtError`."""
    fmt = format_of(matrix.dtype)
    if fmt is None or fmt.width > 8:
        raise TcsmtError(f"{name} has dtype {matrix.dtype}: _scaled_mm takes FP8, or pairs of FP4")
    return fmt


def _in_order(scales: Array, rows: int, columns: int, name: str) -> Array:
    """Block scales as a matrix (rows, blocks), from tiles of 128 x 4 in the order in which cuBLAS reads them.

    A tile's row 32 i + j is at j, and its four scales are the i-th (cuBLAS, 1D block scaling factors layout).
    """
    down, across = -(-rows // _TILE[0]), -(-columns // _TILE[1])
    if scales.size != down * across * _TILE[0] * _TILE[1]:
        raise TcsmtError(
            f"the scales of {name} have {scales.size} elements: for {rows} rows of {columns} blocks it must "
            f"be {down * across * _TILE[0] * _TILE[1]}, in tiles of 128 x 4"
        )
    tiles = scales.reshape(down, across, _WITHIN[1], _WITHIN[0], _TILE[1]).transpose(0, 3, 2, 1, 4)
    return tiles.reshape(down * _TILE[0], across * _TILE[1])[:rows, :columns]
