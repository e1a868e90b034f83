"""Types of LLVM IR: how large they are."""

from __future__ import annotations

from tcsmt.interop.c_reader.llvm_module import Array, Int, Pointer, Struct, Void


def test_layout() -> None:
    """As the System V ABI has it."""
    one = Struct((Int(8), Int(32), Array(2, Int(16))))
    assert (one.offsets, one.size, one.align) == ([0, 4, 8, 12], 12, 4)
    assert Struct((Int(8), Int(64), Int(1))).size == 24
    assert Struct((Int(8), Int(32)), packed=True).size == 5
    assert [Int(width).size for width in (1, 8, 9, 16, 32, 33, 64, 128)] == [1, 1, 2, 2, 4, 8, 8, 16]


def test_names() -> None:
    assert [str(one) for one in (Int(7), Int(32, "float"), Pointer(), Void())] == [
        "i7",
        "float",
        "ptr",
        "void",
    ]
