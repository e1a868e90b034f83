"""Variants of two units by one parameter each."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from tcsmt.papers.multiword import experiment_inputs, multiply, norm
from tcsmt.papers.variants import SIGNS, conclusions, one_at_a_time, points


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
