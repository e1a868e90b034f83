"""Pictures of inputs that are given as text, and what is looked at of them."""

from __future__ import annotations

from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import BitGrid, BitRow, Listing, Picture
from tcsmt.matrix_units.arithmetic.words import to_word
from tcsmt.matrix_units.models import Model

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


MODELS = [
    VOLTA,
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
    "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    "blackwell/mma.m16n8k32.f32.e5m2.e5m2.f32",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e5m2.e4m3.f32.ue8m0",
    "cdna3/v_mfma_f32_16x16x16_f16",
    "cdna3/v_mfma_f32_32x32x16_fp8_bf8",
]


def words(model: Model, **texts: str) -> dict[str, int]:
    formats = model.input_formats
    return {name: to_word(fmt, texts[name]) if name in texts else 0 for name, fmt in formats.items()}


def picture(model: Model, **texts: str) -> Picture:
    return draw("model", model, words(model, **texts))


def only_grid(shown: Picture) -> BitGrid:
    (panel,) = shown.panels
    assert isinstance(panel, BitGrid)
    return panel


def row(grid: BitGrid, label: str) -> BitRow:
    return next(r for r in grid.rows if r.label == label)


def results(shown: Picture) -> dict[str, str]:
    return {note.label: note.text for note in shown.results}


def notes(panel: BitGrid | Listing) -> str:
    return "\n".join(note.text for note in panel.notes)
