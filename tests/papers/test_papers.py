"""The papers' experiments: what is published beside what our models give, and the probes behind it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.arithmetic.formats import FORMATS
from tcsmt.arithmetic.rounding import ROUNDINGS as KNOWN
from tcsmt.arithmetic.words import floats
from tcsmt.catalogue import row_named, rows_of
from tcsmt.cli import main
from tcsmt.data.model_files import read_model
from tcsmt.identification.classical import OutOfReach, black_box, profile, rounding_of_result, summation_tree
from tcsmt.models import IeeeDotAdd
from tcsmt.papers import khattak, mmasim, multiword
from tcsmt.recipes.arrays import words as words_of
from tcsmt.support.errors import TcsmtError
from tcsmt.support.plots import save_svg
from tests.support.paths import DATA

# --- probes --------------------------------------------------------------------------------------

TREES = {
    "volta/mma.m8n8k4.f32.f16.f16.f32": "[c p0..p3]",
    "ampere/mma.m16n8k16.f32.f16.f16.f32": "[[c p0..p7] p8..p15]",
    "ampere/mma.m8n8k4.f64.f64.f64.f64": "[[[[c p0] p1] p2] p3]",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": "[c p0..p31]",
    "hopper/mma.m16n8k16.f32.e5m2.e5m2.f32": "[c [[p0 p1 p4 p5 p8 p9 p12 p13] p2 p3 p6 p7 p10 p11 p14 p15]]",
    "cdna1/v_mfma_f32_32x32x8f16": "{{c p0..p3} p4..p7}",
    "cdna2/v_mfma_f32_32x32x8f16": "[[c [[p0 p1] [p2 p3]]] [[p4 p5] [p6 p7]]]",
    "cdna2/v_mfma_f32_32x32x4bf16": "[[c [p0 p1]] [p2 p3]]",
    "cdna3/v_mfma_f32_16x16x32_fp8_fp8": "[[c p0..p15] p16..p31]",
}


@pytest.mark.parametrize("name", TREES)
def test_summation_tree(name: str) -> None:
    model = row_named(name).model
    assert summation_tree(black_box(model)).text(model.k) == TREES[name]


#: Bits and rounding of a product, and of c, beside a cancelling pair; of c + product.
ROUNDINGS = {
    "volta/mma.m8n8k4.f32.f16.f16.f32": ((23, "RZ"), (23, "RZ"), (23, "RZ")),
    "hopper/mma.m16n8k16.f16.f16.f16.f16": ((25, "RZ"), (25, "RZ"), (10, "RNE")),
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": ((13, "RZ"), (13, "RZ"), (13, "RZ")),
    "cdna3/v_mfma_f32_32x32x8_f16": ((24, "RZ"), (24, "RD"), (23, "RNE")),
    # rounded down, but dropped where it lies more than 25 places below: the patch of section IV-C
    "cdna3/v_mfma_f32_32x32x16_fp8_fp8": ((24, "RZ"), (24, "(0, 0, -1, 0)"), (23, "RNE")),
}


@pytest.mark.parametrize("name", ROUNDINGS)
def test_profile(name: str) -> None:
    found = profile(black_box(row_named(name).model))
    seen = [found["alignment"]["product"], found["alignment"]["c"], found["result"]["c + p0"]]
    assert tuple((one["bits"], one["mode"]) for one in seen) == ROUNDINGS[name]


@pytest.mark.parametrize("mode", KNOWN)
def test_rounding_modes_are_told_apart(mode: str) -> None:
    """Tables I and II on IEEE additions, whose rounding is known."""
    unit = row_named("cdna1/v_mfma_f32_32x32x4f16").model
    assert isinstance(unit, IeeeDotAdd)
    names = {"RTZ": "RZ", "RTP": "RU", "RTN": "RD"}
    box = black_box(replace(unit, rounding=KNOWN[mode]))
    assert rounding_of_result(box, box.k, 0) == (names.get(mode, mode), 23)


def test_out_of_reach() -> None:
    """FP4 products span too few powers of two for masking; the probe says so."""
    model = row_named("blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3").model
    with pytest.raises(OutOfReach, match="reach only from"):
        summation_tree(black_box(model))
    assert profile(black_box(model))["tree"] == "out of reach"


def test_special_values() -> None:
    """The flush of CDNA2, and both rules for an overflow."""
    flushed = profile(black_box(row_named("cdna2/v_mfma_f32_32x32x8bf16_1k").model))["special"]
    assert {flushed[f"subnormal {what}"] for what in "abc"} == {"flushed"}
    assert (flushed["subnormal product"], flushed["subnormal sum"]) == ("flushed", "flushed")
    hopper = profile(black_box(row_named("hopper/mma.m16n8k16.f32.bf16.bf16.f32").model))["special"]
    assert {hopper[key] for key in hopper if key.startswith("subnormal")} == {"kept"}
    assert hopper["-(largest + 0.75 u)"] == "largest"
    assert hopper["0 * inf"] == hopper["inf - inf"] == "0x7fffffff"


# --- MMA-Sim -------------------------------------------------------------------------------------


def test_cancellation() -> None:
    """2048 * 2048 - 2048 * 2048 - 0.000001, section IV-C."""
    found = {unit["unit"]: unit["value"] for unit in mmasim.cancellation()}
    assert found["cdna3/v_mfma_f32_32x32x8_f16"] == -0.25
    assert found["hopper/mma.m16n8k16.f32.f16.f16.f32"] == 0
    assert found["cdna1/v_mfma_f32_32x32x8f16"] == pytest.approx(-1e-6)


def test_families_of_turing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its oldest instruction differs from what is said of the family."""
    monkeypatch.setattr(mmasim, "rows", lambda: rows_of("turing"))
    found = list(mmasim.families())
    assert sum(family["rows"] for family in found) == len(
        [row for row in rows_of("turing") if "@" not in row.instruction]
    )
    differs = {name.split(".f")[0] for family in found for name in family["differs"]}
    assert differs == {"turing/mma.m8n8k4"}


