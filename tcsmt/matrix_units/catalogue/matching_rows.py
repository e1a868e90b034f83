"""Which rows of the catalogue a model of unknown origin is: by its graph, or all but a few parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.models import Model

__all__ = ["Variant", "nearest_variant", "rows_of_function"]

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
    own = _values(model)
    for row in _rows():
        if type(row.model) is type(model):
            theirs = _values(row.model)
            changed = {name: value for name, value in own.items() if theirs[name] != value}
            if len(changed) <= _CHANGED:
                yield Variant(row, changed)


def _values(model: Model) -> dict[str, Any]:
    return {field.name: getattr(model.parameters, field.name) for field in fields(model.table())}
