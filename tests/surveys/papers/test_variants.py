"""One parameter at a time between a V100 and a B200: the variants, their errors, and what is concluded."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.surveys.papers import variants
from tcsmt.surveys.papers.multiword import experiment_inputs, multiply, norm
from tcsmt.surveys.papers.variants import SIGNS, conclusions, content, one_at_a_time, plot, points


def changed(one: FusedDotAdd, two: FusedDotAdd) -> set[str]:
    return {
        f.name
        for f in fields(one.table())
        if getattr(one.parameters, f.name) != getattr(two.parameters, f.name)
    }


def test_each_variant_differs_in_one_parameter() -> None:
    """In every one in which the units differ, with the other's value; and in the final rounding."""
    found = one_at_a_time()
    units = {label: found[label] for label in ("B200", "V100")}
    differing = changed(*units.values()) - {"k"}
    assert {"fraction_bits", "n_fma", "zero_exponent"} <= differing
    for label, other in (("B200", "V100"), ("V100", "B200")):
        for name in differing:
            value = getattr(units[other].parameters, name)
            variant = found[f"{label}, {name} = {value}"]
            assert getattr(variant.parameters, name) == value
            assert changed(units[label], variant) - {"k"} == {name}
        assert changed(units[label], found[f"{label}, rounding = RNE"]) == {"rounding"}
    assert len(found) == 2 * (2 + len(differing))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units and lengths that are quick."""
    monkeypatch.setattr(variants, "LENGTHS", (16, 40))
    labels = list(one_at_a_time())[:3]
    whole = one_at_a_time()
    monkeypatch.setattr(variants, "one_at_a_time", lambda: {label: whole[label] for label in labels})


@pytest.mark.library
def test_errors_of_exact_products(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of products that are given: none for the exact one, half as much for half of it as for twice it."""

    def multiply(models: Any, a: Any, b: Any, words: int) -> dict[str, Any]:
        exact = a @ b
        return {label: exact * scale for label, scale in zip(models, (1, 0.5, 2), strict=True)}

    monkeypatch.setattr(variants, "multiply", multiply)
    found = list(points(16))
    assert [(p["n"], p["signs"], p["words"]) for p in found] == [(16, s, w) for s in SIGNS for w in (2, 3)]
    for point in found:
        exact, half, twice = point["error"].values()
        assert exact == 0 and 0 < half == pytest.approx(twice / 2)
        assert list(point["toward_zero"].values()) == [0, 1, 0]


@pytest.mark.slow
def test_points_that_are_known_are_not_computed_again(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(points(16))
    assert all(0 < error < 1 for point in whole for error in point["error"].values())
    monkeypatch.setattr(variants, "multiply", lambda *given: pytest.fail("computed again"))
    assert list(points(16, whole)) == whole


def made(n: int, signs: str, **errors: float) -> dict[str, Any]:
    return {"n": n, "signs": signs, "words": 2, "error": errors}


def test_conclusions_are_ratios_to_the_unit_at_the_largest_n() -> None:
    """Ratios to the unit itself, at the largest n; of both units last."""
    last = {"B200": 4.0, "B200, fraction_bits = 23": 2.0, "V100": 1.0, "V100, rounding = RNE": 3.0}
    positive = dict(zip(last, (8.0, 2.0, 4.0, 1.0), strict=True))
    found = list(conclusions([
        made(10, SIGNS[0], **dict.fromkeys(last, 1.0)), made(20, SIGNS[0], **last),
        made(20, SIGNS[1], **positive),
    ]))  # fmt: skip
    said = ("unit", "change", "error_times", "positive_error_times")
    assert [tuple(one[name] for name in said) for one in found] == [
        ("B200", "fraction_bits = 23", 0.5, 0.25), ("V100", "rounding = RNE", 3.0, 0.25),
        ("V100", "B200", 4.0, 2.0),
    ]  # fmt: skip
    assert all(one["n"] == 20 for one in found)
    assert list(conclusions([])) == [] == list(conclusions([made(20, SIGNS[0], **last)]))


def test_curves_that_coincide_are_one() -> None:
    curves = {"a": [1.0, 2.0], "b": [1.02, 2.0], "c": [1.0, 2.2], "d": [1.01, 2.21]}
    assert [names for names, _ in variants._coinciding(curves)] == [["a", "b"], ["c", "d"]]


@pytest.mark.long
def test_plots_show_each_unit_words_and_signs(
    few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    rng = np.random.default_rng(0)
    labels = list(one_at_a_time())
    given = [
        {"n": n, "signs": signs, "words": words, "error": {label: float(rng.random()) for label in labels}}
        for n in (16, 40) for signs in SIGNS for words in (2, 3)
    ]  # fmt: skip
    plot(tmp_path / "x.svg", given)
    text = (tmp_path / "x.svg").read_text()
    assert text.startswith("<?xml") and "V100: 3 words, all positive" in text


def test_kept_errors_are_of_the_same_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    before = content()
    assert content() == before
    whole = one_at_a_time()
    monkeypatch.setattr(variants, "one_at_a_time", lambda: dict(list(whole.items())[1:]))
    assert content() != before


@pytest.mark.library
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
