"""WebAssembly's binary format: numbers, there and back; modules that an engine takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.write.wasm_binary import I32, I64, PAGE, assembled, function, sleb, uleb


def value_of(data: bytes) -> int:
    """What LEB128 says, unsigned: seven bits a byte, the lowest first."""
    assert [byte >> 7 for byte in data] == [1] * (len(data) - 1) + [0]
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data))


@given(st.integers(0, (1 << 64) - 1))
def test_unsigned_numbers(value: int) -> None:
    data = uleb(value)
    assert value_of(data) == value
    assert len(data) == max(1, -(-value.bit_length() // 7))


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_signed_numbers(value: int) -> None:
    data = sleb(value)
    bits = 7 * len(data)
    read = value_of(data)
    assert read - (read >> (bits - 1) << bits) == value
    assert len(data) == (value if value >= 0 else ~value).bit_length() // 7 + 1


def test_published_examples() -> None:
    """Of DWARF 5, 7.6, where LEB128 comes from."""
    assert [uleb(n) for n in (2, 127, 128, 129, 12857)] == [
        b"\x02", b"\x7f", b"\x80\x01", b"\x81\x01", b"\xb9\x64",
    ]  # fmt: skip
    assert [sleb(n) for n in (2, -2, 127, -127, 128, -128, 129, -129)] == [
        b"\x02", b"\x7e", b"\xff\x00", b"\x81\x7f", b"\x80\x01", b"\x80\x7f", b"\x81\x01", b"\xff\x7e",
    ]  # fmt: skip


def test_locals_are_listed_by_runs() -> None:
    assert function([I32, I32, I64], b"\x01") == b"\x07\x02\x02\x7f\x01\x7e\x01\x0b"


@pytest.mark.parametrize(("needed", "pages"), [(1, 1), (PAGE, 1), (PAGE + 1, 2)])
def test_memory_has_whole_pages(needed: int, pages: int) -> None:
    wasmtime = pytest.importorskip("wasmtime", reason="wasmtime is not installed (the extra `test`)")
    store = wasmtime.Store()
    code = assembled([function([], b"")], {"nothing": 0}, needed, {"about": b"\xff"})
    module = wasmtime.Module(store.engine, code)
    exports = wasmtime.Instance(store, module, []).exports(store)
    assert exports["memory"].size(store) == pages
    assert [export.name for export in module.exports] == ["memory", "nothing"]
