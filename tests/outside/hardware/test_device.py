"""A device that keeps running: what it is given and gives, and what is said when it ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.outside.hardware import device as module
from tcsmt.outside.hardware.device import Device
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.fake_device import fake_device
from tests.support.sampling import mostly_long

UNIT = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"


@pytest.mark.slow
@pytest.mark.parametrize("unit", mostly_long(["volta/mma.m8n8k4.f32.f16.f16.f32", UNIT], [UNIT]))
def test_rows_go_in_batches_and_answers_come_back_in_order(
    unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_device(monkeypatch, tmp_path, unit)
    monkeypatch.setattr(module, "_ROWS", 100)
    row = row_named(unit)
    words = words_of(row.model, rows(row.model.input_formats, 250, np.random.default_rng(0)))
    with Device(row) as device:
        assert (device.run(words) == run_words(row.model, words)).all()
        assert device.provenance == {"gpu": "fake", "date": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("sys.exit('vector 3: element 1 of D differs')", "ended with 1: vector 3: element 1 of D differs"),
        ("sys.exit('find a GPU: none')", "this machine has no usable GPU (none)"),
        ("import time; time.sleep(60)", "no answer within 0.2 s"),
    ],
)
def test_a_device_that_fails_is_named(
    before: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_named("volta")
    fake_device(monkeypatch, tmp_path, row.name, before=before)
    monkeypatch.setattr(module, "_PATIENCE", 0.2 if "sleep" in before else 30.0)
    words = words_of(row.model, rows(row.model.input_formats, 5, np.random.default_rng(0)))
    with Device(row) as device, pytest.raises(TcsmtError) as caught:
        device.run(words)
    assert said in str(caught.value)
