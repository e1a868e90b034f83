"""A term of one variable on every word of a range, computed twice: enumerations that serve as proofs.

Every word is computed by two back ends that have no code generator in common, and both must say the same.
They are the first two that are there of: LLVM (the extra ``fast``), a C compiler, NumPy. Measured on one
core (Zen 3) on splits of all 2^32 words: 90 to 150 million words a second, 30 to 45 million, and 3 to 7
million.

What both trust is the term itself, with the simplifications of its constructors; the definitions of macros
(LLVM has leading zeros as an instruction, the others compute them by the definition); and, where words are
wider than 64 bits, one translation into limbs, of 64 bits for LLVM and NumPy, of 32 for C. All of these are
held against integers in the tests (``tests/language/graphs``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import cc, jit
from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, operands_first, variables
from tcsmt.language.write import c
from tcsmt.language.write.llvm import Emitter, container, declared, native, over_groups, schedule
from tcsmt.support.errors import InternalError
from tcsmt.support.floats import check_floats

Array = np.ndarray[Any, np.dtype[Any]]

#: Bits of inputs and results, at most.
BITS = 32
#: So many words are done by NumPy before a compiler has compiled.
_FEW = 1 << 20


class BackEnd(Protocol):
    """A term's function, made to run."""

    name: str

    def __call__(self, start: int, count: int) -> Array:
        """Return the results for the words from ``start`` on: uint32."""


class ExhaustiveEvaluator:
    """The function of words of up to 32 bits that a term with one variable is; results fit 32 bits.

    how: what computes it, for the text of a proof.
    """

    def __init__(self, root: Term) -> None:
        (variable,) = variables([root])
        if max(root.width, variable.width) > BITS:
            raise ValueError(f"{variable} to {root}: must be words of {BITS} bits")
        self._words = 1 << variable.width
        self._back_ends = [kind(root, variable) for kind in _chosen(self._words)]
        names = [back_end.name for back_end in self._back_ends]
        self.how = f"{' and '.join(names)}, every word the same" if len(names) > 1 else f"{names[0]} alone"

    def __call__(self, start: int, count: int) -> Array:
        """Return the results for the words from ``start`` on: uint32. Raises InternalError where two
        differ.
        """
        if not 0 <= start <= start + count <= self._words:
            raise ValueError(f"words {start} to {start + count}: must be within 0 to {self._words}")
        if not count:
            return np.empty(0, dtype=np.uint32)
        counts = [back_end(start, count) for back_end in self._back_ends]
        wrong = np.flatnonzero(counts[0] != counts[-1])
        if len(wrong):
            texts = [
                f"{back_end.name} gives {int(words[wrong[0]]):#x}"
                for back_end, words in zip(self._back_ends, counts, strict=True)
            ]
            raise InternalError(f"for the word {start + int(wrong[0]):#x} {' and '.join(texts)}")
        return counts[0]


class _Llvm:
    """Compiled by LLVM, as the simulator is."""

    rows = 16

    def __init__(self, root: Term, variable: Term) -> None:
        self.name = jit.version()
        address = jit.functions(self._source(root, variable), ["words"])["words"]
        self._native = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p)(address)

    def __call__(self, start: int, count: int) -> Array:
        check_floats()
        groups = -(-count // self.rows)
        result = np.empty(groups * self.rows, dtype=np.uint32)
        self._native(groups, int(np.uint32(start).view(np.int32)), result.ctypes.data)
        return result[:count]

    def _source(self, root: Term, variable: Term) -> str:
        ((root,),) = fitted([root], native)
        e = Emitter(self.rows)
        word = e.emit("trunc i64 %g to i32")
        word = e.emit(f"mul i32 {word}, {self.rows}")
        word = e.emit(f"add i32 {word}, %start")
        e.take(variable, 32, e.counted(32, word))
        e.run(schedule([root], {}))
        value = e.fitted(container(root.width), 32, e.register[root])
        e.store("%d", 32, e.emit(f"mul i64 %g, {self.rows}"), value)
        return declared(over_groups("words", "i32 %start, ptr noalias %d", e.text))


class _C:
    """Compiled by the machine's C compiler."""

    def __init__(self, root: Term, variable: Term) -> None:
        self.name = cc.version()
        address = cc.functions(self._source(root, variable), ["words"])["words"]
        self._native = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_uint32, ctypes.c_void_p)(address)

    def __call__(self, start: int, count: int) -> Array:
        groups = -(-count // c.ROWS)
        result = np.empty(groups * c.ROWS, dtype=np.uint32)
        self._native(groups, start, result.ctypes.data)
        return result[:count]

    def _source(self, root: Term, variable: Term) -> str:
        ((root,),) = c.plain([root])
        ones = (1 << variable.width) - 1
        argument = "-(given & 1u)" if variable.width == 1 else f"given & {ones:#x}u"
        lines, names = c.statements(operands_first([root]), {variable: "input"})
        result = f"{names[root]} & 1u" if root.width == 1 else names[root]
        body = "\n    ".join(lines)
        return f"""{c.PROLOGUE}
void words(int64_t groups, uint32_t start, uint32_t *results) {{
  for (int64_t group = 0; group < groups; group++) {{
    word given = ALL(start + (uint32_t)group * {c.ROWS}u) + (word){{{", ".join(map(str, range(c.ROWS)))}}};
    word input = {argument};
    {body}
    word result = {result};
    __builtin_memcpy(results + group * {c.ROWS}, &result, sizeof result);
  }}
}}
"""


class _Arrays:
    """Interpreted with NumPy."""

    def __init__(self, root: Term, variable: Term) -> None:
        self.name = f"NumPy {np.__version__}"
        self._program, self._variable = Program([root]), str(variable.data)

    def __call__(self, start: int, count: int) -> Array:
        words = np.arange(start, start + count, dtype=np.uint64).astype(np.uint32)
        (result,) = self._program.run({self._variable: words})
        return result.astype(np.uint32, copy=False)


def _chosen(words: int) -> Sequence[type[_Llvm] | type[_C] | type[_Arrays]]:
    """Return the two back ends that serve, one where there are no more; one compiler where words are few."""
    compilers: list[type[_Llvm] | type[_C] | type[_Arrays]] = []
    if jit.available():
        compilers.append(_Llvm)
    if cc.available() and not (compilers and words <= _FEW):
        compilers.append(_C)
    return [*compilers, _Arrays][:2]
