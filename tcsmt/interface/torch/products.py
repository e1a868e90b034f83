"""One product of two tensors on a unit, by a recipe."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from tcsmt.interface.api.matching import rows_for_operands
from tcsmt.interface.api.units import UnitLike
from tcsmt.interface.torch.layers import Layers, ProductPlace
from tcsmt.interface.torch.losses import ProductLosses, sampled
from tcsmt.interface.torch.tensors import FORMAT_OF, array_of, tensor_of
from tcsmt.matrix_units.arithmetic.conversion import operand_rule
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.names import is_kernel
from tcsmt.programs.quantisation.narrow import wide
from tcsmt.programs.quantisation.operands import scale_fault
from tcsmt.programs.quantisation.product import ScaledSum, finished, scaled_sum
from tcsmt.programs.quantisation.quantise import Quantised, quantise
from tcsmt.programs.quantisation.recipe import RECIPES, OperandRecipe
from tcsmt.support.errors import TcsmtError, choose

Array = np.ndarray[Any, np.dtype[Any]]

#: The recipe of tensors that are to be taken in their own format.
OWN = {torch.bfloat16: RECIPES["bf16"], torch.float16: RECIPES["fp16"]}
#: What is done with products of one row or column, for which libraries have kernels of their own.
VECTORS = ("unit", "pytorch", "error")
#: Bits of the widest formats of operands and results.
_WIDEST = 32


class Unsupported(Exception):
    """The operation runs as PyTorch does; why."""


@dataclass
class EmulatedProducts:
    """The computation of products, and what they lost so far.

    unit: a name without an instruction stands for the most used one that takes the operands. recipe: None:
    each tensor's own format. reduction: of the unit's chains. rows: of each product whose errors are
    measured; None: all; 0: none. operands: the rule by which operands are rounded; None: the recipe's.
    vectors: one of :data:`VECTORS`; None: the first, unasked. lone: products of one row or column that the
    unit computed, by operation.
    """

    unit: UnitLike
    recipe: OperandRecipe | None
    reduction: Reduction = CHAINED
    rows: int | None = 64
    operands: str | None = None
    vectors: str | None = None
    lone: Counter[str] = field(default_factory=Counter)
    layers: Layers = field(default_factory=Layers)
    losses: dict[tuple[str, str, str], ProductLosses] = field(default_factory=dict)
    instructions: dict[str, None] = field(default_factory=dict)
    _rows: dict[tuple[str, str, str], Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.unit, str) and is_kernel(self.unit):
            raise TcsmtError(f"{self.unit} is a kernel: give its unit, and reduction=")
        operand_rule(self.operands)
        if self.vectors is not None:
            choose("vectors", self.vectors, VECTORS)
        if self.recipe is not None and self.operands is not None:
            self.recipe = _rounded(self.recipe, self.operands)
        if self.recipe is not None:
            self.instruction(self.recipe, *(self.recipe.formats_of("activation")[0],) * 2)

    def recipe_for(self, a: Any, b: Any) -> OperandRecipe | None:
        """By which two tensors are multiplied; None: there is none for their dtypes."""
        if self.recipe is None and self.operands is None:
            return OWN.get(a.dtype) if a.dtype == b.dtype else None
        allowed = FORMAT_OF.get(a.dtype), FORMAT_OF.get(b.dtype)
        if not all(fmt is not None and fmt.width > 8 for fmt in allowed):
            return None
        return self.recipe or OperandRecipe(
            name="operands", title="", source="", formats=(), rounding=self.operands
        )

    def admit(self, *pairs: tuple[Any, Any]) -> None:
        """Refuse an operation that multiplies these pairs, A and B, where one has one row or column.

        Raises :class:`Unsupported` where PyTorch is to compute such products, :class:`.TcsmtError` where they
        are an error.
        """
        if self.vectors in (None, "unit"):
            return
        for a, b in pairs:
            m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
            if 1 in (m, n) and 0 not in (m, k, n):
                if self.vectors == "pytorch":
                    raise Unsupported("one row or column")
                raise TcsmtError(
                    f"a product of {m} x {k} and {k} x {n}: libraries have kernels of their own for one row "
                    'or column, which are not modelled: vectors="unit" computes it as others, '
                    'vectors="pytorch" leaves it to PyTorch'
                )

    def instruction(self, recipe: OperandRecipe, a: str, b: str) -> Row:
        """Return the unit's instruction for a recipe, and operands of formats by these first names.

        Raises :class:`.TcsmtError` where it has none.
        """
        key = recipe.name, a, b
        if key not in self._rows:
            self._rows[key] = self._chosen(recipe, a, b)
        return self._rows[key]

    def _taking_values(self, recipe: OperandRecipe, a: str, b: str) -> Row:
        """Return the instruction for operands that are rounded, as :func:`tcsmt.gemm` chooses it by their
        dtypes.
        """
        formats = {"a": FORMATS[a], "b": FORMATS[b]}
        row = rows_for_operands(
            self.unit, formats, values=True, operands=recipe.rounding, result=FORMATS["f32"]
        )[0]
        model = row.model
        used = model.a_format, model.b_format, model.d_format
        known = all(dtype_of(fmt).kind not in "iu" and fmt.width <= _WIDEST for fmt in used)
        if not known or model.scale_format is not None:
            raise TcsmtError(
                f"{row.name}: operands of tensors are rounded to floating-point formats of PyTorch or TF32, "
                f"without block scales: it takes {model.a_format.name} x {model.b_format.name}"
            )
        return row

    def _chosen(self, recipe: OperandRecipe, a: str, b: str) -> Row:
        if not recipe.formats:
            return self._taking_values(recipe, a, b)
        variants = [(a, b), (f"{a}fnuz", f"{b}fnuz")] if f"{a}fnuz" in FORMATS else [(a, b)]
        refused = ""
        for pair in variants:
            formats = {"a": FORMATS[pair[0]], "b": FORMATS[pair[1]]}
            try:
                rows = rows_for_operands(
                    self.unit, formats, scaled=recipe.block_scales is not None, result=FORMATS["f32"]
                )
            except TcsmtError as error:
                refused = refused or str(error)
                continue
            fitting = [row for row in rows if _fits(row, recipe, pair)]
            if fitting:
                return max(fitting, key=lambda row: row.model.k if recipe.block_scales else 0)
            names = ", ".join(row.name for row in rows[:3])
            refused = refused or f"{self.unit}: not for these formats and scales: {names}"
        wanted = f" with {recipe.block_scales} scales" if recipe.block_scales else ""
        raise TcsmtError(f"recipe {recipe.name} ({a} x {b}{wanted}): {refused}")

    def multiply(
        self,
        operation: str,
        a: Any,
        b: Any,
        recipe: OperandRecipe,
        *,
        c: Any = None,
        alpha: float = 1,
        beta: float = 1,
        out: Any = None,
        place: ProductPlace | None = None,
    ) -> Any:
        """alpha·A·B + beta·C as the unit computes it: a tensor (..., M, N) of the dtype ``out``.

        a: (..., M, K). b: (..., K, N). c: what broadcasts to the result. out: that of A. place: where A and B
        were made of other tensors, the place of these.
        Raises :class:`.TcsmtError` for tensors of another device, and where the recipe treats gradients or
        weights otherwise and it is not known which operand is one.
        """
        left, right = array_of(a, "A"), array_of(b, "B").swapaxes(-1, -2)
        place = place or self.layers.place(a, b)
        if place.unknown and recipe.depends_on_roles:
            raise TcsmtError(
                f"{operation} in the backward pass: it is not known which operand is a gradient "
                f"({place.unknown}), and recipe {recipe.name} treats gradients or weights otherwise: begin "
                "the emulation before the forward pass, or use a recipe that treats all operands alike"
            )
        if 0 in left.shape or 0 in right.shape:
            return self.nothing(a, b, c, beta, None, out or a.dtype)
        if recipe.formats:
            forms = recipe.formats_of(place.a)[0], recipe.formats_of(place.b)[0]
        else:
            forms = FORMAT_OF[a.dtype].name, FORMAT_OF[b.dtype].name
        row = self.instruction(recipe, *forms)
        formats = row.model.a_format.name, row.model.b_format.name
        quantised = quantise(left, recipe, place.a, formats[0]), quantise(right, recipe, place.b, formats[1])
        return self.finish(
            operation,
            place,
            row,
            recipe,
            (left, right),
            quantised,
            c=c,
            alpha=alpha,
            beta=beta,
            out=out or a.dtype,
        )

    def finish(
        self,
        operation: str,
        place: ProductPlace,
        row: Row,
        recipe: OperandRecipe,
        given: tuple[Array, Array],
        quantised: tuple[Quantised, Quantised],
        *,
        out: Any,
        reduction: Reduction | None = None,
        c: Any = None,
        alpha: float = 1,
        beta: float = 1,
        bias: Any = None,
        scale: Any = None,
    ) -> Any:
        """Return the same of operands that are quantised. given: what they were, A and B transposed.

        scale: binary32, multiplies results in FP8 before they are converted.
        """
        self.instructions[row.name] = None
        if 1 in (given[0].shape[-2], given[1].shape[-2]):
            self.lone[operation] += 1
        total = scaled_sum(row.model, recipe, *quantised, reduction or self.reduction, row.nans_outside)
        addend, last = (
            None if x is None else array_of(x, name) for x, name in ((c, "C"), (bias, "the bias"))
        )
        addend, last = (None if x is None else x.astype(np.float32) for x in (addend, last))
        result = finished(
            total,
            FORMAT_OF[out],
            alpha=float(alpha),
            beta=float(beta),
            c=addend,
            bias=last,
            scale=scale,
            nans=row.nans_outside,
        )
        losses = self.losses.setdefault((place.layer, place.run, operation), ProductLosses())
        shape = "x".join(map(str, (*total.values.shape[:-1], given[0].shape[-1], total.values.shape[-1])))
        losses.count(*quantised, shape)
        if self.rows != 0:
            added = np.zeros(()) if addend is None or beta == 0 else float(beta) * addend.astype(np.float64)
            if last is not None:
                added = added + last
            self._measure(losses, given, quantised, total, result, float(alpha), added)
        return tensor_of(result)

    def _measure(
        self,
        losses: ProductLosses,
        given: tuple[Array, Array],
        quantised: tuple[Quantised, Quantised],
        total: ScaledSum,
        result: Array,
        alpha: float,
        added: Array,
    ) -> None:
        stack, (m, n) = total.values.shape[:-2], total.values.shape[-2:]
        items, rows = sampled(stack, m, self.rows)

        def some(array: Array, axes: int, *, all_rows: bool = False) -> Array:
            every = np.broadcast_to(array, (*stack, *array.shape[array.ndim - axes :]))
            flat = every.reshape(-1, *every.shape[len(stack) :])[items]
            sample: Array = flat if all_rows else flat[:, rows]
            return sample

        a, b = quantised
        numbers = _numbers(a, items, rows, stack), _numbers(b, items, slice(None), stack)
        addends = np.broadcast_to(added, (*stack, m, n)) if added.ndim else added
        losses.measure(
            (some(given[0], 2).astype(np.float64), some(given[1], 2, all_rows=True).astype(np.float64)),
            numbers,
            some(total.values, 2).astype(np.float64) * (1.0 if total.factor is None else float(total.factor)),
            some(result, 2).astype(np.float64),
            alpha,
            some(addends, 2) if added.ndim else 0.0,
        )

    @staticmethod
    def nothing(a: Any, b: Any, c: Any, beta: float, bias: Any, out: Any) -> Any:
        """Sums of no products."""
        stack = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        result = torch.zeros((*stack, a.shape[-2], b.shape[-1]), dtype=torch.float32)
        if c is not None and beta != 0:
            result = result + beta * c.detach().float()
        if bias is not None:
            result = result + bias.detach().float()
        return result.to(out)


def _numbers(matrix: Quantised, items: Any, rows: Any, stack: tuple[int, ...]) -> Array:
    """Some of the numbers of a stack of matrices."""
    values = np.broadcast_to(matrix.values, (*stack, *matrix.values.shape[-2:]))
    scales = matrix.scales_of_numbers()
    flat = wide(values.reshape(-1, *values.shape[-2:])[items][:, rows])
    if matrix.scales is not None:
        scales = np.broadcast_to(scales, (*stack, *(scales.shape[-2:] if scales.ndim else (1, 1))))
        chosen = scales.reshape(-1, *scales.shape[-2:])[items]
        flat *= (chosen if chosen.shape[-2] == 1 else chosen[:, rows]).astype(np.float64)
    return flat if matrix.whole is None else flat * np.float64(matrix.whole)


def _rounded(recipe: OperandRecipe, operands: str) -> OperandRecipe:
    """A recipe without scales, with another rule for operands. Raises :class:`.TcsmtError` for others."""
    if recipe.scales is not None:
        plain = ", ".join(name for name, other in RECIPES.items() if other.scales is None)
        raise TcsmtError(
            f"recipe {recipe.name} has a rule for its operands: operands={operands!r} goes with {plain}, or "
            "with no recipe"
        )
    title = f"{recipe.formats[0].upper()}, {operands}"
    return replace(recipe, title=title, source="operands=", rounding=operands)


def _fits(row: Row, recipe: OperandRecipe, pair: tuple[str, str]) -> bool:
    model = row.model
    return (model.a_format.name, model.b_format.name) == pair and not scale_fault(recipe, model)
