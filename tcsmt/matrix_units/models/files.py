"""A model as a TOML file that says all of it: the model's ``kind`` and its parameters under their own names.

``"none"`` stands for None. Of a model that is made of others, each is a table of its own,
``[[instructions]]``, with its ``kind`` and parameters. A table ``[format.NAME]`` is a format of one's own
(see :mod:`tcsmt.matrix_units.arithmetic.format_tables`), which the parameters name like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.arithmetic.format_tables import format_of_table
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, format_named
from tcsmt.matrix_units.models import (
    DotThenAdd,
    FusedDotAdd,
    GroupedDotAdd,
    IeeeDotAdd,
    InstructionSequence,
    IntegerDotAdd,
    Model,
)
from tcsmt.support.errors import TcsmtError, UnknownName, choose
from tcsmt.support.toml_files import TomlFile, shown_value, toml_of

#: The kinds of models, by their names. Circuits, which rest on the reader of BTOR2, add theirs.
KINDS: dict[str, type[Model]] = {
    kind.kind: kind
    for kind in (
        FusedDotAdd, DotThenAdd, IeeeDotAdd, IntegerDotAdd, GroupedDotAdd, InstructionSequence,
    )
}  # fmt: skip
#: The keys that are no parameters.
ABOUT = ("kind", "base", "name", "source", "note", "nans_outside")
#: What stands for None.
NONE = "none"
#: The table of formats of one's own.
FORMATS = "format"


@cache
def file_parameters(kind: type[Model]) -> tuple[Field[Any], ...]:
    """Return what a file of a kind of model gives: not what the model has from other parameters."""
    return tuple(f for f in fields(kind.table()) if f.init)


def is_of_models(parameter: Field[Any]) -> bool:
    """Return whether a parameter is several models."""
    return str(parameter.type).startswith("tuple[Model")


@dataclass
class ModelTable(TomlFile):
    """A parsed file, or the table of a part of its model."""

    parameters: dict[str, Any] = field(init=False)
    formats: dict[str, AnyFormat] = field(init=False)

    def __post_init__(self) -> None:
        self.parameters = {key: value for key, value in self.given.items() if key not in (*ABOUT, FORMATS)}
        self.formats = dict(self._own_formats())

    def _own_formats(self) -> Iterator[tuple[str, AnyFormat]]:
        tables = self.given.get(FORMATS, {})
        if not isinstance(tables, dict):
            raise self.error(FORMATS, f"{FORMATS} = {shown_value(tables)}: must be tables, [{FORMATS}.NAME]")
        for name, table in tables.items():
            if not isinstance(table, dict):
                where = self._at_format(name, "")
                raise TcsmtError(f"{where}: {FORMATS}.{name} = {shown_value(table)}: must be a table")
            try:
                yield name, format_of_table(name, table)
            except TcsmtError as error:
                about = [word for word in re.findall(r"\w+", str(error)) if word in table]
                where = self._at_format(name, about[0] if about else "")
                raise TcsmtError(f"{where}: {FORMATS}.{name}: {error}") from None

    def _at_format(self, name: str, key: str) -> str:
        """Return ``FILE:LINE`` of a key of a format's table, or of the table."""
        header = re.compile(rf"\s*\[\s*{FORMATS}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*\]")
        start = next((number for number, line in enumerate(self.lines) if header.match(line)), None)
        if start is None:
            return self.at(FORMATS)
        lines_below = enumerate(self.lines[start + 1 :], start + 2)
        inside = takewhile(lambda numbered: not numbered[1].lstrip().startswith("["), lines_below)
        named = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=") if key else None
        numbers = (number for number, line in inside if named is not None and named.match(line))
        return f"{self.path}:{next(numbers, start + 1)}"

    def values(self, kind: type[Model]) -> dict[str, Any]:
        """Return the parameters for a kind of model, whose keys and types are checked.

        Raises :class:`.TcsmtError`.
        """
        parameters = {f.name: f for f in file_parameters(kind)}
        for key in self.parameters:
            if key not in parameters:
                kinds, names = f"parameter of {kind.kind}", [*parameters, *ABOUT]
                raise self.error(key, str(UnknownName(kinds, key, names, "tcsmt models --toml UNIT")))
        return {key: self._value(parameters[key], value) for key, value in self.parameters.items()}

    def _value(self, f: Field[Any], value: object) -> Any:
        kind = str(f.type)
        if is_of_models(f):
            return tuple(self._models(f.name, value))
        if value == NONE and kind.endswith("| None"):
            return None
        if isinstance(value, str) and "Format" in kind:
            try:
                return format_named(value, self.formats)
            except TcsmtError as error:
                raise self._located(error, f.name) from None
        allowed = ""
        if kind.startswith("tuple[int"):
            numbers = isinstance(value, list) and all(type(number) is int for number in value)
            allowed = "" if numbers else "an array of integers"
        elif kind.startswith("int") and isinstance(value, bool):
            allowed = "an integer"
        if allowed:
            more = f' or "{NONE}"' if kind.endswith("| None") else ""
            raise self.error(f.name, f"{f.name} = {shown_value(value)}: must be {allowed}{more}")
        return tuple(value) if isinstance(value, list) else value

    def _models(self, name: str, value: object) -> Iterator[Model]:
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(name, f"{name} = {shown_value(value)}: must be tables, [[{name}]]")
        for number, table in enumerate(value):
            part = ModelTable(self.path, self.lines, table, name, number)
            part.formats.update(self.formats)
            yield complete_model(part)

    @contextmanager
    def explained(self, otherwise: str) -> Iterator[None]:
        """Put file, line and key before a model's error; ``otherwise``: the key if it is about no key."""
        try:
            yield
        except TcsmtError as error:
            raise self._located(error, otherwise) from None

    def _located(self, error: TcsmtError, otherwise: str) -> TcsmtError:
        message = str(error)
        if isinstance(error, UnknownName):
            about = [k for k, v in self.parameters.items() if isinstance(v, str) and repr(v) in message]
        else:
            about = [word for word in re.findall(r"\w+", message) if word in self.parameters]
        key = about[0] if about else otherwise
        named = re.match(rf"(unknown )?{key}\b", message)
        return self.error(key, message if named else f"{key}: {message}")


