"""Sums of groups as integers: which models have them, and their words against exact ones."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.simulate.forms.group_form import group_form

MXF4 = "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
NVF4 = "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"


def test_which_models_have_one() -> None:
    """Not where a sum may need more than 16 bits, where NaNs are words, or where c leads."""
    model = row_named(MXF4).model
    assert isinstance(model, FusedDotAdd)
    assert group_form(model) is not None
    assert group_form(model.replace(a_format="e2m3", b_format="e2m3")) is None
    assert group_form(model.replace(a_format="e4m3", b_format="e2m1")) is None
    assert group_form(row_named(f"{NVF4}@sf-tensor").model) is None
    assert group_form(row_named("hopper/mma.m16n8k16.f32.f16.f16.f32").model) is None


@pytest.mark.parametrize("name", [MXF4, NVF4])
def test_products_and_sums_are_exact(name: str) -> None:
    """In units of the smallest product, of all pairs of words in each lane."""
    model = row_named(name).model
    form, fmt = group_form(model), FORMATS["e2m1"]
    assert form is not None
    rng = np.random.default_rng(0)
    words = rng.integers(0, 16, (2, model.k, 4096)).astype(np.uint8)
    words[:, :, :256] = np.array(np.divmod(np.arange(256), 16))[:, None]
    values = np.array([float(fmt.value(word)) for word in range(16)])[words] * 2
    columns = {f"{side}{lane}": words[i, lane] for i, side in enumerate("ab") for lane in range(model.k)}
    size = model.k // len(form.groups)
    for number, group in enumerate(form.groups):
        exact = np.prod(values[:, number * size : (number + 1) * size], axis=0).astype(np.int64)
        *products, whole, zero = Program([*group.products, group.sum, group.zero]).run(columns)
        assert np.array_equal(np.array(products).astype(np.uint16).view(np.int16), exact)
        assert np.array_equal(whole.astype(np.uint16).view(np.int16), exact.sum(axis=0))
        assert np.array_equal(zero.astype(bool), ~exact.any(axis=0))
