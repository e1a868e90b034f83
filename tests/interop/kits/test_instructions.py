"""Heads of a kit's functions, their calls, and the layouts of fragments that no other test looks at."""

from __future__ import annotations

import re

import pytest

from tcsmt.interop.hardware.instructions import register_tile, warpgroup_registers
from tcsmt.interop.kits.instructions import KitFunction, held, kit_function
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tests.oracles import fragments

ARCHITECTURES = ("hopper", "ada", "cdna3", "rdna4", "x86")
LAYOUTS = [
    row
    for row in rows(claims=False)
    if (re.match("v_mfma_i32", row.instruction) and row.architecture != "cdna4")
    or (row.architecture == "rdna4" and "wmma" in row.instruction)
]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_instruction_is_a_function(architecture: str) -> None:
    made = [kit_function(row) for row in rows(architecture, claims=False)]
    functions = [one for one in made if isinstance(one, KitFunction)]
    assert len(functions) == len(made) > 10
    assert len({one.name for one in functions}) == len(functions)
    for one in functions:
        parameters = one.prototype[one.prototype.index("(") + 1 : -1].split(", ")
        assert len(parameters) == len(one.arguments) == len(one.types)
        named = [p.split("[")[0].split()[-1].lstrip("*") for p in parameters]
        by_name = {name: value for name, value in zip(named, one.arguments, strict=True) if name in "abcd"}
        assert all(name == value for name, value in by_name.items())


@pytest.mark.parametrize(
    ("unit", "why"),
    [
        ("blackwell/tcgen05.mMnNk16.kind::f16.f32.f16.f16", "tensor memory"),
        ("blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", "block scales"),
        ("rdna3/v_wmma_f32_16x16x16_f16_w32", "fragments"),
        ("cdna4/v_mfma_f32_32x32x16_f16", "fragments"),
        ("arm/bfdot.ebf0", "registers"),
    ],
)
def test_what_no_kit_has_is_named(unit: str, why: str) -> None:
    reason = kit_function(row_named(unit))
    assert isinstance(reason, str) and why in reason


@pytest.mark.parametrize("row", LAYOUTS, ids=lambda row: row.name)
def test_layouts(row: Row) -> None:
    tile = register_tile(row)
    assert tile is not None
    expected = fragments.places(row.architecture, row.instruction, row.model)
    for side, operand in tile.operands.items():
        found = {at: tuple(operand.fragment.place(*at)) for at in expected[side]}
        assert found == expected[side]
        assert held(operand) * 32 == len(found) * operand.bits


def test_bytes_are_not_negated() -> None:
    heads = {}
    for name in ("v_dot4_f32_fp8_bf8", "v_dot2_f32_f16", "v_wmma_f32_16x16x16_f16_w32"):
        function = kit_function(row_named(f"rdna4/{name}"))
        assert isinstance(function, KitFunction)
        heads[name] = function.prototype
    assert ["neg" in head for head in heads.values()] == [False, True, True]


def test_layouts_are_of_many_rows() -> None:
    assert len(LAYOUTS) > 15


def test_a_warpgroup_holds_rows_of_four_warps() -> None:
    """PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": warp w has rows 16 w to 16 w + 15."""
    row = row_named("hopper/wgmma.m64nNk16.f32.f16.f16")
    formats = (row.model.a_format, row.model.b_format, row.model.c_format, row.model.d_format)
    operand = warpgroup_registers(16, formats)
    for thread in range(128):
        for i in range(8):
            line = 16 * (thread // 32) + thread % 32 // 4 + (8 if i // 2 % 2 else 0)
            column = thread % 4 * 2 + i % 2 + (8 if i >= 4 else 0)
            assert tuple(operand.fragment.place(thread, i)) == (0, line, column)


@pytest.mark.parametrize(
    ("unit", "version", "shape", "width"),
    [
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", "mma", [16, 8, 16], 2),
        ("hopper/mma.m16n8k8.f32.tf32.tf32.f32", "mma", [16, 8, 8], 1),
        ("hopper/mma.m16n8k32.s32.s8.s8.s32", "mma", [16, 8, 32], 4),
        ("hopper/wgmma.m64nNk16.f32.f16.f16", "wgmma", [64, 8, 16], 2),
        ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", "wgmma", [64, 8, 32], 4),
        ("cdna3/v_mfma_f32_32x32x8_f16", "mfma", [32, 32, 8], 4),
        ("cdna3/v_mfma_f32_16x16x16_f16", "mfma", [16, 16, 16], 4),
        ("cdna3/v_mfma_f32_32x32x16_fp8_fp8", "mfma", [32, 32, 16], 8),
        ("cdna3/v_mfma_i32_16x16x32_i8", "mfma", [16, 16, 32], 8),
        ("rdna4/v_wmma_f32_16x16x16_f16_w32", "wmma", [16, 16, 16], 8),
    ],
)
def test_layouts_are_those_of_triton_s_compiler(
    unit: str, version: str, shape: list[int], width: int
) -> None:
    """width: words of A that lie next to each other in a thread, as Triton is told it."""
    triton = pytest.importorskip("triton._C.libtriton", reason="the extra `triton` is not installed")
    context = triton.ir.context()
    triton.ir.load_dialects(context)
    builder = triton.gluon_ir.GluonOpBuilder(context)
    m, n, k = shape
    layout = {
        "mma": lambda: builder.get_mma_layout([2, 0], [1, 1], [], [m, n]),
        "wgmma": lambda: builder.get_mma_layout([3, 0], [4, 1], [], [16, n, k]),
        "mfma": lambda: builder.get_amd_mfma_layout(3, [1, 1], shape, False, [], [1, 1], 32),
        "wmma": lambda: builder.get_amd_wmma_layout(2, False, [], [], [], shape, 2),
    }[version]()
    function = kit_function(row_named(unit))
    assert isinstance(function, KitFunction)
    expected = {"D": (layout, [m, n]), "A": (builder.get_dot_operand_layout(0, layout, width), [m, k])}
    if version != "wgmma":  # whose B lies in shared memory
        expected["B"] = builder.get_dot_operand_layout(1, layout, width), [k, n]
    for side, (of, size) in expected.items():
        found, fragment = builder.to_linear_layout(of, size), function.tile.operands[side].fragment
        for bases, places in (
            ([*found.lane_bases, *found.warp_bases], fragment.threads),
            (found.reg_bases, fragment.elements),
        ):
            assert bases == [[p.column, p.row] if side == "B" else [p.row, p.column] for p in places]
