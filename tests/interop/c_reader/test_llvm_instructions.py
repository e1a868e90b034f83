"""Instructions of LLVM IR."""

from __future__ import annotations

import pytest

from tcsmt.interop.c_reader.llvm_instructions import InstructionReader
from tcsmt.interop.c_reader.llvm_module import Array, Instruction, Int, Literal, Local, Pointer, Symbol, Void

READER = InstructionReader({})
I8, I32 = Int(8), Int(32)
X, Y = Local("x"), Local("y")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("%d = add nsw i32 %x, -1", Instruction("add", "d", I32, (X, Literal(-1)), words=("nsw",))),
        ("%d = zext i8 %x to i32", Instruction("zext", "d", I32, (X,), (I8,))),
        ("%d = alloca i8, i32 3, align 1", Instruction("alloca", "d", Array(3, I8))),
        ("%d = load i8, ptr %x, align 1", Instruction("load", "d", I8, (X,))),
        ("store i8 %x, i8* %y, align 1", Instruction("store", "", I8, (X, Y))),
        (
            "%d = getelementptr inbounds i8, ptr %x, i64 %y",
            Instruction("getelementptr", "d", I8, (X, Y), (Int(64),), ("inbounds",)),
        ),
        ("%d = icmp slt i8 %x, %y", Instruction("icmp", "d", I8, (X, Y), words=("slt",))),
        ("br i1 %x, label %a, label %b", Instruction("br", "", Void(), (X,), labels=("a", "b"))),
        ("br label %a", Instruction("br", "", Void(), labels=("a",))),
        (
            "switch i8 %x, label %a [ i8 1, label %b ]",
            Instruction("switch", "", I8, (X,), labels=("a", "b"), numbers=(1,)),
        ),
        (
            "%d = phi i8 [ %x, %a ], [ 7, %b ]",
            Instruction("phi", "d", I8, (X, Literal(7)), labels=("a", "b")),
        ),
        ("%d = select i1 %x, i8 %y, i8 0", Instruction("select", "d", I8, (X, Y, Literal(0)))),
        ("ret void", Instruction("ret", "", Void())),
        (
            "%d = tail call i32 @f(i8 zeroext %x, metadata !5)",
            Instruction("call", "d", I32, (X,), (I8,), ("f",)),
        ),
        ("%d = freeze ptr @t", Instruction("freeze", "d", Pointer(), (Symbol("t"),))),
        ("unreachable", Instruction("unreachable", "", Void())),
    ],
)
def test_instructions(text: str, said: Instruction) -> None:
    assert READER.instruction(f"  {text}, !dbg !7", "") == said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("%d = fadd float %x, %y", "fadd is not supported: only integer code is"),
        ("%d = load volatile i8, ptr %x", "load: volatile is not supported"),
        ("%d = zext nneg i8 %x to i32", "zext: nneg is not supported"),
        ('call void asm sideeffect "", ""()', "call: inline assembly is not supported"),
        ("call void %x()", "call: a call through a pointer is not supported"),
        ("%d = alloca i8, i32 %x", "alloca: an array whose length is not a constant is not supported"),
        ("%d = add i32 %x", "add: expected ',', not ''"),
    ],
)
def test_unsupported_instructions_say_why(text: str, why: str) -> None:
    found = READER.instruction(text, "f.c:3")
    assert (found.opcode, found.words, found.source) == ("unsupported", (why,), "f.c:3")
