"""The inputs in ``results/`` at which units of the catalogue give different results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.support.files import read_bytes
from tests.support.paths import ROOT

__all__ = ["KeptResult", "kept_results"]

_FILES = ("atlas.json.xz", "chained.json.xz", "theorems.json.xz")


@dataclass(frozen=True)
class KeptResult:
    """A unit's result at such an input: the words of its inputs, in order, and d."""

    row: Row
    words: tuple[int, ...]
    d: int


@cache
def kept_results() -> list[KeptResult]:
    """Of every unit that is one side of a comparison."""
    by_name = {row.name: row for row in rows(claims=True)}
    found = []
    for file in _FILES:
        for record in _records(json.loads(read_bytes(ROOT / "results" / "comparisons" / file))):
            inputs = record["inputs"]
            for result in record["results"]:
                row = by_name.get(result["side"])
                if row and set(inputs) <= set(row.model.input_names):
                    words = tuple(_word(inputs.get(name)) for name in row.model.input_names)
                    found.append(KeptResult(row, words, _word(result)))
    return found


def _word(entry: dict[str, Any] | None) -> int:
    """An input that is not named is 0."""
    return int(entry["word"], 16) if entry else 0


def _records(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        if isinstance(data.get("inputs"), dict) and isinstance(data.get("results"), list):
            yield data
        for value in data.values():
            yield from _records(value)
    elif isinstance(data, list):
        for value in data:
            yield from _records(value)
