"""Shared memory: what is ordered is read, and a race is refused."""

from __future__ import annotations

import pytest

from tcsmt.support.errors import TcsmtError
from tests.support.compiled import run_small

#: Each thread writes its place; then it reads that of the next one, and of one in another warp.
_WRITE = "st.shared.b32 [%r5], %r2;\n"
_NEXT = "add.s32 %r10, %r2, 1;\nand.b32 %r10, %r10, 31;\nshl.b32 %r10, %r10, 2;\nadd.s32 %r11, %r4, %r10;\n"
_FAR = "xor.b32 %r10, %r2, 32;\nshl.b32 %r10, %r10, 2;\nadd.s32 %r11, %r4, %r10;\n"
_LOAD = "ld.shared.b32 %r12, [%r11];\n"
_COPY = "cp.async.ca.shared.global [ %r5 + 0 ], [ %rd4 + 0 ], 4;\ncp.async.commit_group;\n"
_OWN = "ld.shared.b32 %r12, [%r5];\n"


@pytest.mark.parametrize(
    ("lines", "threads", "found"),
    [
        (_WRITE + _OWN, 64, [0, 1, 2]),
        (_NEXT + _WRITE + "bar.sync 0;\n" + _LOAD, 32, [1, 2, 3]),
        (_NEXT + _WRITE + "bar.warp.sync -1;\n" + _LOAD, 32, [1, 2, 3]),
        (_FAR + _WRITE + "bar.sync 0;\n" + _LOAD + "bar.sync 0;\n" + _WRITE, 64, [32, 33, 34]),
    ],
)
def test_ordered_accesses_are_read(lines: str, threads: int, found: list[int]) -> None:
    word = run_small(lines, threads=threads).machine.registers["%r12"]
    assert word.bits[:3].tolist() == found


@pytest.mark.parametrize(
    ("lines", "threads", "said"),
    [
        (
            _NEXT + _WRITE + _LOAD,
            32,
            "reads shared memory that another thread wrote, and no barrier is between",
        ),
        (_FAR + _WRITE + "bar.warp.sync -1;\n" + _LOAD, 64, "that another thread wrote, and no barrier"),
        (
            _FAR + _WRITE + "bar.sync 0;\n" + _LOAD + _WRITE,
            64,
            "writes shared memory that another thread uses",
        ),
        (
            _FAR + _WRITE + "bar.sync 0;\n" + _LOAD + "bar.warp.sync -1;\n" + _WRITE,
            64,
            "that another thread uses",
        ),
        ("st.shared.b32 [%r4], %r2;", 32, "two threads write different values to one place"),
        (_COPY + _OWN, 32, "to which cp.async copies: nothing waits for it before"),
        (
            _COPY + "cp.async.wait_group 1;\n" + _OWN,
            32,
            "to which cp.async copies: nothing waits for it before",
        ),
        (_COPY + _WRITE, 32, "it writes shared memory that an instruction under way reads or writes"),
        (_NEXT + _COPY + "cp.async.wait_group 0;\n" + _LOAD, 32, "that another thread wrote, and no barrier"),
        (_NEXT + _COPY + "bar.sync 0;\ncp.async.wait_group 0;\n" + _LOAD, 32, "that another thread wrote"),
    ],
)
def test_races_are_refused(lines: str, threads: int, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        run_small(lines, threads=threads)


def test_a_copy_is_there_after_it_has_been_waited_for() -> None:
    lines = _NEXT + _COPY + "cp.async.wait_group 0;\nbar.sync 0;\n" + _LOAD
    machine = run_small(lines).machine
    codes = machine.registers["%r12"].codes
    assert codes is not None
    (value,) = machine.trace.follow([int(codes[0])])
    assert machine.trace.terms[machine.trace.terms.word(value)].offset == 4  # type: ignore[union-attr]
