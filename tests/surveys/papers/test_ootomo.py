"""Ootomo's slides beside a sweep: what is concluded of made-up records, and exactly of the splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.surveys.papers import ootomo
from tcsmt.surveys.papers.ootomo import (
    SweepRecords,
    conclusions,
    last_bit_conclusion,
    residual_product_conclusion,
    split_conclusions,
)


def record(distribution: str, k: int, algorithm: str, **units: float | dict[str, float]) -> dict[str, Any]:
    """Residuals by unit (its label: ``a__b`` for ``a, b``)."""
    found = {
        label.replace("__", ", ").replace("_", " "): one if isinstance(one, dict) else {"residual": one}
        for label, one in units.items()
    }
    return {"distribution": distribution, "k": k, "algorithm": algorithm, "units": found}


RECORDS = [
    record("uniform", 16, "markidis", volta__turing=9.0, ampere=8.0),
    record(
        "uniform", 64, "markidis", volta__turing=4e-5, ampere=6e-5, ampere__RNE=1e-5, ampere__all_RNE=5e-6
    ),
    record("uniform", 64, "markidis,every=instruction", ampere=2e-6),
]


def test_errors_are_found_by_the_label_of_a_unit() -> None:
    sweep = SweepRecords(RECORDS)
    assert (sweep.lengths, sweep.longest) == ([16, 64], 64)
    assert sweep.error("uniform", "markidis", "turing") == 4e-5
    assert sweep.error("uniform", "markidis", "turing", k=16) == 9.0
    variants = [sweep.error("uniform", "markidis", "ampere", variant) for variant in ("", "RNE", "all RNE")]
    assert variants == [6e-5, 1e-5, 5e-6]
    for missing in (
        ("positive", "markidis", "ampere"),
        ("uniform", "x", "ampere"),
        ("uniform", "markidis", "tur"),
    ):
        assert sweep.error(*missing) is None
    assert sweep.error("uniform", "markidis", "volta", "RNE") is None
    assert list(sweep.line("uniform", "markidis", "volta")) == [(16, 9.0), (64, 4e-5)]
    assert SweepRecords([]).longest == 0


def said(records: list[dict[str, Any]], start: str) -> dict[str, Any]:
    (found,) = (one for one in conclusions(records) if one["section"].startswith(start))
    return found


@pytest.mark.parametrize(("rounded", "agrees"), [(1e-5, True), (2e-5, False)])
def test_rounding_inside_the_unit_costs_more_than_five_times(rounded: float, agrees: bool) -> None:
    """More than five times, on an A100."""
    changed = [
        *RECORDS[:1],
        record("uniform", 64, "markidis", ampere=6e-5, ampere__RNE=rounded, ampere__all_RNE=5e-6),
        RECORDS[2],
    ]
    found = said(changed, "RZ inside the unit")
    assert found["agrees"] is agrees
    assert f"gains {6e-5 / rounded:.1f} times" in found["ours"] and "K = 64" in found["section"]


@pytest.mark.parametrize(("residual", "agrees"), [(1.9e-7, True), (2.1e-7, False)])
def test_whether_it_is_as_accurate_as_fp32(residual: float, agrees: bool) -> None:
    records = [
        record("uniform", 64, "ootomo-halfhalf", ampere=residual),
        record("uniform", 64, "fp32-fma", ordinary_cores=1e-7),
    ]
    found = said(records, "ootomo-halfhalf has FP32's accuracy")
    assert found["agrees"] is agrees and f"at most {residual / 1e-7:.2f} times" in found["ours"]


@pytest.mark.parametrize(("with_it", "agrees"), [(1e-6, True), (5e-7, False)])
def test_whether_the_residuals_product_is_negligible(with_it: float, agrees: bool) -> None:
    records = [
        record("uniform", 64, "ootomo-halfhalf", ampere=1e-6, ampere__RNE=9.0),
        record("uniform", 64, "ootomo-halfhalf-4", ampere=with_it, ampere__RNE=1e-9),
    ]
    found = said(records, "ΔA·ΔB is negligible, in matrix products")
    assert (
        found["agrees"] is agrees
        and f"at most {1e-6 / with_it:.2f} times (uniform, K = 64, ampere)" in found["ours"]
    )


def test_shares_and_signs() -> None:
    one = {"residual": 1.0, "closest": 0.25, "wrong_sign": 0.5, "relative": 3.0, "cancellation": 7.0}
    records = [
        record("uniform", 16, "markidis", ampere=one, cdna2=one | {"closest": 0.75, "wrong_sign": 0.0}),
        record("type2", 16, "markidis", ampere=one | {"closest": 1.0, "wrong_sign": 1.0}),
    ]
    assert said(records, "markidis: which unit is closest")["ours"] == "cdna2 75%, ampere 25%"
    found = [
        one["ours"] for one in conclusions(records) if one["section"].startswith("results of the wrong sign")
    ]
    assert found == ["markidis 50.0% (uniform, K = 16, ampere)", "none"]
    worst = said(records, "the worst relative error of emulated FP32, on CDNA2")
    assert worst["ours"] == "3.0e+00 where Σ|a·b| is 7 times the result: markidis, uniform, K = 16, cdna2"


def test_nothing_is_said_of_what_was_not_swept() -> None:
    assert list(conclusions([])) == []


def test_splits_are_counted_exactly() -> None:
    """By all inputs of an exponent: 22.75 bits of 23 to nearest, as published."""
    mantissa, underflow = split_conclusions()
    assert (
        mantissa["ours"].startswith("exactly 22.75 for exponents ")
        and "22.25 toward zero" in mantissa["ours"]
    )
    assert "without 2^11" in underflow["ours"] and "with 2^11: 0.00%" in underflow["ours"]


@pytest.mark.parametrize(("markidis", "agrees"), [(2e-6, True), (1e-7, False)])
def test_the_last_bit_conclusion_follows_the_residuals(markidis: float, agrees: bool) -> None:
    residuals = {"Markidis": markidis, "SGEMM, last bit cleared": 5e-7}
    found = last_bit_conclusion({"residuals": residuals, "k": 1024})
    assert found["agrees"] is agrees and "K = 1024" in found["ours"]


def test_one_product_of_residuals() -> None:
    units = [
        {"unit": "a", "answer": "proved", "without": 1, "exact": 2, "with": 2},
        {"unit": "b", "answer": "proved", "without": 2, "exact": 2, "with": 2},
    ]
    found = residual_product_conclusion(units)
    assert (
        "on 1 of 2 units" in found["ours"] and "proved for all" in found["ours"] and found["agrees"] is False
    )
    assert residual_product_conclusion(units[1:])["agrees"] is True
    assert "not proved for all" in residual_product_conclusion([*units, {"answer": "unknown"}])["ours"]


def test_conclusions_about_splits_need_no_sweep() -> None:
    assert ootomo.split_conclusions()[0]["section"].startswith("expected mantissa length")


@pytest.mark.long
def test_the_lost_mantissa_is_not_the_cause() -> None:
    found = ootomo.last_bit(k=512, seeds=1)
    assert ootomo.last_bit_conclusion(found)["agrees"]
    residuals = found["residuals"]
    assert residuals["Markidis, c added outside"] < residuals["SGEMM, last bit cleared"]
    assert residuals["SGEMM"] <= residuals["SGEMM, last bit cleared"]


def test_a_lemma_has_a_verdict() -> None:
    lemma = next(ootomo.residual_product(SolvingOptions()))
    assert (lemma["verdict"], lemma["answer"]) == ("equivalent", "proved")
    assert len(lemma["scripts"]) == 1


@pytest.mark.long
def test_reproduce_ootomo(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["reproduce", "ootomo", "--output", str(tmp_path)])
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
