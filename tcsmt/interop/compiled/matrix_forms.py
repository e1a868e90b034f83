"""Matrix instructions of PTX: which unit each is, where its elements lie, and what an element multiplies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcsmt.interop.compiled.terms import Bytes, DotProduct, TermGraph
from tcsmt.interop.compiled.trace import ByteLanes, Event, Read
from tcsmt.interop.hardware.instructions import RegisterOperand, Tile
from tcsmt.support.errors import TcsmtError

_INTEGERS = tuple(
    f"{overflow}s32.{a}.{b}.s32"
    for overflow in ("", "satfinite.")
    for a in ("s8", "u8")
    for b in ("s8", "u8")
)
#: Of ``mma.sync.aligned``: shape, and formats of d, a, b and c.
_SHAPES = {
    "m16n8k16": ("f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32", *_INTEGERS),
    "m16n8k8": ("f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32", "f32.tf32.tf32.f32"),
    "m16n8k4": ("f32.tf32.tf32.f32",),
    "m16n8k32": (
        *(f"{d}.{a}.{b}.{d}" for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
        *_INTEGERS,
    ),
}
#: Names of instructions, and how the catalogue names them after the architecture.
MATRIX_FORMS = {
    f"mma.sync.aligned.{shape}.row.col.{formats}": f"mma.{shape}.{formats}"
    for shape, several in _SHAPES.items()
    for formats in several
}
#: Of ``wgmma.mma_async.sync.aligned``: K, and formats of d, a and b.
_WARPGROUP = (
    ("k16", "f32.f16.f16"), ("k16", "f16.f16.f16"), ("k16", "f32.bf16.bf16"), ("k8", "f32.tf32.tf32"),
    *(("k32", f"{d}.{a}.{b}") for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *(("k32", formats.removesuffix(".s32")) for formats in _INTEGERS),
)  # fmt: skip
#: Names of instructions: how the catalogue names them after the architecture, and N.
WARPGROUP_FORMS = {
    f"wgmma.mma_async.sync.aligned.m64n{n}{k}.{formats}": (f"wgmma.m64nN{k}.{formats}", n)
    for k, formats in _WARPGROUP
    for n in range(8, 257, 8)
}


@dataclass(frozen=True)
class Fragments:
    """One matrix instruction: the catalogue's name of its unit, and where its elements are in registers."""

    unit: str
    tile: Tile

    def registers(self, name: str) -> int:
        """Return in how many registers a thread holds A, B, C or D."""
        return self.tile.registers(self.tile.operands[name])

    @cached_property
    def places(self) -> Mapping[str, Mapping[tuple[int, int], tuple[int, int]]]:
        """Return the lane and the element of each row and column, by the operand's name."""
        return {
            name: {
                fragment.place(lane, element)[1:]: (lane, element)
                for lane in range(self.tile.threads)
                for element in range(1 << len(fragment.elements))
            }
            for name, fragment in ((name, x.fragment) for name, x in self.tile.operands.items())
        }


@dataclass(frozen=True)
class Multiplied(Event):
    """``mma.sync`` of all warps. a, b, c: the bytes of each register of an operand."""

    fragments: Fragments
    a: Sequence[ByteLanes]
    b: Sequence[ByteLanes]
    c: Sequence[ByteLanes]
    error: Callable[[str], TcsmtError]

    @property
    def sizes(self) -> tuple[int, ...]:  # type: ignore[override]
        """Return the sizes of D's registers."""
        return (self.fragments.tile.register // 8,) * self.fragments.registers("D")

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Return the codes of a row of A, a column of B and a number of C, for each number in a register."""
        return [
            code
            for row, column in self._elements(output, lane)
            for places in self._taken(row, column, lane)
            for _, places_of in places
            for code, _ in places_of
            if code
        ]

    def value(self, output: int, lane: int, read: Read, terms: TermGraph) -> Bytes:
        """Return the bytes of the elements in a register."""
        found: list[int] = []
        size = self.fragments.tile.d.bits // 8
        for row, column in self._elements(output, lane):
            try:
                a, b, (c,) = (
                    tuple(
                        terms.word(tuple([read(code)[index] if code else index for code, index in places]))
                        for _, places in taken
                    )
                    for taken in self._taken(row, column, lane)
                )
            except TcsmtError as wrong:
                raise self.error(str(wrong)) from None
            found += terms.bytes_of(terms.add(DotProduct(self.fragments.unit, a, b, c, size)))
        return tuple(found)

    def _elements(self, output: int, lane: int) -> list[tuple[int, int]]:
        """Return the rows and columns of D in a register of a lane."""
        tile = self.fragments.tile
        each = tile.register // tile.d.bits
        places = (tile.d.fragment.place(lane % tile.threads, output * each + n) for n in range(each))
        return [(place.row, place.column) for place in places]

    def _taken(self, row: int, column: int, lane: int) -> list[list[tuple[int, list[tuple[int, int]]]]]:
        """Return, of A, B and C, each number's k and the code and place of each of its bytes."""
        tile, first = self.fragments.tile, lane - lane % self.fragments.tile.threads
        return [
            [(k, self._bytes(self.a, "A", (row, k), first)) for k in range(tile.k)],
            [(k, self._bytes(self.b, "B", (column, k), first)) for k in range(tile.k)],
            [(0, self._bytes(self.c, "C", (row, column), first))],
        ]

    def _bytes(
        self, registers: Sequence[ByteLanes], name: str, place: tuple[int, int], first: int
    ) -> list[tuple[int, int]]:
        lane, element = self.fragments.places[name][place]
        operand: RegisterOperand = self.fragments.tile.operands[name]
        size, each = operand.bits // 8, self.fragments.tile.register // operand.bits
        register, start = registers[element // each], element % each * size
        return [
            (int(register.codes[start + n, first + lane]), int(register.index[start + n, first + lane]))
            for n in range(size)
        ]


def shape_of(unit: str) -> tuple[int, int]:
    """Return M and K of a unit's name."""
    found = re.search(r"\.m(\d+)n\w+?k(\d+)\.", f"{unit}.")
    assert found is not None
    return int(found[1]), int(found[2])
