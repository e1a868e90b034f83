"""``tcsmt.compare``: two units over the same dot product, as text, plain data and a picture."""

from __future__ import annotations

import json

import numpy as np

import tcsmt
from tcsmt.matrix_units.arithmetic.words import unsigned


def test_compare_over_the_same_dot_product() -> None:
    """The smaller unit is chained; the witness is one for the simulator, too."""
    found = tcsmt.compare("volta", "ampere", options=tcsmt.SolvingOptions(confirm=False))
    assert found.equal is False and found.witness is not None
    text = str(found)
    assert "volta/mma.m8n8k4.f32.f16.f16.f32: evidence: measured, accepted; chained 4 times to K = 16" in text
    assert "the cause, with all else equal: alignment fraction bits F (23 against 24)" in text
    a, b = (np.array([[found.witness[f"{s}{i}"] for i in range(16)]], np.uint16) for s in "ab")
    c = np.array([found.witness["c"]], np.uint32)
    volta, ampere = tcsmt.unit("volta"), tcsmt.unit("ampere")
    step = c.view(np.float32)
    for first in range(0, 16, 4):
        step = volta(a[:, first : first + 4], b[:, first : first + 4], step)
    words = [int(d.view(unsigned(volta.model.d_format))[0]) for d in (step, ampere(a, b, c))]
    data = found.as_json()
    assert words == [int(r["word"], 16) for r in data["results"]]
    assert words[0] != words[1]
    assert json.loads(json.dumps(data))["cause"] in text
    assert "<svg" in found._repr_html_() and repr(found).endswith("distinguished>")


def test_equal_and_unknown() -> None:
    same = tcsmt.compare("ampere/mma.m16n8k8.f32.f16.f16.f32", "a100")
    assert same.equal is True and same.witness is None and same.sheet() is None
    assert "EQUIVALENT: both models are the same graph" in str(same)
