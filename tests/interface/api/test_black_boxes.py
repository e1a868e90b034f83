"""What is asked one question at a time, and what is known of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.black_boxes import BoxShape, box_asked, one_dataset
from tests.support.fake_device import fake_device

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
NOTHING: dict[str, Any] = dict.fromkeys(("like", "formats", "k", "command", "device")) | {"timeout": 30.0}
#: 1.0 in binary16, and 4.0 in binary32: the sum of four products of ones.
ONES, FOUR = [0x3C00] * 4, 0x40800000
PROGRAM = """
import json, sys
for line in sys.stdin:
    assert json.loads(line)["a"] == ["0x3c00"] * 4
    print(json.dumps({"d": "0x40800000"}), flush=True)
"""


def function(a: Any, b: Any, c: Any) -> Any:
    assert (a.shape, b.shape, c.shape, a.dtype, c.dtype) == ((1, 4), (1, 4), (1,), np.float16, np.float32)
    return (a.astype(np.float32) * b).sum(axis=1) + c


@pytest.mark.parametrize(
    "given",
    [
        {"box": "volta"},
        {"box": tcsmt.unit("volta")},
        {"box": function, "like": "volta"},
        {"box": function, "formats": ["f16", "f16", "f32", "f32"], "k": 4},
        {"command": "PROGRAM", "like": "volta"},
        {"device": VOLTA},
    ],
)
@pytest.mark.slow_cases("given5")
def test_every_box_gives_the_word_of_four(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_device(monkeypatch, tmp_path, VOLTA)
    (tmp_path / "box.py").write_text(PROGRAM)
    if "command" in given:
        given = given | {"command": f"{sys.executable} {tmp_path / 'box.py'}"}
    with box_asked(**({"box": None} | NOTHING | given)) as (shape, box):
        assert ([fmt.name for fmt in shape.formats], shape.k) == (["f16", "f16", "f32", "f32"], 4)
        assert box is not None and box(ONES, ONES, 0) == FOUR


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"box": None}, "give one of box, command=... and device=UNIT"),
        ({"box": "volta", "command": "cat"}, "give one of box, command=... and device=UNIT"),
        ({"box": function}, "give like=UNIT, or formats=... and k=..."),
        ({"box": function, "like": "volta", "formats": ["f16"] * 4, "k": 4}, "give like=UNIT, or formats"),
        ({"box": function, "formats": ["f16"] * 4}, "give like=UNIT, or formats=... and k=..."),
        ({"box": function, "formats": ["f16"] * 3, "k": 4}, "must be four formats"),
        ({"box": "volta", "like": "hopper"}, "K or scales of volta are not those of formats or like"),
        ({"box": "rtxblackwell/mma.m16n8k32.f32.e4m3.e4m3.f32.ue8m0"}, "has block scales"),
    ],
)
def test_boxes_without_formats_or_of_other_ones_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError) as error, box_asked(**(NOTHING | given)):
        raise AssertionError
    assert message in str(error.value)


def test_answers_that_are_no_array_of_one_are_refused() -> None:
    with box_asked(lambda a, b, c: np.zeros(2, np.float32), **(NOTHING | {"like": "volta"})) as (_, box):
        assert box is not None
        with pytest.raises(tcsmt.TcsmtError, match=r"has shape \(2,\): must be \(1,\)"):
            box(ONES, ONES, 0)


def test_recorded_answers_say_their_formats(tmp_path: Path) -> None:
    row = {"a": ["0x3c00"] * 4, "b": ["0x3c00"] * 4, "c": "0x00000000", "d": "0x40800000"}
    (tmp_path / "answers.json").write_text(json.dumps({"model": VOLTA, "rows": [row]}))
    data = one_dataset(tmp_path / "answers.json")
    with box_asked(None, **NOTHING, data=data) as (shape, box):
        assert (shape, box) == (BoxShape.of("volta", None, None), None)
    (tmp_path / "more.json").write_text((tmp_path / "answers.json").read_text())
    with pytest.raises(tcsmt.TcsmtError, match="holds 2 data sets; give a single one"):
        one_dataset(tmp_path)
