"""LLVM IR, with typed pointers and without."""

from __future__ import annotations

import pytest

from tcsmt.interop.c_reader.llvm_module import Array, Instruction, Int, Literal, Local, Pointer, Struct
from tcsmt.interop.c_reader.llvm_reader import read_llvm

TYPED = """target datalayout = "e-m:e"
%struct.s = type { i8, i32, [2 x i16] }
@table = internal constant [3 x i8] c"\\01a\\FF", align 1
@outside = external global i32
define dso_local i32 @f(i32 noundef %a, %struct.s* noalias nocapture %p) #0 !dbg !1 {
entry:
  %x = getelementptr inbounds %struct.s, %struct.s* %p, i32 0, i32 1, !dbg !2
  %y = load i32, i32* %x, align 4 ; a comment
  %z = fadd float 1.0, 2.0, !dbg !2
  switch i32 %a, label %end [
    i32 1, label %end
    i32 -2, label %end
  ]

end:                                              ; preds = %entry
  ret i32 %y
}
!1 = distinct !DISubprogram(name: "f", scope: !3, file: !3, line: 7)
!2 = !DILocation(line: 9, column: 3, scope: !1)
!3 = !DIFile(filename: "f.c", directory: "/")
"""
#: The same, as from LLVM 15 on.
OPAQUE = TYPED.replace("%struct.s* ", "ptr ").replace("i32* ", "ptr ")


@pytest.mark.parametrize("text", [TYPED, OPAQUE])
def test_functions_are_read_with_types_operands_and_sources(text: str) -> None:
    module = read_llvm(text)
    function = module.functions["f"]
    assert function.parameters == (("a", Int(32)), ("p", Pointer()))
    assert (function.source, function.local, list(function.blocks)) == ("f.c:7", False, ["entry", "end"])
    address, load, unknown, switch = function.blocks["entry"]
    assert isinstance(address.type, Struct)
    assert address.operands == (Local("p"), Literal(0), Literal(1))
    assert address.source == "f.c:9"
    assert load == Instruction("load", "y", Int(32), (Local("x"),))
    assert (unknown.opcode, unknown.words) == (
        "unsupported", ("fadd is not supported: only integer code is",)
    )  # fmt: skip
    assert (switch.labels, switch.numbers) == (("end", "end", "end"), (1, -2))


def test_variables() -> None:
    variables = read_llvm(TYPED).variables
    assert (variables["table"].constant, variables["table"].type) == (True, Array(3, Int(8)))
    assert [part.value for _, part in variables["table"].value.parts] == [1, ord("a"), 255]  # type: ignore[union-attr]
    assert variables["outside"].value is None
