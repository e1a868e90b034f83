"""What is kept of a test's checks, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt.interface.pytest import checks
from tcsmt.interface.pytest.checks import checked

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
