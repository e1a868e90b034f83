"""A right kernel as a program, rewritten."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.analysis.power.tested import NotApplicable, rewritten
from tcsmt.interface.api.power import product_and_expected


def test_a_program_that_is_written_again_gives_the_same() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((4, 40), (40, 3)))
    product, _ = product_and_expected("volta+split-k:2+alpha=0.5,out=f16", {"a": a, "b": b}, None, "exact")
    with pytest.raises(NotApplicable):
        rewritten(product.program, lambda build, step, taken, number: None)
    same = rewritten(
        product.program,
        lambda build, step, taken, number: (
            taken[0]
            if step.kind == "note"
            else None
            if number
            else build.input(step.how["name"], step.format, step.axes)
        ),
    )
    np.testing.assert_array_equal(product.run(program=same), product.right)
