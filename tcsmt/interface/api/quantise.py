"""Matrices in a recipe's narrow numbers: ``tcsmt.quantise``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from tcsmt.interface.api.arrays import as_numpy
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import dtype_of
from tcsmt.matrix_units.files.arrays import stored_form
from tcsmt.programs.quantisation.blocks import quantise_matrix
from tcsmt.programs.quantisation.quantise import quantise as on_arrays
from tcsmt.programs.quantisation.quantiser import Quantiser, quantiser_named
from tcsmt.programs.quantisation.recipe import RECIPES, OperandRecipe, Role, recipe_named
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result

__all__ = ["RECIPES", "ROLES", "SIDES", "QuantisedMatrix", "Role", "Side", "quantise"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Which operand of A·B a matrix is: K is the last dimension of A, and the one before of B.
Side: TypeAlias = Literal["a", "b"]
SIDES: tuple[Side, ...] = get_args(Side)
ROLES: tuple[Role, ...] = get_args(Role)
_SCALES = ("f32", "bf16", "f16", "ue8m0", "ue4m3")


@dataclass(frozen=True, repr=False)
class QuantisedMatrix(Result):
    """A matrix in narrow numbers: each is its value, times its block's scale, times the whole factor.

    recipe, role: by which, or the quantiser. side: which operand it is. format: of the elements. values: of
    the shape that was given, and of the format's dtype. scales: (..., M, blocks along K) of A, (..., blocks
    along K, N) of B, () of one for all, of their format's dtype; None: there are none. whole: a binary32
    factor of all numbers; None: there is none. saturated, flushed: how many numbers were beyond the
    format's end, and how many became zero. error: the norm of what rounding changed over that of the
    matrix; of finite numbers.
    """

    recipe: OperandRecipe | Quantiser
    role: Role
    side: Side
    format: AnyFormat
    values: Array
    scales: Array | None
    whole: np.float32 | None
    saturated: int
    flushed: int
    error: float

    def save(self, values: Path, scales: Path | None = None) -> None:
        """Write .npy files. Raises :class:`tcsmt.TcsmtError` where there are scales and no file for them."""
        if self.scales is not None and scales is None:
            raise TcsmtError(f"recipe {self.recipe.name} has scales: name a file for them, too (--scales)")
        if self.scales is None and scales is not None:
            raise TcsmtError(f"recipe {self.recipe.name} has no scales to be written to {scales}")
        for array, path in ((self.values, values), (self.scales, scales)):
            if array is None or path is None:
                continue
            if path.suffix != ".npy":
                raise TcsmtError(f"{path}: the name must end in .npy")
            try:
                np.save(path, stored_form(array))
            except OSError as error:
                raise TcsmtError(f"cannot write {path}: {error.strerror or error}") from None

    def _facts(self) -> dict[str, Any]:
        scales = self.scales
        return {
            "recipe": self.recipe.name, "source": self.recipe.source, "role": self.role, "side": self.side,
            "format": self.format.name, "shape": list(self.values.shape),
            "scales": None if scales is None else {"format": self._scale_format, "shape": list(scales.shape)},
            "whole": None if self.whole is None else float(self.whole),
            "saturated": self.saturated, "flushed": self.flushed, "error": self.error,
        }  # fmt: skip

    def _lines(self) -> Iterator[str]:
        size = " x ".join(map(str, self.values.shape))
        yield f"{self.recipe.name} ({self.recipe.title}), {self.role}: {size} in {self.format.name}"
        if self.scales is not None:
            many = " x ".join(map(str, self.scales.shape))
            one = f" {float(self.scales):.9g}" if not many else f"s {many}"
            yield f"scale{one} in {self._scale_format}"
        if self.whole is not None:
            yield f"factor of all numbers: {float(self.whole):.9g}"
        yield f"error {self.error:.2e} of the matrix's norm"
        yield f"{self.saturated} numbers saturated, {self.flushed} became zero, of {self.values.size}"

    @property
    def _scale_format(self) -> str:
        return next((name for name in _SCALES if self._of_format(name)), "")

    def _of_format(self, name: str) -> bool:
        return self.scales is not None and self.scales.dtype == dtype_of(FORMATS[name])

    @property
    def _title(self) -> str:
        return f"of {self.recipe.name}, {' x '.join(map(str, self.values.shape))}"


@ieee_floats
def quantise(
    matrix: Any,
    recipe: OperandRecipe | str,
    role: Role = "activation",
    *,
    format: str | None = None,  # noqa: A002
    side: Side = "a",
    nearest: bool = False,
) -> QuantisedMatrix:
    """A matrix by a recipe's rules, as libraries quantise: its numbers in the format, and their scales.

    For PyTorch's own types of tensors: :func:`tcsmt.torch.quantise`.

    Args:
        matrix: (..., M, K) as A, (..., K, N) as B, or (K,), of float32 or narrower: an array of NumPy,
            PyTorch or others.
        recipe: One of ``bf16``, ``fp16``, ``tf32``, ``fp8-tensor``, ``fp8-row``, ``fp8-block``,
            ``fp8-block-torchao``, ``mxfp8``, ``mxfp8-up``, ``mxfp4``, ``nvfp4``, or an object as
            :data:`tcsmt.torch.RECIPES` has them; or a quantiser of the catalogue, ``te/nvfp4``.
        role: Role of the matrix: in fp8-block, a weight has blocks of 128 x 128; in fp8-tensor, a gradient is
            E5M2.
        format: Another format of the recipe, such as e4m3fnuz.
        side: a: (M, K); b: (K, N). Blocks lie along K.
        nearest: Functions of a quantiser of which only approximations are known give the nearest number.

    Raises :class:`tcsmt.TcsmtError` for what does not fit.

    >>> import numpy as np, tcsmt
    >>> quantised = tcsmt.quantise(np.arange(64, dtype=np.float32).reshape(2, 32), "mxfp8")
    >>> quantised.values.dtype.name, quantised.scales.astype(float).tolist()
    ('float8_e4m3fn', [[0.0625], [0.125]])
    """
    choose("role", role, ROLES)
    choose("side", side, SIDES)
    if isinstance(recipe, str) and "/" in recipe:
        name = recipe if format is None else f"{recipe.partition(':')[0]}:{format}"
        return _by_row(quantiser_named(name), np.asarray(as_numpy(matrix, "the matrix")), role, side, nearest)
    rules = recipe_named(recipe) if isinstance(recipe, str) else recipe
    form = format or rules.formats_of(role)[0]
    choose(f"format of recipe {rules.name}", form, rules.formats_of(role))
    array = np.asarray(as_numpy(matrix, "the matrix"))
    if not array.ndim:
        raise TcsmtError("the matrix has shape (): it must have at least one dimension, that of K")

    def turned(one: Array) -> Array:
        return one.swapaxes(-1, -2) if side == "b" and one.ndim > 1 else one

    along = turned(array)
    quantised = on_arrays(along[None] if array.ndim == 1 else along, rules, role, form)
    values = quantised.values[0] if array.ndim == 1 else quantised.values
    scales = None if quantised.scales is None else turned(quantised.scales)
    return QuantisedMatrix(
        rules,
        role,
        side,
        quantised.format,
        np.ascontiguousarray(turned(values)),
        None if scales is None else np.ascontiguousarray(scales).reshape(scales.shape),
        quantised.whole,
        quantised.saturated,
        quantised.flushed,
        _error(quantised.numbers().reshape(along.shape), along),
    )


def _by_row(row: Quantiser, matrix: Array, role: Role, side: Side, nearest: bool) -> QuantisedMatrix:
    if matrix.ndim != 2 or matrix.dtype not in [dtype_of(FORMATS[name]) for name in ("f32", "bf16", "f16")]:
        told = f"{row.name}: shape {matrix.shape}, {matrix.dtype}"
        raise TcsmtError(f"{told}: a quantiser takes a matrix of float32, bfloat16 or float16")
    along = np.ascontiguousarray(matrix.T if side == "b" else matrix)
    found = quantise_matrix(row, along, nearest=nearest)
    with np.errstate(invalid="ignore"):
        size, most = np.abs(along.astype(np.float64)), float(row.element.largest_finite)
        codes = np.abs(found.values.astype(np.float64))
        half = 2.0 ** (math.floor(math.log2(most)) - _fraction_bits(row.element) - 1)
        saturated = (codes >= most) & (size > np.abs(found.numbers) * ((most + half) / most))
    turned = found.values.T if side == "b" else found.values
    scales = found.scales.T if side == "b" else found.scales
    return QuantisedMatrix(
        row, role, side, row.element, np.ascontiguousarray(turned), np.ascontiguousarray(scales), found.whole,
        int(np.count_nonzero(saturated)), int(np.count_nonzero((codes == 0) & (size > 0))),
        _error(found.numbers, along),
    )  # fmt: skip


def _fraction_bits(fmt: AnyFormat) -> int:
    """Return how many bits stand below the first one of the largest number."""
    return fmt.fraction_bits if isinstance(fmt, Format) else fmt.width - 2


def _error(numbers: Array, matrix: Array) -> float:
    exact = matrix.astype(np.float64).ravel()
    lost = numbers.ravel() - exact
    fine = np.isfinite(lost)
    if not fine.all():  # to choose from an array takes longer than all else here
        exact, lost = exact[fine], lost[fine]
    size = float(np.linalg.norm(exact))
    return float(np.linalg.norm(lost)) / size if size else 0.0
