"""A model compiled to machine code: loops over rows around the instructions of its term graph."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from tcsmt.language.run.jit import functions, require_compiler, vector_bits
from tcsmt.language.write.llvm import declared
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.float_kernels import FloatColumns, FloatRows
from tcsmt.simulate.forms.proved_forms import proved_block
from tcsmt.simulate.integer_kernels import IntegerSource
from tcsmt.simulate.kernel_source import COLUMNS, KernelSource
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import check_floats, usual_floats

Array = np.ndarray[Any, np.dtype[Any]]
#: Words of an operand, and the distances, in elements, from lane to lane and from row to row.
Strided: TypeAlias = tuple[Array, int, int]

#: Rows of a thread's share, at least.
_SHARE = 1 << 16
#: How many rows a form is tried on first, and which share of them may fail. Gathering a failed row and
#: computing it by integers takes five to eight times as long as the form.
_FIRST, _FAILING = 1024, 1 / 8
#: How many times the first rows integers serve for, where a form failed for more, before it is tried again.
_WAIT = 128
#: Words that a thread prepares, at least.
_PREPARED = 1 << 18


def threads_in_use() -> int:
    """Return threads for large batches: ``$TCSMT_THREADS``, else as many as this process has processors."""
    text = os.environ.get("TCSMT_THREADS", "")
    if text:
        if not text.isdecimal() or int(text) < 1:
            raise TcsmtError(f"TCSMT_THREADS = {text!r}: must be a number of threads, 1 or more")
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class MachineCode:
    """The machine code of one model; each function is compiled, or read from the cache, when it is needed."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def columns(self) -> ColumnCode:
        """Return the code of products, in this thread: by floating-point instructions where such a form is
        proved, unless somebody has changed the state of the floating-point unit.
        """
        by_floats = self._columns_by_floats if usual_floats() else None
        return by_floats or self._columns_by_integers

    def rows(self, arrays: Sequence[Array]) -> Array:
        """Return the results for every row. arrays: a, b (rows, lanes), c (rows,), and the scales (rows,
        scales).
        """
        by_floats = self._rows_by_floats if usual_floats() else None
        return (by_floats or self._rows_by_integers).run(arrays)

    @cached_property
    def _rows_by_integers(self) -> RowCode:
        source = IntegerSource(self._model, vector_bits())
        return RowCode(source, source.rows(), self._model)

    @cached_property
    def _rows_by_floats(self) -> RowCode | None:
        block = proved_block(self._model)
        if block is None or not FloatRows.pays(block):
            return None
        return FloatRowCode(FloatRows(self._model, block), self._model, lambda: self._rows_by_integers)

    @cached_property
    def _columns_by_integers(self) -> ColumnCode:
        source = IntegerSource(self._model, COLUMNS)
        return ColumnCode(source, source.outer(), self._model.k)

    @cached_property
    def _columns_by_floats(self) -> ColumnCode | None:
        block = proved_block(self._model)
        source = None if block is None else FloatColumns.of(block)
        if block is None or source is None:
            return None
        code = self if block.model == self._model else MachineCode(block.model)
        return FloatColumnCode(source, block.model.k, block.lanes, lambda: code._columns_by_integers)