def model_of(path: Path, content: bytes) -> Model:
    """Return the model of a file's content, complete in itself: its kind, its parameters, nothing else.

    Raises :class:`.TcsmtError`, which names the file, the line and the key.
    """
    return complete_model(ModelTable(path, *toml_of(path, content)))


#: What the error about a missing parameter adds, by the kind, the parameter and the values that are given.
Suggest = Callable[[type[Model], str, Mapping[str, Any]], str]


def complete_model(
    file: ModelTable, about: Collection[str] = (), suggested: Suggest = lambda kind, name, table: ""
) -> Model:
    """Return the model of a table with its kind and its parameters; about: keys that it may have besides.

    Raises :class:`.TcsmtError`.
    """
    for key in ABOUT:
        if key in file.given and key not in ("kind", *about):
            raise file.error(key, f"{key} is not allowed here: the parameters alone say what the model is")
    if "kind" not in file.given:
        either = "neither kind nor base is given" if about else "kind is not given"
        raise TcsmtError(f"{file.path}: {either}; kinds: {', '.join(KINDS)}")
    with file.explained("kind"):
        kind = KINDS[choose("kind of model", file.text("kind"), KINDS)]
    values = file.values(kind)
    missing = [
        f.name
        for f in file_parameters(kind)
        if f.name not in values and f.default is MISSING and f.default_factory is MISSING
    ]
    if missing:
        listed = ", ".join(name + suggested(kind, name, values) for name in missing)
        raise TcsmtError(f"{file.path}: missing parameters of {kind.kind}: {listed}")
    with file.explained("kind"):
        return kind.of(**values)
