"""Tiles of telling rows: registers of A, B and C with D's by the simulator, for each function of a kit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.interop.hardware.instructions import RegisterOperand
from tcsmt.interop.kits.instructions import KitFunction
from tcsmt.simulate.rows import Words, run_words

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Tiles:
    """Calls of a function without modifiers: each operand's registers of 32 bits, (tiles, registers)."""

    a: Array
    b: Array
    c: Array
    d: Array

    @classmethod
    def of(cls, function: KitFunction, rows: Words) -> Tiles:
        """Return tiles that have each row as an element of D, on a diagonal; the others are combinations.

        rows: words of a and b (rows, k), c (rows,).
        """
        tile, model = function.tile, function.row.model
        if function.kind == "lanes":
            lanes = function.sizes["d"]
            count = -(-len(rows.c) // lanes)
            numbers = np.arange(count * lanes) % len(rows.c)
            a, b, c = rows.a[numbers], rows.b[numbers], rows.c[numbers]
            d = run_words(model, Words(a, b, c))
            fields = [_lane_fields(x.reshape(count, lanes, -1), w) for x, w in (
                (a, model.a_format.width), (b, model.b_format.width), (c, 32), (d, 32))]  # fmt: skip
            return cls(*fields)
        diagonal = min(tile.m, tile.n)
        count = -(-len(rows.c) // (diagonal * tile.matrices))
        start = np.arange(count * tile.matrices)[:, None] * diagonal
        of_a, of_b = ((start + np.arange(size) % diagonal) % len(rows.c) for size in (tile.m, tile.n))
        of_c = (start[:, :, None] + np.minimum(np.arange(tile.m)[:, None], np.arange(tile.n))) % len(rows.c)
        a, b, c = rows.a[of_a], rows.b[of_b], rows.c[of_c]
        pairs = (*of_c.shape, tile.k)
        flat = Words(
            np.broadcast_to(a[:, :, None], pairs).reshape(-1, tile.k),
            np.broadcast_to(b[:, None], pairs).reshape(-1, tile.k),
            c.reshape(-1),
        )
        d = run_words(model, flat).reshape(of_c.shape)
        matrices = [x.reshape(count, tile.matrices, *x.shape[1:]) for x in (a, b, c, d)]
        if function.kind == "tiles":
            return cls(
                *(
                    _in_rows(x[:, 0], side, model.a_format.width)
                    for x, side in zip(matrices, "abcd", strict=True)
                )
            )
        return cls(
            *(_registers(operand, x) for operand, x in zip(tile.operands.values(), matrices, strict=True))
        )

    @cached_property
    def text(self) -> str:
        """Return the tiles as text: how many, and each tile's registers of A, B, C and D in hexadecimal."""
        return "\n".join([str(len(self.a)), *self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        for parts in zip(self.a, self.b, self.c, self.d, strict=True):
            yield ""
            for words in parts:
                for first in range(0, len(words), 8):
                    yield " ".join(f"{int(word):08x}" for word in words[first : first + 8])


def _registers(operand: RegisterOperand, matrices: Array) -> Array:
    """Return the registers of all threads. matrices: words, shape (tiles, matrices, rows, columns)."""
    fragment, bits = operand.fragment, operand.bits
    threads, elements = 1 << len(fragment.threads), 1 << len(fragment.elements)
    size = max(1, elements * bits // 32)
    found = np.zeros((len(matrices), threads, size), np.uint64)
    for thread in range(threads):
        for element in range(elements):
            words = matrices[(slice(None), *fragment.place(thread, element))].astype(np.uint64)
            register, shift = divmod(element * bits, 32)
            found[:, thread, register] |= (words << np.uint64(shift + operand.padding)) & np.uint64(
                0xFFFFFFFF
            )
            if bits == 64:
                found[:, thread, register + 1] = words >> np.uint64(32)
    return found.reshape(len(matrices), -1).astype(np.uint32)


def _lane_fields(words: Array, width: int) -> Array:
    """Return words of each lane side by side in one register. words: shape (calls, lanes, words)."""
    shifts = np.arange(words.shape[-1], dtype=np.uint32) * np.uint32(width if words.shape[-1] > 1 else 0)
    packed: Array = np.bitwise_or.reduce(words.astype(np.uint32) << shifts, axis=-1)
    return packed


def _in_rows(words: Array, side: str, width: int) -> Array:
    """Return the registers of two-dimensional tiles: rows of 64 bytes; of B, one for every 4 bytes of k.

    words: shape (tiles, rows, columns).
    """
    if side in "cd":
        return words.reshape(len(words), -1).astype(np.uint32)
    each = 32 // width
    pairs = words.reshape(*words.shape[:-1], -1, each).astype(np.uint32)
    packed = np.bitwise_or.reduce(pairs << (np.arange(each, dtype=np.uint32) * np.uint32(width)), axis=-1)
    tiles: Array = packed.swapaxes(1, 2) if side == "b" else packed
    return tiles.reshape(len(words), -1)
