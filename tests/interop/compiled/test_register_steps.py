"""Instructions on registers: packing, selections by lanes and by numbers, predicates of numbers."""

from __future__ import annotations

import pytest

from tcsmt.interop.compiled.terms import NumberStep
from tcsmt.support.errors import TcsmtError
from tests.oracles.ptx import Block
from tests.support.compiled import run_small, small_kernel

_READ = "ld.global.b32 %r10, [%rd4];\n"


def test_registers_are_packed_and_taken_apart() -> None:
    lines = "mov.b32 {%rs1, %rs2}, %r1;\nmov.b32 %r10, {%rs2, %rs1};\nmov.b32 {_, %rs3}, %r10;"
    registers = run_small(lines, 0x12345678).machine.registers
    assert (registers["%r10"].bits[0], registers["%rs3"].bits[0]) == (0x56781234, 0x5678)


def test_selections_take_one_of_two_words() -> None:
    lines = "setp.lt.s32 %p1, %r2, 2;\nselp.b32 %r10, %r1, 9, %p1;\nselp.b32 %r11, 1, 2, !%p1;"
    registers = run_small(lines).machine.registers
    assert registers["%r10"].bits[:4].tolist() == [7, 7, 9, 9]
    assert registers["%r11"].bits[:4].tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("mov.b64 %rd7, -2;\ncvt.s32.s64 %rd6, %rd7;", -2),
        ("mov.b64 %rd7, -2;\ncvt.u32.s64 %rd6, %rd7;", (1 << 32) - 2),
        ("mov.b64 %rd7, 0x180000000;\ncvt.s32.u64 %rd6, %rd7;", -1 << 31),
        ("mov.b32 %r10, 0x18000;\ncvt.s16.s32 %r11, %r10;\ncvt.u64.u32 %rd6, %r11;", 0xFFFF8000),
        ("mov.b32 %r10, 0x18000;\ncvt.u16.u32 %r11, %r10;\ncvt.u64.u32 %rd6, %r11;", 0x8000),
    ],
)
def test_conversions_fill_wider_registers_as_their_type_says(lines: str, wanted: int) -> None:
    """The PTX ISA, "Operand Size Exceeding Instruction-Type Size"."""
    bits = run_small(lines).machine.registers["%rd6"].bits
    assert {int(word) for word in bits} == {wanted % (1 << 64)}
    text = small_kernel(f"{lines}\nst.global.b64 [%rd5], %rd6;", 1).replace("smem", "global_smem")
    stored = bytearray(8)
    Block(text, [1 << 32, 2 << 32, 7], lambda name: None, "ampere", {2 << 32: stored}).run()
    assert int.from_bytes(stored, "little") == wanted % (1 << 64)


def test_selections_by_numbers_are_steps() -> None:
    lines = _READ + "setp.num.f32 %p1, %r10, %r10;\nselp.f32 %r11, %r10, 0f00000000, %p1;"
    machine = run_small(lines).machine
    codes = machine.registers["%r11"].codes
    assert codes is not None
    (value,) = machine.trace.follow([int(codes[3])])
    term = machine.trace.terms[machine.trace.terms.word(value)]
    assert isinstance(term, NumberStep)
    assert term.form == "select({0}, {1}, {2})"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (_READ + "setp.num.f32 %p1, %r10, %r1;", "it is read of one number alone, which is given twice"),
        (
            _READ + "setp.num.f32 %p1, %r10, %r10;\nselp.f32 %r11, %r10, %r10, !%p1;",
            "a selection by numbers in some lanes is not read",
        ),
        ("add.s32 %rd6, %r1, %r1;", "the register has not the width of the result"),
        ("cvt.u32.u64 %rs1, %rd1;", "the register has not the width of the result"),
        (_READ + "cvt.s16.s32 %r11, %r10;", "it extends the sign of what depends on numbers"),
        ("mov.b32 {%r10, %r11}, %r1;", "the registers do not have the size of the parts"),
        ("add.s32 %r10, %r1;", "2 operands are expected"),
        ("cvt.rn.f16x2.f32 %r10, %r1;", "2 operands are expected"),
        ("mov.b32 %r10, nothing;", "nothing: an operand that is not read here"),
    ],
)
def test_what_is_not_read_is_refused(lines: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        run_small(lines)
