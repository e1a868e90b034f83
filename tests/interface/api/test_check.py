"""``tcsmt.check``: what is asked, what is said, what is written and kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.check import StoppedCheck, difference
from tcsmt.interop.implementations.check import ShortMismatch
from tcsmt.prove.statements.explain import steps
from tests.support.fake_device import fake_device

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


def test_lanes_with_the_same_value_are_one_line() -> None:
    """Every lane of a step is in one of its lines, and their values are those of the lane's own stage."""
    row = tcsmt.unit("h100").row
    words = dict.fromkeys(row.model.input_formats, 0)
    words |= {
        "a3": 0x3C00,
        "b3": 0x4000,
        "a9": 0x3C00,
        "b9": 0x3800,
    }
    text = difference("f", row, ShortMismatch(words, 0, 1))
    values = {step.name: step.text for step in steps(row.model.trace, words)}
    for kind in ("product", "aligned product"):
        lines = re.findall(rf"^  {kind} (\d+)(?: to (\d+))?  +(.+)$", text, re.MULTILINE)
        lanes = {n: rest for low, high, rest in lines for n in range(int(low), int(high or low) + 1)}
        assert len(lines) == 5 and [*lanes] == [*range(16)]
        assert all(values[f"{kind} {n}"] == rest for n, rest in lanes.items())


def test_recorded_rows_are_compared_with_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    row = {"a": ["0x02"] * 4, "b": ["0xff"] * 4, "c": "0x00000000", "d": "0xfffffff8"}
    path.write_text(json.dumps({"model": UNIT, "rows": [row]}))
    assert tcsmt.check(UNIT, path).agrees
    path.write_text(json.dumps({"model": UNIT, "rows": [row | {"d": "0xfffffff9"}]}))
    found = tcsmt.check(UNIT, str(path))
    assert (found.rows, found.mismatches) == (1, 1)
    assert "rows.json is not" in found.summary
    with pytest.raises(tcsmt.TcsmtError, match="recorded rows ask nothing"):
        tcsmt.check(UNIT, path, resume=tmp_path / "kept")


def test_one_implementation_is_given() -> None:
    for given in ({}, {"implementation": exact, "device": True}, {"device": True, "command": "cat"}):
        with pytest.raises(tcsmt.TcsmtError, match="give one of implementation, device=True and command"):
            tcsmt.check(UNIT, **given)
    with pytest.raises(tcsmt.TcsmtError, match=r"protocol is that of command=\.\.\."):
        tcsmt.check(UNIT, exact, protocol="batches")


@pytest.mark.slow
def test_a_device_is_asked_and_its_rows_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = "volta/mma.m8n8k4.f32.f16.f16.f32"
    fake_device(monkeypatch, tmp_path, unit, flip=1)
    first: list[str] = []
    checked = tcsmt.check(unit, device=True, rows=2000, differs=first.append)
    assert (checked.name, checked.as_json()["provenance"]["gpu"]) == ("fake", "fake")
    assert str(checked) == f"{first[0]}\n{checked.conclusion}"
    with pytest.raises(tcsmt.TcsmtError, match=r"rows\.csv: allowed suffix: \.json"):
        checked.save(tmp_path / "rows.csv")
    checked.save(tmp_path / "rows.json")
    validation = tcsmt.validate(tmp_path / "rows.json")
    assert validation.rows == validation.mismatches > 50


def test_a_run_goes_on_from_kept_answers(tmp_path: Path) -> None:
    """A second run asks the function only the rows that are asked once more."""
    asked: list[int] = []

    def counted(a: Any, b: Any, c: Any) -> Any:
        asked.append(len(c))
        return exact(a, b, c)

    first = tcsmt.check(UNIT, counted, rows=20_000, resume=tmp_path / "kept").as_json()
    assert sum(asked) > 20_000
    asked.clear()
    assert tcsmt.check(UNIT, counted, rows=20_000, resume=tmp_path / "kept").as_json() == first
    assert 0 < sum(asked) <= 512


def test_a_stopped_check_hands_over_what_is_known() -> None:
    def interrupted(a: Any, b: Any, c: Any) -> Any:
        if len(c) == 1 << 16:
            raise KeyboardInterrupt
        return exact(a, b, c) + 1

    so_far: list[StoppedCheck] = []
    with pytest.raises(KeyboardInterrupt):
        tcsmt.check(UNIT, interrupted, rows=1_000_000, stopped=so_far.append)
    (stopped,) = so_far
    assert stopped.rows == stopped.mismatches > 1000 and stopped.known is None
    assert str(stopped) == f"STOPPED after {stopped.rows} rows: {stopped.rows:,} of them differ"
    facts = {"stopped": True, "rows": stopped.rows, "mismatches": stopped.rows}
    assert stopped.as_json() == {"tcsmt": tcsmt.__version__, **facts}


def test_what_follows_is_a_part_of_a_stopped_check() -> None:
    known = tcsmt.check(UNIT, exact, rows=500)
    stopped = StoppedCheck(7, 0, known)
    assert stopped.as_json() == {**known.as_json(), "stopped": True}
    assert [*stopped.as_json()][:5] == ["tcsmt", "stopped", "rows", "mismatches", "unit"]
    assert str(stopped) == f"{known.conclusion}\nSTOPPED after 7 rows: every answer was the unit's"


@pytest.mark.slow
def test_results_in_a_file_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 50, 4)).astype(np.float16)
    c = rng.standard_normal(50).astype(np.float32)
    np.savez(tmp_path / "rows.npz", a=a, b=b, c=c)
    d = tcsmt.unit("volta")(a, b, c)
    np.save(tmp_path / "d.npy", d)
    assert tcsmt.check("volta", tmp_path / "rows.npz", results=tmp_path / "d.npy").rows == 50
    d[7] += 1
    np.savez(tmp_path / "d.npz", d=d)
    lines = ["d", *(f"{word:#010x}" for word in d.view(np.uint32))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    for name in ("d.npz", "d.csv"):
        found = tcsmt.check("volta", tmp_path / "rows.npz", results=tmp_path / name)
        assert found.mismatches == 1 and name in found.summary
    np.save(tmp_path / "few.npy", d[:9])
    for arguments, message in (
        (("volta", tmp_path / "rows.npz"), "has results of shape"),
        (("volta", lambda a, b, c: c), "a file of rows, which is not given"),
    ):
        with pytest.raises(tcsmt.TcsmtError, match=message):
            tcsmt.check(*arguments, results=tmp_path / "few.npy")
    with pytest.raises(tcsmt.TcsmtError, match="suffix of a file of results"):
        tcsmt.check("volta", tmp_path / "rows.npz", results=tmp_path / "d.txt")
