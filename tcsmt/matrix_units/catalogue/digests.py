"""Units by the digests of their graphs: which models results are about, and which rows a model is.

Results carry the digest of each unit that they name under ``models``. Where a unit's digest is another one
now, they are about a model that the catalogue no longer has. A model of unknown origin is the rows that have
its digest, or is near one that differs in a few parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from tcsmt.language.graphs.digest import digest_of_texts
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES
from tcsmt.matrix_units.models import IntegerDotAdd, Model


def models_named(data: Any) -> dict[str, str]:
    """Return the digest of each catalogue row, and of each architecture, whose name is a string of JSON
    data.
    """
    names = sorted({text for text in _strings(data) if text in _units()})
    return {name: digest_of_unit(name) for name in names}


def digest_of_unit(name: str) -> str:
    """Return the digest of a row's model; of an architecture: of all its accepted floating-point rows.

    Whichever a result is about: one about integers names the instruction.
    """
    unit = _units()[name]
    if isinstance(unit, Model):
        return unit.digest
    return digest_of_texts([f"{row} {model.digest}" for row, model in unit.items()])


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


#: A model in which more parameters differ is not called a variant of a row.
_CHANGED = 4


@dataclass(frozen=True)
class Variant:
    """A row with some parameters changed: their values."""

    row: Row
    changed: dict[str, Any]


def rows_of_function(model: Model) -> list[Row]:
    """Return the rows that have the same graph on words of the same formats; those that are accepted first.

    A format's name alone counts for nothing, as a format of one's own may have any.
    """
    words = _words(model)
    alike = [row for row in _rows() if _words(row.model) == words and row.model.digest == model.digest]
    return sorted(alike, key=lambda row: row.status != "accepted")


def nearest_variant(model: Model) -> Variant | None:
    """Return the row from which a model differs in the fewest parameters, four at most; the first accepted
    one.
    """
    variants = sorted(_variants(model), key=lambda v: (len(v.changed), v.row.status != "accepted"))
    return variants[0] if variants else None


@cache
def _rows() -> tuple[Row, ...]:
    return tuple(rows())


def _words(model: Model) -> list[Any]:
    return [*model.input_formats.items(), model.d_format]


def _variants(model: Model) -> Iterator[Variant]:
    values = _values(model)
    for row in _rows():
        if type(row.model) is type(model):
            theirs = _values(row.model)
            changed = {name: value for name, value in values.items() if theirs[name] != value}
            if len(changed) <= _CHANGED:
                yield Variant(row, changed)


def _values(model: Model) -> dict[str, Any]:
    return {field.name: getattr(model.parameters, field.name) for field in fields(model.table())}
