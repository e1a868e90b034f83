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


def test_an_explained_product_and_its_plan() -> None:
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


def test_what_nothing_explains() -> None:
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
