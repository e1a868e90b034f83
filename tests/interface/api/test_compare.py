"""``tcsmt.compare``: two units over the same dot product, as text, plain data and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.words import unsigned


def test_compare_over_the_same_dot_product() -> None:
    """The smaller unit is chained; the witness is one for the simulator, too."""
    found = tcsmt.compare("volta", "ampere", options=tcsmt.SolvingOptions(confirm=False))
    assert found.equal is False and found.witness is not None
    text = str(found)
    assert "volta/mma.m8n8k4.f32.f16.f16.f32: evidence: measured, accepted; chained 4 times to K = 16" in text
    assert "alignment fraction bits F (23 against 24)" in text
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


BIASED = """
a_format = "e4m3"
b_format = "e4m3"
nan = "quiet"
program = '''
p = multiply(chain(hopper/mma.m16n8k32.f32.e4m3.e4m3, A·B over K), alpha, f32)
d = {last}
'''
[inputs]
bias = "f32"
alpha = "f32 {axes}"
"""


def _biased(path: Path, last: str, axes: str = "b") -> str:
    path.write_text(BIASED.format(last=last, axes=axes), "utf-8")
    return f"{path}@1"


def test_programs_with_the_same_inputs_are_compared(tmp_path: Path) -> None:
    """Additions commute, and an addition is not joined to a multiplication; the witness names each input."""
    add = _biased(tmp_path / "add.toml", "add(p, bias, f32)")
    turned = _biased(tmp_path / "turned.toml", "add(bias, p, f32)", "a")
    assert tcsmt.compare(add, turned).equal
    twice = _biased(tmp_path / "twice.toml", "add(add(p, bias, f32), bias, f32)")
    found = tcsmt.compare(add, twice, tcsmt.Domain(exponents=(0, 2)))
    assert found.equal is False and found.witness is not None
    assert list(found.witness) == ["a0", "b0", "c", "bias", "alpha"]
    text, data = str(found), json.loads(json.dumps(found.as_json()))
    assert "domain: exponents 0 to 2, finite bias and alpha" in text and " bias = 0x" in text
    words = {name: np.uint32(word) for name, word in found.witness.items()}
    a, b = (np.array([[found.witness[name]]], np.uint8) for name in ("a0", "b0"))
    further = {name: words[name].reshape(1) for name in ("bias", "alpha")}
    results = [tcsmt.unit(one)(a, b, words["c"].reshape(1), further=further) for one in (add, twice)]
    assert [int(d.view(np.uint32)[0]) for d in results] == [int(r["word"], 16) for r in data["results"]]


def test_programs_with_other_inputs_are_not(tmp_path: Path) -> None:
    add = _biased(tmp_path / "add.toml", "add(p, bias, f32)")
    other = add.replace("@", ",bias=residual@")
    with pytest.raises(
        tcsmt.TcsmtError, match=r"are bias \(1\), alpha \(1\) and residual \(1\), alpha \(1\)"
    ):
        tcsmt.compare(add, other)
    assert tcsmt.compare(add.replace("@", ",bias=residual@"), other).equal
    with pytest.raises(tcsmt.TcsmtError, match=r"are bias \(1\), alpha \(1\) and none"):
        tcsmt.compare(add, "volta", k=4)
