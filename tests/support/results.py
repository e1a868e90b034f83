"""The committed results, by their place in ``results/``; some of their files are compressed with xz."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tcsmt.support.files import read_bytes
from tests.support.paths import ROOT

RESULTS = ROOT / "results"


def result_path(name: str) -> Path:
    """The file of a result, compressed or not: ``comparisons/atlas.txt``, ``accuracy/findings.json``."""
    path = RESULTS / name
    return path if path.exists() else path.with_name(f"{path.name}.xz")


def result_text(name: str) -> str:
    return read_bytes(result_path(name)).decode()


@cache
def result(name: str) -> Any:
    """A JSON result, by its place without the suffix: ``accuracy/findings``."""
    return json.loads(result_text(f"{name}.json"))
