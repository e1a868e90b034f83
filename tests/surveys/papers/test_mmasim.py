"""MMA-Sim: what is published beside what our models give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.surveys.papers import mmasim
from tests.support.command_line import reproduced


@pytest.mark.slow
def test_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    """2048 * 2048 - 2048 * 2048 - 0.000001, section IV-C."""
    some = ("cdna3", "hopper", "cdna1")
    monkeypatch.setattr(mmasim, "rows", lambda: [row for name in some for row in rows(name, claims=False)])
    found = {unit["unit"]: unit["value"] for unit in mmasim.cancellation()}
    assert found["cdna3/v_mfma_f32_32x32x8_f16"] == -0.25
    assert found["hopper/mma.m16n8k16.f32.f16.f16.f32"] == 0
    assert found["cdna1/v_mfma_f32_32x32x8f16"] == pytest.approx(-1e-6)


def test_families_of_turing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its oldest instruction differs from what is said of the family."""
    monkeypatch.setattr(mmasim, "rows", lambda: rows("turing", claims=False))
    found = list(mmasim.families())
    floating = [row for row in rows("turing", claims=False) if not isinstance(row.model, IntegerDotAdd)]
    assert sum(family["rows"] for family in found) == len(floating)
    differs = {name.split(".f")[0] for family in found for name in family["differs"]}
    assert differs == {"turing/mma.m8n8k4"}


@pytest.mark.long
def test_families() -> None:
    """Every row of the families is found once, by our rows' names; Turing's oldest instruction differs."""
    found = list(mmasim.families())
    assert all(family["rows"] for family in found)
    differs = {name for family in found for name in family["differs"]}
    assert {name.split(".f")[0] for name in differs} == {"turing/mma.m8n8k4"}
    others = {name.split("/")[0] for name in found[-1]["names"]}
    younger = {"arm", "blackhole", "rdna3", "rdna4", "riscv", "wormhole", "x86"}  # the paper has none of them
    assert others == {"hopper", "blackwell", "cdna1"} | younger


@pytest.mark.long
def test_reproduce_mma_sim(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text, data = reproduced("mma-sim", tmp_path)
    assert "14 of 15 as published" in text
    assert [one["agrees"] for one in data["conclusions"]].count(False) == 1
    plots = {path.name: path.read_bytes() for path in tmp_path.glob("*.svg")}
    assert set(plots) == {"mma-sim-bias.svg", "mma-sim-accumulation.svg"}
    again = tmp_path / "again"
    reproduced("mma-sim", again)
    assert {path.name: path.read_bytes() for path in again.glob("*.svg")} == plots


def test_bias() -> None:
    units = {unit["label"]: unit for unit in mmasim.bias(count=4000)["units"]}
    assert units["CDNA3 f16"]["mean_in_standard_errors"] < -10
    assert abs(units["CDNA3 f16, hypothetical RZ"]["mean_in_standard_errors"]) < 4


@pytest.mark.long
def test_accumulation() -> None:
    errors = {unit["label"]: np.array(unit["error"]) for unit in mmasim.accumulation(largest=1024)["units"]}
    hopper = errors["Hopper wgmma e4m3 (F = 13)"]
    assert np.all(np.diff(hopper) > 0) and hopper[-1] > 0.01
    assert errors["Hopper wgmma e4m3, promoted every 128"].max() < 1e-3
    assert errors["Blackwell tcgen05 e4m3 (F = 25)"].max() == 0


def test_flush() -> None:
    zero = {
        case["case"]: {n.split("/")[0] for n, v in case["results"].items() if v == "0"}
        for case in mmasim.flush()
    }
    assert zero["a subnormal c"] == {"cdna2"}
    assert zero["1.5·2^-126 - 2^-126"] == {"cdna2"}


@pytest.mark.slow
def test_plots_are_deterministic(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    data = mmasim.bias(count=1000)
    for name in ("one", "two"):
        mmasim.plot_bias(tmp_path / f"{name}.svg", data)
    one, two = ((tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
    assert one == two and b"<dc:date>" not in one
