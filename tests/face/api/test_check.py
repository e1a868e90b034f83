"""``tcsmt.check``: functions and recorded rows as implementations, kept answers, what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.face.api.check import of_arrays, remembered
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.support.kept_answers import KeptAnswers

pytestmark = pytest.mark.usefixtures("one_audit")
UNIT = "x86/vpdpbusd"


def exact(a: Any, b: Any, c: Any) -> Any:
    """Integers as the manual says: unsigned bytes times signed ones, added modulo 2^32."""
    total = (a.astype(np.int64) * b.astype(np.int64)).sum(axis=1) + c
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def test_a_right_function_agrees_and_a_wrong_one_is_shown() -> None:
    right = tcsmt.check(UNIT, exact, rows=500)
    assert right.agrees and right.mismatches == 0 and right.rows >= 500
    assert right.exit_code == 0
    assert f"exact agrees with {UNIT} on" in right.summary

    def saturated(a: Any, b: Any, c: Any) -> Any:
        total = (a.astype(np.int64) * b.astype(np.int64)).sum(axis=1) + c
        return np.clip(total, -(1 << 31), (1 << 31) - 1).astype(np.int32)

    wrong = tcsmt.check(UNIT, saturated, rows=500)
    assert not wrong.agrees and wrong.mismatches
    assert wrong.exit_code == 1
    data = json.loads(json.dumps(wrong.as_json()))
    words = {name: int(one["word"], 16) for name, one in data["first"]["inputs"].items()}
    signed = [words.get(f"b{n}", 0) - (words.get(f"b{n}", 0) >> 7 << 8) for n in range(4)]
    total = sum(words.get(f"a{n}", 0) * signed[n] for n in range(4)) + words.get("c", 0)
    assert int(data["first"]["unit"]["word"], 16) == total % 2**32
    assert "saturated is not" in str(wrong) and any("vpdpbusds" in one for one in wrong.looks_like)


def test_a_unit_is_asked_words() -> None:
    """Those of TF32 have bits that units ignore, which float32 numbers may not have in silence."""
    tf32 = tcsmt.unit("ampere/mma.m16n8k4.f32.tf32.tf32.f32")
    same = tcsmt.check(tf32, tf32, rows=100)
    assert same.agrees and same.summary.startswith(f"{tf32.name} agrees with {tf32.name}")
    assert not tcsmt.check(tf32, tcsmt.unit("hopper/mma.m16n8k4.f32.tf32.tf32.f32"), rows=100).agrees
    with pytest.raises(tcsmt.TcsmtError, match=r"has a0 in tf32, and volta/.* has it in f16"):
        tcsmt.check(tf32, tcsmt.unit("volta"), rows=100)


@pytest.mark.parametrize(
    ("unit", "dtype", "count"),
    [
        ("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "float8_e4m3fn", 4),
        ("rtxblackwell/mma.m16n8k32.f32.e4m3.e4m3.f32.ue8m0", "float8_e8m0fnu", 1),
    ],
)
def test_scales_come_by_name_in_their_dtypes(unit: str, dtype: str, count: int) -> None:
    """What a function is given, the unit takes; with the scales of b for those of a it differs."""
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


def test_a_file_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    row = {"a": ["0x02"] * 4, "b": ["0xff"] * 4, "c": "0x00000000", "d": "0xfffffff8"}
    path.write_text(json.dumps({"model": UNIT, "rows": [row]}))
    assert tcsmt.check(UNIT, path).agrees
    path.write_text(json.dumps({"model": UNIT, "rows": [row | {"d": "0xfffffff9"}]}))
    found = tcsmt.check(UNIT, str(path))
    assert (found.rows, found.mismatches) == (1, 1)
    assert "rows.json is not" in found.summary


def test_rows_that_were_answered_are_not_asked_again(tmp_path: Path) -> None:
    model = row_named(UNIT).model
    asked = []

    def counted(a: Any, b: Any, c: Any) -> Any:
        asked.append(len(c))
        return exact(a, b, c)

    rows = Operands(np.full((5, 4), 3, np.uint8), np.full((5, 4), 7, np.uint8), np.arange(5, dtype=np.uint32))
    path = tmp_path / "kept"
    for _ in range(2):
        with KeptAnswers(path, "a test") as kept:
            found = remembered(model, of_arrays(model, counted), kept)(rows)
            assert found.tolist() == [84 + n for n in range(5)]
    assert asked == [5]
