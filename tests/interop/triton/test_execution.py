"""The numbers of a block: steps against NumPy, and what is not known. Whole kernels: ``differences``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcsmt.interop.compiled.scalar_forms import SCALAR_FORMS
from tcsmt.interop.triton.execution import BlockNumbers
from tcsmt.support.errors import TcsmtError
from tests.support.compiled import run_small

_LOAD = "ld.global.b32 %r9, [%rd4];\n"
_STORE = "\nst.global.b32 [%rd5], %r10;"


def _stored(lines: str, words: np.ndarray) -> np.ndarray:
    ((offsets, values),) = BlockNumbers(run_small(lines), {0: words.view(np.uint8)}).stored().values()
    assert np.array_equal(offsets, np.arange(len(values)))
    return values.view(np.uint32)


def test_steps_are_computed_in_every_lane() -> None:
    numbers = np.random.default_rng(0).standard_normal(32).astype(np.float32)
    numbers[3] = np.nan
    words = numbers.view(np.uint32)
    squares = _stored(f"{_LOAD}mul.f32 %r10, %r9, %r9;{_STORE}", words).view(np.float32)
    assert np.array_equal(squares, numbers * numbers, equal_nan=True)
    assert squares.view(np.uint32)[3] == 0x7FFFFFFF
    relu = "mov.b32 %r8, 0f00000000;\nmax.f32 %r10, %r9, %r8;"
    assert np.array_equal(_stored(_LOAD + relu + _STORE, words).view(np.float32), np.fmax(numbers, 0))
    chosen = "setp.num.f32 %p1, %r9, %r9;\nmov.b32 %r8, 0f40000000;\nselp.f32 %r10, %r9, %r8, %p1;"
    assert np.array_equal(
        _stored(_LOAD + chosen + _STORE, words).view(np.float32), np.nan_to_num(numbers, nan=2)
    )


def test_what_the_assembler_may_join_is_refused() -> None:
    words = np.ones(32, np.uint32)
    joined = f"{_LOAD}mul.f32 %r8, %r9, %r9;\nadd.f32 %r10, %r8, %r9;{_STORE}"
    with pytest.raises(TcsmtError, match=r"add.f32: the GPU's assembler may join this addition"):
        _stored(joined, words)
    apart = joined.replace("add.f32", "add.rn.f32")
    assert np.array_equal(_stored(apart, words), _stored(joined.replace("mul.f32", "mul.rn.f32"), words))


def test_an_approximation_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    form = replace(SCALAR_FORMS["mul.rn.f32"], step="approximate(div.full, {0}, {1}, within=2 ulp)")
    monkeypatch.setitem(SCALAR_FORMS, "mul.rn.f32", form)
    with pytest.raises(
        TcsmtError, match=r"mul.rn.f32: an approximation, of which no document gives the words"
    ):
        _stored(f"{_LOAD}mul.rn.f32 %r10, %r9, %r9;{_STORE}", np.ones(32, np.uint32))


def test_unwritten_words_are_followed_to_where_they_matter() -> None:
    words = np.ones(32, np.uint32)
    with pytest.raises(TcsmtError, match="what nothing has written is read"):
        _stored(f"add.rn.f32 %r10, %r9, %r9;{_STORE}", words)
    half = f"setp.lt.s32 %p1, %r2, 16;\n@%p1 {_LOAD}mov.b32 %r10, %r9;\n@%p1 {_STORE.strip()}"
    assert np.array_equal(_stored(half, words), words[:16])
