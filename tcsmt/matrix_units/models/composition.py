"""Composition of models: from a flat table of parameters to closed alternatives, and back.

A model may be composed of parts, and a part of others. Where a part can be one of several, each alternative
says which values of the table choose it (:func:`part`), and the first that they choose is taken. So a value
that the chosen parts cannot hold contradicts the table's other values, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, dataclass_transform, get_args, get_type_hints

from tcsmt.matrix_units.models.base import Model, Parameters
from tcsmt.support.errors import TcsmtError

Whole = TypeVar("Whole")
Table = TypeVar("Table", bound=Parameters)


class _Given:
    """Any value but the parameter's default."""


GIVEN = _Given()


@dataclass_transform(frozen_default=True, kw_only_default=True)
def part(when: Mapping[str, Any]) -> Callable[[type[Whole]], type[Whole]]:
    """Return a frozen, keyword-only dataclass that these values choose (:data:`GIVEN`: not the default)."""

    def decorated(kind: type[Whole]) -> type[Whole]:
        kind = dataclass(frozen=True, kw_only=True)(kind)
        kind.when = when  # type: ignore[attr-defined]
        return kind

    return decorated


def composed(whole: type[Whole], table: Parameters) -> Whole:
    """Return the parts that hold a table's values. Raises :class:`.TcsmtError` where none can."""
    result: Whole = _composed(whole, table)
    held = _values(result)
    for parameter in fields(table):
        value, kept = getattr(table, parameter.name), held.get(parameter.name, parameter.default)
        if value != kept and parameter.name not in table.qualifiers:
            reason = _reason(whole, result, parameter.name, table)
            raise table.refusal(parameter.name, f"{getattr(kept, 'name', kept)} when {reason}")
    return result


def flattened(whole: object, table: type[Parameters]) -> dict[str, Any]:
    """Return the value of each parameter of the table: the default where no part holds it."""
    held = _values(whole)
    return {parameter.name: held.get(parameter.name, parameter.default) for parameter in fields(table)}


@dataclass(frozen=True, kw_only=True)
class ComposedModel(Model, Generic[Table]):
    """A model that is composed of parts. declared: its parameters, flat."""

    declared: ClassVar[type[Parameters]]

    def __post_init__(self) -> None:
        # (else a file of its parameters would be another model)
        if not _is_of_its_values(self, self.parameters):
            raise TcsmtError(f"{self.kind}: its parameters stand for other parts: make it by of(...)")
        super().__post_init__()

    @classmethod
    def table(cls) -> type[Parameters]:
        """Return the parameters, declared."""
        return cls.declared

    @classmethod
    def of(cls, **parameters: Any) -> Self:
        """Return the model of these parameters. Raises :class:`.TcsmtError` if they contradict each other."""
        return composed(cls, cls.declared(**parameters))

    @cached_property
    def parameters(self) -> Table:
        """Return the value of each parameter: the default where no part has it."""
        return cast(Table, self.declared(**flattened(self, self.declared)))

    def refusal(self, name: str, allowed: str) -> TcsmtError:
        """Return the error about a parameter, with its value and what is allowed."""
        return self.parameters.refusal(name, allowed)


@cache
def _parts(kind: Any) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Return for each field its name, and its alternatives if it is a part (else none)."""
    hints = get_type_hints(kind)
    kinds = ((f.name, get_args(hints[f.name]) or (hints[f.name],)) for f in fields(kind) if f.init)
    return tuple((name, kinds if all(map(_is_part, kinds)) else ()) for name, kinds in kinds)


def _is_part(kind: Any) -> bool:
    return hasattr(kind, "when")


def _composed(kind: Any, table: Parameters) -> Any:
    return kind(
        **{
            name: _composed(_chosen(kind, kinds, table), table) if kinds else getattr(table, name)
            for name, kinds in _parts(kind)
        }
    )


def _chosen(whole: Any, alternatives: tuple[Any, ...], table: Parameters) -> Any:
    for kind in alternatives:
        if all(_holds(table, *item) for item in kind.when.items()):
            return kind
    # only one alternative is left: name the parameter that does not fit it
    name, wanted = next(item for item in kind.when.items() if not _holds(table, *item))
    needed = f"other than {_default(table, name)}" if wanted is GIVEN else str(wanted)
    raise table.refusal(name, f"{needed} when {_text(whole.when, table)}")


def _is_of_its_values(part: Any, table: Parameters) -> bool:
    kind: Any = type(part)
    owned = ((getattr(part, name), kinds) for name, kinds in _parts(kind) if kinds)
    return all(type(x) is _chosen(kind, ks, table) and _is_of_its_values(x, table) for x, ks in owned)


def _holds(table: Parameters, name: str, wanted: object) -> bool:
    value = getattr(table, name)
    return bool(value != _default(table, name) if wanted is GIVEN else value == wanted)


def _default(table: Parameters, name: str) -> Any:
    return table.__dataclass_fields__[name].default


def _values(part: Any) -> dict[str, Any]:
    """Return the parameters that a part holds, its parts' included."""
    values = {name: value for name, value in getattr(part, "when", {}).items() if value is not GIVEN}
    for name, kinds in _parts(cast(Any, type(part))):
        value = getattr(part, name)
        values |= _values(value) if kinds else {name: value}
    return values


def _reason(kind: Any, part: Any, name: str, table: Parameters) -> str:
    """Return why the parts have no place for a parameter: what chose them, or what would choose others."""
    for place, kinds in _parts(kind):
        chosen = getattr(part, place)
        if not any(_has_place(each, name) for each in kinds):
            continue
        if _has_place(type(chosen), name):
            return _reason(type(chosen), chosen, name, table)
        lacking = [
            key
            for each in kinds
            if _has_place(each, name)
            for key, wanted in each.when.items()
            if not _holds(table, key, wanted)
        ]
        return _text(chosen.when or dict.fromkeys(lacking), table)
    return "the model is composed so"


def _has_place(kind: Any, name: str) -> bool:
    has_own = (
        place == name or any(_has_place(each, name) for each in kinds) for place, kinds in _parts(kind)
    )
    return name in kind.when or any(has_own)


def _text(names: Iterable[str], table: Parameters) -> str:
    values = ((name, getattr(table, name)) for name in names)
    return " and ".join(f"{name} = {getattr(value, 'name', value)}" for name, value in values)
