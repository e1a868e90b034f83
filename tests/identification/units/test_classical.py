"""The classical probes: summation trees, widths, roundings and special values."""

import pytest

from tcsmt.identification.units.classical import (
    OutOfReach,
    Tree,
    black_box,
    profile,
    rounding_of_result,
    summation_tree,
)
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS as KNOWN
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd


def test_a_tree_of_sums_is_drawn():
    tree = Tree((8, Tree((Tree((0, 1, 2, 3)), 4, 5))))
    assert tree.picture(8).splitlines() == [
        "one sum of 2", "├─ c", "└─ one sum of 3", "   ├─ p4 p5", "   └─ one sum of 4", "      └─ p0..p3",
    ]  # fmt: skip


TREES = {
    "volta/mma.m8n8k4.f32.f16.f16.f32": "[c p0..p3]",
    "ampere/mma.m16n8k16.f32.f16.f16.f32": "[[c p0..p7] p8..p15]",
    "ampere/mma.m8n8k4.f64.f64.f64.f64": "[[[[c p0] p1] p2] p3]",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": "[c p0..p31]",
    "hopper/mma.m16n8k16.f32.e5m2.e5m2.f32": "[c [[p0 p1 p4 p5 p8 p9 p12 p13] p2 p3 p6 p7 p10 p11 p14 p15]]",
    "cdna1/v_mfma_f32_32x32x8f16": "{{c p0..p3} p4..p7}",
    "cdna2/v_mfma_f32_32x32x8f16": "[[c [[p0 p1] [p2 p3]]] [[p4 p5] [p6 p7]]]",
    "cdna2/v_mfma_f32_32x32x4bf16": "[[c [p0 p1]] [p2 p3]]",
    "cdna3/v_mfma_f32_16x16x32_fp8_fp8": "[[c p0..p15] p16..p31]",
}


@pytest.mark.parametrize("name", TREES)
def test_summation_tree(name: str) -> None:
    model = row_named(name).model
    assert summation_tree(black_box(model)).text(model.k) == TREES[name]


#: Bits and rounding of a product, and of c, beside a cancelling pair; of c + product.
ROUNDINGS = {
    "volta/mma.m8n8k4.f32.f16.f16.f32": ((23, "RZ"), (23, "RZ"), (23, "RZ")),
    "hopper/mma.m16n8k16.f16.f16.f16.f16": ((25, "RZ"), (25, "RZ"), (10, "RNE")),
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": ((13, "RZ"), (13, "RZ"), (13, "RZ")),
    "cdna3/v_mfma_f32_32x32x8_f16": ((24, "RZ"), (24, "RD"), (23, "RNE")),
    # rounded down, but dropped where it lies more than 25 places below: the patch of section IV-C
    "cdna3/v_mfma_f32_32x32x16_fp8_fp8": ((24, "RZ"), (24, "(0, 0, -1, 0)"), (23, "RNE")),
}


@pytest.mark.parametrize("name", ROUNDINGS)
def test_profile(name: str) -> None:
    found = profile(black_box(row_named(name).model))
    seen = [found["alignment"]["product"], found["alignment"]["c"], found["result"]["c + p0"]]
    assert tuple((one["bits"], one["mode"]) for one in seen) == ROUNDINGS[name]


@pytest.mark.parametrize("mode", KNOWN)
def test_rounding_modes_are_told_apart(mode: str) -> None:
    """Tables I and II on IEEE additions, whose rounding is known."""
    unit = row_named("cdna1/v_mfma_f32_32x32x4f16").model
    assert isinstance(unit, IeeeDotAdd)
    names = {"RTZ": "RZ", "RTP": "RU", "RTN": "RD"}
    box = black_box(unit.replace(rounding=KNOWN[mode]))
    assert rounding_of_result(box, box.k, 0) == (names.get(mode, mode), 23)


def test_out_of_reach() -> None:
    """FP4 products span too few powers of two for masking; the probe says so."""
    model = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3").model
    with pytest.raises(OutOfReach, match="only reach from"):
        summation_tree(black_box(model))
    assert profile(black_box(model))["tree"] == "out of reach"


def test_special_values() -> None:
    """The flush of CDNA2, and both rules for an overflow."""
    flushed = profile(black_box(row_named("cdna2/v_mfma_f32_32x32x8bf16_1k").model))["special"]
    assert {flushed[f"subnormal {what}"] for what in "abc"} == {"flushed"}
    assert (flushed["subnormal product"], flushed["subnormal sum"]) == ("flushed", "flushed")
    hopper = profile(black_box(row_named("hopper/mma.m16n8k16.f32.bf16.bf16.f32").model))["special"]
    assert {hopper[key] for key in hopper if key.startswith("subnormal")} == {"kept"}
    assert hopper["-(largest + 0.75 u)"] == "largest"
    assert hopper["0 * inf"] == hopper["inf - inf"] == "0x7fffffff"
