"""Models of one's own: TOML files with a model's parameters, and the one place that chooses a row.

A file has the model's ``kind`` and parameters under their own names; ``"none"`` stands for None.
With ``base = "ARCH/INSTRUCTION"`` it is that catalogue row's model with these parameters changed.
``name``, ``source`` and ``note`` say what it is. Of a model that is made of others, each is a table of its
own, ``[[instructions]]``, with its ``kind`` and parameters. A table ``[format.NAME]`` is a format of one's
own (see :mod:`tcsmt.arithmetic.format_tables`), which the parameters name like any other.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from tcsmt.arithmetic.any_format import AnyFormat
from tcsmt.arithmetic.format_tables import format_of_table, is_known, table_of_format
from tcsmt.arithmetic.formats import format_named
from tcsmt.arithmetic.nans import NanRule
from tcsmt.arithmetic.rounding import Rounding
from tcsmt.catalogue import Row, row_named, rows, rows_named
from tcsmt.data.toml_files import TomlFile, read_toml, shown_value
from tcsmt.models import Model
from tcsmt.support.errors import TcsmtError, UnknownName, choose

__all__ = [
    "has_file",
    "is_model_file",
    "meanings",
    "model_toml",
    "none_fits",
    "parameters_toml",
    "read_model",
    "row_given",
    "rows_given",
]

#: The keys that are no parameters.
_ABOUT = ("kind", "base", "name", "source", "note")
_NONE = "none"
#: The table of formats of one's own.
_FORMATS = "format"


def is_model_file(name: str) -> bool:
    """Whether what was given for a model is a file and not ``ARCH[/INSTRUCTION]``."""
    return name.lower().endswith(".toml") or os.path.isfile(name)


def rows_given(name: str) -> list[Row]:
    """The rows that an argument means: a model file's, that of ``ARCH/INSTRUCTION``, or all of ``ARCH``."""
    return [read_model(Path(name))] if is_model_file(name) else rows_named(name)


def none_fits(what: str, unit: str | Row, needed: str) -> TcsmtError:
    """The error where no row that a unit means takes an algorithm; needed: of the unit that it needs."""
    given, label = (rows_given(unit), unit) if isinstance(unit, str) else ([unit], unit.name)
    formats = sorted({f"{row.model.a_format.name} to {row.model.d_format.name}" for row in given})
    return TcsmtError(
        f"{what} on {label}: it needs a unit {needed}; there is one from {', from '.join(formats)}"
    )


def row_given(name: str) -> Row:
    """The row that an argument names, an architecture's first one."""
    return rows_given(name)[0]


def read_model(path: Path) -> Row:
    """The model of a file, as a row: ``custom/NAME``, conjectured, its source the file.

    NAME is the file's ``name``, or the file's own name. Raises :class:`.TcsmtError`,
    which names the file, the line and the key.
    """
    file = _File(path, *read_toml(path))
    about = {key: file.text(key) for key in _ABOUT if key in file.given}
    model = _changed(file, about) if "base" in about else _whole(file, about)
    changed = ", ".join(file.parameters) or "nothing"
    return Row(
        architecture="custom",
        instruction=about.get("name", path.stem),
        model=model,
        source=about.get("source", str(path)),
        date=datetime.fromtimestamp(path.stat().st_mtime, UTC).year,
        evidence="conjectured",
        note=about.get("note", f"{about['base']}, changed: {changed}" if "base" in about else ""),
    )


def model_toml(row: Row) -> str:
    """A file that reads back as the row's model: every parameter, below what it means.

    Raises :class:`.TcsmtError` for a model of others that no file can hold.
    """
    if not has_file(row.model):
        raise TcsmtError(f"{row.name}: a model file cannot hold {row.model.title}")
    about = [f"# {row.name}", f"# source: {row.source} ({row.date}); evidence: {row.evidence}", ""]
    return "\n".join(about) + parameters_toml(row.model)


def parameters_toml(model: Model) -> str:
    """A file of a model alone: every parameter, below what it means."""
    lines = [f'# "{_NONE}" stands for None', "", f"kind = {json.dumps(model.kind)}"]
    explained = meanings(type(model))
    said = ""
    for one in _parameters(type(model)):
        if _is_of_models(one):
            continue
        meaning = explained.get(one.name, "")
        if meaning != said:
            lines += ["", *textwrap.wrap(meaning, 98, initial_indent="# ", subsequent_indent="# ")]
            said = meaning
        lines.append(f"{one.name} = {_toml(getattr(model, one.name))}")
    for name, part in _parts(model):
        lines += ["", f"[[{name}]]", f"kind = {json.dumps(part.kind)}"]
        lines += [f"{one.name} = {_toml(getattr(part, one.name))}" for one in _parameters(type(part))]
    for fmt in _own_formats(model):
        table = table_of_format(fmt)
        lines += [
            "",
            f"[{_FORMATS}.{fmt.name}]",
            *(f"{key} = {_toml(value)}" for key, value in table.items()),
        ]
    return "\n".join(lines) + "\n"


