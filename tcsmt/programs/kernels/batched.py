"""Stacks of matrix products, as NumPy's ``matmul`` takes them, each by one kernel."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import dtype_of, operand_words, to_words
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.simulate.compiled import kernel
from tcsmt.simulate.rows import WORTH_COMPILING
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]

#: Dimensions of one product's array of each name; the others are those of the stack.
_OWN = {"a": 2, "b": 2, "c": 2, "bias": 1, "alpha": 1, "random": 2, "scale_a": 2, "scale_b": 2}


def batched(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    model: Model,
    reduction: Reduction = CHAINED,
    epilogue: Epilogue = PLAIN,
    bias: Any = None,
    random: Any = None,
    alpha: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    operands: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """D of every product of a stack: an array (..., M, N) of the dtype of the result's format.

    a: (..., M, K). b: (..., K, N). c: (..., M, N), or None. bias: (..., N). alpha: (..., M), or None. The
    rest is as for :func:`.gemm`, with the dimensions of the stack before; these broadcast. operands: how
    a, b, c and the bias are rounded that their formats do not hold (:data:`.OPERAND_RULES`).
    progress(done, all): called now and then, with numbers of dot-adds.
    Raises :class:`.TcsmtError` for shapes, dtypes and values that do not fit.
    """
    schedule = Schedule(model, reduction, epilogue)
    arrays: dict[str, Any] = {
        "a": operand_words(model.a_format, a, "A", operands),
        "b": operand_words(model.b_format, b, "B", operands),
        "c": c if c is None or epilogue.beta == 0 else operand_words(model.c_format, c, "C", operands),
        "bias": bias,
        "random": random,
        "alpha": alpha,
        "scale_a": scale_a,
        "scale_b": scale_b,
    }
    if bias is not None and isinstance(schedule.sum_format, Format):
        arrays["bias"] = operand_words(schedule.working_format, bias, "bias", operands)
    if model.scale_format is not None:
        for name in ("scale_a", "scale_b"):
            if arrays[name] is not None:
                arrays[name] = to_words(model.scale_format, arrays[name], name)
    arrays = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    stack = stack_of(**arrays)

    def product(place: tuple[int, ...], report: Callable[[int, int], None] | None) -> Array:
        matrices = {name: array[place] for name, array in arrays.items()}
        return gemm(**matrices, model=model, reduction=reduction, epilogue=epilogue, progress=report)

    if not stack:
        return product((), progress)
    for name, array in arrays.items():
        arrays[name] = np.broadcast_to(array, (*stack, *array.shape[array.ndim - _OWN[name] :]))
    shape = (*stack, arrays["a"].shape[-2], arrays["b"].shape[-1])
    if jit.available() and prod(shape) * -(-arrays["a"].shape[-1] // model.k) >= WORTH_COMPILING:
        kernel(model)  # worth it for all of the stack, though for none of its products
    result = np.empty(shape, dtype_of(schedule.d_format))
    count = prod(stack)
    for number, place in enumerate(np.ndindex(*stack)):
        result[place] = product(place, _after(progress, number, count))
    return result


def stack_of(**operands: Array | None) -> tuple[int, ...]:
    """Return the dimensions of the stack of some arguments of :func:`batched`; none of a single product.

    given: arrays of shapes (..., M, K) and so on, or None. Raises :class:`.TcsmtError` where their leading
    dimensions do not broadcast.
    """
    arrays = {name: array for name, array in operands.items() if array is not None}
    stacks = {name: array.shape[: max(0, array.ndim - _OWN[name])] for name, array in arrays.items()}
    told = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    try:
        shape = np.broadcast_shapes(*stacks.values())
    except ValueError:
        raise TcsmtError(f"the leading dimensions of stacks do not broadcast: {told}") from None
    if 0 in shape:
        raise TcsmtError(f"a stack must have at least one product: {told}")
    if shape and any(array.ndim < _OWN[name] for name, array in arrays.items()):
        raise TcsmtError(f"in a stack, a, b and c are matrices, and a bias is a vector: {told}")
    return shape


def _after(
    progress: Callable[[int, int], None] | None, number: int, count: int
) -> Callable[[int, int], None] | None:
    """Return what is told of the progress of one product of many, all alike."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, count * total)
