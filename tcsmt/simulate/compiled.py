"""A model compiled to machine code: loops over rows around the instructions of its term graph."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run.floats import check_floats, usual_floats
from tcsmt.language.run.jit import functions, require_compiler
from tcsmt.language.terms import FALSE, TRUE, Term, any_of, operands_first, substitute, umax
from tcsmt.language.write.llvm import Emitter, container, declared, native, over_groups, schedule, uses_floats
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.proved_forms import ProvedBlock, proved_block
from tcsmt.simulate.prepared import PreparedWords, prepared
from tcsmt.support.errors import TcsmtError

__all__ = [
    "ColumnCode",
    "MachineCode",
    "compiled",
    "in_threads",
    "kernel",
    "threads_in_use",
]

Array = np.ndarray[Any, np.dtype[Any]]

#: Bits of a vector of input words: as many rows are computed side by side.
VECTOR = 512


@dataclass(frozen=True)
class OperandArray:
    """One input array of a model: its name, its variables in lane order, and their format."""

    name: str
    terms: tuple[Term, ...]
    format: AnyFormat

    @property
    def bits(self) -> int:
        """Bits of a stored word."""
        return unsigned(self.format).itemsize * 8


def operands(model: Model) -> list[OperandArray]:
    """The model's input arrays: a, b, c, and the block scales where it has them."""
    formats = model.operand_formats.named
    terms = model.trace.operands.named
    return [
        OperandArray(name, (terms[name],) if name == "c" else tuple(terms[name]), fmt)
        for name, fmt in formats.items()
    ]


def lanes(model: Model) -> dict[Term, int]:
    """The lane of each operand, c after the last one, as :func:`.schedule` takes it; scales have none."""
    products = (operand.terms for operand in operands(model) if len(operand.terms) == model.k)
    return {term: lane for terms in products for lane, term in enumerate(terms)} | {model.trace.c: model.k}


