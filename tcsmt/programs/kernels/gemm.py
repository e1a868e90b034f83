"""Whole matrix products: a reduction and an epilogue around a unit's chains of instructions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, to_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.steps.on_arrays import ArrayRules, Chain, along
from tcsmt.programs.steps.program import ProductRun, read
from tcsmt.simulate.matmul import Progress, chain_words, check_shapes
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]


def gemm(
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
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """``alpha·A·B + beta·C`` by a kernel on the unit: an array (M, N) of the dtype of its format.

    The format is that of the last conversion, or of the sum (:attr:`.Schedule.d_format`).
    a: (M, K). b: (K, N). c: (M, N), or None: chains begin with +0, and nothing is added. Dtypes as for
    :func:`tcsmt.simulate.rows.simulate`.
    model: of the unit. reduction, epilogue: see :class:`.Reduction` and :class:`.Epilogue`.
    bias: (N,), binary32 (binary64 where the sum is), where the epilogue has one.
    alpha: (M,), a number for each row of the result, in place of the epilogue's; as the bias. C is added
    after the products then: the epilogue says ``c=epilogue``.
    random: (M, N), unsigned integers of as many bits as the epilogue's stochastic rounding takes.
    scale_a, scale_b: for units with block scales, (M, K / block) and (K / block, N), where block is
    k / model.scales.
    progress(done, all): called now and then, with numbers of dot-adds.
    Raises :class:`.TcsmtError` before any work for shapes, dtypes and values that do
    not fit, and for results that do not fit in memory.
    """
    schedule = Schedule(model, reduction, epilogue)
    left, right = to_words(model.a_format, a, "A"), to_words(model.b_format, b, "B")
    check_shapes(left, right)
    (m, length), n = left.shape, right.shape[1]
    _check_memory(m, n, schedule)
    if c is not None and np.shape(c) != (m, n):
        raise TcsmtError(f"C has shape {np.shape(c)}: must be {(m, n)}, the shape of A·B")
    c_words = None if c is None or epilogue.beta == 0 else to_words(model.c_format, c, "C")
    extra = {**_extra(schedule, (m, n), bias, random), "alpha": _row_alpha(schedule, (m, n), alpha)}
    scales = _Scales.of(model, (m, length, n), scale_a, scale_b)
    regions = list(reduction.on(m, n, length))
    seen = Progress(0, progress)
    work = []
    for rows, columns, resolved in regions:
        parts = [part for part, _ in schedule.chains(length, resolved)]
        scales.check(parts, length)
        width, height = (len(range(*side.indices(size))) for side, size in ((columns, n), (rows, m)))
        seen.total += sum(-(-len(part) // model.k) for part in parts) * height * width
        work.append((rows, columns, resolved))
    result = np.empty((m, n), unsigned(schedule.d_format))
    for rows, columns, resolved in work:
        x, y = left[rows], right[:, columns]
        others = {name: None if array is None else _of(array, rows, columns) for name, array in extra.items()}
        c_block = None if c_words is None else c_words[rows, columns]
        given = {"A": x, "B": y, "c": c_block}
        rules = ArrayRules((len(x), y.shape[1]), _chains(scales.on(rows, columns), seen), schedule.nans)
        total = read(schedule.sums(length, resolved, c=c_block is not None), rules, given)
        end = schedule.end(**{name: array is not None for name, array in {**others, "c": c_block}.items()})
        result[rows, columns] = read(end, rules, {**given, **others, "total": total})
    return from_words(schedule.d_format, result)


def _of(array: Array, rows: slice, columns: slice) -> Array:
    return array[rows, columns] if array.ndim == 2 else array[columns]


def _chains(scales: _Scales, seen: Progress) -> Chain:
    """Return how chains of a product are run: with the scales of their blocks."""

    def chain(unit: Model, operands: Sequence[Array], runs: Sequence[ProductRun], c: Array | None) -> Array:
        x, y = along(operands[0], runs, 0, 1, unit.k), along(operands[1], runs, 1, 0, unit.k)
        start = np.zeros((len(x), y.shape[1]), unsigned(unit.c_format)) if c is None else c
        return chain_words(unit, Operands(x, y, start, *scales.along(runs[0].indices)), seen)

    return chain


def _extra(schedule: Schedule, shape: tuple[int, int], bias: Any, random: Any) -> dict[str, Array | None]:
    """Return the words of the bias and the random numbers, where the epilogue takes them."""
    epilogue = schedule.epilogue
    schedule.check_numbers(bias=bias is not None, random=random is not None)
    operands: dict[str, Array | None] = {"bias": None, "random": None}
    if bias is not None:
        words = operands["bias"] = to_words(schedule.working_format, bias, "bias")
        if words.shape != shape[1:]:
            raise TcsmtError(f"bias has shape {words.shape}: must be {shape[1:]}, one for each column")
    if random is not None:
        bits = np.asarray(random)
        if bits.shape != shape or bits.dtype.kind not in "iu":
            raise TcsmtError(f"random has shape {bits.shape}, dtype {bits.dtype}: must be integers, {shape}")
        if bits.size and (int(bits.min()) < 0 or int(bits.max()) >> epilogue.stochastic):
            raise TcsmtError(f"random: must be integers of {epilogue.stochastic} bits")
        operands["random"] = bits.astype(np.uint32)
    return operands


def _row_alpha(schedule: Schedule, shape: tuple[int, int], alpha: Any) -> Array | None:
    """Return the words of a factor of each row, to the shape of the result."""
    if alpha is None:
        return None
    if schedule.epilogue.alpha != 1 or schedule.epilogue.c != "epilogue":
        raise TcsmtError(
            f"alpha is given for each row: the epilogue ({schedule.epilogue}) must have none, and c=epilogue"
        )
    words = to_words(schedule.working_format, alpha, "alpha")
    if words.shape != shape[:1]:
        raise TcsmtError(f"alpha has shape {words.shape}: must be {shape[:1]}, one for each row, or a number")
    return np.broadcast_to(words[:, None], shape)


@dataclass(frozen=True)
class _Scales:
    """Block scales as words; block: products of one of them. Without any, block is 0."""

    block: int
    a: Array | None = None
    b: Array | None = None

    @classmethod
    def of(cls, model: Model, shape: tuple[int, int, int], scale_a: Any, scale_b: Any) -> _Scales:
        """Return the operands of whole matrices. Raises :class:`.TcsmtError` where they do not fit."""
        m, length, n = shape
        fmt = model.scale_format
        for name, scale in (("scale_a", scale_a), ("scale_b", scale_b)):
            if fmt is None and scale is not None:
                raise TcsmtError(f"{name} is given, but the unit has no block scales")
            if fmt is not None and scale is None:
                raise TcsmtError(f"{name} is missing: the unit takes one {fmt.name} scale for each block")
        if fmt is None:
            return cls(0)
        block = model.k // model.scales
        count = -(-length // block)
        left, right = to_words(fmt, scale_a, "scale_a"), to_words(fmt, scale_b, "scale_b")
        for name, words, wanted in (("scale_a", left, (m, count)), ("scale_b", right, (count, n))):
            if words.shape != wanted:
                raise TcsmtError(
                    f"{name} has shape {words.shape}: with blocks of {block} along K it is {wanted}"
                )
        return cls(block, left, right)

    def check(self, parts: Sequence[Array], length: int) -> None:
        """Raises :class:`.TcsmtError` where a part is not made of whole blocks."""
        for part in parts if self.block else ():
            blocks = part[:: self.block]
            covered = np.concatenate([np.arange(at, min(at + self.block, length)) for at in blocks])
            if (blocks % self.block).any() or not np.array_equal(covered, part):
                raise TcsmtError(
                    f"K from {part[0]} to {part[-1] + 1}: a part must be made of whole blocks of {self.block}"
                )

    def on(self, rows: slice, columns: slice) -> _Scales:
        """Return those of some rows and columns."""
        if self.a is None or self.b is None:
            return self
        return _Scales(self.block, self.a[rows], self.b[:, columns])

    def along(self, indices: Array) -> tuple[Array, Array] | tuple[()]:
        """Return those of the blocks of some indices of K."""
        if self.a is None or self.b is None:
            return ()
        blocks = indices[:: self.block] // self.block
        return self.a[:, blocks], self.b[blocks]


def _check_memory(m: int, n: int, schedule: Schedule) -> None:
    """Refuse results that do not fit, before any work."""
    formats = schedule.unit.d_format, schedule.unit.c_format, schedule.d_format
    needed = m * n * sum(dtype_of(fmt).itemsize for fmt in formats)
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return
    if needed > free:
        raise TcsmtError(
            f"a result of {m} x {n} needs {needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free: "
            "take blocks of rows or columns"
        )
