"""Matrices in a recipe's narrow numbers: ``tcsmt.quantise``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from tcsmt.interface.api.arrays import as_numpy
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.files.arrays import stored_form
from tcsmt.programs.quantisation.quantise import Quantised
from tcsmt.programs.quantisation.quantise import quantise as on_arrays
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


@dataclass(frozen=True, repr=False)
class QuantisedMatrix(Result):
    """A matrix in narrow numbers: each is its value, times its block's scale, times the whole factor.

    recipe, role: by which. side: which operand it is. format: of the elements. values: of the shape that
    was given, and of the format's dtype. scales: (..., M, blocks along K) of A, (..., blocks along K, N) of
    B, () of one for all, of their format's dtype; None: there are none. whole: a binary32 factor of all
    numbers; None: there is none. saturated, flushed: how many numbers were beyond the format's end, and how
    many became zero. error: the norm of what rounding changed over that of the matrix; of finite numbers.
    """

    recipe: OperandRecipe
    role: Role
    side: Side
    format: Format
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
        return "" if self.recipe.scales is None else self.recipe.scales.format

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
) -> QuantisedMatrix:
    """A matrix by a recipe's rules, as libraries quantise: its numbers in the format, and their scales.

    For PyTorch's own types of tensors: :func:`tcsmt.torch.quantise`.

    Args:
        matrix: (..., M, K) as A, (..., K, N) as B, or (K,), of float32 or narrower: an array of NumPy,
            PyTorch or others.
        recipe: One of ``bf16``, ``fp16``, ``tf32``, ``fp8-tensor``, ``fp8-row``, ``fp8-block``,
            ``fp8-block-torchao``, ``mxfp8``, ``mxfp8-up``, ``mxfp4``, ``nvfp4``, or an object as
            :data:`tcsmt.torch.RECIPES` has them.
        role: Role of the matrix: in fp8-block, a weight has blocks of 128 x 128; in fp8-tensor, a gradient is
            E5M2.
        format: Another format of the recipe, such as e4m3fnuz.
        side: a: (M, K); b: (K, N). Blocks lie along K.

    Raises :class:`tcsmt.TcsmtError` for what does not fit.

    >>> import numpy as np, tcsmt
    >>> quantised = tcsmt.quantise(np.arange(64, dtype=np.float32).reshape(2, 32), "mxfp8")
    >>> quantised.values.dtype.name, quantised.scales.astype(float).tolist()
    ('float8_e4m3fn', [[0.0625], [0.125]])
    """
    rules = recipe_named(recipe) if isinstance(recipe, str) else recipe
    choose("role", role, ROLES)
    choose("side", side, SIDES)
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
        _error(quantised, along),
    )


def _error(quantised: Quantised, matrix: Array) -> float:
    numbers = quantised.numbers().reshape(matrix.shape)
    exact = matrix.astype(np.float64)
    fine = np.isfinite(exact) & np.isfinite(numbers)
    size = float(np.linalg.norm(exact[fine]))
    return float(np.linalg.norm((numbers - exact)[fine])) / size if size else 0.0