def threads_in_use() -> int:
    """Threads for large batches: ``$TCSMT_THREADS``, else the processors that this process may use."""
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
        self.operands = operands(model)
        self.output = unsigned(model.d_format)
        self.operand_bits = container(max(model.a_format.width, model.b_format.width))
        self.width = VECTOR // self.operand_bits

    def columns(self) -> ColumnCode:
        """The code of products, in this thread: by floating-point instructions where such a form is proved,
        unless somebody has changed the state of the floating-point unit.
        """
        by_floats = self._by_floats if usual_floats() else None
        return by_floats or self._by_integers

    @cached_property
    def _by_floats(self) -> ColumnCode | None:
        block = proved_block(self._model)
        form = None if block is None else _prepared_form(block)
        if block is None or form is None:
            return None
        return ColumnCode(self._source(form, block.model), block.model.k, block.lanes)

    @cached_property
    def _by_integers(self) -> ColumnCode:
        k = self._model.k
        return ColumnCode(self._source(self._form, self._model), k, range(k))

    @cached_property
    def _form(self) -> _Form:
        return _integer_form(self._model, self.operands)

    def _source(self, form: _Form, model: Model) -> _Source:
        return _Source(
            operands(model),
            form,
            lanes(model),
            self.width,
            min(self.operand_bits, 32),
            self.output.itemsize * 8,
        )

    @cached_property
    def _rows(self) -> Callable[..., None]:
        pointers = [ctypes.c_void_p] * len(self.operands)
        return _function("rows", self._source(self._form, self._model).rows(), ctypes.c_void_p, *pointers)

    def rows(self, arrays: Sequence[Array]) -> Array:
        """The results for every row; ``arrays`` as in ``operands``: (rows, lanes), c (rows,)."""
        if self._form.uses_floats:
            check_floats()
        count = len(arrays[0])
        arrays = [
            np.ascontiguousarray(array, dtype=unsigned(operand.format))
            for operand, array in zip(self.operands, arrays, strict=True)
        ]
        result = np.empty(count, dtype=self.output)
        whole = count - count % self.width
        share = -(-whole // threads_in_use()) if whole > 65536 else max(whole, 1)
        share += -share % self.width

        def part(start: int) -> None:
            groups = (min(start + share, whole) - start) // self.width
            pointers = [array[start:].ctypes.data for array in arrays]
            self._rows(groups, result[start:].ctypes.data, *pointers)

        in_threads(part, range(0, whole, share))
        if whole < count:
            tail = np.empty(self.width, dtype=self.output)
            padded = []
            for array in arrays:
                rest = np.zeros((self.width, *array.shape[1:]), dtype=array.dtype)
                rest[: count - whole] = array[whole:]
                padded.append(rest)
            self._rows(1, tail.ctypes.data, *[array.ctypes.data for array in padded])
            result[whole:] = tail[: count - whole]
        return result


class ColumnCode:
    """Machine code for one vector of columns against many rows of A, through several chained steps.

    k: products of a step, which may be less than an instruction's. lanes: of an instruction, in the order in
    which its steps take them.
    """

    def __init__(self, source: _Source, k: int, lanes: Sequence[int]) -> None:
        self._form, self.width, self.k, self._lanes = source.form, source.width, k, lanes
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        inputs = [pointer, number, number] * len(source.inputs)
        prepared = [pointer] * sum(len(own.terms) for own in self._form.prepared)
        self._outer = _function("outer", source.outer(), number, pointer, number, *inputs, *prepared)

    def ordered(self, words: Array, axis: int) -> Array:
        """The words of a or b with the lanes of each instruction, along an axis, in the steps' order.

        words: (M, K) or (K, N), unsigned integers. Returns an array of that shape and dtype.
        """
        if list(self._lanes) == sorted(self._lanes):
            return words
        starts = np.arange(0, words.shape[axis], len(self._lanes))
        places = (starts[:, None] + np.array(self._lanes)).reshape(-1)
        return np.ascontiguousarray(np.take(words, places, axis))

    def prepare(self, name: str, words: Array) -> list[Array]:
        """What :meth:`run` takes of a matrix of words of a or of b besides them: arrays of its shape."""
        return [column for own in self._form.prepared if own.name == name for column in own.of(words)]

    def run(
        self,
        rows: int,
        steps: int,
        d: Array,
        d_group: int,
        inputs: Sequence[tuple[Array, int, int]],
        columns: Sequence[Array] = (),
    ) -> None:
        """For each of ``rows`` rows: ``width`` neighbouring columns, ``steps`` chained instructions.

        inputs: for every operand its array and the distances, in elements, from lane to lane and
        from row to row. ``d`` is written at a distance of ``d_group`` from row to row. columns: what is
        prepared of a and b, each array laid out as its operand's. d: words, at least (rows, d_group).
        """
        if self._form.uses_floats:
            check_floats()
        flat = [value for array, *strides in inputs for value in (array.ctypes.data, *strides)]
        self._outer(rows, steps, d.ctypes.data, d_group, *flat, *(array.ctypes.data for array in columns))


def _function(name: str, text: str, *arguments: Any) -> Callable[..., None]:
    """A function of LLVM text; the number of groups comes before its arguments."""
    address = functions(declared(text), [name])[name]
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, *arguments)(address)


def in_threads(work: Callable[[int], None], items: Sequence[int]) -> None:
    """``work`` on every item, in as many threads as are in use; the first error is raised."""
    if len(items) < 2:
        for item in items:
            work(item)
        return
    with ThreadPoolExecutor(min(len(items), threads_in_use())) as pool:
        try:
            list(pool.map(work, items))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


_kernels: dict[Model, MachineCode] = {}


def compiled(model: Model) -> bool:
    """Whether the model's kernel is in memory already."""
    return model in _kernels


def kernel(model: Model) -> MachineCode:
    """The model's kernel, compiled or read from the cache. Raises TcsmtError without the extra."""
    if model not in _kernels:
        require_compiler()
        _kernels[model] = MachineCode(model)
    return _kernels[model]


