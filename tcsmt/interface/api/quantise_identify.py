"""Which quantisers give the elements and scales of a file? ``tcsmt.identify_quantiser``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from tcsmt.identification.quantisers.identify import (
    Candidate,
    Exclusion,
    QuantisedFile,
    QuantiserSearch,
    element_formats,
)
from tcsmt.identification.quantisers.identify import identify_quantiser as search
from tcsmt.interface.api.arrays import as_numpy
from tcsmt.interface.api.quantise import Side
from tcsmt.interface.api.quantisers import block_text, word_text
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import counted

Array = np.ndarray[Any, np.dtype[Any]]
#: Rows that do not give the file, of which so many are shown.
_SHOWN = 3
_WIDE = ("f32", "bf16", "f16")


@dataclass(frozen=True, repr=False)
class IdentifiedQuantiser(Result):
    """The quantisers that give the elements and scales of a file bit for bit, and what excludes the others.

    found: their names. search: all of it. file: what was given.
    """

    search: QuantiserSearch
    file: QuantisedFile

    @property
    def found(self) -> tuple[str, ...]:
        """Return the names of the rows that give the file."""
        return tuple(_name(one) for one in self.search.found)

    @property
    def exit_code(self) -> Exit:
        """0: a row gives the file; 1: none does."""
        return Exit.of(bool(self.found))

    def _facts(self) -> dict[str, Any]:
        return {
            "shape": list(self.file.shape), "block": list(self.file.block), "found": list(self.found),
            "excluded": [self._excluded(one) for one in self.search.excluded],
            "untried": dict(self.search.untried),
        }  # fmt: skip

    def _excluded(self, one: Candidate) -> dict[str, Any]:
        first = one.first
        facts: dict[str, Any] = {
            "quantiser": _name(one), "scales": one.scales, "elements": one.elements, "blocks": one.blocks,
        }  # fmt: skip
        if first is not None:
            facts["first"] = {
                "place": list(first.place), "what": first.what, "number": str(first.number),
                "largest": str(first.largest), "file": first.format.hex(first.given),
                "quantiser": first.format.hex(first.wanted),
            }  # fmt: skip
        return facts

    def _lines(self) -> Iterator[str]:
        file = self.file
        size = " x ".join(map(str, file.shape))
        whole = file.block == file.shape
        yield f"{size}, blocks of {'the whole matrix' if whole else block_text(file.block)}"
        if not self.found:
            yield "no quantiser of the catalogue gives these elements and scales"
        else:
            many = len(self.found)
            yield f"{counted(many, 'quantiser')} give{'s' if many == 1 else ''} them, bit for bit:"
        for one in self.search.found:
            if one.usual:
                kept = ", whose reciprocals the file has" if one.inverted else ""
                yield f"  {_name(one)}: {one.quantiser.source}{kept}"
        if others := [_name(one) for one in self.search.found if not one.usual]:
            yield from _listed("with other blocks than the file has:", others)
        if self.search.excluded:
            yield "excluded, the nearest first:"
        for one in self.search.excluded[:_SHOWN]:
            count = counted(one.blocks, "block")
            yield f"  {_name(one)}: {one.scales} scales and {one.elements} elements of {count} differ"
            yield from _why(one.first)
        if more := self.search.excluded[_SHOWN:]:
            yield f"  and {counted(len(more), 'other')}"
        if self.search.untried:
            yield from _listed("not tried (--json says why):", [name for name, _ in self.search.untried])

    @property
    def _title(self) -> str:
        return f"of {' x '.join(map(str, self.file.shape))}: {', '.join(self.found) or 'none'}"


def _name(one: Candidate) -> str:
    row = one.quantiser
    return row.name if row.form in ("", row.formats[0]) else f"{row.name}:{row.form}"


def _why(first: Exclusion | None) -> Iterator[str]:
    if first is None:
        return
    row, column = first.place
    about = f"{first.number:.9g} at ({row}, {column})"
    if first.what == "scale":
        about = f"the block at ({row}, {column})"
    yield f"    first: the {first.what} of {about}, where the largest magnitude is {first.largest:.9g}:"
    given, wanted = (word_text(first.format, word) for word in (first.given, first.wanted))
    yield f"    the file has {given}, the quantiser gives {wanted}"


def _listed(told: str, names: list[str]) -> Iterator[str]:
    yield told
    yield from wrap(", ".join(names), 100, initial_indent="  ", subsequent_indent="  ")


@ieee_floats
def identify_quantiser(
    x: Any,
    codes: Any,
    scales: Any,
    *,
    format: str | None = None,  # noqa: A002
    side: Side = "a",
    factor: float | None = None,
    nearest: bool = False,
) -> IdentifiedQuantiser:
    """Return which quantisers of the catalogue give the elements and scales of a matrix, bit for bit, and the
    first element that excludes each other one.

    Every row is tried with the blocks that the shape of the scales says. NaNs count as the same whatever
    their words.

    Args:
        x: The matrix before: (M, K), or (K, N) as B, of float32, bfloat16 or float16.
        codes: Its elements: an array of their dtype, or of words; two E2M1 numbers in a byte, the first in
            the low half, where it has half of the columns.
        scales: The scales as the library keeps them: (M, blocks), (M,), or one; float32, bfloat16, or words
            of E8M0 or E4M3 (uint8).
        format: The format of the elements. [default: each one that words of this size may have]
        side: a: (M, K); b: (K, N). Blocks lie along K.
        factor: A factor that the caller gave the library, where it takes one.
        nearest: Functions of which only approximations are known give the nearest number; else these rows are
            not tried.

    Raises :class:`tcsmt.TcsmtError` for shapes and dtypes that do not fit.

    >>> import numpy as np, tcsmt
    >>> x = np.arange(64, dtype=np.float32).reshape(2, 32)
    >>> q = tcsmt.quantise(x, "mxfp8")
    >>> "torchao/to_mx.floor" in tcsmt.identify_quantiser(x, q.values, q.scales).found
    True
    """
    choose("side", side, ("a", "b"))
    numbers = _matrix(x, "x", side)
    if numbers.dtype not in [dtype_of(FORMATS[name]) for name in _WIDE]:
        raise TcsmtError(f"x has dtype {numbers.dtype}: must be float32, bfloat16 or float16")
    elements = _elements(_matrix(codes, "codes", side), numbers.shape)
    kept = _scales(np.asarray(as_numpy(scales, "scales")), side, numbers.shape)
    rows, columns = numbers.shape
    block = rows // kept.shape[0], columns // kept.shape[1]
    if rows % kept.shape[0] or columns % kept.shape[1]:
        raise TcsmtError(
            f"scales have shape {kept.shape}: {rows} x {columns} numbers are not whole blocks of them"
        )
    named = _named(np.asarray(as_numpy(codes, "codes")), format)
    file = QuantisedFile(
        numbers=_cut(numbers, block), codes=_cut(elements, block), scales=kept.reshape(-1), block=block,
        shape=(rows, columns), formats=element_formats(elements, named), factor=factor,
    )  # fmt: skip
    return IdentifiedQuantiser(search(file, nearest=nearest), file)


def _matrix(values: Any, name: str, side: Side) -> Array:
    array = np.asarray(as_numpy(values, name))
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.size:
        raise TcsmtError(f"{name} has shape {array.shape}: must be a matrix")
    return array.T if side == "b" else array


def _elements(codes: Array, shape: tuple[int, ...]) -> Array:
    """Return words, one in a byte."""
    if codes.dtype.itemsize != 1:
        raise TcsmtError(f"codes have dtype {codes.dtype}: must be of 8 bits")
    words = np.ascontiguousarray(codes).view(np.uint8)
    if words.shape == (shape[0], shape[1] // 2) and not shape[1] % 2:
        words = np.stack([words & np.uint8(15), words >> np.uint8(4)], -1).reshape(shape)
    if words.shape != shape:
        raise TcsmtError(
            f"codes have shape {codes.shape}: must be {shape}, that of x, or half of its columns"
        )
    return words


def _named(codes: Array, name: str | None) -> tuple[str, ...]:
    """Return the formats that a name or a dtype says; none: any."""
    if name is not None:
        return (name,)
    if codes.dtype == np.int8:
        return ("s8", "s4")
    if codes.dtype in (np.uint8, np.bool_):
        return ()
    return tuple(
        fmt for fmt in FORMATS if fmt not in ("ue4m3", "ue8m0") and dtype_of(FORMATS[fmt]) == codes.dtype
    )


def _scales(scales: Array, side: Side, shape: tuple[int, ...]) -> Array:
    """Return the words of scales: (blocks of rows, blocks along K), uint8 or those of binary32."""
    if scales.dtype.itemsize == 1:
        words = np.ascontiguousarray(scales).reshape(scales.shape).view(np.uint8)
    elif scales.dtype == np.uint32:
        words = scales
    elif scales.dtype in [dtype_of(FORMATS[name]) for name in _WIDE]:
        words = np.ascontiguousarray(scales.astype(np.float32)).reshape(scales.shape).view(np.uint32)
    else:
        raise TcsmtError(f"scales have dtype {scales.dtype}: must be float32, bfloat16, float16 or of 8 bits")
    if words.ndim == 2:
        return words.T if side == "b" else words
    if words.ndim < 2 and (words.size == 1 or words.size % shape[0] == 0):
        return words.reshape(1, 1) if words.size == 1 else words.reshape(shape[0], -1)
    raise TcsmtError(f"scales have shape {scales.shape}: must be one, or a matrix of one for each block")


def _cut(matrix: Array, block: tuple[int, int]) -> Array:
    """Return (blocks, numbers of a block)."""
    high, long = block
    rows, columns = matrix.shape
    parts = np.ascontiguousarray(matrix).reshape(rows // high, high, columns // long, long)
    return np.ascontiguousarray(parts.swapaxes(1, 2)).reshape(-1, high * long)
