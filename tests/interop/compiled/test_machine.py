"""A block of threads on concrete integers: what depends on numbers or on an order of threads is refused."""

from __future__ import annotations

import pytest

from tcsmt.support.errors import TcsmtError
from tests.support.compiled import run_small

_READ = "ld.global.b32 %r10, [%rd4];\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("sub.rn.f32.f16 %r10, %r10, %rs1;", "line 22: sub.rn.f32.f16: unknown instruction"),
        ("ld.global.volatile.b32 %r10, [%rd4];", "unknown instruction 'ld.global.volatile.b32'"),
        ("ret;\nadd.ftz.f32 %r10, %r10, %r10;", "unknown instruction 'add.ftz.f32': did you mean add.f32"),
        (_READ + "setp.eq.s32 %p1, %r10, 0;\n@%p1 bra OUT;\nOUT:", "the guard depends on numbers"),
        (_READ + "setp.num.f32 %p1, %r10, %r10;\n@%p1 st.global.b32 [%rd5], %r10;", "the guard depends on"),
        (
            _READ + "mul.wide.u32 %rd6, %r10, 4;\nadd.s64 %rd7, %rd1, %rd6;\nld.global.b32 %r11, [%rd7];",
            "line 25: ld.global.b32: the address depends on numbers that the kernel reads or computes",
        ),
        ("setp.lt.s32 %p1, %r2, 5;\n@%p1 bra OUT;\nOUT:", "only some threads of the block take the branch"),
        ("ld.global.b32 %r10, [%rd3];", "it reads from an address that no parameter points to"),
        (_READ + "st.global.b32 [%rd4], %r10;", "it writes to a buffer from which the kernel reads"),
        ("div.s32 %r10, %r1, %r2;", "it divides by zero"),
        ("st.shared.b32 [%r3], %r1;", "it leaves the shared memory of the block"),
        ("AGAIN: bra AGAIN;", "more than"),
        (
            ".shared .align 4 .b8 x[99999999999];",
            "x has 99999999999 bytes of shared memory: .* at most 232448",
        ),
        ("bar.sync 1;", "only barrier 0 of all threads is read"),
    ],
)
def test_refusals_name_the_line(lines: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcsmt.interop.compiled.machine._MOST_STEPS", 1000)
    with pytest.raises(TcsmtError, match=said):
        run_small(lines)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("st.global.b32 [%rd5], %r20;", "what nothing has written is read"),
        (
            _READ + "add.s32 %r11, %r10, 1;\nst.global.b32 [%rd5], %r11;",
            "add.s32: it is arithmetic on the bits of",
        ),
        (
            _READ + "shl.b32 %r11, %r10, 3;\nst.global.b32 [%rd5], %r11;",
            "it shifts numbers by bits that are not",
        ),
        (_READ + "and.b32 %r11, %r10, 240;\nst.global.b32 [%rd5], %r11;", "it changes bits of numbers"),
        (_READ + "st.global.b32 [%rd5], %r10;\nst.global.b32 [%rd5], 0;", "is stored over by another one"),
        (_READ + "st.global.b32 [%rd5], %r10;", "it is stored as it was loaded"),
        (
            _READ + "add.f32 %r11, %r10, %r10;\nst.global.b32 [%rd5], %r11;",
            "no instruction takes words of A and of B",
        ),
        (
            _READ + "prmt.b32 %r11, %r10, 0, 0x0123;\nneg.s32 %r9, %r1;\nadd.f32 %r12, %r11, %r11;\n"
            "st.global.b32 [%rd5], %r12;",
            "line 25: add.f32: it takes a number that is made of bytes of several numbers",
        ),
    ],
)
def test_elements_that_no_program_says_are_refused(lines: str, said: str) -> None:
    run = run_small(lines)
    with pytest.raises(TcsmtError, match=said):
        run.read()


def test_registers_are_written_under_guards() -> None:
    lines = (
        "mov.b32 %r10, 5;\nsetp.lt.s32 %p1, %r2, 3;\n@%p1 mov.b32 %r10, 6;\n@!%p1 add.s32 %r10, %r10, %r1;"
    )
    word = run_small(lines).machine.registers["%r10"]
    assert word.codes is None
    assert word.bits[:5].tolist() == [6, 6, 6, 12, 12]


def test_loops_run_until_their_counters_say() -> None:
    lines = "mov.b32 %r10, 0;\nAGAIN:\nadd.s32 %r10, %r10, 3;\nsetp.lt.s32 %p1, %r10, %r1;\n@%p1 bra AGAIN;"
    assert run_small(lines, 20).machine.registers["%r10"].bits[0] == 21