@dataclass(frozen=True)
class _Form:
    """What a kernel computes: ``root``, the model's graph; or ``plain``, which gives the same words with
    fewer instructions where ``guard`` is 0.

    prepared: of a and b, what ``plain`` takes beside c, where that is not their words.
    """

    root: Term
    plain: Term
    guard: Term
    prepared: list[PreparedWords]

    @cached_property
    def uses_floats(self) -> bool:
        """Whether the state of the floating-point unit can change what this gives."""
        return uses_floats(operands_first([self.root, self.plain, self.guard]))

    @property
    def of_prepared(self) -> list[Term]:
        """``plain`` and ``guard``, of what is prepared."""
        values = {
            term: free
            for own in self.prepared
            for terms, inputs in zip(own.terms, own.inputs, strict=True)
            for term, free in zip(terms, inputs, strict=True)
        }
        return substitute([self.plain, self.guard], values)


def _integer_form(model: Model, inputs: Sequence[OperandArray]) -> _Form:
    """The model's graph without NaNs and infinities, unless some word is one."""
    ((root,),) = fitted([model.trace.output], native)
    special = [
        flag
        for operand in inputs
        for term in operand.terms
        for flush in (FALSE, TRUE)
        for x in ([decode(operand.format, term, flush=flush)] if isinstance(operand.format, Format) else [])
        for flag in (x.infinite, x.nan)
    ]
    (plain,) = substitute([root], dict.fromkeys(special, FALSE))
    return _Form(root, plain, any_of(_some_special(operand) for operand in inputs), [])


def _prepared_form(block: ProvedBlock) -> _Form | None:
    """The form in floating-point operations, of words that are prepared."""
    model, form = block.model, block.form
    (root,), (plain,), (guard,) = fitted([model.trace.output, form.result, form.guard], native)
    own = prepared({"a": model.trace.a, "b": model.trace.b}, [plain, guard])
    return None if own is None else _Form(root, plain, guard, own)


