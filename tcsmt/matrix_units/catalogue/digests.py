"""Which models results are about: the digest of each unit that they name.

Results carry these under ``models``. Where a unit's digest is another one now, they are about a model that
the catalogue no longer has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tcsmt.language.graphs.digest import digest_of_texts
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.catalogue.gpus import ARCHITECTURES
from tcsmt.matrix_units.models import IntegerDotAdd, Model

__all__ = ["digest_of_unit", "models_named", "stale"]


def models_named(data: Any) -> dict[str, str]:
    """Return the digest of each catalogue row, and of each architecture, whose name is a string of JSON
    data.
    """
    names = sorted({text for text in _strings(data) if text in _units()})
    return {name: digest_of_unit(name) for name in names}


def digest_of_unit(name: str) -> str:
    """Of a row's model; of an architecture: of all its accepted floating-point rows.

    Whichever a result is about: one about integers names the instruction.
    """
    unit = _units()[name]
    if isinstance(unit, Model):
        return unit.digest
    return digest_of_texts([f"{row} {model.digest}" for row, model in unit.items()])


def stale(data: Any) -> list[str]:
    """Return what is named in JSON data, and has another digest now than the data say, or none there."""
    stamped: dict[str, str] = {}
    for models in _stamps(data):
        stamped |= {name: digest for name, digest in models.items() if name in _units()}
    return [name for name, digest in models_named(data).items() if stamped.get(name) != digest]


@cache
def _units() -> dict[str, Model | Mapping[str, Model]]:
    by_row: dict[str, Model | Mapping[str, Model]] = {row.name: row.model for row in rows()}
    floating = (row for row in rows(claims=False) if not isinstance(row.model, IntegerDotAdd))
    by_architecture: dict[str, dict[str, Model]] = {name: {} for name in ARCHITECTURES}
    for row in floating:
        by_architecture[row.architecture][row.name] = row.model
    return by_row | by_architecture


def _strings(data: Any) -> Iterator[str]:
    match data:
        case str():
            yield data
        case dict():
            for name, value in data.items():
                yield name
                yield from _strings(value)
        case list():
            for value in data:
                yield from _strings(value)


def _stamps(data: Any) -> Iterator[dict[str, str]]:
    match data:
        case dict():
            if isinstance(data.get("models"), dict):
                yield data["models"]
            for value in data.values():
                yield from _stamps(value)
        case list():
            for value in data:
                yield from _stamps(value)
