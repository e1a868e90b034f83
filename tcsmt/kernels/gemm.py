"""Whole matrix products: a reduction and an epilogue around a unit's chains of instructions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tcsmt.arithmetic.any_format import AnyFormat
from tcsmt.arithmetic.formats import Format, float_format
from tcsmt.arithmetic.integer_format import IntegerFormat
from tcsmt.arithmetic.words import dtype_of, from_words, to_words, unsigned
from tcsmt.kernels import outside
from tcsmt.kernels.epilogue import PLAIN, Epilogue, working_format
from tcsmt.kernels.reduction import CHAINED, Level, Reduction, fold
from tcsmt.models import Model, Operands
from tcsmt.simulator.matmul import Progress, chain_words, check_chain, check_shapes
from tcsmt.support.errors import TcsmtError

__all__ = ["Held", "chains_of", "ended", "gemm", "output_format", "reduced"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The words of a chain over some indices of K, of a unit that begins with these words of C (None: +0).
Chain = Callable[[Array, Array | None], Array]


@dataclass(frozen=True)
class Held:
    """Words, and the format that they are of."""

    format: AnyFormat
    words: Array

    def to(self, fmt: AnyFormat | None) -> Held:
        """Rounded to a format; None: as they are."""
        return self if fmt is None else Held(fmt, outside.converted(self.words, self.format, fmt))


def output_format(model: Model, epilogue: Epilogue) -> AnyFormat:
    """The format of a kernel's results."""
    return epilogue.out[-1] if epilogue.out else model.d_format


def reduced(reduction: Reduction, model: Model, indices: Array, chain: Chain, c: Array | None = None) -> Held:
    """The sum over some indices of K. c: words that enter before the first product, in the unit's format."""
    if not reduction.levels:
        return Held(model.d_format, chain(indices, c))
    level, inner = reduction.levels[0], Reduction(reduction.levels[1:])
    parts = [reduced(inner, model, part, chain) for part in level.cut(indices, model.k)]
    start = None if c is None else Held(model.c_format, c)
    return _combined(level, parts, start)


def _combined(level: Level, parts: Sequence[Held], c: Held | None) -> Held:
    fmt = level.sum or parts[0].format
    values = [part.to(level.parts).to(fmt) for part in parts]
    if c is not None:
        c = c.to(fmt)
    elif level.from_zero:
        c = Held(fmt, np.zeros_like(values[0].words))

    def add(one: Held, two: Held) -> Held:
        return Held(fmt, outside.add(fmt, one.words, two.words))

    def kept(value: Held) -> Held:
        return value.to(level.total).to(fmt)

    return fold(level, values, add, kept, c)


