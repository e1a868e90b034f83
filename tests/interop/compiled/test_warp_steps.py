"""Instructions of warps: shuffles, matrices of shared memory, and who must run them."""

from __future__ import annotations

import pytest

from tcsmt.support.errors import TcsmtError
from tests.support.compiled import run_small

_ROWS = "shl.b32 %r6, %r2, 4;\nadd.s32 %r7, %r4, %r6;\n"


def test_shuffles_take_the_word_of_another_lane() -> None:
    lines = "xor.b32 %r10, %r2, 5;\nshfl.sync.idx.b32 %r11, %r2, %r10, 31, -1;"
    found = run_small(lines, threads=64).machine.registers["%r11"].bits
    assert found.tolist() == [n ^ 5 for n in range(64)]


@pytest.mark.parametrize("order", ["", ".trans"])
def test_a_matrix_of_shared_memory_is_spread_over_a_warp(order: str) -> None:
    """Each thread writes a row of eight words, 256 times its number and their place; it reads two of them."""
    lines = _ROWS + "shl.b32 %r8, %r2, 8;\ncvt.u16.u32 %rs1, %r8;\n"
    for place in range(8):
        lines += f"add.u16 %rs2, %rs1, {place};\nst.shared.b16 [%r7+{2 * place}], %rs2;\n"
    lines += f"bar.sync 0;\nldmatrix.sync.aligned.m8n8.x2{order}.shared.b16 {{%r10, %r11}}, [%r7];"
    registers = run_small(lines).machine.registers
    for number, register in enumerate(("%r10", "%r11")):
        for lane in range(32):
            pair = [(lane // 4, 2 * (lane % 4) + n) for n in range(2)]
            places = [(column, row) if order else (row, column) for row, column in pair]
            words = [256 * (8 * number + row) + column for row, column in places]
            assert registers[register].bits[lane] == words[0] | words[1] << 16


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("setp.lt.s32 %p1, %r2, 5;\n@%p1 bar.sync 0;", "only some threads of the block run it"),
        ("shfl.sync.idx.b32 %r11, %r2, 0, 15, -1;", "only shuffles within whole warps are read"),
        ("bar.warp.sync 1;", "only barriers of whole warps are read"),
        (
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r10, [%r4+8];",
            "a row does not begin at a multiple of 16",
        ),
        ("bra NOWHERE;", "it jumps to no label of the kernel"),
        ("setp.lt.s32 %p1, %r2, 5;\n@%p1 ret;", "only some threads of the block run it"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r6, %r7}, {%r8, %r9}, {%r10}, {%r6, %r7};",
            "4 registers are expected",
        ),
    ],
)
def test_what_is_not_read_is_refused(lines: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        run_small(lines)


def test_instructions_that_nothing_runs_are_left_out() -> None:
    lines = "setp.lt.s32 %p1, %r2, 0;\n@%p1 bar.sync 0;\n@%p1 bra OUT;\nmov.b32 %r10, 4;\nOUT:"
    assert run_small(lines).machine.registers["%r10"].bits[0] == 4
