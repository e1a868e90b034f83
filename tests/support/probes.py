"""Rows that probe programs are made for, and vectors for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tcsmt.interop.hardware.vectors import Vector
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row, row_named, rows

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def emitted() -> list[Row]:
    """Rows of instructions that programs are made for."""
    written = ("mma.", "wgmma.", "v_mfma_f")
    return [
        row
        for row in rows(claims=False)
        if row.architecture != "cdna4"  # whose layouts are not described
        and (row.instruction.startswith(written) or _in_tensor_memory(row))
    ]


def _in_tensor_memory(row: Row) -> bool:
    """``tcgen05`` with FP32 results and rows of A that have 32 bytes, without padding."""
    m = row.model
    whole = m.k * m.a_format.width == m.k * m.b_format.width == 256
    return row.instruction.startswith("tcgen05") and m.d_format.name == "f32" and whole


def by_layout() -> list[Row]:
    """A row for each kind, shape and width of operands."""
    chosen: dict[tuple[object, ...], Row] = {}
    for row in emitted():
        model = row.model
        formats = (model.a_format, model.b_format, model.c_format, model.d_format)
        kind = re.sub(r"(\.\w+){4}$|\.\w+\.\w+\.\w+$", "", row.instruction)
        chosen.setdefault((kind, *(f.width for f in formats)), row)
    return list(chosen.values())


def name(row: Row) -> str:
    return row.name


def some_vectors(row: Row, count: int = 3, seed: int = 0) -> list[Vector]:
    """Random words, finite numbers for the most part, with what the model answers."""
    rng = np.random.default_rng(seed)
    formats = row.model.input_formats
    found = []
    for number in range(count):
        words = tuple(int(rng.integers(1 << min(f.width, 62))) for f in formats.values())
        values = dict(zip(formats, words, strict=True))
        (d,) = evaluate([row.model.trace.output], values)
        found.append(Vector(asks=f'"{number}" \\ %d \u00b7', words=words, predictions={row.name: d}))
    return found


#: Instructions that have nothing in common but what they are for.
SOME = [row_named(unit).name for unit in (
    VOLTA, "turing/mma.m16n8k8.f32.f16.f16.f32", "ampere/mma.m8n8k4.f64", "ada/mma.m16n8k32.f16.e4m3.e5m2",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", "hopper/wgmma.m64nNk8.f32.tf32", "blackwell/mma.m16n8k16.f32.bf16",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e3m2", "cdna1/v_mfma_f32_32x32x8f16",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "cdna2/v_mfma_f64_16x16x4f64", "cdna3/v_mfma_f32_16x16x32_fp8_bf8",
)]  # fmt: skip


def some_first(table: list[Row], some: Sequence[str] = SOME) -> list[Any]:
    """The rows of these names, and the others for ``-m long``."""
    others = [pytest.param(row, marks=pytest.mark.long) for row in table if row.name not in some]
    return [*map(row_named, some), *others]
