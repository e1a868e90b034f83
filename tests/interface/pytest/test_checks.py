"""What is kept of a test's checks, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.check import check
from tcsmt.interface.pytest import checks
from tcsmt.interface.pytest.checks import KeptOutcome, checked, still_so

VOLTA = tcsmt.unit("volta")


def right(a: Any, b: Any, c: Any) -> Any:
    return VOLTA(a, b, c)


class Request:
    """As much of pytest's as a check uses."""

    def __init__(self, folder: Path, cache: Any) -> None:
        self.node: Any = type(
            "Node", (), {"nodeid": "test", "stash": pytest.Stash(), "user_properties": []}
        )()
        self.config: Any = type("Config", (), {"cache": cache})()
        self.folder = folder

    def getfixturevalue(self, name: str) -> Path:
        assert name == "tmp_path"
        return self.folder


class Cache(dict[str, Any]):
    def set(self, key: str, value: Any) -> None:
        self[key] = value


@pytest.mark.slow
def test_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    result = tcsmt.check("volta", VOLTA, rows=8500)

    def counted(unit: Any, implementation: Any, *, rows: int, **how: Any) -> Any:
        asked.append(rows)
        return result

    monkeypatch.setattr(checks, "check", counted)
    cache = Cache()

    def outcome(function: Any = right, kept: Any = cache, **how: Any) -> Any:
        return checked(Request(tmp_path, kept), "volta", function, 8500, how)

    assert outcome().check is not None and len(cache) == 1
    assert outcome().check is None and outcome().agrees
    assert len(asked) == 1
    for arguments in ({"function": VOLTA}, {"seed": 2}, {"kept": None}):
        assert outcome(**arguments).check is not None
    assert len(asked) == 4 and len(cache) == 1
    request = Request(tmp_path, cache)
    for number in range(2):  # the second check of a test is another one
        checked(request, "volta", right, 8500, {})
        assert len(cache) == 1 + number
    names = [name for name, _ in request.node.user_properties]
    assert names == ["tcsmt.rows", "tcsmt.kept"] * 2


def wrong(a: Any, b: Any, c: Any) -> Any:
    with np.errstate(all="ignore"):
        for x, y in zip(a.astype("f4").T, b.astype("f4").T, strict=True):
            c = c + x * y
    return c


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
