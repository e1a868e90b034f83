"""Chains of a processor's multiply-adds: which models have them, and their words against exact ones."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.simulate.forms.chain_form import chain_form
from tests.oracles import exact

X86 = "x86/tdpbf16ps"


def test_which_models_have_one() -> None:
    """Not where processors compute them as they are, or operations are others."""
    others = ("arm/bfdot.ebf0", "arm/bfdot.ebf1", "arm/fdot.f16.e4m3.e4m3")
    for name in ("hopper/mma.m8n8k4.f64.f64.f64.f64", *others):
        assert chain_form(row_named(name).model) is None
    model = row_named(X86).model
    assert isinstance(model, IeeeDotAdd) and chain_form(model) is not None
    for changes in ({"rounding": "RTZ"}, {"overflow": "saturate"}, {"product_exponent": 1}):
        assert chain_form(model.replace(**changes)) is None


@pytest.mark.parametrize("name", [X86, "x86/vdpbf16ps", "x86/tdpfp16ps", "arm/fmlal"])
def test_words_are_exact_where_the_guard_says_so(name: str) -> None:
    """Of numbers of every size, and of some that are none."""
    model = row_named(name).model
    assert isinstance(model, IeeeDotAdd)
    model = model.replace(k=min(model.k, 4))
    form = chain_form(model)
    assert form is not None
    rng, rows, columns = np.random.default_rng(1), 6000, {}
    near = rng.integers(0, 3, rows)  # any exponents, near 1, near the smallest normal number
    names = [*(f"{side}{lane}" for side in "ab" for lane in range(model.k)), "c"]
    for word in names:
        fmt = float_format({"a": model.a_format, "b": model.b_format}.get(word[0], model.c_format))
        last = (1 << fmt.exponent_bits) - 1
        centre = fmt.bias if word != "a0" else np.where(near == 2, 2, fmt.bias)
        fields = np.where(near == 0, rng.integers(0, last + 1, rows), centre + rng.integers(-3, 4, rows))
        fractions = rng.integers(0, 1 << fmt.fraction_bits, rows) * (rng.random(rows) < 0.7)
        signs = rng.integers(0, 2, rows) << fmt.sign_bit
        columns[word] = (np.clip(fields, 0, last) << fmt.fraction_bits | fractions | signs).astype(np.uint64)
    result, guard = Program([form.result, form.guard]).run(columns)
    expected = exact.results(model, columns)
    served = guard == 0
    assert np.array_equal(result[served], expected[served])
    assert served.sum() > rows / 4 and (near[served] == 2).any()
