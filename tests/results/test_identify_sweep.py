"""Identification over the catalogue: each arithmetic once, and what is kept of a search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import identify_sweep
import numpy as np
import pytest
from identify_sweep import distinct_rows, identified, task_for

from tcsmt.identification.units.hypotheses import HypothesisSet
from tcsmt.identification.units.kinds import FusedHypotheses
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.statements.verdict import engine_digest

NAME = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_each_arithmetic_once() -> None:
    """Of fused sums without block scales; those with one operand format first, then by name."""
    names = distinct_rows()
    models = [row_named(name).model for name in names]
    fused = {
        row.model for row in rows() if isinstance(row.model, FusedDotAdd) and row.model.scale_format is None
    }
    assert len(set(models)) == len(models) and set(models) == fused
    mixed = [model.a_format != model.b_format for model in models]
    assert mixed == sorted(mixed) and any(mixed)
    plain = [name for name, other in zip(names, mixed, strict=True) if not other]
    assert plain == sorted(plain)


def test_a_task_is_about_its_model() -> None:
    task = task_for(NAME, 5.0)
    digest = row_named(NAME).model.digest
    assert (task.key, task.asked, task.arguments) == (NAME, digest, (NAME, 5.0))
    assert task.models == {NAME: digest} and task.code == engine_digest("identification", "simulate")
    assert task.function is identified
    assert task_for("ampere/mma.m16n8k16.f32.f16.f16.f32", 5.0).asked != digest


@pytest.mark.parametrize("right", [True, False])
def test_rows_are_looked_up_among_what_a_search_left(right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the row is among what is left is looked up in the table, not taken from the search."""
    given: dict[str, Any] = {}

    class Search:
        def __init__(self, kinds: Any, box: Any, options: Any) -> None:
            given.update(kinds=kinds, box=box, options=options)

        def run(self) -> Any:
            fused = given["kinds"][0]
            assert isinstance(fused, FusedHypotheses)
            row = fused.row(row_named(NAME).model)
            assert row is not None
            table = np.array([fused.one_column_apart(row)[0], *([row] if right else [])])
            return SimpleNamespace(
                verdict="identified", reason="", exchanges=[1, 2, 3], count=10, floor=0.123, proofs=1,
                left=HypothesisSet(((fused, table),)), unproved=(), counts=[9, 2],
            )  # fmt: skip

    monkeypatch.setattr(identify_sweep, "Identification", Search)
    record = identified(NAME, 7.5)
    assert record["right"] is right
    assert (record["model"], record["questions"], record["equal"]) == (NAME, 3, 1 + right)
    assert (record["verdict"], record["floor"], record["left_after_each"]) == ("identified", 0.12, [9, 2])
    assert given["options"].timeout == 7.5
    # the box is the model: 1·2 + 1
    assert given["box"]([0x3C00, 0, 0, 0], [0x4000, 0, 0, 0], 0x3F800000) == 0x40400000
