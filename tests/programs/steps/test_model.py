"""Programs as models: kernels among them, and calls by which a reader gets their results again."""

from __future__ import annotations

import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.models import Kind
from tcsmt.programs.kernels.model import KernelModel
from tcsmt.programs.steps.model import ProgramModel

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"


def model(text: str) -> ProgramModel:
    found = side_of(f"{UNIT}+{text}").row.model
    assert isinstance(found, KernelModel)
    return found


@pytest.mark.parametrize(
    ("text", "calls", "whole"),
    [("split-k:2@8", 3, False), ("chained@8", 2, False), ("chained+out=f16@8", 1, True)],
)
def test_calls_give_the_result_again(text: str, calls: int, whole: bool) -> None:
    """By the units' calls and multiply-adds where these are all; else by the program itself."""
    trace = model(text).trace
    assert trace.calls[-1].output is trace.output and len(trace.calls) >= calls
    assert (trace.calls[-1].model.kind == "kernel") == whole


def test_stages_have_places_of_their_own_and_end_with_the_result() -> None:
    trace = model("split-k:2+out=bf16@8").trace
    assert len({stage.place for stage in trace.stages}) == len(trace.stages)
    assert trace.stages[-1].term is trace.output and trace.stages[-1].kind is Kind.CONVERTED


def test_nans_of_the_last_step_are_known_or_not() -> None:
    known = [
        model(text).knows_nans for text in ("chained@8", "split-k:2+nan=quiet@8", "split-k:2+nan=unknown@8")
    ]
    assert known == [True, True, False]
    assert "no source says" in side_of(f"{UNIT}+split-k:2+nan=unknown@8").row.note
