"""Kernels that round elsewhere: each can be computed, and none is the kernel itself."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.compose.kernels.epilogue import epilogue_named
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.compose.kernels.reduction import reduction_named
from tcsmt.face.api.units import side_of
from tcsmt.identification.diagnosis.narrower import other_reductions, other_roundings, other_units
from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.matrix_units.arithmetic.formats import FORMATS

RNG = np.random.default_rng(8)
A, B = (RNG.standard_normal(shape).astype(np.float16) for shape in ((4, 48), (48, 4)))
KERNEL = Kernel(
    side_of("ampere/mma.m16n8k16.f32.f16.f16.f32").row,
    reduction_named("split-k:3"),
    epilogue_named("out=f16"),
)


def recorded(dtype: str) -> RecordedResult:
    d = Kernel(KERNEL.unit, KERNEL.reduction).multiply(A, B).astype(dtype)
    found = RecordedResult.of(
        KERNEL,
        {"a": A.view("u2"), "b": B.view("u2")},
        d.astype("f8"),
        FORMATS[{"f4": "f32", "f2": "f16"}[dtype]],
    )
    assert found is not None
    return found


def names(changes) -> dict[str, Kernel]:
    return {change.what: change.ways[0].kernels(KERNEL)[0] for change in changes}


def test_formats_of_results_are_those_that_have_d() -> None:
    """D's own where it is narrower; a kernel with a conversion is also tried without it."""
    wide, half = (names(other_roundings(KERNEL, recorded(dtype))) for dtype in ("f4", "f2"))
    assert str(wide["results in f32: without out=f16"].epilogue) == ""
    assert not any(what.startswith("results in bf16") for what in (*wide, *half))
    assert "results in f16 (nearest, ties away from zero): +out=f16,RNA" in half


@pytest.mark.slow
def test_sums_are_rounded_at_each_place() -> None:
    found = names(other_roundings(KERNEL, recorded("f4")))
    assert str(found["partial sums in bf16: split-k:3,parts=bf16"].reduction) == "split-k:3,parts=bf16"
    assert "accumulation in f16: promote:1,total=f16" in found
    assert "accumulation in f16: split-k:3/promote:16,total=f16" in found
    assert KERNEL not in found.values()
    for kernel in found.values():
        assert kernel.multiply(A, B).shape == (4, 4)


def test_units_with_narrow_accumulators_are_said_to_be_so() -> None:
    found = names(other_units(KERNEL, recorded("f4")))
    narrow = [what for what in found if what.startswith("accumulation in f16: ")]
    assert any("ampere/mma.m16n8k16.f16.f16.f16.f16+split-k:3+out=f16" in what for what in narrow)
    assert any(what.startswith("another unit: hopper/") for what in found)


def test_other_reductions_have_narrow_parts_too() -> None:
    found = names(other_reductions([KERNEL], recorded("f2"), [KERNEL.epilogue]))
    assert "another order of sums: split-k:2" in found
    assert "partial sums in bf16: split-k:2,parts=bf16" in found
    assert {kernel.unit for kernel in found.values()} == {KERNEL.unit}
