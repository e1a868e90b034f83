"""Whole instructions as C functions: how each takes its operands, and what it is called with by default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from tcsmt.interop.hardware.cpu import CPU_INSTRUCTIONS, cpu_instruction
from tcsmt.interop.hardware.instructions import (
    Formats,
    Fragment,
    RegisterOperand,
    Tile,
    formats_of,
    register_tile,
    warpgroup_registers,
)
from tcsmt.interop.kits.arithmetic import UnitInC
from tcsmt.language.write.operators import identifier
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row

#: An argument of a call: an operand's array of registers, by name, or a number.
Argument: TypeAlias = str | int

#: A descriptor of a matrix in shared memory from address 0 on, without swizzling: core matrices lie 128 bytes
#: apart in k, 8 rows 256 bytes.
_DESCRIPTOR = 128 >> 4 << 16 | 256 >> 4 << 32
#: Rows and columns of a tile of x86, and the bytes of a row.
_SIDE, _ROW_BYTES = 16, 64
#: Lanes of a vector that instructions without tiles are tried with.
_LANES = 16


@dataclass(frozen=True)
class KitFunction:
    """An instruction of a kit.

    kind: ``registers`` (fragments of A, B, C and D), ``wgmma``, ``tiles`` or ``lanes``. tile: of all but
    ``lanes``, which threads hold which elements; of ``wgmma``, with A in registers, B in shared memory,
    N = 8.
    """

    row: Row
    kind: str
    tile: Tile

    @cached_property
    def name(self) -> str:
        """Return the function's name."""
        return identifier(self.row.name)

    @property
    def _halves(self) -> bool:
        """Return whether negations are of halves of registers, as those of packed 16-bit words are."""
        return not self._blocks and self.row.model.a_format.width == 16

    @property
    def _blocks(self) -> bool:
        """Return whether A's blocks and B's lanes can be chosen."""
        return self.row.instruction.startswith("v_mfma")

    @property
    def _modifiers(self) -> list[str]:
        if not self.row.instruction.startswith("v_"):
            return []
        width = self.row.model.a_format.width
        if width == 64:
            return ["neg"]
        # bytes are not negated: a register's halves are
        return ["cbsz", "abid", "blgp"] if self._blocks else ["neg", "neg_hi"] if width == 16 else []

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Return how many words of 32 bits each operand has in a call: ``a``, ``b``, ``c``, ``d``."""
        if self.kind == "lanes":
            return dict.fromkeys("abcd", _LANES)
        if self.kind == "tiles":
            return dict.fromkeys("abcd", _SIDE * _ROW_BYTES // 4)
        return {side.lower(): held(operand) for side, operand in self.tile.operands.items()}

    @property
    def arguments(self) -> list[Argument]:
        """Return what a call without modifiers has. Where ``c`` is not among it, ``d`` holds it before."""
        match self.kind:
            case "registers":
                return ["d", "a", "b", "c", *[0] * len(self._modifiers)]
            case "wgmma":
                return [8, "d", "a", 0, _DESCRIPTOR, "b", 4 * self.sizes["b"], 0]
            case "tiles":
                return ["d", "a", "b", _SIDE, _ROW_BYTES, _ROW_BYTES]
        return [_LANES, (1 << _LANES) - 1, "d", "a", "b", "c", *[0] * len(self._modifiers)]

    @property
    def types(self) -> list[str]:
        """Return the types of a call's arrays; "" for others."""
        fragment = {"registers": "({}uint32_t (*)[{}])", "tiles": "({}uint8_t (*)[64])"}.get(
            self.kind, "({}void *)"
        )
        threads = 1 << len(self.tile.a.fragment.threads)
        return [
            fragment.format("" if x == "d" else "const ", self.sizes[x] // threads)
            if isinstance(x, str)
            else ""
            for x in self.arguments
        ]

    @property
    def thread(self) -> str:
        """Return what holds a row of registers."""
        return "row" if self.kind == "tiles" else "lane"

    @property
    def per_thread(self) -> int:
        """Return how many registers of D a thread, a row or a lane has."""
        if self.kind == "lanes":
            return 1
        if self.kind == "tiles":
            return _SIDE
        return self.sizes["d"] >> len(self.tile.d.fragment.threads)

    @property
    def call(self) -> dict[str, Any]:
        """Return what a program that calls the function needs to know, as a kit's manifest has it."""
        return {
            "name": self.name,
            "arguments": self.arguments,
            "words": self.sizes,
            "thread": self.thread,
            "per_thread": self.per_thread,
        }

    @property
    def word_sizes(self) -> list[int]:
        """Return the bytes of a word of A, B, C and D."""
        model = self.row.model
        formats = formats_of(model)
        return [unsigned(fmt).itemsize for fmt in formats]

    @property
    def prototype(self) -> str:
        """Return the function's head."""
        more = "".join(f", unsigned {name}" for name in self._modifiers)
        match self.kind:
            case "registers":
                threads = 1 << len(self.tile.a.fragment.threads)
                arrays = {
                    side: f"{'' if side == 'd' else 'const '}uint32_t {side}[{threads}][{size // threads}]"
                    for side, size in self.sizes.items()
                }
                return f"void {self.name}({', '.join(arrays[side] for side in 'dabc')}{more})"
            case "wgmma":
                return (
                    f"int {self.name}(unsigned n, uint32_t *d, const uint32_t *a, uint64_t a_descriptor, "
                    "uint64_t b_descriptor, const void *shared, size_t shared_bytes, unsigned flags)"
                )
            case "tiles":
                tile = f"[{_SIDE}][{_ROW_BYTES}]"
                return (
                    f"int {self.name}(uint8_t d{tile}, const uint8_t a{tile}, const uint8_t b{tile}, "
                    "unsigned rows, unsigned a_bytes, unsigned c_bytes)"
                )
        return (
            f"void {self.name}(unsigned lanes, uint64_t mask, uint32_t *d, const uint32_t *a, "
            f"const uint32_t *b, const uint32_t *c{more})"
        )

    def definition(self, unit: UnitInC) -> str:
        """Return the function, and the table that it gives to the kit's runtime."""
        model, tile = self.row.model, self.tile
        table = f"table_of_{self.name}"
        match self.kind:
            case "registers":
                names = {"cbsz": 0, "abid": 1, "blgp": 2, "neg": 3, "neg_hi": 4}
                own = {names[name]: name for name in self._modifiers}
                values = ", ".join(own.get(place, "0") for place in range(5))
                arrays = ", ".join(f"{side}[0]" for side in "dabc")
                body = (
                    f"  const unsigned modifiers[MODIFIERS] = {{{values}}};\n"
                    f"  run(&{table}, {arrays}, modifiers, {int(self._halves)});\n"
                )
            case "wgmma":
                body = (
                    f"  return run_wgmma(&{table}, n, d, a, a_descriptor, b_descriptor, shared, "
                    "shared_bytes, flags);\n"
                )
            case "tiles":
                minus = f"{sign_bit(model.a_format):#x}u"
                body = f"  return run_tiles(&{table}, d, a, b, rows, a_bytes, c_bytes, {minus});\n"
            case _:
                neg = "neg, neg_hi" if self._modifiers else "0, 0"
                body = f"  run_lanes(&{table}, lanes, mask, d, a, b, c, {neg});\n"
        formats = formats_of(model)
        sizes = ", ".join(map(str, self.word_sizes))
        flips = ", ".join(f"UINT64_C({sign_bit(fmt):#x})" for fmt in formats[:3])
        fragments = ",\n     ".join(operand.text for operand in tile.operands.values())
        return (
            f"static const struct instruction {table} = {{\n"
            f"    {tile.m}, {tile.n}, {tile.k}, {tile.matrices}, {{{sizes}}}, {{{flips}}},\n"
            f"    {{{fragments}}},\n"
            f"    {unit.name}, {f'{unit.name}_rows' if unit.with_rows else 'NULL'}}};\n\n"
            f"{self.prototype} {{\n{body}}}\n"
        )


def sign_bit(fmt: AnyFormat) -> int:
    """Return a format's sign bit; 0 of one without it, and of integers."""
    return 1 << fmt.sign_bit if isinstance(fmt, Format) and fmt.signed else 0


def held(operand: RegisterOperand) -> int:
    """Return in how many registers of 32 bits all threads together hold an operand."""
    return max(1, (operand.bits << len(operand.fragment.elements)) // 32) << len(operand.fragment.threads)


def _shape(side: int, formats: Formats, k: int) -> Tile:
    """Return a tile of which the runtime needs the shape alone."""
    a, b, c, d = (RegisterOperand(Fragment((), ()), fmt.width) for fmt in formats)
    return Tile(m=side, n=side, k=k, threads=1, a=a, b=b, c=c, d=d)


def kit_function(row: Row) -> KitFunction | str:
    """Return the function of an instruction; or why a kit has none."""
    model = row.model
    if model.scales:
        return "they take block scales"
    formats = formats_of(model)
    if row.instruction.startswith("v_dot"):
        return KitFunction(row, "lanes", _shape(1, formats, model.k))
    if row.name in CPU_INSTRUCTIONS:
        match cpu_instruction(row).parts:
            case ["tiles"]:
                return KitFunction(row, "tiles", _shape(_SIDE, formats, model.k))
            case ["registers"]:
                return KitFunction(row, "lanes", _shape(1, formats, model.k))
        return "the layout of their registers is not described"
    tile = register_tile(row)
    if tile is None:
        return "the layout of their fragments is not described"
    if row.instruction.startswith("wgmma"):
        return KitFunction(row, "wgmma", Tile(**vars(tile) | {"a": warpgroup_registers(model.k, formats)}))
    if row.instruction.startswith("tcgen05"):
        return "their operands are in tensor memory"
    return KitFunction(row, "registers", tile)
