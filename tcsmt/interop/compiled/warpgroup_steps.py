"""``wgmma``: products of a warpgroup, of matrices that lie in shared memory as descriptors say.

Source: the PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Register Fragments and Shared Memory
Matrix Layouts", "Matrix Descriptor Format", "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.interop.compiled.machine import Machine, Meaning
from tcsmt.interop.compiled.matrix_forms import WARPGROUP_FORMS, Fragments
from tcsmt.interop.compiled.ptx_text import PtxInstruction, PtxNumber, PtxRegister, PtxVector
from tcsmt.interop.compiled.terms import Bytes, Constant, DotProduct, TermGraph
from tcsmt.interop.compiled.trace import ByteLanes, Event, Lanes, Read
from tcsmt.support.errors import TcsmtError

_GROUP = 128
#: Bytes of a row of the swizzle patterns, by the descriptor's mode; 0: none.
_SWIZZLES = {0: 0, 1: 128, 2: 64, 3: 32}
_ONE, _ZERO = PtxNumber(1), PtxNumber(0)


@dataclass(frozen=True)
class WarpgroupProduct(Event):
    """One ``wgmma.mma_async``. a, b: the bytes of each element of each warpgroup: arrays of shape (groups,
    rows, k, bytes). c: the bytes of the registers, or None for zeros.
    """

    fragments: Fragments
    a: ByteLanes
    b: ByteLanes
    c: Sequence[ByteLanes] | None
    sizes: tuple[int, ...]
    error: Callable[[str], TcsmtError]

    def needs(self, output: int, lane: int) -> Iterable[int]:
        """Return the codes of a row of A, a column of B and a number of C, for each number in a register."""
        found: list[int] = []
        for row, column in self._elements(output, lane):
            for given, at in ((self.a, row), (self.b, column)):
                found += [code for code in given.codes[lane // _GROUP, at].ravel().tolist() if code]
        if self.c is not None:
            found += [code for code in self.c[output].codes[:, lane].tolist() if code]
        return found

    def value(self, output: int, lane: int, read: Read, terms: TermGraph) -> Bytes:
        """Return the bytes of the numbers in a register."""
        found: list[int] = []
        size = self.fragments.tile.d.bits // 8
        try:
            for number, (row, column) in enumerate(self._elements(output, lane)):
                a = self._words(self.a, lane // _GROUP, row, read, terms)
                b = self._words(self.b, lane // _GROUP, column, read, terms)
                c = terms.add(Constant(size, 0))
                if self.c is not None:
                    rows = slice(number * size, (number + 1) * size)
                    taken = self.c[output]
                    c = _word(taken.codes[rows, lane], taken.index[rows, lane], read, terms)
                found += terms.bytes_of(terms.add(DotProduct(self.fragments.unit, a, b, c, size)))
        except TcsmtError as wrong:
            raise self.error(str(wrong)) from None
        return tuple(found)

    def _elements(self, output: int, lane: int) -> list[tuple[int, int]]:
        """Return the rows and columns of D in a register: each eight columns are as the first ones."""
        tile = self.fragments.tile
        each, inside = tile.register // tile.d.bits, 1 << len(tile.d.fragment.elements)
        found = []
        for element in range(output * each, (output + 1) * each):
            place = tile.d.fragment.place(lane % _GROUP, element % inside)
            found.append((place.row, place.column + 8 * (element // inside)))
        return found

    def _words(self, given: ByteLanes, group: int, row: int, read: Read, terms: TermGraph) -> tuple[int, ...]:
        pairs = zip(given.codes[group, row], given.index[group, row], strict=True)
        return tuple(_word(codes, index, read, terms) for codes, index in pairs)


def _word(codes: Lanes, index: Lanes, read: Read, terms: TermGraph) -> int:
    pairs = zip(codes.tolist(), index.tolist(), strict=True)
    return terms.word(tuple([read(code)[at] if code else at for code, at in pairs]))


def matrix_addresses(descriptor: int, rows: int, k: int, size: int, *, transposed: bool) -> Lanes:
    """Return the address of each element of a matrix in shared memory, of shape (rows, k).

    size: of an element, in bytes. transposed: rows lie beside each other, in place of neighbours in k.
    """
    start, leading, stride = ((descriptor >> bit & 0x3FFF) << 4 for bit in (0, 16, 32))
    if descriptor >> 49 & 7:
        raise TcsmtError("descriptors with a base offset are not read")
    swizzle = _SWIZZLES[descriptor >> 62 & 3]
    row, place = np.arange(rows)[:, None], np.arange(k)[None]
    if transposed:
        if size != 2:
            raise TcsmtError("only matrices of 16-bit numbers are transposed")
        # core matrices of eight k; without a swizzle the two offsets have each other's meaning
        width, across, along = (swizzle, leading, stride) if swizzle else (16, stride, leading)
        per = width // size
        inside = row // per * across + place // 8 * along + place % 8 * width + row % per * size
    elif swizzle:
        inside = row // 8 * stride + row % 8 * swizzle + place * size
    else:
        at = place * size
        inside = row // 8 * stride + row % 8 * 16 + at // 16 * leading + at % 16
    address = start + inside
    mask = swizzle // 16 - 1 if swizzle else 0
    return np.asarray(address ^ (address >> 7 & mask) << 4)


def _multiplied(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``wgmma.mma_async``: d = a b + c; the registers of d can be read when it has been waited for."""
    machine.everyone(mask)
    if machine.lanes % _GROUP:
        raise TcsmtError("a warpgroup of the block is not whole")
    fragments = machine.fragments(instruction)
    tile, n = fragments.tile, WARPGROUP_FORMS[instruction.name][1]
    sums, left, right, keeps, *options = instruction.operands
    integers = ".s32." in instruction.name  # these take no options
    if not integers and options[:2] != [_ONE, _ONE]:
        raise TcsmtError("operands with a changed sign are not read")
    transposes = [option == _ONE for option in options[2:]] or [False, False]
    if any(option not in (_ZERO, _ONE) for option in options) or len(options) not in (
        (0,) if integers else (2, 4)
    ):
        raise TcsmtError("the options after scale-d are not read")
    count = n // 8 * fragments.registers("D")
    registers = machine.registers_of(sums, count)
    names = {register.name for register in registers if isinstance(register, PtxRegister)}
    if names & machine.unfenced:
        raise TcsmtError(
            f"{min(names & machine.unfenced)} is written, and no wgmma.fence follows before this"
        )
    given, places = [], []
    for operand, rows, bits, transposed in (
        (left, tile.m, tile.a.bits, transposes[0]), (right, n, tile.b.bits, transposes[1]),
    ):  # fmt: skip
        if isinstance(operand, PtxVector):
            raise TcsmtError("an operand in registers is not read: only matrices in shared memory")
        descriptors = machine.concrete(machine.word(operand), None, "the descriptor").reshape(-1, _GROUP)
        if (descriptors != descriptors[:, :1]).any():
            raise TcsmtError("the threads of a warpgroup give different descriptors")
        parts = []
        for descriptor in descriptors[:, 0].tolist():
            first = matrix_addresses(descriptor, rows, tile.k, bits // 8, transposed=transposed)
            parts.append(first[..., None] + np.arange(bits // 8))
        taken = machine.shared.multiply(np.concatenate([part.ravel() for part in parts]))
        shape = (len(parts), *parts[0].shape)
        given.append(ByteLanes(taken.codes.reshape(shape), taken.index.reshape(shape)))
        places += parts
    machine.waiting -= names  # those of instructions under way are taken in order
    c = (
        [machine.bytes(register, tile.register // 8) for register in registers]
        if _kept(machine, keeps)
        else None
    )
    sizes = (tile.register // 8,) * count
    event = WarpgroupProduct(fragments, given[0], given[1], c, sizes, instruction.error)
    for register, word in zip(registers, machine.trace.words(event, machine.lanes), strict=True):
        machine.write(register, word, None)
    machine.unfenced -= names
    machine.open_products.append((names, np.concatenate([part.ravel() for part in places])))
    machine.note_products()


def _kept(machine: Machine, operand: Any) -> bool:
    """Return ``scale-d``: whether c is added, which must be the same for all. Else it is zero, and a sum of
    nothing but negative zeros is +0 as in any sum with c = +0.
    """
    keeps = machine.concrete(machine.word(operand), None, "scale-d")
    if (keeps != keeps[0]).any():
        raise TcsmtError("scale-d is not the same for all threads")
    return bool(keeps[0])


def _fenced(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    machine.unfenced.clear()


def _proxy_fenced(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    machine.shared.fenced[:] = True


def _committed(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    machine.products.append(machine.open_products)
    machine.open_products = []


def _waited(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    (count,) = instruction.operands
    if not isinstance(count, PtxNumber):
        raise TcsmtError("a number is expected")
    done = machine.products[: max(0, len(machine.products) - count.bits)]
    del machine.products[: len(done)]
    machine.shared.multiplied[:] = False
    machine.note_products()
    if machine.lanes > _GROUP:  # each thread knows of its own warpgroup's alone
        for _, addresses in (one for group in done for one in group):
            machine.shared.read_by_several(addresses)


def _table() -> Mapping[str, Meaning]:
    found: dict[str, Meaning] = dict.fromkeys(WARPGROUP_FORMS, _multiplied)
    return found | {
        "wgmma.fence.sync.aligned": _fenced, "wgmma.commit_group.sync.aligned": _committed,
        "wgmma.wait_group.sync.aligned": _waited, "fence.proxy.async.shared::cta": _proxy_fenced,
    }  # fmt: skip


#: These instructions, by their names with all modifiers.
WARPGROUP_STEPS = _table()
