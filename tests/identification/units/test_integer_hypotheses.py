"""Exact sums of integers from boxes that only answer."""

import numpy as np
import pytest

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.support.invariants import not_none
from tests.support.families import kinds_like
from tests.support.sampling import mostly_long


@pytest.mark.parametrize(
    "name",
    mostly_long(
        ["x86/vpdpbusd", "x86/vpdpbusds", "x86/vpdpwssd", "x86/vpdpwssds",
         "hopper/mma.m16n8k32.satfinite.s32.s8.s8.s32", "cdna1/v_mfma_i32_32x32x8i8"],
        ["x86/vpdpbusd", "x86/vpdpwssds", "hopper/mma.m16n8k32.satfinite.s32.s8.s8.s32"],
    ),
)  # fmt: skip
def test_rows_of_the_catalogue_are_identified(name):
    model = row_named(name).model
    found = Identification(kinds_like(model), model_box(model)).run()
    assert found.verdict == "identified"
    assert not_none(found.model).digest == model.digest
    assert name in found.catalogue
    assert len(found.exchanges) < 20


@pytest.mark.parametrize("n_fma", [1, 2, 4])
def test_blocks_that_saturate_are_told_apart(n_fma):
    model = IntegerDotAdd(
        a_format="s8", b_format="u8", c_format="s16", d_format="s16", k=4, n_fma=n_fma, overflow="saturate"
    )
    found = Identification(kinds_like(model), model_box(model)).run()
    assert found.verdict == "identified"
    assert not_none(found.model).digest == model.digest


@pytest.mark.parametrize("seed", range(3))
def test_other_boxes_are_refuted(seed):
    model = row_named("x86/vpdpbusds").model
    honest, random = model_box(model), np.random.default_rng(seed)
    boxes = [
        lambda a, b, c: int(random.integers(1 << 32)),
        lambda a, b, c: honest(a, b, 0),
        lambda a, b, c: honest([*a[:-1], 0], b, c),
    ]
    found = Identification(kinds_like(model), boxes[seed]).run()
    assert found.verdict == "refuted"
    assert found.model is None
