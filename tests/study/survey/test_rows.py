"""Rows that are tried first: the same for a seed, of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import run_words
from tcsmt.study.survey.rows import edges, random_rows


@pytest.mark.parametrize("unit", ["x86/vdpbf16ps", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"])
def test_the_edges_are_the_same_for_a_seed_and_of_every_kind(unit: str) -> None:
    row = row_named(unit)
    one, two, other = edges(row, 1, 1000), edges(row, 1, 1000), edges(row, 2, 1000)
    assert (one.inputs.a == two.inputs.a).all()
    assert (one.inputs.a != other.inputs.a).any()
    assert {name.split()[0] for name in one.names} >= {"special", "boundary"}
    d = run_words(row.model, one.inputs).tolist()
    fmt = row.model.d_format
    assert any(fmt.is_nan(word) for word in d)
    assert any(fmt.is_infinite(word) for word in d)


def test_random_rows_come_in_batches() -> None:
    model = row_named("volta").model
    one, two, other = (list(random_rows(model, 70_000, seed)) for seed in (1, 1, 2))
    assert [len(batch.c) for batch in one] == [1 << 16, 70_000 - (1 << 16)]
    assert all(np.array_equal(x.a, y.a) and np.array_equal(x.c, y.c) for x, y in zip(one, two, strict=True))
    assert not np.array_equal(one[0].a, other[0].a)