def has_file(model: Model) -> bool:
    """Whether a file can hold the model: not where one model of others is made of others again."""
    plain = (int, str, tuple, AnyFormat, Rounding, NanRule, type(None))
    values = (getattr(model, one.name) for one in fields(model))
    parts = [part for _, part in _parts(model)]
    return all(isinstance(value, plain) for value in values) and not any(
        _is_of_models(one) or not has_file(part) for part in parts for one in fields(part)
    )


def _parameters(kind: type[Model]) -> list[Field[Any]]:
    """What a file of a kind of model gives: not what the model has from other parameters."""
    return [one for one in fields(kind) if one.init]


def _is_of_models(one: Field[Any]) -> bool:
    return str(one.type).startswith("tuple[Model")


def _parts(model: Model) -> list[tuple[str, Model]]:
    """The models that a model is made of, in order, each with the parameter that it is in."""
    lists = [one.name for one in _parameters(type(model)) if _is_of_models(one)]
    return [(name, part) for name in lists for part in getattr(model, name)]


def _own_formats(model: Model) -> list[AnyFormat]:
    """The formats whose names alone do not say what they are. Raises :class:`.TcsmtError`."""
    found: dict[str, AnyFormat] = {}
    models = [model, *(part for _, part in _parts(model))]
    for one, fmt in ((one, getattr(each, one.name)) for each in models for one in fields(each)):
        if not isinstance(fmt, AnyFormat) or is_known(fmt):
            continue
        if found.setdefault(fmt.name, fmt) != fmt:
            raise TcsmtError(f"{one.name} = {fmt.name}: the model has two formats of that name")
        if format_of_table(fmt.name, table_of_format(fmt)) != fmt:
            raise TcsmtError(f"{one.name} = {fmt.name}: a file cannot hold this format")
    return list(found.values())


def meanings(kind: type[Model]) -> dict[str, str]:
    """What each parameter of a kind of model means, from the docstrings of its classes."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        for entry in re.split(r"\n(?! )", inspect.cleandoc(base.__doc__ or "")):
            names, _, meaning = entry.partition(": ")
            if re.fullmatch(r"\w+(, \w+)*", names):
                plain = " ".join(meaning.replace("``", "").split())
                found |= dict.fromkeys(names.split(", "), plain)
    return found


def _toml(value: object) -> str:
    match value:
        case None:
            return json.dumps(_NONE)
        case AnyFormat() | Rounding():
            return json.dumps(value.name)
        case NanRule():
            return _toml(value.name)
        case int() if not isinstance(value, bool) and value >= 1 << 13:
            return hex(value)  # above every range of the parameters that are numbers: a word
        case str() if "\n" in value and "'''" not in value and value.replace("\n", " ").isprintable():
            return f"'''\n{value}'''"  # a text as it is
        case _:  # JSON's escapes are TOML's, but for pairs of surrogates; DEL needs one in TOML alone
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@dataclass
class _File(TomlFile):
    """A parsed file, or the table of a part of its model."""

    parameters: dict[str, Any] = field(init=False)
    formats: dict[str, AnyFormat] = field(init=False)

    def __post_init__(self) -> None:
        self.parameters = {key: value for key, value in self.given.items() if key not in (*_ABOUT, _FORMATS)}
        self.formats = dict(self._own_formats())

    def _own_formats(self) -> Iterator[tuple[str, AnyFormat]]:
        tables = self.given.get(_FORMATS, {})
        if not isinstance(tables, dict):
            raise self.error(
                _FORMATS, f"{_FORMATS} = {shown_value(tables)}: must be tables, [{_FORMATS}.NAME]"
            )
        for name, table in tables.items():
            if not isinstance(table, dict):
                where = self._at_format(name, "")
                raise TcsmtError(f"{where}: {_FORMATS}.{name} = {shown_value(table)}: must be a table")
            try:
                yield name, format_of_table(name, table)
            except TcsmtError as error:
                about = [word for word in re.findall(r"\w+", str(error)) if word in table]
                where = self._at_format(name, about[0] if about else "")
                raise TcsmtError(f"{where}: {_FORMATS}.{name}: {error}") from None

    def _at_format(self, name: str, key: str) -> str:
        """``FILE:LINE`` of a key of a format's table, or of the table."""
        header = re.compile(rf"\s*\[\s*{_FORMATS}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*\]")
        start = next((number for number, line in enumerate(self.lines) if header.match(line)), None)
        if start is None:
            return self.at(_FORMATS)
        own = enumerate(self.lines[start + 1 :], start + 2)
        inside = takewhile(lambda numbered: not numbered[1].lstrip().startswith("["), own)
        named = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=") if key else None
        found = (number for number, line in inside if named is not None and named.match(line))
        return f"{self.path}:{next(found, start + 1)}"

    def values(self, kind: type[Model]) -> dict[str, Any]:
        """The parameters for a kind of model, whose keys and types are checked."""
        known = {one.name: one for one in _parameters(kind)}
        for key in self.parameters:
            if key not in known:
                raise self.error(
                    key,
                    str(
                        UnknownName(
                            f"parameter of {kind.kind}", key, [*known, *_ABOUT], "tcsmt models --toml UNIT"
                        )
                    ),
                )
        return {key: self._value(known[key], value) for key, value in self.parameters.items()}

    def _value(self, one: Field[Any], given: object) -> Any:
        kind = str(one.type)
        if _is_of_models(one):
            return tuple(self._models(one.name, given))
        if given == _NONE and kind.endswith("| None"):
            return None
        if isinstance(given, str) and "Format" in kind:
            with self.explained(one.name):
                return format_named(given, self.formats)
        allowed = ""
        if kind.startswith("tuple[int"):
            numbers = isinstance(given, list) and all(type(number) is int for number in given)
            allowed = "" if numbers else "an array of integers"
        elif kind.startswith("int") and isinstance(given, bool):
            allowed = "an integer"
        if allowed:
            more = f' or "{_NONE}"' if kind.endswith("| None") else ""
            raise self.error(one.name, f"{one.name} = {shown_value(given)}: must be {allowed}{more}")
        return tuple(given) if isinstance(given, list) else given

    def _models(self, name: str, given: object) -> Iterator[Model]:
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise self.error(name, f"{name} = {shown_value(given)}: must be tables, [[{name}]]")
        for number, table in enumerate(given):
            part = _File(self.path, self.lines, table, name, number)
            part.formats.update(self.formats)
            yield _whole(part, {"kind": part.text("kind")} if "kind" in table else {})

    @contextmanager
    def explained(self, otherwise: str) -> Iterator[None]:
        """Put file, line and key before a model's error; ``otherwise``: the key if it is about no key."""
        try:
            yield
        except TcsmtError as error:
            message = str(error)
            if isinstance(error, UnknownName):
                about = [k for k, v in self.parameters.items() if isinstance(v, str) and repr(v) in message]
            else:
                about = [word for word in re.findall(r"\w+", message) if word in self.parameters]
            key = about[0] if about else otherwise
            named = re.match(rf"(unknown )?{key}\b", message)
            raise self.error(key, message if named else f"{key}: {message}") from None


