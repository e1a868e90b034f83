"""The catalogue's units for integers: words that follow from the sources."""

from __future__ import annotations

import pytest

from tcsmt.catalogue import row_named, rows
from tcsmt.interpret.exact import evaluate
from tcsmt.models import IntegerDotAdd

INTEGER = [row for row in rows() if isinstance(row.model, IntegerDotAdd)]


def result(name: str, **given: int) -> int:
    model = row_named(name).model
    (word,) = evaluate([model.trace.output], dict.fromkeys(model.input_names, 0) | given)
    return word


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        # u8 times s8: 255 * -128 = -32640
        ("x86/vpdpbusd", {"a0": 0xFF, "b0": 0x80}, 0xFFFF8080),
        ("x86/vpdpbusd", {"a0": 1, "b0": 1, "c": 0x7FFFFFFF}, 0x80000000),
        ("x86/vpdpbusds", {"a0": 1, "b0": 1, "c": 0x7FFFFFFF}, 0x7FFFFFFF),
        # the exact sum is saturated once: what is too large on the way does not matter
        ("x86/vpdpbusds", {"a0": 1, "b0": 1, "a1": 1, "b1": 0xFF, "c": 0x7FFFFFFF}, 0x7FFFFFFF),
        ("x86/vpdpbusds", {"a0": 1, "b0": 2, "a1": 1, "b1": 0xFF, "c": 0x7FFFFFFE}, 0x7FFFFFFF),
        ("x86/vpdpbusds", {"a0": 2, "b0": 0x80, "c": 0x80000000}, 0x80000000),
        # (-2^15)^2 twice is 2^31
        ("x86/vpdpwssd", {"a0": 0x8000, "b0": 0x8000, "a1": 0x8000, "b1": 0x8000}, 0x80000000),
        ("x86/vpdpwssds", {"a0": 0x8000, "b0": 0x8000, "a1": 0x8000, "b1": 0x8000}, 0x7FFFFFFF),
        ("turing/mma.m8n8k16.s32.s8.u8.s32", {"a0": 0x80, "b0": 0xFF}, 0xFFFF8080),
        ("ampere/mma.m16n8k64.s32.s4.s4.s32", {"a63": 0x8, "b63": 0x8, "c": 1}, 65),
        ("ampere/mma.m16n8k64.s32.u4.u4.s32", {"a63": 0xF, "b63": 0xF}, 225),
        ("hopper/mma.m16n8k32.s32.s8.s8.s32", {"a0": 0xFF, "b0": 1, "c": 0x80000000}, 0x7FFFFFFF),
        ("hopper/mma.m16n8k32.satfinite.s32.s8.s8.s32", {"a0": 0xFF, "b0": 1, "c": 0x80000000}, 0x80000000),
        ("cdna3/v_mfma_i32_16x16x32_i8", {"a31": 0x80, "b31": 0x80, "c": 0x7FFFFFFF}, 0x80003FFF),
    ],
)
def test_words(name: str, given: dict[str, int], word: int) -> None:
    assert result(name, **given) == word


def test_rows() -> None:
    """Hopper's and x86's are measured; a name says operands, K and whether sums saturate."""
    assert {row.architecture for row in INTEGER} >= {"turing", "hopper", "cdna1", "cdna3", "x86"}
    for row in INTEGER:
        here = row.architecture in ("hopper", "x86")
        assert row.evidence == ("measured here" if here else "published")
        assert row.model.n_fma is None  # type: ignore[attr-defined]
        if row.architecture == "x86":
            assert (row.model.overflow == "saturate") == row.instruction.endswith("s")  # type: ignore[attr-defined]
            continue
        assert f"k{row.model.k}." in row.instruction or f"x{row.model.k}" in row.instruction
        assert (row.model.overflow == "saturate") == ("satfinite" in row.instruction)  # type: ignore[attr-defined]
        if "mma." in row.instruction:
            types = f".s32.{row.model.a_format.name}.{row.model.b_format.name}"
            assert types in row.instruction


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("ampere/mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "mma.m16n8k32.s32.s8.u8.s32"),
        ("ampere/mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
         "mma.m16n8k32.satfinite.s32.s8.u8.s32"),
        ("hopper/wgmma.mma_async.sync.aligned.m64n96k32.s32.s8.s8", "wgmma.m64nNk32.s32.s8.s8"),
        ("mi300x/__builtin_amdgcn_mfma_i32_32x32x16_i8", "v_mfma_i32_32x32x16_i8"),
    ],
)  # fmt: skip
def test_names_as_manuals_write_them(given: str, name: str) -> None:
    assert row_named(given).instruction == name
