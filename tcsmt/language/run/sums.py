"""Sums of terms over all values of one word, at many points of the other words: for long enumerations.

What does not depend on the innermost word is computed once at a point; the rest in vectors. LLVM's code and
NumPy's share nothing but the graph and the split into limbs, and must give the same sums.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import jit
from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import Term, operands_first
from tcsmt.language.write.llvm import Emitter, declared, native, over_groups, schedule
from tcsmt.support.floats import check_floats

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows of a vector, at most: more than a register has, so that truth values fill one.
_ROWS = 64
#: Points whose words are computed together.
_GROUP = 16
#: Rows that NumPy computes at a time.
_BLOCK = 1 << 14


def dependents(nodes: Sequence[Term], inner: Term) -> set[Term]:
    """Return those of the nodes, arguments first, that depend on a variable."""
    result = {inner}
    for node in nodes:
        if any(arg in result for arg in node.args):
            result.add(node)
    return result


class LlvmSums:
    """For each point, the sum of each root over all values of ``inner``, modulo 2^32.

    roots: words of up to 32 bits. outer: the other variables. Points are columns of uint32, one for each of
    ``outer``: shape (variables, points). The result has the shape (roots, points). Needs the extra ``fast``.
    """

    def __init__(self, roots: Sequence[Term], outer: Sequence[Term], inner: Term) -> None:
        self._roots = len(roots)
        text = _Nest(roots, outer, inner).text
        self._native = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
            jit.functions(text, ["sums"])["sums"]
        )

    def __call__(self, points: Array) -> Array:
        """Return the sums at the points."""
        check_floats()
        points = np.ascontiguousarray(points, dtype=np.uint32)
        sums = np.zeros((self._roots, points.shape[1]), dtype=np.uint32)
        if points.shape[1]:
            self._native(points.shape[1], points.ctypes.data, sums.ctypes.data)
        return sums


class _Nest:
    """The text of a loop over points around a loop over the inner word."""

    def __init__(self, roots: Sequence[Term], outer: Sequence[Term], inner: Term) -> None:
        roots = [limb for limbs in fitted(roots, native) for limb in limbs]
        nodes = operands_first(roots)
        within = dependents(nodes, inner)
        self.rows = min(_ROWS, 1 << inner.width)
        self.point, self.row = Emitter(1, prefix="p"), Emitter(self.rows)
        self.row.bounds = self.point.bounds
        self.row.register = _InAllRows(self.point, self.row)
        order = schedule(roots, {})
        for place, variable in enumerate(outer):
            _take(self.point, place, "%i", variable)
        self.point.run([node for node in order if node not in within])
        held = self.row.container(inner.width)
        first = self.row.emit(f"trunc i64 %t to i{held}")
        self.row.register[inner] = self.row.counted(held, first)
        # the sums of which a part is the same in all rows begin with that part
        arguments = {arg for node in within for arg in node.args} - within
        for node in nodes:  # in the same order in every run
            if node in arguments:
                self.row.register[node]
        self.row.run([node for node in order if node in within or node in arguments])
        self.text = self._text([(root, self.row.register[root]) for root in roots], inner)

    def _text(self, roots: Sequence[tuple[Term, str]], inner: Term) -> str:
        e, kind = self.row, self.row.type(32)
        phis, ends = [], []
        for place, (root, register) in enumerate(roots):
            word = e.fitted(e.container(root.width), 32, register)
            total = e.emit(f"add {kind} %sum{place}, {word}")
            phis.append(f"  %sum{place} = phi {kind} [zeroinitializer, %point], [{total}, %row]")
            ends.append(f"""  %all{place} = call i32 @llvm.vector.reduce.add.v{self.rows}i32({kind} {total})
  %column{place} = mul i64 %points, {place}
  %index{place} = add i64 %column{place}, %i
  %address{place} = getelementptr i32, ptr %found, i64 %index{place}
  store i32 %all{place}, ptr %address{place}, align 4""")
        lines = "\n"
        return declared(f"""define void @sums(i64 %points, ptr noalias %given, ptr noalias %found) {{
entry:
  br label %point
point:
  %i = phi i64 [0, %entry], [%i.next, %last]
{self.point.text}
  br label %row
row:
  %t = phi i64 [0, %point], [%t.next, %row]
{lines.join(phis)}
{e.text}
  %t.next = add i64 %t, {self.rows}
  %t.more = icmp ult i64 %t.next, {1 << inner.width}
  br i1 %t.more, label %row, label %last
last:
{lines.join(ends)}
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %points
  br i1 %i.more, label %point, label %exit
exit:
  ret void
}}
""")


def _take(e: Emitter, place: int, start: str, variable: Term) -> None:
    """Take a variable's words from the column at a place, from one of its points on."""
    column = e.emit(f"mul i64 %points, {place}")
    index = e.emit(f"add i64 {column}, {start}")
    e.take(variable, 32, e.load("%given", 32, index))


