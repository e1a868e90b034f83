"""Khattak and Mikaitis: printed vectors, tables, and models that mislead other probes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.surveys.papers import khattak
from tests.support.command_line import reproduced
from tests.support.paths import DATA


@pytest.mark.slow
def test_printed_vectors() -> None:
    """Section IV: every vector gives what is printed, 2.25 + 2^-22 among them."""
    tests = khattak.feature_tests()
    assert len(tests) == 41
    assert all(test["agrees"] for test in tests)
    square = next(test for test in tests if test["vector"].startswith("p1 = 1.5·1.5, p2 = p3"))
    assert square["results"] == {"V100": "2.25 + 2^-22"}


@pytest.mark.long
def test_table_two() -> None:
    rows = khattak.table_two()
    assert {gpu for row in rows for gpu in row["gpus"]} >= {"V100", "A100", "A30", "L40S", "H100", "B200"}
    assert [row["unit"] for row in rows if not row["agrees"]] == []


def test_custom_models() -> None:
    """They are those of the TOML files."""
    files = [DATA / f"khattak-custom-{number}.toml" for number in (1, 2)]
    assert [read_model(path).model for path in files] == list(khattak.custom_models().values())


@pytest.mark.slow
def test_authentication() -> None:
    """FTTN's vectors fail on the custom models as V-A says; our probes do not."""
    judged = {one["unit"]: one for one in khattak.authentication()}
    assert [one["agrees"] for one in judged.values() if one["published"]] == [True, True]
    assert judged["A100"]["concluded"] == judged["A100"]["true"]
    custom = [judged[label]["probes"] for label in khattak.custom_models()]
    assert [(one["n_fma"], one["f"], one["final"]) for one in custom] == [(8, 23, "RNE"), (8, 24, "RU")]


@pytest.mark.long
def test_telling_vectors() -> None:
    assert all(vector["told"] for vector in khattak.telling_vectors(60))


@pytest.mark.long
def test_reproduce_khattak(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text, data = reproduced("khattak", tmp_path)
    assert "41 of 41 vectors" in text
    assert len(data["figure 7"]) == 180
    differs = [one["published"] for one in data["conclusions"] if one["agrees"] is False]
    assert len(differs) == 2, differs
    assert (tmp_path / "khattak-figure7.svg").exists()
