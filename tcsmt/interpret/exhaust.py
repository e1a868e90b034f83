"""A term of one variable on every word of a range: compiled where the extra ``fast`` is, else NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tcsmt import jit
from tcsmt.interpret.arrays import Program
from tcsmt.interpret.limbs import fitted
from tcsmt.interpret.llvm import Emitter, container, native, schedule
from tcsmt.kernels import check_floats, declared, over_groups
from tcsmt.terms import Term, variables

__all__ = ["Exhaust"]

Array = np.ndarray[Any, np.dtype[Any]]

_ROWS = 16


class Exhaust:
    """The function of words of up to 32 bits that a term with one variable is; results fit 32 bits."""

    def __init__(self, root: Term) -> None:
        (self.variable,) = variables([root])
        self._native = None
        if jit.available():
            address = jit.functions(self._source(root), ["words"])["words"]
            number = ctypes.c_int64
            self._native = ctypes.CFUNCTYPE(None, number, ctypes.c_int32, ctypes.c_void_p)(address)
        else:
            self._program = Program([root])

    def __call__(self, start: int, count: int) -> Array:
        """The results for the words from ``start`` on: uint32."""
        if self._native is None:
            words = np.arange(start, start + count, dtype=np.uint64).astype(np.uint32)
            return self._program.run({str(self.variable.data): words})[0].astype(np.uint32)
        check_floats()
        groups = -(-count // _ROWS)
        result = np.empty(groups * _ROWS, dtype=np.uint32)
        self._native(groups, int(np.uint32(start).view(np.int32)), result.ctypes.data)
        return result[:count]

    def _source(self, root: Term) -> str:
        ((root,),) = fitted([root], native)
        e = Emitter(_ROWS)
        kind = e.type(32)
        word = e.emit("trunc i64 %g to i32")
        word = e.emit(f"mul i32 {word}, {_ROWS}")
        word = e.emit(f"add i32 {word}, %start")
        head = e.emit(f"insertelement {kind} poison, i32 {word}, i64 0")
        same = e.emit(f"shufflevector {kind} {head}, {kind} poison, {kind} zeroinitializer")
        steps = ", ".join(f"i32 {row}" for row in range(_ROWS))
        words = e.emit(f"add {kind} {same}, <{steps}>")
        width = self.variable.width
        e.register[self.variable] = e.masked(
            width, e.convert("trunc", 32, container(width), words) if container(width) < 32 else words
        )
        e.run(schedule([root], {}))
        held = container(root.width)
        value = e.register[root]
        value = value if held == 32 else e.convert("trunc" if held > 32 else "zext", held, 32, value)
        place = e.emit(f"mul i64 %g, {_ROWS}")
        address = e.emit(f"getelementptr i32, ptr %d, i64 {place}")
        e.lines.append(f"  store {kind} {value}, ptr {address}, align 4")
        return declared(over_groups("words", "i32 %start, ptr noalias %d", e.text))