def _whole(file: _File, about: dict[str, str]) -> Model:
    kinds = _kinds()
    if "kind" not in about:
        allowed = ", ".join(kinds)
        raise TcsmtError(f"{file.path}: neither kind nor base is given; kinds: {allowed}")
    with file.explained("kind"):
        kind = kinds[choose("kind of model", about["kind"], kinds)]
    values = file.values(kind)
    missing = [
        one.name
        for one in _parameters(kind)
        if one.name not in values and one.default is MISSING and one.default_factory is MISSING
    ]
    if missing:
        listed = ", ".join(name + _suggested(kind, name, values) for name in missing)
        raise TcsmtError(f"{file.path}: missing parameters of {kind.kind}: {listed}")
    with file.explained("kind"):
        return kind(**values)


def _suggested(kind: type[Model], name: str, given: dict[str, Any]) -> str:
    """What the catalogue's units have for a number that is missing: those of the given formats, if any."""
    if not str(next(one.type for one in fields(kind) if one.name == name)).endswith("| None"):
        return ""
    of_kind = [row for row in rows() if type(row.model) is kind and "@" not in row.instruction]
    alike = [row for row in of_kind if _has_formats(row.model, given)]
    found: dict[str, str] = {}
    for row in alike or of_kind:
        found.setdefault(_toml(getattr(row.model, name)), row.name)
    found.setdefault(json.dumps(_NONE), meanings(kind)[name].partition("None: ")[2].rstrip("."))
    values = [f"{value} ({example})" for value, example in found.items()][:_SUGGESTED]
    return f" (such as {', '.join(values)})"


#: Values that are suggested for a parameter, at most.
_SUGGESTED = 4


def _has_formats(model: Model, given: dict[str, Any]) -> bool:
    names = [name for name in ("a_format", "b_format", "c_format", "d_format") if name in given]
    return all(given[name] == getattr(model, name) for name in names)


def _changed(file: _File, about: dict[str, str]) -> Model:
    with file.explained("base"):
        base = row_named(about["base"]).model
    if about.get("kind", base.kind) != base.kind:
        raise file.error(
            "kind", f"kind = {about['kind']!r}: must be {base.kind}, the kind of base = {about['base']}"
        )
    values = file.values(type(base))
    with file.explained("base"):
        return replace(base, **values)


def _kinds() -> dict[str, type[Model]]:
    classes = Model.__subclasses__()
    for one in classes:  # and the classes that are added on the way
        classes += one.__subclasses__()
    return {one.kind: one for one in classes if "kind" in vars(one)}
