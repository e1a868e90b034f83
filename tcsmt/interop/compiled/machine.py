"""A block of threads that runs a kernel's instructions on concrete integers; numbers become events.

All lanes run in lockstep. Whatever decides which instruction runs, and where memory is read or written, must
be concrete: a branch, a guard or an address that depends on numbers is refused, and so is a branch that only
some threads of the block take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from tcsmt.interop.compiled.integers import cut
from tcsmt.interop.compiled.matrix_forms import Fragments
from tcsmt.interop.compiled.moves import Blocks
from tcsmt.interop.compiled.ptx_text import (
    Operand,
    PtxAddress,
    PtxInstruction,
    PtxKernel,
    PtxNumber,
    PtxRegister,
    PtxSymbol,
    PtxVector,
)
from tcsmt.interop.compiled.shared_memory import SharedMemory
from tcsmt.interop.compiled.trace import LANES, ByteLanes, EventTrace, Lanes, Unread, Word
from tcsmt.support.errors import TcsmtError, UnknownName

#: Where shared memory begins: not at 0, and at a multiple of what any layout swizzles.
_SHARED = 1 << 14
#: Shared memory that is given to arrays without a size: the most that a block has.
_DYNAMIC = 232448
#: Instructions that are run, at most.
_MOST_STEPS = 1 << 22
_BUFFER_BITS = 40
_WIDTHS = {"pred": 1, "b8": 8, "b16": 16, "b32": 32, "b64": 64}


@dataclass(frozen=True)
class Launch:
    """How a kernel is launched. values: of its parameters, as bits; None: a pointer, or one that is not
    given. block: the block that runs. grid: how many there are. threads: of a block. blocks: how many run
    alike, from this one on, along each axis.
    """

    values: Sequence[int | None]
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    threads: tuple[int, int, int]
    blocks: tuple[int, int, int] = (1, 1, 1)


def pointer_to(parameter: int) -> int:
    """Return the address that stands for a parameter that is a pointer."""
    return (parameter + 1) << _BUFFER_BITS | 1 << (_BUFFER_BITS - 1)


@dataclass
class Machine:
    """The state of a block. fragments: the unit of each matrix instruction, with the places of its elements.
    stored: what was stored in each buffer, by the offset of the byte.
    """

    kernel: PtxKernel
    launch: Launch
    fragments: Callable[[PtxInstruction], Fragments]
    trace: EventTrace = field(default_factory=EventTrace)
    registers: dict[str, Word] = field(default_factory=dict)
    stored: dict[int, list[Lanes]] = field(default_factory=dict)
    loaded: set[int] = field(default_factory=set)
    store_moves: set[tuple[int, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.lanes = int(np.prod(self.launch.threads))
        self.blocks = Blocks(self.launch.blocks)
        self.trace.still = self.blocks.still
        if not 1 <= self.lanes <= LANES:
            raise TcsmtError(f"a block of {self.lanes} threads: must be from 1 to {LANES}")
        self.threads = np.arange(self.lanes)
        self.places: dict[str, int] = {}
        end = _SHARED
        for array in sorted(self.kernel.shared, key=lambda array: array.size == 0):
            end += -end % max(array.align, 1024)
            self.places[array.name] = end
            end += array.size or _DYNAMIC
            if array.size > _DYNAMIC:
                raise TcsmtError(
                    f"{array.name} has {array.size} bytes of shared memory: a block has at most {_DYNAMIC}"
                )
        self.shared = SharedMemory(_SHARED, end - _SHARED, self.lanes)
        self.at = 0
        self.waiting: set[str] = set()
        self.unfenced: set[str] = set()  # registers that are written since wgmma.fence
        self.open_products: list[tuple[set[str], Lanes]] = []
        self.products: list[list[tuple[set[str], Lanes]]] = []
        self.specials = self._specials()

    def _specials(self) -> dict[str, Word]:
        x, y, _ = self.launch.threads
        found = {
            "%tid.x": self.threads % x, "%tid.y": self.threads // x % y, "%tid.z": self.threads // (x * y),
            "%laneid": self.threads % 32,
        }  # fmt: skip
        for name, three in (
            ("%ntid", self.launch.threads), ("%ctaid", self.launch.block), ("%nctaid", self.launch.grid),
        ):  # fmt: skip
            found |= {f"{name}.{axis}": np.full(self.lanes, n) for axis, n in zip("xyz", three, strict=True)}
        words = {name: Word(bits.astype(np.uint64)) for name, bits in found.items()}
        for place, axis in enumerate("xyz"):
            if self.launch.blocks[place] > 1:
                moves = np.zeros((3, self.lanes), np.int64)
                moves[place] = 1
                words[f"%ctaid.{axis}"] = replace(words[f"%ctaid.{axis}"], moves=moves)
        return words

    def run(self, table: Mapping[str, Meaning]) -> None:
        """Run the kernel to its end. table: every instruction that is read, by its name with all modifiers.

        Raises :class:`.TcsmtError`, which names the line: for an instruction that is not in the table whether
        it would run or not.
        """
        for instruction in self.kernel.instructions:
            if instruction.name not in table:
                raise instruction.error(str(UnknownName("instruction", instruction.name, [*table])))
        for _ in range(_MOST_STEPS):
            if self.at >= len(self.kernel.instructions):
                return
            instruction = self.kernel.instructions[self.at]
            self.at += 1
            try:
                mask = self._guard(instruction)
                if mask is None or mask.any():
                    table[instruction.name](self, instruction, mask)
            except TcsmtError as wrong:
                if str(wrong).startswith("line "):
                    raise
                raise instruction.error(str(wrong)) from None
        raise TcsmtError(f"the kernel runs more than {_MOST_STEPS} instructions")

    def _guard(self, instruction: PtxInstruction) -> Lanes | None:
        if instruction.guard is None:
            return None
        mask = self.concrete(self.word(replace(instruction.guard, negated=False)), None, "the guard")
        return np.asarray(mask == (0 if instruction.guard.negated else 1))

    def word(self, operand: Operand) -> Word:
        """Return the word of an operand in each lane."""
        match operand:
            case PtxRegister(name, negated):
                if negated:
                    raise TcsmtError(f"!{name}: only guards and selections are negated here")
                if name in self.specials:
                    return self.specials[name]
                if name in self.waiting:
                    raise TcsmtError(f"{name} is read before wgmma.wait_group has waited for it")
                if name not in self.registers:
                    self.kernel.type_of(name)
                    return Word(np.zeros(self.lanes, np.uint64), EventTrace.unwritten(self.lanes))
                return self.registers[name]
            case PtxNumber(bits):
                return Word(np.full(self.lanes, bits, np.uint64))
            case PtxSymbol(name) if name in self.places:
                return Word(np.full(self.lanes, self.places[name], np.uint64))
        raise TcsmtError(f"{getattr(operand, 'name', operand)}: an operand that is not read here")

    def concrete(self, word: Word, mask: Lanes | None, what: str) -> Lanes:
        """Return bits that hang on no number, and on no block."""
        self.blocks.still(word, slice(None) if mask is None else mask)
        if word.codes is not None:
            codes = word.codes if mask is None else word.codes[mask]
            if codes.any():
                self.refuse(int(codes[codes != 0][0]), what)
        return word.bits

    def refuse(self, code: int, what: str) -> None:
        """Raise an error for a code where an integer is needed."""
        event, _ = self.trace.slots[code // LANES - 1]
        why = f": {event.why}" if isinstance(event, Unread) else ""
        raise TcsmtError(f"{what} depends on numbers that the kernel reads or computes{why}")

    def write(self, operand: Operand, word: Word, mask: Lanes | None) -> None:
        """Give a register its word in the lanes that run."""
        if isinstance(operand, PtxSymbol) and operand.name == "_":
            return
        if not isinstance(operand, PtxRegister) or operand.name in self.specials:
            raise TcsmtError("the result is not a register")
        if operand.name in self.waiting:
            raise TcsmtError(f"{operand.name} is written before wgmma.wait_group has waited for it")
        if mask is not None and not mask.all():
            word = word.where(mask, self.word(operand))
        codes, moves = (one if one is not None and one.any() else None for one in (word.codes, word.moves))
        self.registers[operand.name] = Word(cut(word.bits, self.width(operand)), codes, moves)
        self.unfenced.add(operand.name)

    def note_products(self) -> None:
        """Note which registers and bytes of shared memory belong to products of warpgroups under way."""
        under_way = [one for group in (*self.products, self.open_products) for one in group]
        self.waiting = set().union(*(names for names, _ in under_way))
        for _, addresses in under_way:
            self.shared.multiplied[addresses - self.shared.first] = True

    def width(self, operand: Operand) -> int:
        """Return the width of a register in bits."""
        kind = self.kernel.type_of(operand.name) if isinstance(operand, PtxRegister) else ""
        kind = re.sub("^[usf]", "b", kind)
        if kind not in _WIDTHS:
            raise TcsmtError(f"registers of type {kind or 'unknown'} are not read")
        return _WIDTHS[kind]

    def bytes(self, operand: Operand, size: int) -> ByteLanes:
        """Return the lowest bytes of an operand."""
        return self.trace.bytes_of(self.word(operand), size)

    def address(self, operand: Operand, mask: Lanes | None) -> Lanes:
        """Return the address in each lane, as signed integers, the same in all blocks."""
        word, offset = self._address(operand)
        return self.concrete(word, mask, "the address").astype(np.int64) + offset

    def _address(self, operand: Operand) -> tuple[Word, int]:
        if not isinstance(operand, PtxAddress):
            raise TcsmtError("an address is expected")
        return self.word(operand.base), operand.offset

    def running(self, mask: Lanes | None) -> Lanes:
        """Return the numbers of the lanes that run."""
        return self.threads if mask is None else self.threads[mask]

    def everyone(self, mask: Lanes | None) -> None:
        """Refuse an instruction of all threads that only some run."""
        if mask is not None and not mask.all():
            raise TcsmtError("only some threads of the block run it")

    def memory(self, operand: Operand, lanes: Lanes, what: str) -> tuple[Lanes, Lanes, Lanes]:
        """Return the buffers and the offsets of some lanes' addresses in global memory, and their moves."""
        word, offset = self._address(operand)
        word = word.at(lanes)
        bits = self.concrete(replace(word, moves=None), None, "the address")
        addresses = bits.astype(np.int64) + offset
        moves = np.zeros((3, len(lanes)), np.int64) if word.moves is None else word.moves
        buffers = (addresses >> _BUFFER_BITS) - 1
        offsets = (addresses & ((1 << _BUFFER_BITS) - 1)) - (1 << (_BUFFER_BITS - 1))
        self.blocks.decided(lambda x: addresses - offsets + x >> _BUFFER_BITS, offsets, moves)
        for buffer in np.unique(buffers).tolist():
            given = 0 <= buffer < len(self.launch.values) and self.launch.values[buffer] is None
            if not given:
                raise TcsmtError(f"{what} an address that no parameter points to")
        return buffers, offsets, moves

    def stores(self, operand: Operand, lanes: Lanes, given: ByteLanes, instruction: PtxInstruction) -> None:
        """Note bytes that lanes store in global memory, of shape (bytes, lanes)."""
        buffers, offsets, moves = self.memory(operand, lanes, "it writes to")
        if self.loaded.intersection(np.unique(buffers).tolist()):
            raise TcsmtError("it writes to a buffer from which the kernel reads")
        self.store_moves |= set(map(tuple, moves.T.tolist()))
        places = np.broadcast_to(np.arange(len(given.codes))[:, None], given.codes.shape)
        number = np.full(given.codes.shape, self.at - 1)
        rows = np.stack([offsets + places, given.codes, given.index, number])
        for buffer in np.unique(buffers).tolist():
            self.stored.setdefault(buffer, []).append(rows[:, :, buffers == buffer].reshape(4, -1))

    def stored_bytes(self, buffer: int) -> Lanes:
        """Return the bytes that were stored in a buffer, in the order of their offsets. Four rows: offsets,
        codes (0: the byte is given), places in what the codes are, and the numbers of the instructions.
        """
        rows = np.concatenate(self.stored[buffer], axis=1)
        return rows[:, np.argsort(rows[0], kind="stable")]

    def registers_of(self, operand: Operand, count: int) -> Sequence[Operand]:
        """Return the registers of a vector of so many, or the one that there is."""
        parts = operand.parts if isinstance(operand, PtxVector) else (operand,)
        if len(parts) != count:
            raise TcsmtError(f"{count} registers are expected")
        return parts


#: What an instruction does to a machine, in the lanes of a mask (None: in all).
Meaning: TypeAlias = Callable[[Machine, PtxInstruction, "Lanes | None"], None]
