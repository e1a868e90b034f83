"""Rounded operands, against rounding by integers."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.face.api.units import side_of
from tcsmt.identification.diagnosis.operands import rounded_operands
from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.diagnosis.sample import ResultSample
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named

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
