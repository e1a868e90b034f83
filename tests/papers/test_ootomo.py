"""What the sweeps say of Ootomo and Yokota: conclusions only of what was swept, lemmas, the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.algorithms.sweep import (
    Matrices,
    task_for,
)
from tcsmt.cli import main
from tcsmt.papers import ootomo
from tcsmt.prove.solvers.run import Settings
from tcsmt.support.checkpoint import Record


def test_conclusions_about_splits_need_no_sweep() -> None:
    assert ootomo.split_conclusions()[0]["section"].startswith("expected mantissa length")


def records(names: Sequence[str], unit: str) -> list[Record]:
    """One point of a tiny sweep."""
    given = Matrices((unit,), 2, 1)
    return [task_for(name, "uniform", 16, given).run() for name in names]


def test_nothing_is_said_of_what_was_not_swept() -> None:
    assert list(ootomo.conclusions([])) == []
    for names, unit, said in (
        (("fp8",), "hopper", set()),
        (("markidis",), "volta", {"expected mantissa length"}),
        (("markidis", "markidis,every=instruction"), "volta", {"expected mantissa length"}),
        (("markidis", "markidis,every=instruction"), "ampere", {"expected mantissa length", "RZ inside"}),
        (("markidis", "ootomo-halfhalf"), "volta", {"expected mantissa length", "underflow"}),
    ):
        published = {one["section"] for one in ootomo.conclusions(records(names, unit)) if one["published"]}
        assert len(published) == len(said), published
        assert all(any(section.startswith(start) for section in published) for start in said)


@pytest.mark.long
def test_the_lost_mantissa_is_not_the_cause() -> None:
    found = ootomo.last_bit(k=512, seeds=1)
    assert ootomo.last_bit_conclusion(found)["agrees"]
    residuals = found["residuals"]
    assert residuals["Markidis, c added outside"] < residuals["SGEMM, last bit cleared"]
    assert residuals["SGEMM"] <= residuals["SGEMM, last bit cleared"]


def test_a_lemma_has_a_verdict() -> None:
    lemma = next(ootomo.residual_product(Settings(timeout=60)))
    assert (lemma["verdict"], lemma["answer"]) == ("equivalent", "proved")
    assert len(lemma["scripts"]) == 1


@pytest.mark.long
def test_reproduce_ootomo(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["reproduce", "ootomo", "--results", str(tmp_path)])
    assert result.exit_code == 0, result.output
    data = json.loads((tmp_path / "ootomo.json").read_text())
    assert all(one["answer"] == "proved" for one in data["residual product"])
    units = [one for one in data["residual product"] if "unit" in one]
    assert all(one["with"] == one["exact"] == (1 + 2.0**-10 + 2.0**-22).hex() for one in units)
    assert all(one["without"] == (1 + 2.0**-10).hex() for one in units)
    verdicts = {one["section"]: one["agrees"] for one in data["conclusions"]}
    assert verdicts["ΔA·ΔB is negligible, in one product"] is False
    assert verdicts["expected mantissa length of Markidis' split"] is True
    assert (tmp_path / "ootomo-splits.svg").exists()
