"""``tcsmt.identify_plan``: questions in advance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tcsmt

FORMATS = ("e2m1", "e2m1", "f16", "f16")


def test_a_set_is_a_file_of_rows_for_a_probe(tmp_path: Path) -> None:
    plan = tcsmt.identify_plan(like="volta", budget=5)
    data = json.loads(str(plan))
    assert data == plan.as_json() and len(data["rows"]) == 5 and "tcsmt" not in data
    assert data["model"].startswith("volta/")
    assert 1 < plan.told_apart <= plan.hypotheses
    (tmp_path / "plan.json").write_text(str(plan))
    assert len(tcsmt.probe("volta", vectors=tmp_path / "plan.json")) == 5


@pytest.mark.slow
def test_a_tree_names_every_hypothesis_in_a_leaf() -> None:
    plan = tcsmt.identify_plan("tree", formats=FORMATS, k=1)
    data = json.loads(str(plan))
    assert data == plan.as_json() and data["tcsmt"] == tcsmt.__version__

    def leaves(node: dict[str, object]) -> list[list[str]]:
        if "left" in node:
            return [node["left"]]
        return [leaf for child in node["answers"].values() for leaf in leaves(child)]  # type: ignore[attr-defined]

    found = leaves(data["tree"])
    assert len(found) == plan.told_apart and sum(map(len, found)) == plan.hypotheses


def test_other_kinds_and_integers_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="unknown plan 'list'"):
        tcsmt.identify_plan("list", like="volta")
    with pytest.raises(tcsmt.TcsmtError, match="a plan supports only fused dot-adds"):
        tcsmt.identify_plan(like="x86/vpdpbusd")