class RowCode:
    """Machine code for rows, as many at a time as a vector holds."""

    def __init__(self, source: KernelSource, text: str, model: Model, *more: Any) -> None:
        self._uses_floats, self._width, self._inputs = source.uses_floats, source.width, source.inputs
        self._output = unsigned(model.d_format)
        pointers = [ctypes.c_void_p] * (1 + len(source.inputs))
        self._rows = _function("rows", text, *pointers, *more)

    def run(self, arrays: Sequence[Array]) -> Array:
        """Return the results for every row. arrays: words, in the order of the model's inputs."""
        if self._uses_floats:
            check_floats()
        arrays = [
            np.ascontiguousarray(array, dtype=unsigned(operand.format))
            for operand, array in zip(self._inputs, arrays, strict=True)
        ]
        count = len(arrays[0])
        result = np.empty(count, dtype=self._output)
        full = count - count % self._width
        share = -(-full // threads_in_use()) if full > _SHARE else max(full, 1)
        share += -share % self._width

        def part(start: int) -> None:
            rows = slice(start, min(start + share, full))
            self._run([array[rows] for array in arrays], result[rows])

        in_threads(part, range(0, full, share))
        if full < count:
            tail = np.empty(self._width, dtype=self._output)
            padded = []
            for array in arrays:
                rest = np.zeros((self._width, *array.shape[1:]), dtype=array.dtype)
                rest[: count - full] = array[full:]
                padded.append(rest)
            self._run(padded, tail)
            result[full:] = tail[: count - full]
        return result

    def _run(self, arrays: Sequence[Array], result: Array) -> None:
        """Run whole vectors of rows, in this thread."""
        self._call(arrays, result)

    def _call(self, arrays: Sequence[Array], result: Array, *more: int) -> None:
        pointers = [array.ctypes.data for array in arrays]
        self._rows(len(result) // self._width, result.ctypes.data, *pointers, *more)


class FloatRowCode(RowCode):
    """Machine code for rows of a form in floating-point operations. integers: the code where it fails."""

    def __init__(self, source: FloatRows, model: Model, integers: Callable[[], RowCode]) -> None:
        super().__init__(source, source.rows(), model, ctypes.c_void_p)
        self._integers = integers

    def _run(self, arrays: Sequence[Array], result: Array) -> None:
        def of(rows: slice) -> tuple[list[Array], Array]:
            return [array[rows] for array in arrays], result[rows]

        places = AdaptiveDispatch(_FIRST, _FAILING).run(
            len(result), lambda rows: self._failed(*of(rows)), lambda rows: self._integers()._run(*of(rows))
        )
        if places.size:
            result[places] = self._integers().run([np.take(array, places, axis=0) for array in arrays])

    def _failed(self, arrays: Sequence[Array], result: Array) -> Array:
        """Return the numbers of the rows for which the form fails; of the others, the results are written."""
        flags = np.empty(len(result) // self._width, dtype=f"<u{self._width // 8}")
        self._call(arrays, result, flags.ctypes.data)
        if not flags.any():
            return np.empty(0, np.intp)
        return np.flatnonzero(np.unpackbits(flags.view(np.uint8), bitorder="little").view(np.bool_))


class AdaptiveDispatch:
    """A choice of how many rows of a batch or a product are next, and whether a form is tried on them.

    first: of rows that are tried. As long as the form serves, more and more of them are; where it fails for
    more than the share ``failing``, integers serve for all, and for a while after them.
    """

    def __init__(self, first: int, failing: float) -> None:
        self._first = self._size = first
        self._failing = failing
        self._skipped = 0

    def run(self, rows: int, form: Callable[[slice], Array], integers: Callable[[slice], object]) -> Array:
        """Return the numbers of the rows for which the form failed, so that they are to be computed once
        more.

        form: computes some rows by the form, and gives the numbers of those for which it fails. integers:
        computes some rows by integers.
        """
        start, again = 0, [np.empty(0, np.intp)]
        while start < rows:
            tried = self._skipped <= 0
            part = slice(start, min(rows, start + (self._size if tried else self._skipped)))
            count = part.stop - start
            failed = form(part) if tried else None
            if failed is None or failed.size > count * self._failing:
                self._size = self._first
                self._skipped = self._skipped - count if failed is None else _WAIT * self._first
                integers(part)
            else:
                self._size = 8 * count
                again.append(failed + start)
            start = part.stop
        return np.concatenate(again)


class ColumnCode:
    """Machine code for one vector of columns against many rows of A, through several chained steps.

    k: products of a step, which may be less than an instruction's.
    """

    def __init__(self, source: KernelSource, text: str, k: int, *more: Any) -> None:
        self._uses_floats, self.width, self.k = source.uses_floats, source.width, k
        self._inputs = source.inputs
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        inputs = [pointer, number, number] * len(source.inputs)
        self._outer = _function("outer", text, number, pointer, number, *inputs, *more)

    def ordered(self, words: Array, axis: int) -> Array:
        """Return the words of a or b with the lanes of each instruction, along an axis, in the steps' order.

        words: (M, K) or (K, N), unsigned integers. Returns an array of that shape and dtype.
        """
        return words

    def prepare(self, name: str, words: Array) -> list[Array]:
        """Return what :meth:`run` takes of a matrix of words of a or of b besides them: arrays of its
        shape.
        """
        return []

    def run(
        self,
        rows: int,
        steps: int,
        d: Array,
        inputs: Sequence[Strided],
        columns: Sequence[Array],
        trial: AdaptiveDispatch,
    ) -> None:
        """Run, for each of ``rows`` rows, ``width`` neighbouring columns, ``steps`` chained instructions.

        inputs: for every operand its array and the distances, in elements, from lane to lane and
        from row to row. columns: what is prepared of a and b, each array laid out as its operand's.
        trial: of a product. d: words, at least (rows, width).
        """
        self._call(rows, steps, d, inputs)

    def _call(self, rows: int, steps: int, d: Array, inputs: Sequence[Strided], *more: int) -> None:
        if self._uses_floats:
            check_floats()
        flat = [value for array, *strides in inputs for value in (array.ctypes.data, *strides)]
        self._outer(rows, steps, d.ctypes.data, self.width, *flat, *more)


class FloatColumnCode(ColumnCode):
    """Machine code for products of a form in floating-point operations.

    lanes: of an instruction, in the order in which its steps take them. integers: the code where the form
    fails.
    """

    def __init__(
        self, source: FloatColumns, k: int, lanes: Sequence[int], integers: Callable[[], ColumnCode]
    ) -> None:
        prepared = [ctypes.c_void_p] * sum(len(words.terms) for words in source.prepared)
        super().__init__(source, source.outer(), k, ctypes.c_void_p, *prepared)
        self._lanes, self._integers = lanes, integers
        self._stored = {words.name: source.stored_bits(words.name) for words in source.prepared}
        self._of_a = len(self._stored["a"])
        self._prepare = {
            name: _function("prepare", source.prepare(name), *[ctypes.c_void_p] * (1 + len(bits)))
            for name, bits in self._stored.items()
        }

    def ordered(self, words: Array, axis: int) -> Array:
        """See :meth:`ColumnCode.ordered`."""
        if list(self._lanes) == sorted(self._lanes):
            return words
        starts = np.arange(0, words.shape[axis], len(self._lanes))
        places = (starts[:, None] + np.array(self._lanes)).reshape(-1)
        return np.ascontiguousarray(np.take(words, places, axis))

    def prepare(self, name: str, words: Array) -> list[Array]:
        """See :meth:`ColumnCode.prepare`."""
        flat = np.ascontiguousarray(words).reshape(-1)
        size = flat.size + -flat.size % self.width
        results = [np.empty(size, dtype=f"u{bits // 8}") for bits in self._stored[name]]

        def part(start: int) -> None:
            source = flat[start : start + _PREPARED]
            if source.size % self.width:
                source = np.pad(source, (0, -source.size % self.width))
            pointers = [result[start:].ctypes.data for result in results]
            self._prepare[name](source.size // self.width, source.ctypes.data, *pointers)

        in_threads(part, range(0, size, _PREPARED))
        return [result[: flat.size].reshape(words.shape) for result in results]

    def run(
        self,
        rows: int,
        steps: int,
        d: Array,
        inputs: Sequence[Strided],
        columns: Sequence[Array],
        trial: AdaptiveDispatch,
    ) -> None:
        """See :meth:`ColumnCode.run`."""
        count = self._of_a

        def of(part: slice) -> tuple[int, int, Array, list[Strided]]:
            own = [(array[part] if group else array, lane, group) for array, lane, group in inputs]
            return part.stop - part.start, steps, d[part], own

        def form(part: slice) -> Array:
            of_a = [column[part] for column in columns[:count]]
            return self._failed(*of(part), [*of_a, *columns[count:]])

        failed = trial.run(rows, form, lambda part: self._integers()._call(*of(part)))
        if failed.size:
            self._again(failed, steps, d, inputs)

    def _failed(
        self, rows: int, steps: int, d: Array, inputs: Sequence[Strided], columns: Sequence[Array]
    ) -> Array:
        """Return the numbers of the rows for which the form fails; of the others, d is written."""
        flags = np.empty(rows, dtype=np.uint8)
        self._call(rows, steps, d, inputs, flags.ctypes.data, *(column.ctypes.data for column in columns))
        return np.flatnonzero(flags)

    def _again(self, rows: Array, steps: int, d: Array, inputs: Sequence[Strided]) -> None:
        """Compute some rows again, by integers. rows: their numbers."""
        result = np.empty((rows.size, self.width), dtype=d.dtype)
        parts = []
        for operand, (array, lane, group) in zip(self._inputs, inputs, strict=True):
            if group:
                group = steps * len(operand.terms) if lane else self.width
                array = array[rows, :group]
            parts.append((array, lane, group))
        self._integers()._call(rows.size, steps, result, parts)
        d[rows] = result


def _function(name: str, text: str, *arguments: Any) -> Callable[..., None]:
    """Return a function of LLVM text; the number of groups comes before its arguments."""
    address = functions(declared(text), [name])[name]
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, *arguments)(address)


def in_threads(work: Callable[[int], None], items: Sequence[int]) -> None:
    """Run ``work`` on every item, in as many threads as are in use; the first error is raised."""
    count = min(len(items), threads_in_use())
    if count < 2:
        for item in items:
            work(item)
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    with ThreadPoolExecutor(count) as pool:
        try:
            list(pool.map(work, items))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_kernels: dict[Model, MachineCode] = {}


def compiled(model: Model) -> bool:
    """Return whether the model's kernel is in memory already."""
    return model in _kernels


def kernel(model: Model) -> MachineCode:
    """Return the model's kernel, compiled or read from the cache. Raises TcsmtError without the extra."""
    if model not in _kernels:
        require_compiler()
        _kernels[model] = MachineCode(model)
    return _kernels[model]
