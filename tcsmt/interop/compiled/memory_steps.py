"""Instructions on memory: parameters, global and shared memory, and copies between them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from tcsmt.interop.compiled.machine import Machine, Meaning, pointer_to
from tcsmt.interop.compiled.ptx_text import (
    Operand,
    PtxAddress,
    PtxInstruction,
    PtxNumber,
    PtxRegister,
    PtxSymbol,
)
from tcsmt.interop.compiled.trace import ByteLanes, Lanes, Loaded, Word, stacked
from tcsmt.support.errors import TcsmtError

#: How caches are used, which never decides what is loaded.
_CACHE = ("", ".nc", ".L1::evict_last", ".L1::evict_first")


def _parameter(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    target, source = instruction.operands
    if not isinstance(source, PtxAddress) or source.offset or not isinstance(source.base, PtxSymbol):
        raise TcsmtError("a parameter is expected")
    names = [parameter.name for parameter in machine.kernel.parameters]
    if source.base.name not in names:
        raise TcsmtError(f"{source.base.name} is not a parameter")
    number = names.index(source.base.name)
    value = machine.launch.values[number]
    size = machine.kernel.parameters[number].size
    if size * 8 != int(instruction.name[-2:]) or machine.kernel.parameters[number].array:
        raise TcsmtError("parameters are read whole")
    if isinstance(target, PtxRegister) and machine.width(target) != size * 8:
        raise TcsmtError("the register has not the width of the parameter")
    bits = pointer_to(number) if value is None else value
    machine.write(target, Word(np.full(machine.lanes, bits, np.uint64)), mask)


def _vector(name: str) -> tuple[int, int]:
    """Return how many words a load or store has, and their size."""
    found = re.search(r"(?:\.v([24]))?\.b(\d+)$", name)
    assert found is not None
    return int(found[1] or 1), int(found[2]) // 8


def _load_global(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    count, size = _vector(instruction.name)
    target, source = instruction.operands
    event = _loaded(machine, source, machine.running(mask), (size,) * count)
    words = machine.trace.words(event, machine.lanes)
    for part, word in zip(machine.registers_of(target, count), words, strict=True):
        machine.write(part, word, mask)


def _loaded(machine: Machine, source: Operand, lanes: Lanes, sizes: tuple[int, ...]) -> Loaded:
    """Return what some lanes read from global memory."""
    buffers, offsets, moves = machine.memory(source, lanes, "it reads from")
    read = set(np.unique(buffers).tolist())
    if read.intersection(machine.stored):
        raise TcsmtError("it reads from a buffer to which the kernel writes")
    machine.loaded |= read
    whole = np.zeros((5, machine.lanes), np.int64)
    whole[:, lanes] = buffers, offsets, *moves
    return Loaded(whole[0], whole[1], sizes, whole[2:] if moves.any() else None)


def _store_global(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    count, size = _vector(instruction.name)
    target, source = instruction.operands
    lanes = machine.running(mask)
    given = stacked([machine.bytes(part, size) for part in machine.registers_of(source, count)])
    rows = ByteLanes(given.codes[:, lanes], given.index[:, lanes])
    machine.stores(target, lanes, rows, instruction)


def _load_shared(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    count, size = _vector(instruction.name)
    target, source = instruction.operands
    lanes = machine.running(mask)
    given = machine.shared.load(machine.address(source, mask)[lanes], lanes, count * size)
    whole = _spread(given, lanes, machine.lanes)
    for number, part in enumerate(machine.registers_of(target, count)):
        rows = slice(number * size, (number + 1) * size)
        machine.write(part, machine.trace.word_of(ByteLanes(whole.codes[rows], whole.index[rows])), mask)


def _spread(given: ByteLanes, lanes: Lanes, count: int) -> ByteLanes:
    """Return bytes of some lanes as bytes of all, 0 in the others."""
    pair = []
    for part in (given.codes, given.index):
        whole = np.zeros((len(part), count), np.int64)
        whole[:, lanes] = part
        pair.append(whole)
    return ByteLanes(*pair)


def _store_shared(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    count, size = _vector(instruction.name)
    target, source = instruction.operands
    lanes = machine.running(mask)
    given = stacked([machine.bytes(part, size) for part in machine.registers_of(source, count)])
    rows = ByteLanes(given.codes[:, lanes], given.index[:, lanes])
    machine.shared.store(machine.address(target, mask)[lanes], lanes, rows)


def _copy(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    """``cp.async``: bytes of global memory to shared memory, zeros after those that are there."""
    target, source, size, *rest = instruction.operands
    if not isinstance(size, PtxNumber) or size.bits not in (4, 8, 16) or len(rest) > 1:
        raise TcsmtError("it copies 4, 8 or 16 bytes, of which a number may be there")
    if ".cg." in instruction.name and size.bits != 16:
        raise TcsmtError("it copies 16 bytes")
    count, lanes = size.bits, machine.running(mask)
    there = np.full(machine.lanes, count, np.int64)
    if rest:
        if isinstance(rest[0], PtxRegister) and machine.width(rest[0]) != 32:
            raise TcsmtError("the number of bytes that are there is expected, in 32 bits")
        there = machine.concrete(machine.word(rest[0]), mask, "the number of bytes").astype(np.int64)
    there = there[lanes]
    if (there > count).any() or (there < 0).any():
        raise TcsmtError(f"the number of bytes that are there is more than {count}")
    (word,) = machine.trace.words(_loaded(machine, source, lanes[there > 0], (count,)), machine.lanes)
    assert word.codes is not None
    places = np.arange(count)[:, None]
    given = ByteLanes(np.where(places < there, word.codes[lanes], 0), np.where(places < there, places, 0))
    machine.shared.copy(machine.address(target, mask)[lanes], lanes, given)


def _committed(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    machine.shared.commit()


def _waited(machine: Machine, instruction: PtxInstruction, mask: Lanes | None) -> None:
    machine.everyone(mask)
    (count,) = instruction.operands
    if not isinstance(count, PtxNumber):
        raise TcsmtError("a number is expected")
    machine.shared.wait(count.bits)


def _table() -> Mapping[str, Meaning]:
    found: dict[str, Meaning] = {"ld.param.f32": _parameter}
    for kind in "bus":
        found |= {f"ld.param.{kind}{width}": _parameter for width in (32, 64)}
    for shape in ("", ".v2", ".v4"):
        for width in (8, 16, 32, 64):
            if shape == ".v4" and width == 64:
                continue
            found |= {f"ld.global{cache}{shape}.b{width}": _load_global for cache in _CACHE}
            found[f"st.global{shape}.b{width}"] = _store_global
            found[f"ld.shared{shape}.b{width}"] = _load_shared
            found[f"st.shared{shape}.b{width}"] = _store_shared
    found |= {f"cp.async.{level}.shared.global": _copy for level in ("ca", "cg")}
    return found | {"cp.async.commit_group": _committed, "cp.async.wait_group": _waited}


#: These instructions, by their names with all modifiers.
MEMORY_STEPS = _table()
