"""WebAssembly's binary format (Core Specification 1.0, chapter 5): numbers, sections, modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

#: The types of words of up to 32 and of up to 64 bits.
I32, I64 = 0x7F, 0x7E
#: Bytes of a page of memory.
PAGE = 1 << 16
#: The instructions that exist for both types.
OPCODES = {
    I32: {
        "const": 0x41, "load": 0x28, "store": 0x36, "eqz": 0x45, "eq": 0x46, "slt": 0x48, "ult": 0x49,
        "ugt": 0x4B, "add": 0x6A, "sub": 0x6B, "mul": 0x6C, "and": 0x71, "or": 0x72, "xor": 0x73,
        "shl": 0x74, "ashr": 0x75, "lshr": 0x76,
    },
    I64: {
        "const": 0x42, "load": 0x29, "store": 0x37, "eqz": 0x50, "eq": 0x51, "slt": 0x53, "ult": 0x54,
        "ugt": 0x56, "add": 0x7C, "sub": 0x7D, "mul": 0x7E, "and": 0x83, "or": 0x84, "xor": 0x85,
        "shl": 0x86, "ashr": 0x87, "lshr": 0x88,
    },
}  # fmt: skip
_TYPE, _FUNCTION, _MEMORY, _EXPORT, _CODE, _CUSTOM = 1, 3, 5, 7, 10, 0


def uleb(value: int) -> bytes:
    """Return an unsigned number in LEB128."""
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def sleb(value: int) -> bytes:
    """Return a signed number in LEB128."""
    result = bytearray()
    while not -64 <= value < 64:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value & 0x7F)
    return bytes(result)


def _vector(items: Sequence[bytes]) -> bytes:
    return uleb(len(items)) + b"".join(items)


def _name(text: str) -> bytes:
    data = text.encode()
    return uleb(len(data)) + data


def _section(number: int, content: bytes) -> bytes:
    return bytes([number]) + uleb(len(content)) + content


def function(local_types: Sequence[int], code: bytes) -> bytes:
    """Return a function's entry in the code section: without parameters, its locals, its instructions."""
    runs = [uleb(len(list(run))) + bytes([kind]) for kind, run in groupby(local_types)]
    body = _vector(runs) + code + b"\x0b"
    return uleb(len(body)) + body


def assembled(
    functions: Sequence[bytes], exports: Mapping[str, int], memory: int, custom: Mapping[str, bytes]
) -> bytes:
    """Return a module of functions without parameters and results, and its memory, exported as ``memory``.

    functions: as :func:`function` makes them. exports: names of functions, by number. memory: bytes that are
    needed. custom: the content of sections that engines ignore, by name.
    """
    named = [_name(name) + b"\x00" + uleb(number) for name, number in exports.items()]
    return b"".join(
        [
            b"\0asm\1\0\0\0",
            _section(_TYPE, _vector([b"\x60\x00\x00"])),
            _section(_FUNCTION, _vector([uleb(0)] * len(functions))),
            _section(_MEMORY, _vector([b"\x00" + uleb(-(-memory // PAGE))])),
            _section(_EXPORT, _vector([_name("memory") + b"\x02\x00", *named])),
            _section(_CODE, _vector(functions)),
            *(_section(_CUSTOM, _name(name) + content) for name, content in custom.items()),
        ]
    )
