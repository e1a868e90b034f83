"""What kernels are written from: rows in memory become vectors, one for each lane."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import IeeeDotAdd

pytest.importorskip("llvmlite", reason="the extra `fast` is not installed")

from tcsmt.language.run.jit import functions
from tcsmt.language.write.llvm import Emitter, over_groups
from tcsmt.simulate.kernel_source import KernelSource, operands


@pytest.mark.parametrize("k", [1, 2, 3, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("name", ["e4m3", "f16", "f32", "f64"])
@pytest.mark.slow_cases("f16-64")
def test_lanes_of_rows(name: str, k: int) -> None:
    """Every word of two vectors of rows, which are all different, comes to its lane and its row."""
    formats = {"a_format": name, "b_format": name, "c_format": "f32", "d_format": "f32"}
    model = IeeeDotAdd.of(**formats, k=k, sum_format="f32", method="sequential")
    source = KernelSource(model)
    operand = operands(model)[0]
    e = Emitter(source.width)
    vectors = list(source._gathered(e, operand))
    assert len(vectors) == k
    for lane, (bits, vector) in enumerate(vectors):
        place = e.emit(f"add i64 {e.emit(f'mul i64 %g, {source.width * k}')}, {lane * source.width}")
        e.store("%d", bits, place, vector)
    text = over_groups("gather", "ptr noalias %d, ptr noalias %a", e.text)
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        functions(text, ["gather"])["gather"]
    )
    words = np.arange(2 * source.width * k).reshape(2 * source.width, k).astype(unsigned(operand.format))
    found = np.zeros((2, k, source.width), dtype=f"u{bits // 8}")
    call(2, found.ctypes.data, words.ctypes.data)
    assert np.array_equal(found, words.reshape(2, source.width, k).swapaxes(1, 2))
