"""The text of PTX as data: operands, registers, lines of the source; what is not understood is an error."""

from __future__ import annotations

import pytest

from tcsmt.interop.compiled.ptx_text import (
    PtxAddress,
    PtxNumber,
    PtxRegister,
    PtxSymbol,
    PtxVector,
    SharedArray,
    parse_ptx,
)
from tcsmt.support.errors import TcsmtError
from tests.support.compiled import small_kernel

_TEXT = """.version 8.8 // a comment
.target sm_90a, debug
.address_size 64
.file 1 "/somewhere/kernels.py"
.extern .shared .align 16 .b8 smem[];
.visible .entry one(.param .u64 .ptr .global .align 1 p0, .param .f32 p1)
.reqntid 128, 1
{
.reg .pred %p<2>;
.reg .b32 %r<5>;
.shared .align 8 .b8 own[32];
.loc 1 12 3
$L__BB0: { @!%p1 add.f32 %r1, %r2, 0f3F800000; }
/* two
lines */ mov.b64 {%r1, _}, %rd1;
.loc 1 0 3
ld.global.v2.b32 {%r1,%r2}, [ %rd1 + -16 ];
mov.b32 %r3, -1;
mov.b32 %r3, smem;
bra $L__BB0;
}
.section .debug { .b8 1, 2 }
"""


def test_a_kernel_is_data() -> None:
    module = parse_ptx(_TEXT)
    assert (module.version, module.target) == ("8.8", "sm_90a")
    kernel = module.kernel(None)
    assert (kernel.name, kernel.threads, kernel.labels) == ("one", (128, 1), {"$L__BB0": 0})
    assert [(one.name, one.type, one.size) for one in kernel.parameters] == [
        ("p0", "u64", 8),
        ("p1", "f32", 4),
    ]
    assert kernel.shared == [SharedArray("smem", 16, 0), SharedArray("own", 8, 32)]
    first, pack, load, minus, symbol, jump = kernel.instructions
    assert first.guard == PtxRegister("%p1", negated=True)
    assert first.operands == (PtxRegister("%r1"), PtxRegister("%r2"), PtxNumber(0x3F800000))
    assert (first.line, first.source) == (13, "kernels.py:12")
    assert pack.operands[0] == PtxVector((PtxRegister("%r1"), PtxSymbol("_")))
    assert (pack.line, load.source) == (15, "kernels.py:12")
    assert load.operands == (
        PtxVector((PtxRegister("%r1"), PtxRegister("%r2"))),
        PtxAddress(PtxRegister("%rd1"), -16),
    )
    assert minus.operands[1] == PtxNumber((1 << 64) - 1)
    assert symbol.operands[1] == PtxSymbol("smem")
    assert jump.operands == (PtxSymbol("$L__BB0"),)
    assert kernel.type_of("%r4") == "b32"
    assert "line 13 (kernels.py:12): add.f32: no" in str(first.error("no"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not PTX: no line says .target"),
        (_TEXT.replace(".section", ".func"), "line 22: .func: not a part of a module that is read"),
        (_TEXT.replace(".reqntid", ".cluster"), "line 7: .cluster: not a directive of kernels that is read"),
        (_TEXT.replace("[ %rd1 + -16 ]", "[ %rd1 * 2 ]"), "line 17: '\\*' in an address is not understood"),
        (_TEXT.replace(".b32 %r<5>", ".b32 %p<5>"), "line 10: %p is declared with two types"),
        (_TEXT.replace("mov.b32 %r3, -1;", "mov.b32 %r3, ?;"), "line 18: .* is not understood"),
        (_TEXT.partition("mov.b32 %r3, -1")[0], "the text ends where more is expected"),
    ],
)
def test_what_is_not_understood_is_an_error(text: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        parse_ptx(text)


def test_kernels_are_chosen_by_name() -> None:
    entry = small_kernel("").partition(".visible")
    two = "".join(entry) + "".join(entry[1:]).replace("small", "other")
    module = parse_ptx(two)
    assert module.kernel("other").name == "other"
    with pytest.raises(TcsmtError, match="there are 2 kernels: choose one of small, other"):
        module.kernel(None)
    with pytest.raises(TcsmtError, match="unknown kernel 'smal': did you mean small"):
        module.kernel("smal")
    with pytest.raises(TcsmtError, match="register %z is not declared"):
        module.kernel("small").type_of("%z")


def test_control_characters_of_a_source_s_name_do_not_reach_the_terminal() -> None:
    kernel = parse_ptx(_TEXT.replace("kernels.py", "red\x1b[31m.py")).kernel("one")
    sources = {instruction.source for instruction in kernel.instructions}
    assert "red\\x1b[31m.py:12" in sources
    assert all(source.isprintable() for source in sources)
