"""Rows in binary."""

from __future__ import annotations

import struct

import numpy as np

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.packed_rows import batch, result_type, row_type
from tcsmt.matrix_units.models import Operands


def test_a_batch_is_its_rows_after_each_other() -> None:
    model = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    a = np.array([[1, 2, 3, 4], [5, 6, 7, 0xFFFF]], np.uint16)
    c = np.array([0x3F800000, 0xFFFFFFFF], np.uint32)
    data = batch(model, Operands(a, a + 1, c))
    expected = struct.pack("<I", 2)
    for x, z in zip(a.tolist(), c.tolist(), strict=True):
        expected += struct.pack("<8HI", *x, *((w + 1) & 0xFFFF for w in x), z)
    assert data == expected
    assert row_type(model).itemsize == 20
    assert result_type(model).itemsize == 4
    back = np.frombuffer(data[4:], row_type(model))
    assert (back["a"] == a).all()
    assert (back["c"] == c).all()


def test_block_scales_follow_c() -> None:
    model = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    a, scales = np.zeros((1, 64), np.uint8), np.array([[1, 2, 3, 4]], np.uint8)
    data = batch(model, Operands(a, a, np.array([7], np.uint32), scales, scales + 1))
    assert data[4 + 128 :] == bytes([7, 0, 0, 0, 1, 2, 3, 4, 2, 3, 4, 5])
