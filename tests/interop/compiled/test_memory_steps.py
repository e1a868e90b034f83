"""Instructions on memory: vectors, bytes that are not there, parameters."""

from __future__ import annotations

import pytest

from tcsmt.interop.compiled.terms import Constant, MemoryWord, Term
from tcsmt.support.errors import TcsmtError
from tests.support.compiled import run_small

_END = "cp.async.commit_group;\ncp.async.wait_group 0;\n"


def _term(lines: str, register: str, lane: int, size: int = 4) -> Term:
    machine = run_small(lines).machine
    given = machine.trace.bytes_of(machine.registers[register], size)
    pairs = list(zip(given.codes[:, lane].tolist(), given.index[:, lane].tolist(), strict=True))
    values = [machine.trace.follow([code])[0][at] if code else at for code, at in pairs]
    return machine.trace.terms[machine.trace.terms.word(tuple(values))]


def test_vectors_are_words_after_each_other() -> None:
    lines = "ld.global.v2.b32 {%r10, %r11}, [%rd4+8];"
    assert _term(lines, "%r10", 3) == MemoryWord(0, 20, 4)
    assert _term(lines, "%r11", 3) == MemoryWord(0, 24, 4)


def test_bytes_that_are_not_there_are_zeros() -> None:
    copy = "cp.async.ca.shared.global [%r5], [%rd4], 4, "
    assert _term(copy + f"4;\n{_END}ld.shared.b32 %r10, [%r5];", "%r10", 2) == MemoryWord(0, 8, 4)
    assert _term(copy + f"0;\n{_END}ld.shared.b32 %r10, [%r5];", "%r10", 2) == Constant(4, 0)
    half = copy + f"2;\n{_END}ld.shared.b16 %rs1, [%r5];\nld.shared.b16 %rs2, [%r5+2];"
    assert _term(half, "%rs1", 2, 2) == MemoryWord(0, 8, 2)
    assert _term(half, "%rs2", 2, 2) == Constant(2, 0)


def test_numbers_go_through_shared_memory() -> None:
    lines = "ld.global.b32 %r10, [%rd4];\nst.shared.b32 [%r5], %r10;\nld.shared.b16 %rs1, [%r5+2];"
    assert _term(lines, "%rs1", 1, 2) == MemoryWord(0, 6, 2)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("ld.param.b32 %r10, [small_param_9];", "small_param_9 is not a parameter"),
        ("ld.param.b32 %r10, [small_param_0];", "parameters are read whole"),
        ("ld.param.s32 %rd6, [small_param_2];", "the register has not the width of the parameter"),
        ("cp.async.ca.shared.global [%r5], [%rd4], 3;", "it copies 4, 8 or 16 bytes"),
        ("cp.async.cg.shared.global [%r5], [%rd4], 8;", "it copies 16 bytes"),
        (
            "cp.async.ca.shared.global [%r5], [%rd4], 4, 5;",
            "the number of bytes that are there is more than 4",
        ),
        ("ld.global.v2.b32 %r10, [%rd4];", "2 registers are expected"),
    ],
)
def test_what_is_not_read_is_refused(lines: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        run_small(lines)