@dataclass(frozen=True)
class _Source:
    """What the functions of a kernel are written from.

    lanes: of the input variables. width: rows in a vector. least: bits of the narrowest words. bits: of a
    result.
    """

    inputs: list[OperandArray]
    form: _Form
    lanes: dict[Term, int]
    width: int
    least: int
    bits: int

    def rows(self) -> str:
        """Arrays (rows, lanes) in memory order."""

        def read(e: Emitter) -> None:
            for operand in self.inputs:
                base = e.emit(f"mul i64 %g, {self.width * len(operand.terms)}")
                bits, vectors = self._gathered(e, operand, base)
                for term, vector in zip(operand.terms, vectors, strict=True):
                    e.register[term] = e.fitted(bits, e.container(term.width), vector)

        e = Emitter(self.width, self.least)
        result = self._result(e, read, "group")
        self._store(e, result, e.emit(f"mul i64 %g, {self.width}"))
        pointers = "".join(f", ptr noalias %{operand.name}" for operand in self.inputs)
        return over_groups("rows", f"ptr noalias %d{pointers}", e.text, last="done")

    def outer(self) -> str:
        """One vector of columns for each row: A's words (and their scales) are the same in every column."""
        before, e, after = (Emitter(self.width, self.least, prefix) for prefix in ("b", "v", "a"))
        starts = {o.name: before.emit(f"mul i64 %g, %{o.name}.group") for o in self.inputs}
        (addend,) = (operand for operand in self.inputs if operand.name == "c")
        loaded = before.load("%c", addend.bits, starts["c"])
        first = before.fitted(addend.bits, before.container(addend.terms[0].width), loaded)

        def read(e: Emitter, but: Collection[str] = ()) -> None:
            e.register[addend.terms[0]] = "%c.word"
            for operand in self.inputs:
                if operand is addend or operand.name in but:
                    continue
                moved = e.emit(f"mul i64 %s, {len(operand.terms)}")
                moved = e.emit(f"mul i64 {moved}, %{operand.name}.lane")
                base = e.emit(f"add i64 {starts[operand.name]}, {moved}")
                for lane, term in enumerate(operand.terms):
                    place = e.emit(f"mul i64 %{operand.name}.lane, {lane}")
                    place = e.emit(f"add i64 {base}, {place}")
                    if operand.name in ("a", "scale_a"):
                        vector = e.repeated(operand.bits, _load(e, operand, place, f"i{operand.bits}"))
                    else:
                        vector = _load(e, operand, place)
                    e.register[term] = e.fitted(operand.bits, e.container(term.width), vector)

        def read_prepared(e: Emitter) -> None:
            read(e, {own.name for own in self.form.prepared})
            self._read_prepared(e, starts)

        result = self._result(e, read, "step", read_prepared if self.form.prepared else None)
        self._store(after, "%c.next", after.emit("mul i64 %g, %d.group"))
        names = [operand.name for operand in self.inputs]
        parameters = "".join(f", ptr noalias %{n}, i64 %{n}.lane, i64 %{n}.group" for n in names)
        for own in self.form.prepared:
            parameters += "".join(f", ptr noalias %{own.name}.{number}" for number in range(len(own.terms)))
        kind = e.type(e.container(self.form.root.width))
        body = f"""{before.text}
  br label %step
step:
  %s = phi i64 [0, %group], [%s.next, %done]
  %c.word = phi {kind} [{first}, %group], [%c.next, %done]
{e.text}
  %c.next = freeze {kind} {result}
  %s.next = add i64 %s, 1
  %s.more = icmp ult i64 %s.next, %steps
  br i1 %s.more, label %step, label %finish
finish:
{after.text}"""
        signature = f"i64 %steps, ptr noalias %d, i64 %d.group{parameters}"
        return over_groups("outer", signature, body, last="finish")

    @property
    def _lanes_with_prepared(self) -> dict[Term, int]:
        """Of the input variables, and of what is prepared of them."""
        columns = (lanes for own in self.form.prepared for lanes in own.inputs)
        return {term: lane for lanes in columns for lane, term in enumerate(lanes)} | self.lanes

    def _read_prepared(self, e: Emitter, starts: Mapping[str, str]) -> None:
        """What is prepared of a, the same in every column, and of b: lanes lie side by side."""
        for own in self.form.prepared:
            each = 1 if own.name == "a" else self.width
            moved = e.emit(f"mul i64 %s, {len(own.words) * each}")
            base = e.emit(f"add i64 {starts[own.name]}, {moved}")
            for number, (bits, lanes) in enumerate(zip(own.bits, own.inputs, strict=True)):
                pointer = f"%{own.name}.{number}"
                for lane, term in enumerate(lanes):
                    place = e.emit(f"add i64 {base}, {lane * each}")
                    if own.name == "b":
                        vector = e.load(pointer, bits, place)
                    else:
                        vector = e.repeated(bits, e.load(pointer, bits, place, f"i{bits}"))
                    e.register[term] = e.fitted(bits, e.container(term.width), vector)

    def _result(
        self,
        e: Emitter,
        read: Callable[[Emitter], None],
        block: str,
        read_prepared: Callable[[Emitter], None] | None = None,
    ) -> str:
        """The result's register, in the block ``done``; ``e`` writes the one named ``block``.

        The form serves, unless its guard says no for some row of the vector: then everything is read and
        computed once more. read_prepared: reads what the form takes, where that is something else.
        """
        root, plain, guard = self.form.root, self.form.plain, self.form.guard
        if read_prepared is not None:
            plain, guard = self.form.of_prepared
        (read_prepared or read)(e)
        e.run(schedule([plain, guard], self._lanes_with_prepared))
        if guard is FALSE:
            e.lines += ["  br label %done", "done:"]
            return e.register[plain]
        word = e.emit(f"bitcast {e.type(1)} {e.register[guard]} to i{self.width}")
        nonzero = e.emit(f"icmp ne i{self.width} {word}, 0")
        again = e.fork("s", ".again")
        for operand in self.inputs:  # the same addresses, which LLVM does not know: nothing is kept
            pointer = f"%{operand.name}"
            again.lines.append(f'  {pointer}.again = call ptr asm sideeffect "", "=r,0"(ptr {pointer})')
        read(again)
        again.run(schedule([root], self.lanes))
        e.lines += [f"  br i1 {nonzero}, label %special, label %done", "special:", *again.lines]
        e.lines += ["  br label %done", "done:"]
        kind = e.type(e.container(root.width))
        return e.emit(f"phi {kind} [{e.register[plain]}, %{block}], [{again.register[root]}, %special]")

    def _gathered(self, e: Emitter, operand: OperandArray, base: str) -> tuple[int, list[str]]:
        """One vector for each lane, from rows that lie one after the other; and the bits of its elements."""
        bits, lanes = operand.bits, len(operand.terms)
        if lanes & (lanes - 1) == 0:
            pair = 2 if bits == 8 and lanes > 1 else 1  # bytes travel in pairs: half as many shuffles
            kind, vectors = e.type(bits * pair), []
            for number in range(lanes // pair):
                place = e.emit(f"add i64 {base}, {number * self.width * pair}")
                vectors.append(_load(e, operand, place, kind))
            for _ in range(self.width.bit_length() - 1 if lanes > pair else 0):
                vectors = _shuffled(e, kind, vectors)
            if pair == 2:
                vectors = [
                    e.binary(op, 16, vector, e.constant(by, 16))
                    for vector in vectors
                    for op, by in (("and", 255), ("lshr", 8))
                ]
            return bits * pair, vectors
        kind, vectors = e.type(bits), []
        for lane in range(lanes):
            vector = "poison"
            for row in range(self.width):
                place = e.emit(f"add i64 {base}, {row * lanes + lane}")
                word = _load(e, operand, place, f"i{bits}")
                vector = e.emit(f"insertelement {kind} {vector}, i{bits} {word}, i64 {row}")
            vectors.append(vector)
        return bits, vectors

    def _store(self, e: Emitter, value: str, place: str) -> None:
        e.store("%d", self.bits, place, e.fitted(e.container(self.form.root.width), self.bits, value))


def _some_special(operand: OperandArray) -> Term:
    """Whether some word is a NaN or an infinity, with few operations: by the largest magnitude."""
    fmt = operand.format
    if not isinstance(fmt, Format) or fmt.nan_word is None:
        return FALSE
    magnitudes = [term[fmt.sign_bit - 1 if fmt.signed else fmt.width - 1 : 0] for term in operand.terms]
    least = fmt.infinity_word if fmt.has_infinity else fmt.nan_word
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:  # all bits flipped but the sign: the largest word
        magnitudes = [term ^ (fmt.nan_word - 1) for term in operand.terms]
        least = (1 << fmt.width) - 1
    return ~umax(*magnitudes).ult(least)


def _load(e: Emitter, operand: OperandArray, place: str, kind: str = "") -> str:
    return e.load(f"%{operand.name}{e.suffix}", operand.bits, place, kind)


def _shuffled(e: Emitter, kind: str, vectors: list[str]) -> list[str]:
    """One perfect shuffle of all elements in order: first half and second half interleaved."""
    half = len(vectors) // 2
    out = []
    for first, second in zip(vectors[:half], vectors[half:], strict=True):
        for start in (0, e.rows // 2):
            picks = [p for row in range(start, start + e.rows // 2) for p in (row, row + e.rows)]
            mask = ", ".join(f"i32 {p}" for p in picks)
            out.append(e.emit(f"shufflevector {kind} {first}, {kind} {second}, <{e.rows} x i32> <{mask}>"))
    return out