def ended(
    epilogue: Epilogue,
    total: Held,
    c: Held | None = None,
    bias: Array | None = None,
    random: Array | None = None,
) -> Held:
    """What the epilogue makes of finished sums. c: where it has not entered yet. bias, random: words."""
    if epilogue.plain:
        return total
    result = float_format(total.format)
    fmt = working_format(result)
    shape = total.words.shape

    def constant(value: float) -> Array:
        return np.full(shape, np.array(value, dtype_of(fmt)).view(unsigned(fmt)), unsigned(fmt))

    scaled = epilogue.alpha != 1 or c is not None
    if scaled or bias is not None:
        total = total.to(fmt)
    if scaled:
        zero = constant(0.0)
        added = zero if c is None or epilogue.beta == 0 else c.to(fmt).words
        if added is not zero and epilogue.beta != 1:
            added = outside.multiplied_and_added(fmt, constant(epilogue.beta), added, constant(-0.0))
        words = outside.multiplied_and_added(fmt, total.words, constant(epilogue.alpha), added)
        total = Held(fmt, words)
    if bias is not None:
        total = Held(fmt, outside.add(fmt, total.words, np.ascontiguousarray(np.broadcast_to(bias, shape))))
    for number, wanted in enumerate(epilogue.out or (result,), 1):
        given = float_format(total.format)
        last = number == len(epilogue.out)
        if last and epilogue.stochastic:
            assert random is not None
            words = outside.stochastic(
                total.words, given, wanted, random, epilogue.stochastic, saturate=epilogue.saturate
            )
        else:
            words = outside.converted(
                total.words, given, wanted, epilogue.rounding, saturate=last and epilogue.saturate
            )
        total = Held(wanted, words)
    return total


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
    scale_a: Any = None,
    scale_b: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """``alpha·A·B + beta·C`` by a kernel on the unit: an array (M, N) of the output format's dtype.

    a: (M, K). b: (K, N). c: (M, N), or None for zeros. Dtypes as for :func:`tcsmt.simulator.rows.simulate`.
    model: of the unit. reduction, epilogue: see :class:`.Reduction` and :class:`.Epilogue`.
    bias: (N,), binary32 (binary64 for binary64 results), where the epilogue has one.
    random: (M, N), unsigned integers of as many bits as the epilogue's stochastic rounding takes.
    scale_a, scale_b: for units with block scales, (M, K / block) and (K / block, N), where block is
    k / model.scales.
    progress(done, all): called now and then, with numbers of dot-adds.
    Raises :class:`.TcsmtError` before any work for shapes, dtypes and values that do
    not fit, and for results that do not fit in memory.
    """
    left, right = to_words(model.a_format, a, "A"), to_words(model.b_format, b, "B")
    check_shapes(left, right)
    (m, length), n = left.shape, right.shape[1]
    _check_memory(m, n, model, epilogue)
    if c is not None and np.shape(c) != (m, n):
        raise TcsmtError(f"C has shape {np.shape(c)}: must be {(m, n)}, the shape of A·B")
    c_words = None if c is None or epilogue.beta == 0 else to_words(model.c_format, c, "C")
    extra = _extra(model, epilogue, (m, n), bias, random)
    scales = _Scales.of(model, (m, length, n), scale_a, scale_b)
    regions = list(reduction.on(m, n, length))
    seen = Progress(0, progress)
    work = []
    for rows, columns, resolved in regions:
        parts = list(chains_of(resolved, np.arange(length), model.k))
        _check_parts(model, parts, epilogue, c_words is not None)
        scales.check(parts, length)
        wide, high = (len(range(*side.indices(size))) for side, size in ((columns, n), (rows, m)))
        seen.total += sum(-(-len(part) // model.k) for part in parts) * high * wide
        work.append((rows, columns, resolved))
    result = np.empty((m, n), unsigned(output_format(model, epilogue)))
    for rows, columns, resolved in work:
        x, y = left[rows], right[:, columns]
        given = None if c_words is None else Held(model.c_format, c_words[rows, columns])
        chain = partial(_chain, model, x, y, scales.on(rows, columns), seen)
        first = given is not None and epilogue.c_first
        held = reduced(resolved, model, np.arange(length), chain, given.words if first and given else None)
        own = {name: None if array is None else _of(array, rows, columns) for name, array in extra.items()}
        result[rows, columns] = ended(epilogue, held, None if first else given, **own).words
    return from_words(output_format(model, epilogue), result)


def _of(array: Array, rows: slice, columns: slice) -> Array:
    return array[rows, columns] if array.ndim == 2 else array[columns]


def chains_of(reduction: Reduction, indices: Array, k: int) -> Iterator[Array]:
    """The indices that each chain takes."""
    if not reduction.levels:
        yield indices
        return
    inner = Reduction(reduction.levels[1:])
    for part in reduction.levels[0].cut(indices, k):
        yield from chains_of(inner, part, k)


def _place(indices: Array) -> slice | Array:
    """As a slice where the indices follow each other, so that nothing is copied."""
    first, last = int(indices[0]), int(indices[-1])
    return slice(first, last + 1) if last - first + 1 == len(indices) else indices


def _chain(
    model: Model, a: Array, b: Array, scales: _Scales, seen: Progress, indices: Array, c: Array | None
) -> Array:
    place = _place(indices)
    start = np.zeros((len(a), b.shape[1]), unsigned(model.c_format)) if c is None else c
    return chain_words(model, Operands(a[:, place], b[place], start, *scales.along(indices)), seen)


def _check_parts(model: Model, parts: Sequence[Array], epilogue: Epilogue, has_c: bool) -> None:
    """Refuse what the unit cannot do, or what a kernel cannot do to its results."""
    fmt, several = model.d_format, len(parts) > 1
    check_chain(model, max(map(len, parts)))
    plain = epilogue.plain or (not epilogue.out and not epilogue.bias and not has_c and epilogue.alpha == 1)
    if isinstance(fmt, IntegerFormat):
        if not plain:
            raise TcsmtError(f"alpha and beta must be 1: the unit's results are integers ({fmt.name})")
        if several and fmt.width != unsigned(fmt).itemsize * 8:
            raise TcsmtError(
                f"{len(parts)} partial sums: no register adds words of {fmt.width} bits ({fmt.name})"
            )
    elif dtype_of(fmt).kind == "u" and (several or not plain):
        raise TcsmtError(
            f"the unit's results are {fmt.name} words, for which a kernel has no addition but the "
            "unit's own: the reduction must be chained, and the epilogue none"
        )


def _extra(
    model: Model, epilogue: Epilogue, shape: tuple[int, int], bias: Any, random: Any
) -> dict[str, Array | None]:
    """The words of the bias and the random numbers, where the epilogue takes them."""
    for name, given, taken in (("bias", bias, epilogue.bias), ("random", random, epilogue.stochastic)):
        if (given is not None) != bool(taken):
            missing = (
                "is missing: the epilogue takes it" if taken else "is given, but the epilogue takes none"
            )
            raise TcsmtError(f"{name} {missing} ({epilogue})")
    found: dict[str, Array | None] = {"bias": None, "random": None}
    if bias is not None:
        fmt = working_format(float_format(model.d_format))
        words = found["bias"] = to_words(fmt, bias, "bias")
        if words.shape != shape[1:]:
            raise TcsmtError(f"bias has shape {words.shape}: must be {shape[1:]}, one for each column")
    if random is not None:
        bits = np.asarray(random)
        if bits.shape != shape or bits.dtype.kind not in "iu":
            raise TcsmtError(f"random has shape {bits.shape}, dtype {bits.dtype}: must be integers, {shape}")
        if bits.size and (int(bits.min()) < 0 or int(bits.max()) >> epilogue.stochastic):
            raise TcsmtError(f"random: must be integers of {epilogue.stochastic} bits")
        found["random"] = bits.astype(np.uint32)
    return found


@dataclass(frozen=True)
class _Scales:
    """Block scales as words; block: products of one of them. Without any, block is 0."""

    block: int
    a: Array | None = None
    b: Array | None = None

    @classmethod
    def of(cls, model: Model, shape: tuple[int, int, int], scale_a: Any, scale_b: Any) -> _Scales:
        """Of whole matrices. Raises :class:`.TcsmtError` where they do not fit."""
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
            whole = np.concatenate([np.arange(at, min(at + self.block, length)) for at in blocks])
            if (blocks % self.block).any() or not np.array_equal(whole, part):
                raise TcsmtError(
                    f"K from {part[0]} to {part[-1] + 1}: a part must be made of whole blocks of {self.block}"
                )

    def on(self, rows: slice, columns: slice) -> _Scales:
        """Those of some rows and columns."""
        if self.a is None or self.b is None:
            return self
        return _Scales(self.block, self.a[rows], self.b[:, columns])

    def along(self, indices: Array) -> tuple[Array, Array] | tuple[()]:
        """Those of the blocks of some indices of K."""
        if self.a is None or self.b is None:
            return ()
        blocks = indices[:: self.block] // self.block
        return self.a[:, blocks], self.b[blocks]


def _check_memory(m: int, n: int, model: Model, epilogue: Epilogue) -> None:
    """Refuse results that do not fit, before any work."""
    formats: list[AnyFormat | Format] = [model.d_format, model.c_format, output_format(model, epilogue)]
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
