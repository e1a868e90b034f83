"""NVIDIA's tensor cores: numbers and words whose result is known from the papers.

Two products that cancel leave of a third one what its alignment kept: the papers' way of measuring fraction
bits, and which lanes are summed together.
"""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, IntegerDotAdd
from tests.support import tcgen05_rows
from tests.support.catalogue_words import lanes, word_of

#: Khattak and Mikaitis, Table II; MMA-Sim, III-C: fraction bits of the alignment, and products in one sum.
PUBLISHED = {
    "volta/mma.m8n8k4.f32.f16.f16.f32": (23, 4),
    "turing/mma.m16n8k8.f32.f16.f16.f32": (24, 8),
    "ampere/mma.m16n8k16.f32.f16.f16.f32": (24, 8),
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32": (24, 8),
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32": (24, 4),
    "ada/mma.m16n8k16.f32.f16.f16.f32": (24, 8),
    "ada/mma.m16n8k32.f32.e4m3.e4m3.f32": (13, 16),
    "hopper/mma.m16n8k16.f32.f16.f16.f32": (25, 16),
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": (13, 32),
    "blackwell/mma.m16n8k16.f32.f16.f16.f32": (25, 16),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_fraction_bits(name: str) -> None:
    """1 - 1 + 2^-F, which counts; the next smaller power of two does not."""
    bits, _ = PUBLISHED[name]
    for exponent, counts in ((-bits, True), (-bits - 1, False)):
        small = 2.0**exponent
        assert lanes(name, {0: (1.0, 1.0), 1: (-1.0, 1.0)}, c=small) == (small if counts else 0)
        assert lanes(name, {0: (1.0, 1.0), 1: (-1.0, 1.0)}, c=-small) == (-small if counts else 0)


@pytest.mark.parametrize("name", PUBLISHED)
def test_products_in_one_sum(name: str) -> None:
    """2^-12 is lost beside 2^14 - 2^14 in the same sum, and counts in the next one."""
    _, together = PUBLISHED[name]
    for lane in range(2, row_named(name).model.k):
        left = 0 if lane < together else 2.0**-12
        terms = {0: (2.0**7, 2.0**7), 1: (-(2.0**7), 2.0**7), lane: (2.0**-6, 2.0**-6)}
        assert lanes(name, terms) == left, lane


@pytest.mark.parametrize("shape", ["volta/mma.m8n8k4", "hopper/mma.m16n8k16"])
def test_binary32_results_are_truncated_and_binary16_ones_rounded(shape: str) -> None:
    """Sums of 2 and 1.5 ulp (Fasi et al.): cut to one ulp; rounded to the even two."""
    exact = lanes(f"{shape}.f32.f16.f16.f32", {0: (1.0, 1.0), 1: (2.0**-11, 2.0**-11)}, c=1 + 2.0**-23)
    assert exact == 2 + 2.0**-22
    assert (
        lanes(f"{shape}.f16.f16.f16.f16", {0: (1.0, 1.0), 1: (2.0**-5, 2.0**-5)}, c=1 + 2.0**-9)
        == 2 + 2.0**-8
    )


def test_kinds() -> None:
    """Binary64 is multiplied by IEEE operations; block scales belong to groups of lanes."""
    assert isinstance(row_named("h100/m16n8k16.f64").model, IeeeDotAdd)
    nvfp4 = row_named("rtx 5090/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(nvfp4, FusedDotAdd)
    assert (nvfp4.group, nvfp4.scales, nvfp4.enough_carry_bits) == (16, 4, 3)


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        ("turing/mma.m8n8k16.s32.s8.u8.s32", {"a0": 0x80, "b0": 0xFF}, 0xFFFF8080),
        ("ampere/mma.m16n8k64.s32.s4.s4.s32", {"a63": 0x8, "b63": 0x8, "c": 1}, 65),
        ("ampere/mma.m16n8k64.s32.u4.u4.s32", {"a63": 0xF, "b63": 0xF}, 225),
        ("hopper/mma.m16n8k32.s32.s8.s8.s32", {"a0": 0xFF, "b0": 1, "c": 0x80000000}, 0x7FFFFFFF),
        ("hopper/mma.m16n8k32.satfinite.s32.s8.s8.s32", {"a0": 0xFF, "b0": 1, "c": 0x80000000}, 0x80000000),
    ],
)
def test_words_of_integers(name: str, given: dict[str, int], word: int) -> None:
    assert word_of(name, **given) == word


def test_names_of_integer_instructions_say_operands_and_saturation() -> None:
    vendor = ("turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell")
    integers = [row for row in rows() if isinstance(row.model, IntegerDotAdd) and row.architecture in vendor]
    assert {"turing", "hopper"} <= {row.architecture for row in integers}
    for row in integers:
        model = row.model
        assert isinstance(model, IntegerDotAdd) and model.n_fma is None
        assert row.evidence == ("measured here" if row.architecture == "hopper" else "published")
        assert f"k{model.k}." in row.instruction
        assert f".s32.{model.a_format.name}.{model.b_format.name}" in row.instruction
        assert (model.overflow == "saturate") == ("satfinite" in row.instruction)


@pytest.mark.slow
def test_the_newer_model_of_tcgen05_gives_its_words() -> None:
    """sf-tensor's model, row by row; where a row states what the older one gives, so do the accepted rows."""
    counts: dict[str, int] = {}
    for name in tcgen05_rows.FILES:
        for told in tcgen05_rows.told(name):
            wrong = np.flatnonzero(told.run(tcgen05_rows.newer(told.row)) != told.words("d"))
            assert not wrong.size, (told.row.name, told.given[wrong[0]])
            if "old" in told.given[0]:
                wrong = np.flatnonzero(told.run(told.row.model) != told.words("old"))
                assert not wrong.size, (told.row.name, told.given[wrong[0]])
            counts[name] = counts.get(name, 0) + len(told.given)
    assert counts == tcgen05_rows.FILES


def test_zeros_without_an_exponent_are_the_same_function_where_no_row_disputes_it() -> None:
    """No term that is not zero has an exponent below that with which zeros enter."""
    disputed = {row.name.partition("@")[0] for row in rows() if row.name.endswith("@sf-tensor")}
    undisputed = 0
    for row in rows(claims=False):
        m = row.model
        if row.name.startswith("blackwell/tcgen05") and row.name not in disputed:
            assert isinstance(m, FusedDotAdd)
            assert m.parameters.zero_exponent is not None
            assert m.parameters.zero_exponent <= min(m.a_format.e_min + m.b_format.e_min, m.c_format.e_min)
            undisputed += 1
    assert (len(disputed), undisputed) == (33, 50)
