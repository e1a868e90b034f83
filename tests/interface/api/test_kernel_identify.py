"""``tcsmt.kernel_identify``: what is said of an explained product, of one that nothing explains; refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tcsmt

UNIT = "ieee/fma.f32"


def product() -> tuple[Any, Any, Any]:
    """Halves of the sum, each one product after the other; products are exact in binary32."""
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal(s).astype(np.float16).astype(np.float32) for s in ((6, 40), (40, 5)))
    halves = []
    for first in (0, 20):
        total = np.zeros((6, 5), np.float32)
        for k in range(first, first + 20):
            total = total + a[:, k : k + 1] * b[k]
        halves.append(total)
    return a, b, halves[0] + halves[1]


def test_explained_products_name_their_kernels() -> None:
    a, b, d = product()
    found = tcsmt.kernel_identify(a, b, d, units=[UNIT])
    data = json.loads(json.dumps(found.as_json()))
    assert data["explained"] is True and data["shape"] == [6, 40, 5]
    assert data["formats"] == {"a": "f32", "b": "f32", "d": "f32"}
    named = {n for one in data["kernels"] for n in (one["reduction"], *one["same_reduction"])}
    assert "split-k:2" in named and "chained" not in named
    assert "EXPLAINED bit for bit by" in str(found)
    for kernel in found.kernels:
        assert np.array_equal(kernel.multiply(a, b), d)


def test_words_and_their_formats_mean_the_same() -> None:
    a, b, d = product()
    words = [x.view(np.uint32) for x in (a, b, d)]
    formats = {f"{name}_format": "f32" for name in "abd"}
    one = tcsmt.kernel_identify(*words, units=[UNIT], **formats)
    assert [k.name for k in one.kernels] == [
        k.name for k in tcsmt.kernel_identify(a, b, d, units=[UNIT]).kernels
    ]


def test_unexplained_products_have_no_kernel_and_no_plan() -> None:
    a, b, d = product()
    d[2, 3] = np.nextafter(d[2, 3], np.float32(99))
    found = tcsmt.kernel_identify(a, b, d, units=[UNIT])
    assert found.kernels == () and found.as_json()["explained"] is False
    with pytest.raises(tcsmt.TcsmtError, match="nothing to tell apart"):
        found.plan()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"d": np.zeros((5, 6), np.float32)}, r"D has shape \(5, 6\)"),
        ({"units": ["voltage"]}, "unknown architecture 'voltage'"),
        ({"a_format": "f23"}, "unknown format 'f23'"),
    ],
)
def test_bad_input(changed: dict[str, Any], message: str) -> None:
    a, b, d = product()
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.kernel_identify(**{"a": a, "b": b, "d": d, "units": [UNIT]} | changed)


def test_a_search_that_is_stopped_has_what_was_found() -> None:
    """The simplest hypotheses come first: a chain is known when the rest is interrupted."""
    a, b, _ = product()
    d = tcsmt.gemm(a, b, unit=UNIT)
    said: list[str] = []

    def progress(done: int, count: int, what: str) -> None:
        if said:
            raise KeyboardInterrupt

    found = tcsmt.kernel_identify(
        a, b, d, units=["ieee"], progress=progress, explained=lambda kernel: said.append(kernel.name)
    )
    assert said[0] == f"{UNIT}+chained" and {f"{UNIT}+chained"} <= {k.name for k in found.kernels}
    assert all(np.array_equal(kernel.multiply(a, b), d) for kernel in found.kernels)
    assert found.stopped == "interrupted"
    data = found.as_json()
    assert data["explained"] and 0 < data["tested"] < data["hypotheses"]
    assert f"STOPPED: interrupted; {data['tested']} of them were held against D" in str(found)


def test_a_time_limit_stops_the_search() -> None:
    a, b, d = product()
    found = tcsmt.kernel_identify(a, b, d + 1, time_limit=1e-9)
    assert found.stopped == "the time limit is over" and not found.kernels
    assert found.as_json()["tested"] < found.as_json()["hypotheses"]
    assert "EXPLAINED BY NONE so far" in str(found)
    assert tcsmt.kernel_identify(a, b, d, units=[UNIT], time_limit=3600).stopped == ""
    with pytest.raises(tcsmt.TcsmtError, match="time_limit = 0: must be a positive number"):
        tcsmt.kernel_identify(a, b, d, time_limit=0)


def test_missing_steps_are_named() -> None:
    a, b, d = product()
    found = tcsmt.kernel_identify(a, b, 4 * d, units=[UNIT])
    assert [one.kind for one in found.signs] == ["scaling"]
    assert found.as_json()["signs"][0]["text"] == found.signs[0].text
    text = str(found)
    assert "it looks like: alpha, or a scale: every element is 4 times the exact result" in text
    assert "its elements differ from D's by 0.75 of their size on average" in text
    assert found.as_json()["missed"][0]["far"] == pytest.approx(0.75, rel=1e-3)
    bias = tcsmt.kernel_identify(a, b, d + np.arange(1, 6, dtype=np.float32), units=[UNIT])
    assert [one.kind for one in bias.signs] == ["addend"]


def test_units_that_cannot_be_chained_are_left_out() -> None:
    """One takes c in binary16 and gives binary32: of K = 16 it makes no chain, and is no reason to refuse."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((12, 16), (16, 8)))
    d = tcsmt.gemm(a, b, unit="volta/mma.m8n8k4.f32.f16.f16.f32")
    units = ["volta/mma.m8n8k4.f32.f16.f16.f16", "volta/mma.m8n8k4.f32.f16.f16.f32"]
    found = tcsmt.kernel_identify(a, b, d, units=units)
    assert "EXPLAINED" in str(found) and "volta/mma.m8n8k4.f32.f16.f16.f32+chained" in str(found)
