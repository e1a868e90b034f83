"""``tcsmt.audit``: what it says of vectors whose gaps are known, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tcsmt

UNIT, OTHER = "x86/vpdpbusd", "x86/vpdpbusds"


def rows_file(path: Path, count: int) -> Path:
    names = [f"{side}{lane}" for side in "ab" for lane in range(4)]
    lines = [",".join([*names, "c"]), *(",".join([str(n % 100)] * 8 + ["5"]) for n in range(count))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rows_without_an_overflow_leave_how_it_ends_open(tmp_path: Path) -> None:
    found = tcsmt.audit(rows_file(tmp_path / "rows.csv", 6), UNIT, solve=False)
    assert found.undistinguished == [OTHER, "overflow = saturate"]
    with pytest.warns(DeprecationWarning, match=r"undistinguished now"):
        assert found.untold == found.undistinguished  # its earlier name, until 1.0
    assert found.complete is False
    assert found.exit_code == 1
    assert len(found.fewest) == 0
    assert found.as_json()["gaps"] is None
    lines = str(found).splitlines()
    assert lines[:2] == [
        f"6 vectors for {UNIT}",
        "1 hypothesis differs from it in one parameter; 1 other unit fits its inputs",
    ]
    assert "none of the 6 vectors tells any two hypotheses apart" in lines
    assert repr(found) == f"<AuditResult 6 vectors of {UNIT}: 3 hypotheses>"


def test_solvers_find_what_closes_the_gaps(tmp_path: Path) -> None:
    store = tmp_path / "store.json"
    found = tcsmt.audit(
        [rows_file(tmp_path / "rows.csv", 2)], UNIT, options=tcsmt.SolvingOptions(confirm=False, store=store)
    )
    assert found.gaps is not None
    assert {gap.verdict for gap in found.gaps} == {"open"}
    assert len(json.loads(store.read_text())["verdicts"]) >= 1
    closing = tmp_path / "closing.json"
    assert found.save_closing(closing) == 1
    again = tcsmt.audit([tmp_path / "rows.csv", closing], UNIT, solve=False)
    assert again.complete and again.undistinguished == []
    assert again.exit_code == 0
    # the vector's sum leaves 32 bits, by integers
    (row,) = json.loads(closing.read_text())["rows"]
    a, b = (np.array([int(word, 16) for word in row[side]], np.uint8) for side in "ab")
    total = int(a.astype(int) @ b.view(np.int8).astype(int)) + int(
        np.array(int(row["c"], 16), np.uint32).view(np.int32)
    )
    assert not -(1 << 31) <= total < 1 << 31


def test_the_fewest_tell_apart_as_much() -> None:
    vectors = tcsmt.vectors(UNIT, "edge", rows=40)
    found = tcsmt.audit(vectors, solve=False)
    assert found.complete and found.row.name == UNIT
    assert len(found.fewest) == 1
    assert "1 of the 40 vectors tells apart as much as all of them (no smaller set does);" in str(found)
    assert tcsmt.audit(found.fewest, solve=False).complete


@pytest.mark.long
def test_published_vectors() -> None:
    found = tcsmt.audit(unit="volta", published=["fasi"], solve=False)
    assert len(found.made.vectors) == 26
    assert "negative_zero = True" in found.undistinguished


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((), {"unit": "volta"}, "no vectors: give files, or a published set: fasi, fttn"),
        ((), {"published": ["fasi"]}, "published vectors need a unit"),
        ((), {"unit": "volta", "published": ["fassi"]}, "unknown published set 'fassi': did you mean fasi"),
        (("none.csv",), {"unit": "volta"}, "none.csv"),
        ((tcsmt.vectors(UNIT, "edge", rows=2), "volta"), {}, "has other inputs"),
        (
            ("none.csv",),
            {"solve": False, "options": tcsmt.SolvingOptions(certificate="proofs")},
            "certificate: needs solve=True",
        ),
    ],
)
def test_audits_without_vectors_or_a_unit_are_refused(
    arguments: tuple[object, ...], options: dict[str, object], said: str
) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=said):
        tcsmt.audit(*arguments, **options)
