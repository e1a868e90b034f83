"""A part of a PyTorch program in which a matrix unit computes the products."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import ExitStack
from typing import Any, Literal, Self

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from tcsmt.interface.api.units import UnitLike
from tcsmt.interface.torch.operations import HOLD_PRODUCTS, OPERATIONS
from tcsmt.interface.torch.products import EmulatedProducts, Unsupported
from tcsmt.interface.torch.report import EmulationReport
from tcsmt.programs.kernels.reduction import CHAINED, Reduction, reduction_named
from tcsmt.programs.quantisation.recipe import OperandRecipe, recipe_named
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import IeeeFloats, ieee_floats

#: Operations that compute nothing, besides views: parts of their names.
_NO_ARITHMETIC = (
    "view",
    "clone",
    "detach",
    "copy",
    "empty",
    "zeros",
    "ones",
    "full",
    "fill",
    "zero_",
    "alias",
    "arange",
    "rand",
    "uniform",
    "normal",
    "bernoulli",
    "scalar_tensor",
    "local_scalar",
    "cat",
    "stack",
    "select",
    "slice",
    "index",
    "as_strided",
    "pad",
    "lift",
)


@ieee_floats
def emulate(
    unit: UnitLike,
    recipe: OperandRecipe | str | None = None,
    *,
    reduction: Reduction | str = CHAINED,
    rows: int | None = 64,
    operands: str | None = None,
    vectors: Literal["unit", "pytorch", "error"] | None = None,
) -> TorchEmulation:
    """Matrix products as a GPU's, or another unit's, instruction and kernel compute them, bit for bit.

    >>> import torch, tcsmt.torch
    >>> net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
    >>> with tcsmt.torch.emulate("h100", "fp8-tensor") as emulation:
    ...     net(torch.ones(4, 64)).sum().backward()
    >>> print(emulation.report)                                         # doctest: +SKIP

    A context, in which ``mm``, ``addmm``, ``bmm``, ``baddbmm``, and what PyTorch makes of these (``matmul``,
    ``linear``, ``einsum``), ``_scaled_mm``, ``_grouped_mm``, ``conv2d`` (the products of its unfolded form)
    and ``scaled_dot_product_attention`` (its two products, and PyTorch's own softmax: the exponential is not
    modelled) are computed by the unit: in forward and backward passes alike, on tensors of the CPU of any
    shape and strides. Results have the dtype that PyTorch would give them.

    unit: as in :func:`tcsmt.gemm`; without an instruction, the most used one that takes the operands. recipe:
    how operands become the unit's formats: one of :data:`tcsmt.torch.RECIPES`, or its name. None: BF16 and
    FP16 tensors as they are; products of others are left to PyTorch. reduction: as in :func:`tcsmt.gemm`.
    rows: of each product, so many of whose errors are measured for the report (None: all, 0: none).
    operands: how tensors' numbers become the unit's, as in :func:`tcsmt.gemm`: ``"truncate"``,
    ``"nearest-even"`` or ``"nearest-away"``, with a recipe that has no scales, or without one. Then FP32
    tensors are products of the instruction whose operands have FP32's range, or of the one that is named.
    vectors: products of one row or column, for which GPU libraries have kernels of their own, which are not
    modelled: ``"unit"``: the unit computes them as others; ``"pytorch"``: PyTorch does; ``"error"``: they are
    an error. None: as ``"unit"``, and a warning says so at the end.

    What is not emulated runs as PyTorch does, and the report lists it; where products are among it, a warning
    says so at the end. Raises :class:`tcsmt.TcsmtError` for a unit without an instruction for the recipe, and
    for products of tensors on another device.
    """
    return TorchEmulation(
        EmulatedProducts(
            unit,
            recipe_named(recipe) if isinstance(recipe, str) else recipe,
            reduction_named(reduction) if isinstance(reduction, str) else reduction,
            rows,
            operands,
            vectors,
        )
    )


class TorchEmulation:
    """The result of :func:`emulate`: a context, and its report."""

    def __init__(self, products: EmulatedProducts) -> None:
        self._products = products
        self._others: Counter[tuple[str, str]] = Counter()
        self._contexts: ExitStack | None = None
        self._mode = _Mode(self)

    def __enter__(self) -> Self:
        if self._contexts is not None:
            raise TcsmtError("this emulation is running already")
        with ExitStack() as contexts:
            fast = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)  # whose products are inside one operation
            contexts.callback(torch.backends.mha.set_fastpath_enabled, fast)
            contexts.enter_context(sdpa_kernel(SDPBackend.MATH))
            if self._products.recipe is None:  # else attention of BF16 and FP16 multiplies in FP32
                settings = torch.backends.cuda
                narrow = settings.fp16_bf16_reduction_math_sdp_allowed()
                settings.allow_fp16_bf16_reduction_math_sdp(True)
                contexts.callback(settings.allow_fp16_bf16_reduction_math_sdp, narrow)
            self._products.layers.follow()
            contexts.callback(self._products.layers.end)
            contexts.enter_context(self._mode)
            self._contexts = contexts.pop_all()
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if self._contexts is not None:
            self._contexts.close()
            self._contexts = None
        lone = ", ".join(f"{name} x {count}" for name, count in self._products.lone.items())
        if lone and self._products.vectors is None and kind is None:
            warnings.warn(
                f"products of one row or column ({lone}) were computed as others; GPU libraries have kernels "
                'of their own for them, which are not modelled: vectors="unit" says that this is meant; or '
                'vectors="pytorch", vectors="error"',
                stacklevel=2,
            )
        skipped = self.report.skipped_products
        if skipped and kind is None:
            told = ", ".join(f"{name} ({why}) x {count}" for (name, why), count in skipped.items())
            warnings.warn(f"products that were not emulated ran as PyTorch does: {told}", stacklevel=2)

    @property
    def report(self) -> EmulationReport:
        """Return what was computed so far, and what it lost."""
        products = self._products
        return EmulationReport(
            unit=str(products.unit),
            recipe=products.recipe,
            reduction=products.reduction,
            instructions=tuple(products.instructions),
            losses=dict(products.losses),
            others=dict(self._others),
            operands=products.operands,
            lone=dict(products.lone),
        )

    def call(self, operation: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """One operation below autograd."""
        self._products.layers.begin()
        result = self._computed(operation, arguments, named)
        self._products.layers.computed((arguments, named), result)
        return result

    def _computed(self, operation: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        name, _, overload = str(operation).removeprefix("aten.").partition(".")
        rule = OPERATIONS.get(name.removesuffix("_"))
        why = ""
        if rule is not None:
            target = (
                named.pop("out", None)
                if overload.endswith("out")
                else arguments[0]
                if name.endswith("_")
                else None
            )
            try:
                with IeeeFloats():
                    result = rule(self._products, *arguments, **named)
            except Unsupported as reason:
                why = str(reason)
                if overload.endswith("out"):
                    named["out"] = target
            else:
                return result if target is None else _stored(target, result)
        elif hasattr(operation, "decompose"):
            with self._mode:
                result = operation.decompose(*arguments, **named)
            if result is not NotImplemented:
                return result
        self._note(operation, name, why)
        return operation(*arguments, **named)

    def _note(self, operation: Any, name: str, why: str) -> None:
        """An operation that PyTorch computes itself."""
        if getattr(operation, "is_view", False) or any(part in name for part in _NO_ARITHMETIC):
            return
        if not why and any(part in name.strip("_").split("_") or part in name for part in HOLD_PRODUCTS):
            why = "not one of the emulated operations"
        self._others[name, why] += 1


class _Mode(TorchDispatchMode):
    """Hands each operation to an emulation."""

    def __init__(self, emulation: TorchEmulation) -> None:
        super().__init__()
        self.emulation = emulation

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.emulation.call(func, args, dict(kwargs or {}))


def _stored(target: Any, result: Any) -> Any:
    if target.shape != result.shape:
        target.resize_(result.shape)
    return target.copy_(result)
