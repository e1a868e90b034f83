"""``tcsmt.chained_atlas``: groups, integers, its store, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tcsmt

TYPES = "f32.bf16.bf16.f32"


@pytest.mark.slow
def test_a_unit_and_itself_are_one_class(tmp_path: Path) -> None:
    """By a name and as a unit; the store keeps what was found of its integers."""
    store = tmp_path / "store.json"
    unit = tcsmt.unit("x86/vdpbf16ps")
    found = tcsmt.chained_atlas(
        [unit, "x86/vdpbf16ps"], types=[TYPES], options=tcsmt.SolvingOptions(store=store, confirm=False)
    )
    (group,) = found.groups
    assert [len(one.rows) for one in group.units] == [2]
    assert found.integers["x86/vdpbf16ps"]["bits"] == 24
    assert json.loads(json.dumps(found.as_json()))["groups"]
    kept = store.read_text()
    assert "vdpbf16ps" in kept
    again = tcsmt.chained_atlas(
        [unit], types=[TYPES], options=tcsmt.SolvingOptions(store=store, confirm=False)
    )
    assert again.integers == found.integers
    assert store.read_text() == kept


def test_reports_print_and_say_whether_a_pair_is_unknown() -> None:
    options = tcsmt.SolvingOptions(confirm=False)
    name = "volta/mma.m8n8k4.f32.f16.f16.f32"
    found = tcsmt.atlas([name, f"{name}@valpey"], options=options)
    assert str(found).startswith(f"f32.f16.f16.f32, K = 4 (all words)\n  1: {name}\n  2: {name}@valpey\n")
    assert repr(found) == "<AtlasReport of 1 group, 1 pair>"
    assert found.exit_code == 0 and [*found.as_json()] == ["tcsmt", "prover", "domain", "models", "groups"]
    unknown = replace(found, records={key: {"verdict": "unknown", "reason": "?"} for key in found.records})
    assert unknown.unknown and unknown.exit_code == 3


def test_refusals(tmp_path: Path) -> None:
    store = tmp_path / "store.json"
    with pytest.raises(tcsmt.TcsmtError, match="unknown architecture 'voltage'"):
        tcsmt.chained_atlas(["voltage"], options=tcsmt.SolvingOptions(store=store))
    with pytest.raises(tcsmt.TcsmtError, match=r"no unit has the types f64\.f64\.f64\.f64"):
        tcsmt.chained_atlas(["volta"], types=["f64.f64.f64.f64"], options=tcsmt.SolvingOptions(store=store))
