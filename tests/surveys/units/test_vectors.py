"""Rows near boundaries and random ones, and vectors made of them: those that decide first."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.audit import audit_of
from tcsmt.surveys.units.vectors import edges, random_rows, smallest, vectors_of
from tests.oracles.exact import results


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


VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")


def test_the_fewest_exclude_what_all_do() -> None:
    unit = row_named("x86/vpdpbusd")
    near = edges(unit, 1, 300)
    whole = audit_of(unit, near)
    few = smallest(whole)
    assert len(few) < 20
    assert few.vectors.names[0].startswith("deciding: not ")
    again = audit_of(unit, few.vectors)
    assert again.undistinguished() == whole.undistinguished()
    assert few.excluded == sum((words != again.words[0]).any() for words in again.words)
    # each of them is needed: without it, two hypotheses are not told apart
    for number in range(len(few)):
        rest = np.delete(again.words, number, axis=1)
        assert any(
            (rest[i] == rest[j]).all() for i, j in again.pairs if (i, j) not in whole.undistinguished()
        )


@pytest.mark.parametrize("kind", ["edge", "random"])
def test_the_results_are_those_of_exact_integers(kind: str) -> None:
    made = vectors_of(VOLTA, kind, rows=60, seed=3)
    assert len(made) == 60
    assert made.hypotheses is None
    inputs = made.vectors.inputs
    columns = {f"a{i}": inputs.a[:, i] for i in range(4)} | {f"b{i}": inputs.b[:, i] for i in range(4)}
    assert results(VOLTA.model, columns | {"c": inputs.c}).tolist() == made.d.tolist()
    again = vectors_of(VOLTA, kind, rows=60, seed=3)
    assert (again.vectors.inputs.a == inputs.a).all()
    assert (vectors_of(VOLTA, kind, rows=60, seed=4).vectors.inputs.a != inputs.a).any()


def test_other_kinds_are_refused() -> None:
    with pytest.raises(TcsmtError, match="kind of vectors"):
        vectors_of(VOLTA, "edges")
