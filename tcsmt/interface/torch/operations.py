"""PyTorch's operations that are products of matrices: what each one multiplies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tcsmt.interface.torch.products import EmulatedProducts, Unsupported
from tcsmt.interface.torch.scaled import scaled_mm
from tcsmt.programs.quantisation.recipe import OperandRecipe

#: What an operation does: with the emulated products, and its arguments.
Operation = Callable[..., Any]
#: Operations that multiply and add, and are left to PyTorch: parts of their names.
HOLD_PRODUCTS = (
    "mv",
    "dot",
    "vdot",
    "addr",
    "addbmm",
    "ger",
    "int_mm",
    "lstm",
    "gru",
    "rnn",
    "cdist",
    "attention",
    "convolution",
    "mm",
    "linear",
    "bilinear",
    "cholesky",
    "linalg",
    "solve",
    "svd",
    "encoder_layer",
    "fft",
)


def _recipe(products: EmulatedProducts, a: Any, b: Any) -> OperandRecipe:
    recipe = products.recipe_for(a, b)
    if recipe is None:
        dtypes = " x ".join(dict.fromkeys(str(x.dtype).removeprefix("torch.") for x in (a, b)))
        hint = "name a recipe" if products.recipe is None else "no recipe for this dtype"
        raise Unsupported(f"{dtypes}: {hint}")
    return recipe


def _product(operation: str) -> Operation:
    """A product of two matrices, or of two stacks of them."""

    def product(products: EmulatedProducts, a: Any, b: Any, out_dtype: Any = None) -> Any:
        recipe = _recipe(products, a, b)
        products.admit((a, b))
        return products.multiply(operation, a, b, recipe, out=out_dtype)

    return product


def _added_product(operation: str) -> Operation:
    """Return the same times alpha, added to beta times c."""

    def product(
        products: EmulatedProducts,
        c: Any,
        a: Any,
        b: Any,
        out_dtype: Any = None,
        *,
        beta: Any = 1,
        alpha: Any = 1,
    ) -> Any:
        recipe = _recipe(products, a, b)
        products.admit((a, b))
        return products.multiply(operation, a, b, recipe, c=c, alpha=alpha, beta=beta, out=out_dtype)

    return product


def _convolution(
    products: EmulatedProducts,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """Return the weights times the columns of the unfolded input, in PyTorch's order: channel, row,
    column.
    """
    shape = _Unfolded.of(x, weight, stride, padding, dilation, transposed, groups)
    recipe = _recipe(products, x, weight)
    weights, columns = shape.weights(weight), shape.columns(x)
    products.admit((weights, columns))
    addend = None if bias is None else bias.reshape(groups, -1, 1)
    place = products.layers.place(weight, x)
    result = products.multiply("conv2d", weights, columns, recipe, c=addend, place=place)
    return result.reshape(x.shape[0], weight.shape[0], *shape.size(x, weight))


def _convolution_backward(
    products: EmulatedProducts,
    gradient: Any,
    x: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    mask: Any,
) -> tuple[Any, Any, Any]:
    """Of the input: weights transposed times the gradient, folded; of the weights: one product along all."""
    shape = _Unfolded.of(x, weight, stride, padding, dilation, transposed, groups)
    recipe = _recipe(products, gradient, weight)
    batch = x.shape[0]
    flat = gradient.reshape(batch, groups, weight.shape[0] // groups, -1)
    to_input = shape.weights(weight).transpose(-1, -2), flat
    to_weight = flat.permute(1, 2, 0, 3).flatten(-2), shape.columns(x).permute(1, 0, 3, 2).flatten(1, 2)
    products.admit(*(pair for pair, wanted in zip((to_input, to_weight), mask, strict=False) if wanted))
    of_input = of_weight = of_bias = None
    if mask[0]:
        place = products.layers.place(weight, gradient, 1)
        columns = products.multiply("conv2d", *to_input, recipe, place=place)
        of_input = torch.nn.functional.fold(
            columns.reshape(batch, -1, columns.shape[-1]),
            x.shape[2:],
            shape.kernel,
            shape.dilation,
            shape.padding,
            shape.stride,
        )
    if mask[1]:
        place = products.layers.place(gradient, x, 0)
        of_weight = products.multiply("conv2d", *to_weight, recipe, place=place).reshape(weight.shape)
    if mask[2]:
        of_bias = gradient.sum((0, 2, 3))
    return of_input, of_weight, of_bias


@dataclass(frozen=True)
class _Unfolded:
    """A convolution as products of matrices."""

    groups: int
    kernel: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]

    @classmethod
    def of(
        cls, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, groups: int
    ) -> _Unfolded:
        """Return the layout of a convolution of two dimensions. Raises :class:`Unsupported` for others."""
        if transposed:
            raise Unsupported("a transposed convolution")
        if x.dim() != 4:
            raise Unsupported(f"a convolution of {x.dim() - 2} dimensions")
        if not x.numel() or not weight.numel():
            raise Unsupported("an empty convolution")
        # a number may be given once for both dimensions
        numbers = [list(values) * (2 // len(values)) for values in (stride, padding, dilation)]
        return cls(groups, list(weight.shape[2:]), *numbers)

    def columns(self, x: Any) -> Any:
        """(batch, groups, channels of a group · kernel, places)."""
        unfolded = torch.nn.functional.unfold(
            x.detach(), self.kernel, self.dilation, self.padding, self.stride
        )
        return unfolded.reshape(x.shape[0], self.groups, -1, unfolded.shape[-1])

    def weights(self, weight: Any) -> Any:
        """(groups, results of a group, channels of a group · kernel)."""
        return weight.detach().reshape(self.groups, weight.shape[0] // self.groups, -1)

    def size(self, x: Any, weight: Any) -> list[int]:
        """Places along each dimension of the result."""
        numbers = zip(x.shape[2:], self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return [
            (size + 2 * pad - gap * (kernel - 1) - 1) // step + 1 for size, kernel, step, pad, gap in numbers
        ]


def _grouped_mm(
    products: EmulatedProducts, a: Any, b: Any, offsets: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Products side by side: groups of A's rows, of B's columns, or of K, that end at the offsets."""
    if bias is not None:
        raise Unsupported("a bias")
    recipe = _recipe(products, a, b)
    ends = None if offsets is None else offsets.tolist()
    groups = [] if ends is None else [slice(*pair) for pair in zip([0, *ends], ends, strict=False)]
    if ends is None:
        pairs = [(a, b)]
    elif a.dim() == b.dim() == 2:
        pairs = [(a[:, group], b[group]) for group in groups]
    elif a.dim() == 2:
        pairs = [(a[group], b[number]) for number, group in enumerate(groups)]
    else:
        pairs = [(a[number], b[:, group]) for number, group in enumerate(groups)]
    products.admit(*pairs)
    place = products.layers.place(a, b, grouped=True)  # of parts of A and B, autograd knows nothing
    parts = [products.multiply("grouped_mm", *pair, recipe, out=out_dtype, place=place) for pair in pairs]
    if ends is None:
        return parts[0]
    if a.dim() == b.dim() == 2:
        return torch.stack(parts)
    result = torch.zeros((a.shape[-2], b.shape[-1]), dtype=out_dtype or a.dtype)
    for group, part in zip(groups, parts, strict=True):
        result[group if a.dim() == 2 else (slice(None), group)] = part
    return result


#: By the names of ``torch.ops.aten``.
OPERATIONS: dict[str, Operation] = {
    "mm": _product("mm"),
    "bmm": _product("bmm"),
    "addmm": _added_product("addmm"),
    "baddbmm": _added_product("baddbmm"),
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "_grouped_mm": _grouped_mm,
    "_scaled_mm": scaled_mm,
}