class _InAllRows(dict[Term, str]):
    """Registers of vectors; a word of the point is put into all rows when it is first asked for."""

    def __init__(self, point: Emitter, row: Emitter) -> None:
        super().__init__()
        self._point, self._row = point, row

    def __missing__(self, node: Term) -> str:
        bits = self._point.container(node.width)
        if node.value is not None:
            register = self._row.constant(node.value, bits)
        else:
            kind = f"<1 x i{bits}>"
            register = self._point.emit(
                f"shufflevector {kind} {self._point.register[node]}, {kind} poison, "
                f"<{self._row.rows} x i32> zeroinitializer"
            )
        self[node] = register
        return register


class LlvmWords:
    """A root's word at each point: uint64. Root: up to 64 bits; points: as for :class:`LlvmSums`."""

    def __init__(self, root: Term, outer: Sequence[Term]) -> None:
        address = jit.functions(self._text(root, outer), ["words"])["words"]
        self._native = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
        )(address)

    def __call__(self, points: Array) -> Array:
        """Return the words at the points."""
        check_floats()
        count = points.shape[1]
        groups = -(-count // _GROUP)
        sums_of_groups = np.zeros((points.shape[0], groups * _GROUP), dtype=np.uint32)
        sums_of_groups[:, :count] = points
        words = np.zeros(groups * _GROUP, dtype=np.uint64)
        if groups:
            self._native(groups, groups * _GROUP, sums_of_groups.ctypes.data, words.ctypes.data)
        return words[:count]

    def _text(self, root: Term, outer: Sequence[Term]) -> str:
        ((root,),) = fitted([root], native)
        e = Emitter(_GROUP)
        start = e.emit(f"mul i64 %g, {_GROUP}")
        for place, variable in enumerate(outer):
            _take(e, place, start, variable)
        e.run(schedule([root], {}))
        e.store("%found", 64, start, e.fitted(e.container(root.width), 64, e.register[root]))
        return declared(over_groups("words", "i64 %points, ptr noalias %given, ptr noalias %found", e.text))


class ArraySums:
    """The same as :class:`LlvmSums`, by NumPy."""

    def __init__(self, roots: Sequence[Term], outer: Sequence[Term], inner: Term) -> None:
        self._program = Program(roots)
        self._outer, self._inner = [str(variable.data) for variable in outer], inner

    def __call__(self, points: Array) -> Array:
        """Return the sums at the points."""
        size = 1 << self._inner.width
        some = max(1, _BLOCK // size)
        sums = [
            self._of_some(points[:, start : start + some], size) for start in range(0, points.shape[1], some)
        ]
        return np.concatenate(sums, axis=1)

    def _of_some(self, points: Array, size: int) -> Array:
        columns = {name: np.repeat(words, size) for name, words in zip(self._outer, points, strict=True)}
        columns[str(self._inner.data)] = np.tile(np.arange(size, dtype=np.uint32), points.shape[1])
        results = self._program.run(columns)
        return np.array(
            [words.astype(np.uint32).reshape(-1, size).sum(axis=1, dtype=np.uint32) for words in results]
        )
