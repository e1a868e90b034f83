"""Outcomes of earlier runs count while the function answers as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.check import check
from tcsmt.interface.pytest.kept import KeptOutcome, still_so

VOLTA = tcsmt.unit("volta")


def wrong(a: Any, b: Any, c: Any) -> Any:
    with np.errstate(all="ignore"):
        for x, y in zip(a.astype("f4").T, b.astype("f4").T, strict=True):
            c = c + x * y
    return c


def right(a: Any, b: Any, c: Any) -> Any:
    return VOLTA(a, b, c)


@pytest.mark.slow
def test_outcomes() -> None:
    failed = KeptOutcome.of("about", check("volta", wrong, rows=9000), "rows")
    assert KeptOutcome.read(failed.as_json()) == failed and not failed.agrees
    assert still_so(failed, VOLTA.model, wrong)
    assert not still_so(failed, VOLTA.model, right)
    agreed = KeptOutcome("about", True, "", {}, 0, "")
    assert still_so(agreed, VOLTA.model, right)
    assert not still_so(agreed, VOLTA.model, wrong)
    assert not still_so(KeptOutcome("about", False, "its answers change", {}, 0, ""), VOLTA.model, right)
    for record in (None, {}, {"about": 1}, failed.as_json() | {"values": 3}):
        assert KeptOutcome.read(record) is None
