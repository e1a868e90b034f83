"""Test vectors: the fewest decide as much as all, and an oracle that knows no terms gives their results."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.study.survey.audit import audit_of
from tcsmt.study.survey.rows import edges
from tcsmt.study.survey.vectors import smallest, vectors_of
from tcsmt.support.errors import TcsmtError
from tests.oracles.exact import results

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")


def test_the_fewest_exclude_what_all_do() -> None:
    unit = row_named("x86/vpdpbusd")
    near = edges(unit, 1, 300)
    whole = audit_of(unit, near)
    few = smallest(whole)
    assert len(few) < 20
    assert few.vectors.names[0].startswith("deciding: not ")
    again = audit_of(unit, few.vectors)
    assert again.untold() == whole.untold()
    assert few.excluded == sum((words != again.words[0]).any() for words in again.words)
    # each of them is needed: without it, two hypotheses are not told apart
    for number in range(len(few)):
        rest = np.delete(again.words, number, axis=1)
        assert any((rest[i] == rest[j]).all() for i, j in again.pairs if (i, j) not in whole.untold())


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
