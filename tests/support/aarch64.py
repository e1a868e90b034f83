"""LLVM text compiled for AArch64, linked here into a program without libraries, and run under QEMU."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["available", "run"]

#: Where the program lies in memory, and where its sections begin in the file.
_BASE, _HEADERS = 0x400000, 0x1000
#: Relocations of a page, of an offset in it by the size of what is loaded, of calls, and of data.
_RELATIVE, _PAGE, _OFFSETS, _CALLS = 261, 275, {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}, (282, 283)
_START = """
declare dso_local void @finish(ptr, i64)
define void @_start() {{
  call void @{name}({arguments})
  call void @finish(ptr {result}, i64 {size})
  ret void
}}
"""
#: The function ``finish``: system calls that write an array and end the program (mov, svc).
_FINISH = (
    0xAA0103E2, 0xAA0003E1, 0xD2800020, 0xD2800808, 0xD4000001, 0xD2800000, 0xD2800BA8, 0xD4000001,
)  # fmt: skip


def available() -> bool:
    """Whether QEMU's emulator of AArch64 programs is installed."""
    return shutil.which("qemu-aarch64") is not None


def run(
    text: str,
    name: str,
    arguments: Sequence[int | np.ndarray[Any, Any]],
    result: np.ndarray[Any, Any],
    folder: Path,
) -> bytes:
    """The bytes of one of the arguments' arrays after a call of a void function of the LLVM text.

    arguments: numbers of 64 bits, and arrays, of which the function gets the addresses.
    """
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    names = {id(array): f"@array{number}" for number, array in enumerate(arrays)}
    data = "".join(
        f'{names[id(x)]} = internal global [{x.nbytes} x i8] c"{_escaped(x.tobytes())}", align 64\n'
        for x in arrays
    )
    given = ", ".join(f"ptr {names[id(a)]}" if isinstance(a, np.ndarray) else f"i64 {a}" for a in arguments)
    start = _START.format(name=name, arguments=given, result=names[id(result)], size=result.nbytes)
    program = folder / "program"
    program.write_bytes(_linked(_compiled(f"{text}\n{data}{start}")))
    program.chmod(0o755)
    return subprocess.run(["qemu-aarch64", str(program)], capture_output=True, check=True, timeout=300).stdout


def _escaped(data: bytes) -> str:
    return "".join(f"\\{byte:02X}" for byte in data)


def _compiled(text: str) -> bytes:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("aarch64-linux-gnu")
    machine = target.create_target_machine(cpu="neoverse-n1", opt=2, reloc="static", codemodel="small")
    module = llvm.parse_assembly(text)
    module.verify()
    code: bytes = machine.emit_object(module)
    return code


def _linked(code: bytes) -> bytes:
    """A program of one segment: all sections that are in memory, one after the other."""
    (table,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + number * size) for number in range(count)]
    image, address = bytearray(), {}
    for number, (_, kind, flags, _, offset, length, _, _, align, _) in enumerate(sections):
        if flags & 2:
            image += bytes(-len(image) % max(align, 1))
            address[number] = _BASE + _HEADERS + len(image)
            image += bytes(length) if kind == 8 else code[offset : offset + length]
    symbols: list[tuple[Any, ...]] = []
    names = 0
    for _, kind, _, _, offset, length, link, _, _, _ in sections:
        if kind == 2:
            names = sections[link][4]
            symbols = [struct.unpack_from("<IBBHQQ", code, at) for at in range(offset, offset + length, 24)]
    image += bytes(-len(image) % 4)
    finish = _BASE + _HEADERS + len(image)
    image += struct.pack("<8I", *_FINISH)
    places = [address.get(symbol[3], 0) + symbol[4] if symbol[3] else finish for symbol in symbols]
    for _, kind, _, _, offset, length, _, info, _, _ in sections:
        if kind == 4 and info in address:
            for at in range(offset, offset + length, 24):
                where, what, addend = struct.unpack_from("<QQq", code, at)
                _relocate(image, address[info] + where, what & 0xFFFFFFFF, places[what >> 32] + addend)
    starts = [
        place
        for symbol, place in zip(symbols, places, strict=True)
        if code[names + symbol[0] :].startswith(b"_start\0")
    ]
    header = struct.pack(
        "<4sBBBBQHHIQQQIHHHHHH",
        b"\x7fELF",
        2,
        1,
        1,
        0,
        0,
        2,
        183,
        1,
        starts[0],
        64,
        0,
        0,
        64,
        56,
        1,
        64,
        0,
        0,
    )
    total = _HEADERS + len(image)
    segment = struct.pack("<IIQQQQQQ", 1, 7, 0, _BASE, _BASE, total, total, 0x1000)
    return (header + segment).ljust(_HEADERS, b"\0") + bytes(image)


def _relocate(image: bytearray, where: int, kind: int, value: int) -> None:
    """Write an address into an instruction."""
    at = where - _BASE - _HEADERS
    (word,) = struct.unpack_from("<I", image, at)
    if kind == _PAGE:
        pages = (value >> 12) - (where >> 12)
        word |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    elif kind in _OFFSETS:
        word |= (value & 0xFFF) >> _OFFSETS[kind] << 10
    elif kind == _RELATIVE:
        word = value - where & 0xFFFFFFFF
    elif kind in _CALLS:
        word |= (value - where) >> 2 & 0x3FFFFFF
    else:
        raise ValueError(f"a relocation of kind {kind} is not known here")
    struct.pack_into("<I", image, at, word)
