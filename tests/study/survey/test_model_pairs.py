"""Pairs of units: what they are kept under, and their verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.study.survey.model_pairs import DistinctUnit, Pair, verdict_on
from tests.support.small_atlas import ALIKE, VOLTA


def test_keys_go_by_content() -> None:
    row = row_named(VOLTA)
    one, two = DistinctUnit(row.model, (row,)), DistinctUnit(row.model.varied(carry_bits=3), (row,))
    other = DistinctUnit(row.model.varied(carry_bits=4), (row,))
    renamed = DistinctUnit(row.model, (replace(row, instruction="other"),))
    keys = [Pair(one, two, Domain()).key, Pair(one, other, Domain()).key]
    keys.append(Pair(one, two, Domain(finite=False)).key)
    assert len(set(keys)) == 3
    assert Pair(renamed, two, Domain()).key == keys[0]


@pytest.mark.long
def test_witnesses_are_small() -> None:
    """The pool finds one of eight products here; a solver one of two."""
    left, right = (
        DistinctUnit(r.model, (r,))
        for r in map(row_named, (f"{a}/mma.m16n8k8.f16.f16.f16.f16" for a in ALIKE))
    )
    record = verdict_on(Pair(left, right, Domain(finite=False)), SolvingOptions())
    used = [name for name, value in record["inputs"].items() if int(value["word"], 16)]
    assert len(used) <= 5
    words = {name: int(value["word"], 16) for name, value in record["inputs"].items()}
    one, two = evaluate([unit.model.trace.output for unit in (left, right)], words)
    assert one != two
