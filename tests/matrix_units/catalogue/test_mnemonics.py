"""Instructions as PTX and AMD's manuals write them."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.support.errors import TcsmtError


@pytest.mark.parametrize(("given", "meant"), [
    ("h100/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
    ("sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "hopper/wgmma.m64nNk16.f32.f16.f16"),
    ("wgmma.m64n8k32.f32.e4m3.e4m3", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"),
    ("volta/mma.sync.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32"),
    (
        "b200/tcgen05.mma.cta_group::1.kind::f16.bf16",
        "blackwell/tcgen05.mMnNk16.kind::f16.f32.bf16.bf16",
    ),
    ("mi300x/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16"),
    ("mi300x/V_MFMA_F32_32X32X8_F16", "cdna3/v_mfma_f32_32x32x8_f16"),
    ("mi100/__builtin_amdgcn_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_32x32x8f16"),
])  # fmt: skip
def test_as_manuals_write_them(given: str, meant: str) -> None:
    assert row_named(given).name == meant


def test_every_name_means_its_row() -> None:
    assert all(row_named(row.name) is row for row in rows())


@pytest.mark.parametrize(("given", "said"), [
    ("a100/mma.sync.m16n8k16", "matches several instructions of ampere: mma.m16n8k16.f32.f16.f16.f32, mma"),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", r"architectures \(ampere, ada.*give ARCH/mma"),
    ("volta/mma.m16n8k16.f32.f16.f16.f32", "unknown instruction of volta"),
    ("mma", "is an instruction of several architectures"),
    ("nothing", "unknown architecture 'nothing'"),
])  # fmt: skip
def test_nothing_is_chosen_silently(given: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        row_named(given)


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
