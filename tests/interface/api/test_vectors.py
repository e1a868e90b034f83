"""``tcsmt.vectors``: rows with results, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.vectors import FILE_FORMATS, file_format

UNIT = "x86/vpdpbusd"


def test_results_are_the_unit_s_by_integers() -> None:
    found = tcsmt.vectors(UNIT, kind="random", rows=40)
    a, b, c, d = (np.asarray(x) for x in (found.a, found.b, found.c, found.d))
    assert len(d) == 40
    total = (a.astype(np.int64) * b.view(np.int8).astype(np.int64)).sum(axis=1) + c.astype(np.int64)
    assert (total % (1 << 32) == d.view(np.uint32)).all()


def test_the_same_seed_gives_the_same_rows() -> None:
    one, two, other = (tcsmt.vectors(UNIT, kind="random", rows=20, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.a, two.a)
    assert not np.array_equal(one.a, other.a)


def test_formats_are_known_by_their_suffix() -> None:
    assert [file_format(Path(f"x{suffix}")) for suffix in FILE_FORMATS.values()] == [*FILE_FORMATS]
    with pytest.raises(tcsmt.TcsmtError, match=r"unknown suffix of a file of vectors '\.jsn'"):
        file_format(Path("x.jsn"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "edges"}, "unknown kind of vectors 'edges': did you mean edge"),
        ({"rows": 0}, "rows = 0: must be at least 1"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.vectors(UNIT, **options)
    with pytest.raises(tcsmt.TcsmtError, match="unknown format of vectors 'jsn': did you mean json"):
        tcsmt.vectors(UNIT, "random", rows=1).as_bytes("jsn")


def test_those_that_decide_are_in_the_file_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where there is a file already; in the end all are."""
    path = tmp_path / "rows.csv"
    made = tcsmt.vectors(UNIT, rows=300, output=path)
    whole = path.read_bytes()
    assert whole == made.as_bytes("csv") and len(made) == 300
    deciding = tcsmt.vectors(UNIT, "deciding")
    monkeypatch.setattr("tcsmt.interface.api.vectors.TestVectors.save", lambda self, path: None)
    path.write_text("older")
    tcsmt.vectors(UNIT, rows=300, output=path)
    assert path.read_text() == "older"
    path.unlink()
    tcsmt.vectors(UNIT, rows=300, output=path)
    assert path.read_bytes() == deciding.as_bytes("csv")


def test_files_name_a_model_file_by_its_path(tmp_path: Path) -> None:
    model = tmp_path / "mine.toml"
    model.write_text('base = "volta/mma.m8n8k4.f32.f16.f16.f32"\nfraction_bits = 20\n')
    for unit in (model, str(model)):
        tcsmt.vectors(unit, "random", rows=5, output=tmp_path / "rows.json")
        assert tcsmt.validate(tmp_path / "rows.json").mismatches == 0
