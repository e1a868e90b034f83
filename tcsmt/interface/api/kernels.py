"""Matrix products by kernels: a unit, a reduction, an epilogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tcsmt.interface.api.arrays import as_numpy, library_of
from tcsmt.interface.api.matching import BlockScales, formats_of, rows_for_operands
from tcsmt.interface.api.units import UnitLike
from tcsmt.programs.kernels.batched import batched
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue, epilogue_named
from tcsmt.programs.kernels.reduction import CHAINED, Reduction, reduction_named
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats

#: The dimension of A and of B along which K runs.
_K = {"a": -1, "b": -2}


@ieee_floats
def reduction(text: str) -> Reduction:
    """Return the reduction of a text: ``chained``, or levels, outermost first, such as
    ``split-k:4/promote:128``.

    A level is ``split-k:PARTS``, ``sliced:PARTS``, ``promote:EVERY``, ``cuts:K1-K2-...`` or
    ``stream-k:WORKERS,tile=ROWSxCOLUMNSxPRODUCTS``, with options such as ``pairs`` or ``parts=bf16``
    (:class:`tcsmt.Reduction`). Raises :class:`tcsmt.TcsmtError`, which names what is allowed.

    >>> import tcsmt
    >>> tcsmt.reduction("sliced:2,step=16")
    Reduction('sliced:2,step=16')
    """
    return reduction_named(text)


@ieee_floats
def epilogue(text: str) -> Epilogue:
    """Return the epilogue of a text such as ``alpha=2,beta=0.5,bias,out=bf16`` (:class:`tcsmt.Epilogue`).

    Raises :class:`tcsmt.TcsmtError`, which names what is allowed.

    >>> import tcsmt
    >>> tcsmt.epilogue("out=e4m3,saturate").saturate
    True
    """
    return epilogue_named(text)


@ieee_floats
def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    unit: UnitLike,
    alpha: Any = None,
    beta: float | None = None,
    bias: Any = None,
    random: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    operands: str | None = None,
    reduction: Reduction | str = CHAINED,
    epilogue: Epilogue | str = PLAIN,
) -> Any:
    """``alpha·A·B + beta·C`` as a kernel would compute it on the unit, bit for bit.

    a: (..., M, K). b: (..., K, N). c: (..., M, N), or None: nothing is added then, and chains begin with
    +0. The leading dimensions are those of a stack of products, and broadcast, as in NumPy's ``matmul``.
    Dtypes and ``operands`` as for :class:`tcsmt.Unit`. What is returned has the dtype of the last
    conversion's format, or of the sum's. reduction: how K is cut into parts and their sums are added up,
    as data or text (:func:`tcsmt.reduction`); the default is one chain of instructions along K. epilogue:
    what follows, as data or text (:func:`tcsmt.epilogue`). alpha, beta: instead of the epilogue's; alpha
    may be an array (..., M) of a number for each row, as cuBLASLt's vectors are: C is added after the
    products then. With both 1, C is the first instruction's c, or is added before the first part;
    otherwise the epilogue computes fma(sum, alpha, beta·C) in binary32 (binary64 where the sum is); with
    beta 0 nothing is added. bias: (..., N), random: (..., M, N) integers, where the epilogue takes them;
    the bias is rounded by ``operands``, too. scale_a, scale_b: for units with block scales, (..., M, K /
    block) and (..., K / block, N). unit: without an instruction, the most used of those that take the
    formats of A's and B's dtypes is meant; where ``operands`` rounds them, the most precise of those whose
    formats have the dtypes' range, such as TF32 for float32.
    Raises :class:`tcsmt.TcsmtError` for shapes, dtypes and values that do not fit, before any work.

    >>> import numpy as np, tcsmt
    >>> a = np.ones((2, 32), np.float16)
    >>> tcsmt.gemm(a, a.T, unit="h100", reduction="split-k:2", alpha=0.5)
    array([[16., 16.],
           [16., 16.]], dtype=float32)
    """
    inputs = {"a": a, "b": b, "c": c, "bias": bias, "random": random, "scale_a": scale_a, "scale_b": scale_b}
    chosen = as_epilogue(epilogue, alpha, beta)
    if np.ndim(alpha):
        inputs["alpha"] = alpha
    arrays = {name: as_numpy(values, name, pairs=_K.get(name, -1)) for name, values in inputs.items()}
    row, *_ = rows_for_operands(
        unit,
        formats_of(arrays, rounded=operands is not None),
        scaled=scale_a is not None,
        scales=BlockScales.of(arrays),
        values=True,
        operands=operands,
    )
    schedule = Schedule(row.model, as_reduction(reduction), chosen.on(row))
    library = library_of(inputs)
    library.check(schedule.d_format)
    result = batched(
        **arrays,
        operands=operands,
        model=schedule.unit,
        reduction=schedule.reduction,
        epilogue=schedule.epilogue,
    )
    return library.array(result)


def as_reduction(reduction: Reduction | str) -> Reduction:
    """Return the reduction, which may be a text."""
    return reduction_named(reduction) if isinstance(reduction, str) else reduction


def as_epilogue(epilogue: Epilogue | str, alpha: Any, beta: float | None) -> Epilogue:
    """Return the epilogue, which may be a text, with these numbers in place of its own.

    Where alpha is one of each row, C enters after the products. Raises :class:`tcsmt.TcsmtError` where the
    epilogue has an alpha of its own then, or C enters first.
    """
    own = epilogue_named(epilogue) if isinstance(epilogue, str) else epilogue
    if not np.ndim(alpha):
        return own.with_numbers(alpha, beta)
    if own.c == "first" or own.alpha != 1:
        raise TcsmtError(
            f"epilogue {own}: alpha is given for each row, so that neither c=first nor alpha fits"
        )
    return replace(own.with_numbers(None, beta), c="epilogue")
