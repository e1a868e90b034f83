"""Rounded operands, against rounding by integers; kernels that round elsewhere, each of them another one."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.diagnosis.roundings import (
    other_reductions,
    other_roundings,
    other_units,
    rounded_operands,
)
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named

RNG = np.random.default_rng(4)
A, B = (RNG.standard_normal(shape).astype(np.float32) for shape in ((6, 30), (30, 5)))
A[0, 0], B[0, 0] = 1 + 2**-8, 1 + 2**-11  # ties of BF16 and of TF32


def changes(a=A, b=B, unit="ieee/fma.f32"):
    kernel = Kernel(side_of(unit).row)
    words = {name: array.view(f"u{array.itemsize}") for name, array in (("a", a), ("b", b))}
    d = np.zeros((len(a), b.shape[1]))
    recorded = RecordedResult.of(kernel, words, d, format_named("f32"))
    assert recorded is not None
    sample = ResultSample.of(recorded, [kernel], np.argwhere(np.ones(d.shape, bool)))
    return {change.what: change for change in rounded_operands(sample)}, sample


def cut(x, bits: int, add: int):
    """By integers: the front of the words, after what is added to them."""
    return (
        ((x.view("u4").astype("u8") + np.uint64(add)) >> np.uint64(bits) << np.uint64(bits))
        .astype("u4")
        .view("f4")
    )


@pytest.mark.parametrize(("name", "bits"), [("tf32", 13), ("bf16", 16)])
@pytest.mark.parametrize(("rule", "half"), [("truncate", 0), ("nearest-away", 1)])
def test_what_rounded_operands_give(name: str, bits: int, rule: str, half: int) -> None:
    found, sample = changes()
    for what, sides in (("operands", "ab"), ("A", "a"), ("B", "b")):
        change = found[f"{what} rounded to {name} ({rule})"]
        a, b = (
            cut(x, bits, half << bits - 1).astype("f8") if side in sides else x.astype("f8")
            for side, x in (("a", A), ("b", B))
        )
        assert np.allclose(change.expected, (a @ b).reshape(-1), rtol=0, atol=1e-12)
        inputs = change.ways[0].inputs(sample.inputs)
        assert np.array_equal(sample.recorded.values("a", inputs), a[sample.places[:, 0]])


def test_units_of_the_narrow_format_are_tried_too() -> None:
    found, sample = changes()
    (way,) = found["operands rounded to tf32 (nearest-even)"].others
    names = {kernel.unit.name for kernel in way.kernels(sample.kernels[0])}
    assert "ampere/mma.m16n8k8.f32.tf32.tf32.f32" in names
    assert way.inputs(sample.inputs).a.dtype == np.uint32
    assert not found["A rounded to tf32 (nearest-even)"].others


def test_nothing_is_said_of_operands_that_are_in_the_format() -> None:
    """Nor of one side alone where the other has only numbers of the format."""
    found, _ = changes(A.astype("f2").astype("f4"), np.eye(30, 5, dtype="f4"))
    assert not any(" tf32 " in what or what.startswith(("A ", "B ")) for what in found)
    assert "operands rounded to bf16 (nearest-even)" in found


def test_numbers_that_do_not_fit_the_operands_format() -> None:
    """The largest numbers of FP16 are rounded up to none of it in BF16."""
    a = np.full((2, 8), 65504, np.float16)
    found, _ = changes(a, np.ones((8, 2), np.float16), "ieee/fma.f32.f16")
    assert "A rounded to bf16 (truncate)" in found or "operands rounded to bf16 (truncate)" in found
    assert not any("bf16 (nearest" in what for what in found)
    assert FORMATS["f16"].largest_finite == 65504


HALF_RNG = np.random.default_rng(8)
HALF_A, HALF_B = (HALF_RNG.standard_normal(shape).astype(np.float16) for shape in ((4, 48), (48, 4)))
KERNEL = Kernel(
    side_of("ampere/mma.m16n8k16.f32.f16.f16.f32").row,
    reduction_named("split-k:3"),
    epilogue_named("out=f16"),
)


def recorded(dtype: str) -> RecordedResult:
    d = Kernel(KERNEL.unit, KERNEL.reduction).multiply(HALF_A, HALF_B).astype(dtype)
    found = RecordedResult.of(
        KERNEL,
        {"a": HALF_A.view("u2"), "b": HALF_B.view("u2")},
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
        assert kernel.multiply(HALF_A, HALF_B).shape == (4, 4)


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
