"""The report: which layers lose most, and to what."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tcsmt
from tests.support.tensors import emulated_block, torch

emulate = tcsmt.torch.emulate


def test_layers_and_passes_of_a_block(tmp_path: Path) -> None:
    """Each layer's products by name, twice each; the shares of a loss add up to it."""
    report = emulated_block("h100", "bf16")
    layers = ("into", "out", "up", "down")
    passes = {"forward": layers, "weight gradient": layers, "input gradient": ("out", "up", "down", "into")}
    own = {(layer, run) for run, names in passes.items() for layer in names} - {("into", "input gradient")}
    attention = {
        (name, run) for name in ("Block", "Block:2") for run in ("forward", "left gradient", "right gradient")
    }
    assert {(layer, run) for layer, run, _ in report.losses} == own | attention
    assert {entry.products for entry in report.losses.values()} == {2}
    data = json.loads(json.dumps(report.as_json()))
    assert data["instructions"] == ["hopper/mma.m16n8k16.f32.bf16.bf16.f32"]
    assert all(abs(sum(entry["shares"].values()) - 1) < 1e-9 for entry in data["products"])
    errors = [entry["relative_error"] for entry in data["products"]]
    assert errors == sorted(errors, reverse=True) and 1e-4 < errors[-1] < errors[0] < 1e-2
    first = str(report).splitlines()[0]
    assert re.match(
        r"Most is lost in \w+(:2)?, [a-z ]+ \(\d\.\de-03, 100% to rounding of operands\); ", first
    )
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    report.picture(tmp_path / "block.svg")
    drawn = (tmp_path / "block.svg").read_text()
    assert "down, weight gradient" in drawn and "accumulation" in drawn and "Most is lost in" in drawn


def test_nothing_measured_and_nothing_lost() -> None:
    ones = torch.ones(4, 4)
    with emulate("h100", "bf16", rows=0) as emulation:
        ones @ ones
    assert emulation.report.answer == "No product was measured."
    with emulate("h100", "bf16") as emulation:
        ones @ ones
    assert emulation.report.answer.startswith("Nothing is lost")
    with emulate("h100", "bf16") as emulation:
        pass
    assert "no product" in str(emulation.report)
