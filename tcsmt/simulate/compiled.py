"""A model compiled to machine code: loops over rows around the instructions of its term graph."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run.floats import check_floats
from tcsmt.language.run.jit import functions
from tcsmt.language.terms import FALSE, TRUE, Term, any_of, operands_first, substitute, umax
from tcsmt.language.write.llvm import Emitter, container, declared, native, over_groups, schedule
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.support.errors import TcsmtError

__all__ = [
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
    """The machine code of one model, with two entries.

    ``rows``: arrays of shape (rows, lanes), one dot-add for each row.
    ``outer``: one vector of columns against many rows of A, through several chained steps.
    """

    def __init__(self, model: Model) -> None:
        self.operands = operands(model)
        self.output = unsigned(model.d_format)
        ((root,),) = fitted([model.trace.output], native)
        nodes = operands_first([root])
        self.floats = any(str(node.data).startswith("fma.") for node in nodes if node.op == "macro")
        operand_bits = container(max(model.a_format.width, model.b_format.width))
        self.width = VECTOR // operand_bits
        self.chains = model.c_format == model.d_format
        source = _Source(
            self.operands, root, lanes(model), self.width, min(operand_bits, 32), self.output.itemsize * 8
        )
        texts = {"rows": source.rows(), **({"outer": source.outer()} if self.chains else {})}
        addresses = functions(declared("\n".join(texts.values())), list(texts))
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        count = len(self.operands)
        self._rows = ctypes.CFUNCTYPE(None, number, pointer, *[pointer] * count)(addresses["rows"])
        if self.chains:
            self._outer = ctypes.CFUNCTYPE(
                None, number, number, pointer, number, *[pointer, number, number] * count
            )(addresses["outer"])

    def rows(self, arrays: Sequence[Array]) -> Array:
        """The results for every row; ``arrays`` as in ``operands``: (rows, lanes), c (rows,)."""
        self._check_environment()
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

    def outer(
        self, rows: int, steps: int, d: Array, d_group: int, inputs: Sequence[tuple[Array, int, int]]
    ) -> None:
        """For each of ``rows`` rows: ``width`` neighbouring columns, ``steps`` chained instructions.

        inputs: for every operand its array and the distances, in elements, from lane to lane and
        from row to row. ``d`` is written at a distance of ``d_group`` from row to row.
        """
        self._check_environment()
        flat = [value for array, *strides in inputs for value in (array.ctypes.data, *strides)]
        self._outer(rows, steps, d.ctypes.data, d_group, *flat)

    def _check_environment(self) -> None:
        if self.floats:
            check_floats()


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
        _kernels[model] = MachineCode(model)
    return _kernels[model]


@dataclass(frozen=True)
class _Source:
    """What the functions of a kernel are written from.

    root: the result. lanes: of the input variables. width: rows in a vector. least: bits of the narrowest
    words. bits: of a result.
    """

    inputs: list[OperandArray]
    root: Term
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

        def read(e: Emitter) -> None:
            e.register[addend.terms[0]] = "%c.word"
            for operand in self.inputs:
                if operand is addend:
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

        result = self._result(e, read, "step")
        self._store(after, "%c.next", after.emit("mul i64 %g, %d.group"))
        names = [operand.name for operand in self.inputs]
        parameters = "".join(f", ptr noalias %{n}, i64 %{n}.lane, i64 %{n}.group" for n in names)
        kind = e.type(e.container(self.root.width))
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

    def _result(self, e: Emitter, read: Callable[[Emitter], None], block: str) -> str:
        """The result's register, in the block ``done``; ``e`` writes the one named ``block``.

        A graph without NaNs and infinities serves, unless an input of the vector is one: then
        everything is read and computed once more.
        """
        special = [
            flag
            for operand in self.inputs
            for term in operand.terms
            for flush in (FALSE, TRUE)
            for x in (
                [decode(operand.format, term, flush=flush)] if isinstance(operand.format, Format) else []
            )
            for flag in (x.infinite, x.nan)
        ]
        (plain,) = substitute([self.root], dict.fromkeys(special, FALSE))
        guard = any_of(_some_special(operand) for operand in self.inputs)
        read(e)
        e.run(schedule([plain, guard], self.lanes))
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
        again.run(schedule([self.root], self.lanes))
        e.lines += [f"  br i1 {nonzero}, label %special, label %done", "special:", *again.lines]
        e.lines += ["  br label %done", "done:"]
        kind = e.type(e.container(self.root.width))
        return e.emit(f"phi {kind} [{e.register[plain]}, %{block}], [{again.register[self.root]}, %special]")

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
        e.store("%d", self.bits, place, e.fitted(e.container(self.root.width), self.bits, value))


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
