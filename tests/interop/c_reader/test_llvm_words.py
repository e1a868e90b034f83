"""Types and operands of LLVM IR."""

from __future__ import annotations

import struct

import pytest

from tcsmt.interop.c_reader.llvm_module import (
    Address,
    Aggregate,
    Array,
    Int,
    Literal,
    Local,
    Operand,
    Pointer,
    Struct,
    Symbol,
    Type,
    Undefined,
    Zero,
)
from tcsmt.interop.c_reader.llvm_words import LineWords, OperandReader

READER = OperandReader({"%s": "type", "%pair": "{ i8, %inner }", "%inner": "[2 x i16]", "%far": "opaque"})


I32 = Int(32)


def operand(text: str, of: Type = I32) -> Operand:
    return READER.operand(LineWords(text), of)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("i7", Int(7)),
        ("bfloat", Int(16, "bfloat")),
        ("%pair", Struct((Int(8), Array(2, Int(16))))),
        ("<{ i8, i32 }>", Struct((Int(8), Int(32)), packed=True)),
        ("%pair**", Pointer()),
        ("ptr addrspace", Pointer()),
    ],
)
def test_types(text: str, said: Type) -> None:
    assert READER.type(LineWords(text)) == said


@pytest.mark.parametrize("text", ["%far", "x86_fp80", "<4 x i32>"])
def test_types_that_are_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"has no definition|is not supported"):
        READER.type(LineWords(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("%x.addr", Local("x.addr")),
        ('@"a name"', Symbol("a name")),
        ("true", Literal(1)),
        ("-5", Literal(-5)),
        ("null", Zero()),
        ("poison", Undefined()),
        ('c"a\\00"', Aggregate(((Int(8), Literal(97)), (Int(8), Literal(0))))),
        ("[i8 1, i8 undef]", Aggregate(((Int(8), Literal(1)), (Int(8), Undefined())))),
        ("bitcast (i8* @t to i32*)", Symbol("t")),
        (
            "getelementptr inbounds ([2 x i8], ptr @t, i64 0, i64 1)",
            Address(Array(2, Int(8)), Symbol("t"), (Literal(0), Literal(1))),
        ),
    ],
)
def test_operands(text: str, said: Operand) -> None:
    assert operand(text) == said


def test_floating_point_constants() -> None:
    """LLVM writes them as doubles, or as hexadecimal words of doubles and halves."""
    for value in (1.0, -0.15625, 2.0**-130):
        double = struct.unpack(">Q", struct.pack(">d", value))[0]
        (single,) = struct.unpack(">I", struct.pack(">f", value))
        assert operand(f"0x{double:016X}", Int(64, "double")) == Literal(double)
        assert operand(f"0x{double:016X}", Int(32, "float")) == Literal(single)
    assert operand("1.000000e+00", Int(32, "float")) == Literal(0x3F800000)
    assert operand("0xH3C00", Int(16, "half")) == Literal(0x3C00)
    with pytest.raises(ValueError, match=r"the constant 1\.000000e\+00 is not supported"):
        operand("1.000000e+00", Int(16, "half"))


def test_words() -> None:
    words = LineWords("noundef align 4 sret(%pair) i32 %x, i32 5")
    words.attributes()
    assert (words.until((",",)), words.skip(";"), words.skip(",")) == (["i32", "%x"], False, True)
    with pytest.raises(ValueError, match="expected 'i8', not 'i32'"):
        words.expect("i8")
    assert (words.take(), words.number(), words.peek()) == ("i32", 5, "")
