"""What links say: read again, they show the units, the words and the results that they were made of."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcsmt
from tcsmt.interface.api.views import WitnessView, address, anchor, page_named
from tests.support.permalinks import followed

BASE = "https://example.org/page/index.html"
UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/mma.m16n8k4.f64.f64.f64.f64",
    "turing/mma.m8n8k16.s32.s8.s8.s32",
    "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.f32.e4m3.e5m2.ue8m0",
    "volta/mma.m8n8k4.f32.f16.f16.f32@valpey",
    "volta/mma.m8n8k4.f32.f16.f16.f32+chained@16",
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(UNITS), st.randoms(use_true_random=False), st.integers(0, 4))
def test_one_unit(name: str, random: Random, zeros: int) -> None:
    """Whatever the words are, and however many of the last ones are 0."""
    row = tcsmt.unit(name).row
    formats = row.model.input_formats
    words = {name: random.getrandbits(fmt.width) for name, fmt in formats.items()}
    words |= dict.fromkeys(list(formats)[len(formats) - zeros :], 0)
    url = address(f"{BASE}#old", WitnessView((row,), (words,), answer=5))
    assert url.startswith(f"{BASE}#v=1&a=") and url.count("#") == 1
    shown = followed(url)
    assert (shown.units, shown.words, shown.answer) == ([row.name], [words], 5)


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [
        ("a100/m16n8k16.f32.f16", "h100/mma.m16n8k16.f32.f16.f16.f32", set()),
        ("volta", "hopper/mma.m16n8k16.f32.f16.f16.f32", {"+chained@16"}),
        ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", "ampere/mma.m16n8k8.f32.tf32.tf32.f32", set()),
        ("cdna1/v_mfma_f32_32x32x8f16", "cdna2/v_mfma_f32_32x32x8f16", set()),
    ],
)
def test_witnesses_of_comparisons(left: str, right: str, parts: set[str]) -> None:
    """Chained and widened units, too: both give what the comparison says."""
    comparison = tcsmt.compare(left, right)
    assert comparison.view is not None
    shown = followed(address(BASE, comparison.view))
    results = [int(result["word"], 16) for result in comparison.as_json()["results"]]
    assert shown.results == results
    assert results[0] != results[1]
    assert all(any(name.endswith(part) for name in shown.units) for part in parts)


def test_nothing_is_shown_without_a_witness() -> None:
    assert tcsmt.compare("turing/m8n8k4.f32.f16.f16.f32", "volta").view is None


def test_more_lanes_and_other_scales() -> None:
    """What the second unit has and the first lacks is neutral, and is not written."""
    picture = tcsmt.explain("volta", "a0=1.5 b0=2 c=3", against="ampere/mma.m16n8k16.f32.f16.f16.f32")
    assert picture.view is not None and "x=" not in picture.view.fragment
    shown = followed(address(BASE, picture.view))
    assert shown.results == [0x40C00000, 0x40C00000]
    scaled = tcsmt.unit(UNITS[4]).row
    words = dict.fromkeys(scaled.model.input_names, 0) | {"a0": 0x38, "b0": 0x3C, "sa0": 0x80, "sb0": 0x7F}
    plain = tcsmt.unit("blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e5m2").row
    both = WitnessView(
        (plain, scaled), ({n: w for n, w in words.items() if n in plain.model.input_names}, words)
    )
    assert "x=sa0:80" in both.fragment and "sb0" not in both.fragment
    assert followed(address(BASE, both)).words[1] == words


def test_nothing_in_a_name_ends_its_part() -> None:
    row = tcsmt.unit("volta").row
    hostile = replace(row, instruction="&a=<script>#+% ü")
    fragment = WitnessView((hostile,), (dict.fromkeys(row.model.input_names, 1),)).fragment
    assert "<" not in fragment and fragment.isascii() and fragment.count("&") == 2 and "#" not in fragment


def test_notebooks_link_to_the_page_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    picture, comparison = tcsmt.explain("volta", "a0=1 b0=1"), tcsmt.compare("volta", "ampere")
    monkeypatch.delenv("TCSMT_PAGE", raising=False)
    assert page_named(None) is None and not anchor(picture) and "<a " not in comparison._repr_html_()
    monkeypatch.setenv("TCSMT_PAGE", f"{BASE}?<")
    assert (page_named(None), page_named("other")) == (f"{BASE}?<", "other")
    for html in (picture._repr_html_(), comparison._repr_html_()):
        assert f'<a href="{BASE}?&lt;#v=1&amp;a=volta/' in html and html.count("<a ") == 1
