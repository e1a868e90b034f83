"""Error sweeps: the exact reference, the records, and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.algorithms.sweep import (
    DISTRIBUTIONS,
    NAMES,
    Exact,
    Matrices,
    errors,
    exact_product,
    models_for,
    point,
    rows_for,
    task_for,
    to_nearest,
)
from tcsmt.catalogue.surveyed import SWEPT
from tcsmt.cli import main
from tcsmt.models import FusedDotAdd
from tcsmt.papers import ootomo
from tcsmt.papers.multiword import experiment_inputs, multiply, norm
from tcsmt.papers.variants import SIGNS, conclusions, one_at_a_time, points
from tcsmt.prove.solvers.run import Settings
from tcsmt.recipes import arrays, recipe_named
from tcsmt.support.checkpoint import Record


def value(x: float) -> Fraction:
    return Fraction(float(x))


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=20))
def test_the_reference_is_exact(pairs: list[tuple[float, float]]) -> None:
    a = np.nan_to_num(np.array([[x for x, _ in pairs]], np.float32))
    b = np.nan_to_num(np.array([[y] for _, y in pairs], np.float32))
    exact = sum((value(x) * value(y) for x, y in zip(a[0], b[:, 0], strict=True)), Fraction(0))
    found = exact_product(a, b)
    pair = value(found.high[0, 0]) + value(found.low[0, 0])
    assert abs(pair - exact) <= abs(exact) / 2**106


def test_the_error_is_more_than_binary64_sees() -> None:
    """1 + 2^-60 as a sum: binary64 alone would call 1 exact."""
    a = np.float32([[1, 2.0**-30, 2.0**-70]])
    b = np.float32([[1], [2.0**-30], [1]])
    error = exact_product(a, b).error(np.float32([[1]]))
    assert error[0, 0] == -(2.0**-60 + 2.0**-70)


def test_what_is_kept_of_the_errors() -> None:
    """Exact: 1 + 2^-24, -3 and 4; found: 1 (rounded rightly, to even), 3 (a wrong sign), one ulp too much."""
    exact = Exact(np.float64([[1 + 2.0**-24, -3, 4]]), np.zeros((1, 3)), np.float64([[2, 3, 4]]))
    found = errors([np.float32([[1, 3, 4 + 2.0**-21]])], [exact])
    assert found["rounded"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["wrong_sign"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["relative"] == 2
    assert found["cancellation"] == 1
    assert found["quantiles"][-1] == 2.0**3 / 4
    assert found["quantiles"][0] == pytest.approx(-6 / 3 * 2**24, rel=1e-4)
    assert errors([np.float32([[np.inf, 3, 4]])], [exact]) == {"not_finite": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("name", "a", "b"), [("type1", (-15, 14), (-15, 14)), ("type2", (-15, 14), (-35, -15)),
                         ("type4-bc", (-35, -15), (-100, -35))],
)  # fmt: skip
def test_exponents(name: str, a: tuple[int, int], b: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    for draw, wanted in ((DISTRIBUTIONS[name].a, a), (DISTRIBUTIONS[name].b, b)):
        x = draw(rng, (50, 100))
        assert x.dtype == np.float32
        exponents = np.frexp(x)[1] - 1
        assert (exponents.min(), exponents.max()) == wanted
        assert 0.4 < (x < 0).mean() < 0.6


def test_powers_fit_fp16() -> None:
    rng = np.random.default_rng(1)
    for draw, axis in ((DISTRIBUTIONS["powers"].a, 1), (DISTRIBUTIONS["powers"].b, 0)):
        largest = np.abs(draw(rng, (30, 40))).max(axis=axis)
        assert largest.max() <= 65504
        assert largest.min() > 65504 / 2


@pytest.mark.parametrize("name", ["shared", "shared-positive"])
def test_shared_entries_are_exact_in_both_formats(name: str) -> None:
    x = DISTRIBUTIONS[name].a(np.random.default_rng(1), (50, 100))
    assert np.array_equal(x.astype(np.float16).astype(np.float32), x)
    assert not (x.view(np.uint32) & 0xFFFF).any()  # the upper half of the word is the BF16 word
    exponents = np.frexp(x)[1] - 1
    assert (exponents.min(), exponents.max()) == (-7, 0)
    assert (x > 0).all() if name == "shared-positive" else 0.4 < (x < 0).mean() < 0.6


def test_units() -> None:
    labels = models_for(recipe_named("ootomo-tf32tf32"), SWEPT)
    assert not any("volta" in label or "cdna1" in label for label in labels)
    assert "ampere, ada" in labels
    fp8 = {label: row.instruction for label, row in rows_for(recipe_named("fp8"), ["h100", "b200"]).items()}
    assert fp8 == {  # as GEMM libraries do: other arithmetic than mma's, and than each other's
        "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": "wgmma.m64nNk32.f32.e4m3.e4m3",
        "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3": "tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3",
    }
    assert list(models_for(recipe_named("fp8"), SWEPT))[-1] == "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"
    assert list(models_for(recipe_named("fp32-fma"), SWEPT)) == ["ordinary cores"]
    for label, model in to_nearest(labels).items():
        assert isinstance(model, FusedDotAdd)
        plain = labels[label.removesuffix(", RNE").removesuffix(", all RNE")]
        changed = [f.name for f in fields(model) if getattr(model, f.name) != getattr(plain, f.name)]
        assert changed == (["alignment", "rounding"] if "all" in label else ["rounding"])


def test_records_are_what_the_algorithm_gives() -> None:
    recipe = recipe_named("markidis")
    (record,) = point([recipe], ["volta"], DISTRIBUTIONS["uniform"], 32, size=4, seeds=1)
    rng = np.random.default_rng([0, 32])
    a, b = DISTRIBUTIONS["uniform"].a(rng, (4, 32)), DISTRIBUTIONS["uniform"].b(rng, (32, 4))
    unit = models_for(recipe, ["volta"])["volta"]
    product = arrays.multiply(recipe.on(unit, unit.k), a, b)
    exact = [[sum(value(x) * value(y) for x, y in zip(row, col, strict=True)) for col in b.T] for row in a]
    wrong = sum(
        (value(d) - e) ** 2 for r, s in zip(product, exact, strict=True) for d, e in zip(r, s, strict=True)
    )
    whole = sum(e**2 for row in exact for e in row)
    residual = record["units"]["volta"]["residual"]
    assert residual == pytest.approx(float(wrong / whole) ** 0.5, rel=1e-4)
    assert record["units"]["volta"]["closest"] == 1
    assert {label.partition(", ")[2] for label in record["units"]} == {"", "RNE", "all RNE"}


def test_bias_of_units_of_several_vendors() -> None:
    """RDNA3 is biased with random signs, too; RDNA4 only with one sign; VDPBF16PS rounds to nearest: neither.

    The bound on the mean of what is unbiased is four standard errors.
    """
    rdna = [f"rdna{number}/v_wmma_f32_16x16x16_bf16_w32" for number in (3, 4)]
    for name, biased in (("shared", rdna[:1]), ("shared-positive", rdna)):
        recipe, few = recipe_named("single-bf16"), {"size": 12, "seeds": 2}
        (record,) = point([recipe], [*rdna, "x86/vdpbf16ps"], DISTRIBUTIONS[name], 1024, **few)
        found = {label: (one["mean"], one["deviation"]) for label, one in record["units"].items()}
        assert len(found) == 3
        for label, (mean, deviation) in found.items():
            assert (mean < -4 * deviation / 288**0.5) == (label in biased), (name, label)


def test_every_algorithm_of_the_sweep_exists() -> None:
    for name in NAMES:
        assert models_for(recipe_named(name), SWEPT)


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


def test_variants_differ_in_one_parameter() -> None:
    variants = one_at_a_time()
    for label, model in variants.items():
        unit = variants[label.partition(",")[0]]
        changed = {f.name for f in fields(model) if getattr(model, f.name) != getattr(unit, f.name)} - {"k"}
        assert len(changed) == ("," in label)
        assert not changed or label.partition(", ")[2].startswith(changed.pop())


@pytest.mark.long
@pytest.mark.parametrize("signs", ["random", "positive"])
def test_fraction_bits_alone_explain_the_v100(signs: str) -> None:
    """Khattak and Mikaitis's open question, at n = 1000 where it begins to show."""
    variants = one_at_a_time()
    labels = ("V100", "B200", "B200, fraction_bits = 23", "V100, fraction_bits = 25")
    a, b = experiment_inputs(np.random.RandomState(1), 1000)
    if signs == "positive":
        a, b = abs(a), abs(b)
    found = multiply({label: variants[label] for label in labels}, a, b, 2)
    error = {label: norm(product - a @ b) for label, product in found.items()}
    assert error["B200, fraction_bits = 23"] == pytest.approx(error["V100"], rel=0.05)
    if signs == "positive":
        assert error["V100"] > error["B200"]
    else:
        assert error["B200"] > 2 * error["V100"]
        assert error["V100, fraction_bits = 25"] >= error["B200"]


@pytest.mark.long
def test_points_go_on_where_they_stopped() -> None:
    found = list(points(1000))
    assert [(p["signs"], p["words"]) for p in found] == [(s, w) for s in SIGNS for w in (2, 3)]
    assert list(points(1000, found)) == found
    times = {(one["unit"], one["change"]): one["error_times"] for one in conclusions(found)}
    assert times["B200", "zero_exponent = -131"] == 1
    assert times["V100", "B200"] > 2
