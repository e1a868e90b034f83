"""Instructions of whole warps and blocks: barriers, shuffles, fragments, matrix products, and branches."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tcsmt.interop.compiled.machine import Machine, Meaning
from tcsmt.interop.compiled.matrix_forms import MATRIX_FORMS, Multiplied
from tcsmt.interop.compiled.ptx_text import Operand, PtxInstruction, PtxNumber, PtxSymbol
from tcsmt.interop.compiled.trace import ByteLanes, Lanes, stacked
from tcsmt.support.errors import TcsmtError


def _barrier(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    if instruction.operands != (PtxNumber(0),):
        raise TcsmtError("only barrier 0 of all threads is read")
    machine.shared.sync()


def _warp_barrier(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    (members,) = instruction.operands
    if not isinstance(members, PtxNumber) or members.bits & 0xFFFFFFFF != 0xFFFFFFFF:
        raise TcsmtError("only barriers of whole warps are read")
    machine.shared.sync_warps(machine.threads)


def _shuffled(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``shfl.sync.idx``: each lane takes the word of the lane that it names, of its warp."""
    machine.everyone(mask)
    target, source, lane, clamp, members = instruction.operands
    whole = (clamp, members) == (PtxNumber(31), PtxNumber((1 << 64) - 1))
    if not whole or machine.lanes % 32:
        raise TcsmtError("only shuffles within whole warps are read")
    chosen = machine.concrete(machine.word(lane), None, "the lane").astype(np.int64) & 31
    machine.write(target, machine.word(source).at(machine.threads // 32 * 32 + chosen), None)


def _rows(machine: Machine, instruction: PtxInstruction, address: Operand) -> tuple[int, Lanes, Lanes, Lanes]:
    """Return how many 8 x 8 matrices there are, each lane's address of a row, its place in its warp, and the
    first lane of that.
    """
    addresses = machine.address(address, None)
    if (addresses % 16).any():
        raise TcsmtError("a row does not begin at a multiple of 16")
    count = int(instruction.name.partition(".x")[2][0])
    return count, addresses, machine.threads % 32, machine.threads // 32 * 32


def _load_matrix(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``ldmatrix``: 8 x 8 matrices of 16-bit words; lane i gives the address of row i of all of them.

    PTX ISA, "Warp-level matrix load instruction: ldmatrix": thread i gets words 2 (i mod 4) and the next of
    row i div 4; transposed, of column i div 4.
    """
    machine.everyone(mask)
    target, source = instruction.operands
    count, addresses, lane, warp = _rows(machine, instruction, source)
    for number, part in enumerate(machine.registers_of(target, count)):
        halves = []
        for half in range(2):
            row, column = lane // 4, lane % 4 * 2 + half
            if ".trans." in instruction.name:
                row, column = column, row
            start = addresses[warp + 8 * number + row]
            halves.append(machine.shared.load(start + 2 * column, machine.threads, 2))
        machine.write(part, machine.trace.word_of(stacked(halves)), None)


def _store_matrix(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``stmatrix``: the same places, from registers to shared memory."""
    machine.everyone(mask)
    target, source = instruction.operands
    count, addresses, lane, warp = _rows(machine, instruction, target)
    for number, part in enumerate(machine.registers_of(source, count)):
        given = machine.bytes(part, 4)
        for half in range(2):
            rows = slice(2 * half, 2 * half + 2)
            start = addresses[warp + 8 * number + lane // 4] + 2 * (lane % 4 * 2 + half)
            machine.shared.store(start, machine.threads, ByteLanes(given.codes[rows], given.index[rows]))


def _multiplied(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``mma.sync``: d = a b + c on the fragments of each warp."""
    machine.everyone(mask)
    if machine.lanes % 32:
        raise TcsmtError("a warp of the block is not whole")
    fragments = machine.fragments(instruction)
    counts = [fragments.registers(name) for name in "DABC"]
    groups = [machine.registers_of(x, count) for x, count in zip(instruction.operands, counts, strict=True)]
    taken = {
        name: [machine.bytes(part, machine.width(part) // 8) for part in group]
        for name, group in zip("ABC", groups[1:], strict=True)
    }
    event = Multiplied(fragments, taken["A"], taken["B"], taken["C"], instruction.error)
    for part, word in zip(groups[0], machine.trace.words(event, machine.lanes), strict=True):
        machine.write(part, word, None)


def _branch(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    (label,) = instruction.operands
    if not isinstance(label, PtxSymbol) or label.name not in machine.kernel.labels:
        raise TcsmtError("it jumps to no label of the kernel")
    if mask is not None and not mask.any():
        return
    if mask is not None and not mask.all():
        raise TcsmtError("only some threads of the block take the branch")
    machine.at = machine.kernel.labels[label.name]


def _returned(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    machine.at = len(machine.kernel.instructions)


def _table() -> Mapping[str, Meaning]:
    found: dict[str, Meaning] = dict.fromkeys(MATRIX_FORMS, _multiplied)
    found |= {"bar.sync": _barrier, "bar.warp.sync": _warp_barrier, "shfl.sync.idx.b32": _shuffled}
    for count in (1, 2, 4):
        for order in ("", ".trans"):
            found[f"ldmatrix.sync.aligned.m8n8.x{count}{order}.shared.b16"] = _load_matrix
        found[f"stmatrix.sync.aligned.m8n8.x{count}.shared.b16"] = _store_matrix
    return found | {"bra": _branch, "bra.uni": _branch, "ret": _returned, "exit": _returned}


#: These instructions, by their names with all modifiers.
WARP_STEPS = _table()