@pytest.mark.long
def test_families() -> None:
    """Every row of the families is found once, by our rows' names; Turing's oldest instruction differs."""
    found = list(mmasim.families())
    assert all(family["rows"] for family in found)
    differs = {name for family in found for name in family["differs"]}
    assert {name.split(".f")[0] for name in differs} == {"turing/mma.m8n8k4"}
    left = {name.split("/")[0] for name in found[-1]["names"]}
    assert left == {"hopper", "blackwell", "cdna1"}


def reproduced(paper: str, folder: Path) -> tuple[str, dict[str, Any]]:
    result = CliRunner().invoke(main, ["reproduce", paper, "--results", str(folder)])
    assert result.exit_code == 0, result.output
    return result.stdout, json.loads((folder / f"{paper}.json").read_text())


@pytest.mark.long
def test_reproduce_mma_sim(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text, data = reproduced("mma-sim", tmp_path)
    assert "14 of 15 as published" in text
    assert [one["agrees"] for one in data["conclusions"]].count(False) == 1
    plots = {path.name: path.read_bytes() for path in tmp_path.glob("*.svg")}
    assert set(plots) == {"mma-sim-bias.svg", "mma-sim-accumulation.svg"}
    again = tmp_path / "again"
    reproduced("mma-sim", again)
    assert {path.name: path.read_bytes() for path in again.glob("*.svg")} == plots


def test_bias() -> None:
    units = {unit["label"]: unit for unit in mmasim.bias(count=4000)["units"]}
    assert units["CDNA3 f16"]["mean_in_standard_errors"] < -10
    assert abs(units["CDNA3 f16, hypothetical RZ"]["mean_in_standard_errors"]) < 4


def test_accumulation() -> None:
    errors = {unit["label"]: np.array(unit["error"]) for unit in mmasim.accumulation(largest=1024)["units"]}
    hopper = errors["Hopper wgmma e4m3 (F = 13)"]
    assert np.all(np.diff(hopper) > 0) and hopper[-1] > 0.01
    assert errors["Hopper wgmma e4m3, promoted every 128"].max() < 1e-3
    assert errors["Blackwell tcgen05 e4m3 (F = 25)"].max() == 0


def test_flush() -> None:
    zero = {
        case["case"]: {n.split("/")[0] for n, v in case["results"].items() if v == "0"}
        for case in mmasim.flush()
    }
    assert zero["a subnormal c"] == {"cdna2"}
    assert zero["1.5·2^-126 - 2^-126"] == {"cdna2"}


# --- Khattak and Mikaitis ------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", ["e5m2", "f16", "bf16"])
@pytest.mark.parametrize("rounding", ["RNE", "RTZ"])
def test_words_add_up(name: str, rounding: str) -> None:
    fmt = FORMATS[name]
    x = np.random.default_rng(7).standard_normal(1000)
    split = multiword.splitting(fmt, 3, rounding)
    words = [floats(fmt, word) for word in words_of(split, x.view(np.uint64))]
    u = 2.0**-fmt.precision
    rest = x - sum(word * u**j for j, word in enumerate(words))
    # a word leaves u to nearest and 2u toward zero, of what the word before left
    left = (u if rounding == "RNE" else 2 * u) ** 3
    least = 2.0 ** (fmt.e_min - fmt.fraction_bits) * u**2
    assert np.all(np.abs(rest) <= left * np.abs(x) + least)


#: The published points of n = 10 to 112 (two words n = 10), experiments/data of MATLAB-tensor-core.
DIGITS = {
    "f16 1": {
        10: ("1.283168e-04", "A100"), 18: ("1.508825e-04", "V100"), 33: ("2.227198e-04", "B200 RN"),
        61: ("1.484215e-04", "A100"), 112: ("1.434395e-04", "B200"),
    },
    "e5m2 1": {18: ("1.204863e-01", "L40S"), 33: ("4.384558e-02", "L40S"), 112: ("3.420082e-02", "B200")},
    "bf16 1": {10: ("1.469606e-03", "A100"), 112: ("9.231870e-04", "B200 RN")},
}  # fmt: skip


@pytest.mark.parametrize(
    "title", [t if t == "f16 1" else pytest.param(t, marks=pytest.mark.long) for t in DIGITS]
)
def test_figure_seven_has_the_published_digits_and_resumes(title: str) -> None:
    panels = [p for p in multiword.PANELS if p.name == title]
    points = list(multiword.figure_seven(largest=112, panels=panels))
    found = {point["n"]: point["errors"] for point in points}
    for n, (digits, unit) in DIGITS[title].items():
        assert f"{found[n][unit]:.6e}" == digits
    assert list(multiword.figure_seven(largest=112, panels=panels, before=points[:-1])) == points


@pytest.mark.long
def test_reproduce_khattak(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text, data = reproduced("khattak", tmp_path)
    assert "41 of 41 vectors" in text
    assert len(data["figure 7"]) == 180
    differs = [one["published"] for one in data["conclusions"] if one["agrees"] is False]
    assert len(differs) == 2, differs
    assert (tmp_path / "khattak-figure7.svg").exists()


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TcsmtError, match=r"pip install 'tcsmt\[plot\]'"):
        save_svg(tmp_path / "plot.svg", (1, 1), lambda figure: None)


def test_plots_are_deterministic(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    data = mmasim.bias(count=1000)
    for name in ("one", "two"):
        mmasim.plot_bias(tmp_path / f"{name}.svg", data)
    one, two = ((tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
    assert one == two and b"<dc:date>" not in one
