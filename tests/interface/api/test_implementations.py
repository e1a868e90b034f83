"""What :func:`tcsmt.check` asks: functions of arrays, units, programs, the instruction; kept answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.implementations import (
    BoxShape,
    box_asked,
    cached_implementation,
    device_asked,
    given_asked,
    one_dataset,
    program_asked,
)
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.support.checkpoint import AnswerLog
from tests.support.fake_device import fake_device

pytestmark = pytest.mark.usefixtures("one_audit")
UNIT = "x86/vpdpbusd"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def exact(a: Any, b: Any, c: Any) -> Any:
    """Integers as the manual says: unsigned bytes times signed ones, added modulo 2^32."""
    total = (a.astype(np.int64) * b.astype(np.int64)).sum(axis=1) + c
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


@pytest.mark.slow
def test_a_unit_is_asked_words() -> None:
    """Those of TF32 have bits that units ignore, which float32 numbers may not have in silence."""
    tf32 = tcsmt.unit("ampere/mma.m16n8k4.f32.tf32.tf32.f32")
    same = tcsmt.check(tf32, tf32, rows=100)
    assert same.agrees and same.summary.startswith(f"{tf32.name} agrees with {tf32.name}")
    assert not tcsmt.check(tf32, tcsmt.unit("hopper/mma.m16n8k4.f32.tf32.tf32.f32"), rows=100).agrees
    with pytest.raises(tcsmt.TcsmtError, match=r"has a0 in tf32, and volta/.* has it in f16"):
        tcsmt.check(tf32, tcsmt.unit("volta"), rows=100)


#: Four scales of two products each, as the instructions with sixteen products for each have them.
SCALED = """kind = "fused-dot-add"
a_format = "e2m1"
b_format = "e2m1"
c_format = "f32"
d_format = "f32"
k = 8
n_fma = 8
fraction_bits = 25
zero_exponent = "none"
rounding = "RTZ"
scale_format = "ue4m3"
scale_block = 2
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "dtype", "count"),
    [
        ("scaled.toml", "float8_e4m3fn", 4),
        ("rtxblackwell/mma.m16n8k32.f32.e4m3.e4m3.f32.ue8m0", "float8_e8m0fnu", 1),
    ],
)
def test_scales_come_by_name_in_their_dtypes(
    unit: str, dtype: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a function is given, the unit takes; with the scales of b for those of a it differs."""
    monkeypatch.chdir(tmp_path)
    Path("scaled.toml").write_text(SCALED)
    given = []

    def called(a: Any, b: Any, c: Any, *, scale_a: Any, scale_b: Any) -> Any:
        given.append((scale_a, scale_b))
        return tcsmt.unit(unit)(a, b, c, scale_a=scale_a, scale_b=scale_b)

    assert tcsmt.check(unit, called, rows=100).agrees
    for scales in given:
        for scale in scales:
            assert scale.dtype == dtype and scale.shape[1:] == (count,)
            values = scale.astype(np.float32)
            assert not (np.signbit(values) & ~np.isnan(values)).any()
    wrong = tcsmt.check(
        unit, lambda a, b, c, scale_a, scale_b: called(a, b, c, scale_a=scale_b, scale_b=scale_b), rows=100
    )
    assert not wrong.agrees


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b, c: exact(a, b, c)[:-1], "one result for each row"),
        (
            lambda a, b, c: exact(a, b, c).astype(np.float64) + 0.5,
            r"result\[0\] = .* not a valid s32 value",
        ),
    ],
)
def test_results_that_do_not_fit_are_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.check(UNIT, function, rows=10)


def test_rows_that_were_answered_are_not_asked_again(tmp_path: Path) -> None:
    row = row_named(UNIT)
    asked = []

    def counted(a: Any, b: Any, c: Any) -> Any:
        asked.append(len(c))
        return exact(a, b, c)

    rows = Operands(np.full((5, 4), 3, np.uint8), np.full((5, 4), 7, np.uint8), np.arange(5, dtype=np.uint32))
    path = tmp_path / "kept"
    for _ in range(2):
        with AnswerLog(path, "a test") as kept:
            found = cached_implementation(row.model, given_asked(row, counted).run, kept)(rows)
            assert found.tolist() == [84 + n for n in range(5)]
    assert asked == [5]


LINES = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"d": json.loads(line)["c"]}), flush=True)
"""
BATCHES = """
import sys
i, o = sys.stdin.buffer, sys.stdout.buffer
while head := i.read(4):
    o.write(b"".join(i.read(12)[8:] for _ in range(int.from_bytes(head, "little"))))
    o.flush()
"""


@pytest.mark.parametrize(("protocol", "script"), [("lines", LINES), ("batches", BATCHES)])
def test_a_program_is_asked_by_its_protocol_and_ends(protocol: str, script: str, tmp_path: Path) -> None:
    """It answers c."""
    (tmp_path / "box.py").write_text(script)
    command = f"{sys.executable} {tmp_path / 'box.py'}"
    rows = Operands(np.full((5, 4), 3, np.uint8), np.full((5, 4), 7, np.uint8), np.arange(5, dtype=np.uint32))
    with ExitStack() as opened:
        program = program_asked(row_named(UNIT), command, protocol, 30.0, opened)
        assert (program.name, program.provenance) == (command, {})
        assert program.run(rows).tolist() == [0, 1, 2, 3, 4]


def test_unknown_protocols_and_scales_in_lines_are_refused() -> None:
    scaled = row_named("rtx-blackwell/mma.m16n8k32.f32.e4m3.e4m3.f32.ue8m0")
    with ExitStack() as opened:
        with pytest.raises(tcsmt.TcsmtError, match=r"unknown protocol 'line': .*allowed: lines, batches"):
            program_asked(row_named(UNIT), "cat", "line", 30.0, opened)
        with pytest.raises(tcsmt.TcsmtError, match="has block scales"):
            program_asked(scaled, "cat", "lines", 30.0, opened)


@pytest.mark.slow
def test_a_device_is_called_by_what_it_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_device(monkeypatch, tmp_path, VOLTA)
    with ExitStack() as opened:
        device = device_asked(row_named(VOLTA), opened)
        assert device.name == device.provenance["gpu"] == "fake"
        zeros = Operands(np.zeros((2, 4), np.uint16), np.zeros((2, 4), np.uint16), np.zeros(2, np.uint32))
        assert device.run(zeros).tolist() == [0, 0]


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
