"""Models and formats written as files that are read again (:mod:`.files`), with what each parameter means."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from dataclasses import fields

from tcsmt.matrix_units.arithmetic.format_tables import SPECIALS, format_of_table
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Specials, format_named
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.files import FORMATS, NONE, file_parameters, is_of_models
from tcsmt.support.errors import TcsmtError


def parameters_toml(model: Model) -> str:
    """Return a file of a model alone: every parameter, below what it means."""
    lines = [f'# "{NONE}" stands for None', "", f"kind = {json.dumps(model.kind)}"]
    explained = meanings(type(model))
    comment = ""
    for f in file_parameters(type(model)):
        if is_of_models(f):
            continue
        meaning = explained.get(f.name, "")
        if meaning != comment:
            lines += ["", *textwrap.wrap(meaning, 98, initial_indent="# ", subsequent_indent="# ")]
            comment = meaning
        lines.append(f"{f.name} = {toml_value(getattr(model.parameters, f.name))}")
    for name, part in _parts(model):
        lines += ["", f"[[{name}]]", f"kind = {json.dumps(part.kind)}"]
        lines += [
            f"{f.name} = {toml_value(getattr(part.parameters, f.name))}" for f in file_parameters(type(part))
        ]
    for fmt in _own_formats(model):
        table = table_of_format(fmt)
        lines += [
            "",
            f"[{FORMATS}.{fmt.name}]",
            *(f"{key} = {toml_value(value)}" for key, value in table.items()),
        ]
    return "\n".join(lines) + "\n"


def has_file(model: Model) -> bool:
    """Return whether a file can hold the model: not where one model of others is made of others again."""
    plain = (int, str, tuple, AnyFormat, Rounding, NanRule, type(None))
    values = (getattr(model.parameters, f.name) for f in fields(model.table()))
    parts = [part for _, part in _parts(model)]
    return all(isinstance(value, plain) for value in values) and not any(
        is_of_models(f) or not has_file(part) for part in parts for f in fields(part.table())
    )


def _parts(model: Model) -> list[tuple[str, Model]]:
    """Return the models that a model is made of, in order, each with the parameter that it is in."""
    lists = [f.name for f in file_parameters(type(model)) if is_of_models(f)]
    return [(name, part) for name in lists for part in getattr(model, name)]


def _own_formats(model: Model) -> list[AnyFormat]:
    """Return the formats whose names alone do not say what they are. Raises :class:`.TcsmtError`."""
    formats: dict[str, AnyFormat] = {}
    models = [model, *(part for _, part in _parts(model))]
    for f, fmt in ((f, getattr(each.parameters, f.name)) for each in models for f in fields(each.table())):
        if not isinstance(fmt, AnyFormat) or is_known(fmt):
            continue
        if formats.setdefault(fmt.name, fmt) != fmt:
            raise TcsmtError(f"{f.name} = {fmt.name}: the model has two formats of that name")
        if format_of_table(fmt.name, table_of_format(fmt)) != fmt:
            raise TcsmtError(f"{f.name} = {fmt.name}: a file cannot hold this format")
    return list(formats.values())


def meanings(kind: type[Model]) -> dict[str, str]:
    """Return what each parameter of a kind of model means, from the docstrings of its classes."""
    texts: dict[str, str] = {}
    for base in reversed(kind.table().__mro__):
        for entry in re.split(r"\n(?! )", inspect.cleandoc(base.__doc__ or "")):
            names, _, meaning = entry.partition(": ")
            if re.fullmatch(r"\w+(, \w+)*", names):
                plain = unmarked(" ".join(meaning.split()))
                texts |= dict.fromkeys(names.split(", "), plain)
    return texts


def toml_value(value: object) -> str:
    """Return a parameter as a file has it."""
    match value:
        case None:
            return json.dumps(NONE)
        case AnyFormat() | Rounding():
            return json.dumps(value.name)
        case NanRule():
            return toml_value(value.name)
        case int() if not isinstance(value, bool) and value >= 1 << 13:
            return hex(value)  # above every range of the parameters that are numbers: a word
        case str() if "\n" in value and "'''" not in value and value.replace("\n", " ").isprintable():
            return f"'''\n{value}'''"  # a text as it is
        case _:  # JSON's escapes are TOML's, but for pairs of surrogates; DEL needs one in TOML alone
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


#: A role of the documentation's markup with what it names, or an inline literal.
_MARKED = re.compile(r"(?::[\w:]+:)?(`{1,2})(.+?)\1")


def unmarked(text: str) -> str:
    """Return a docstring's text without markup.

    >>> unmarked("``c`` is zero (:func:`.decide`)")
    'c is zero (decide)'
    """
    return _MARKED.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    """Return a role's text as Sphinx shows it: the title before ``<target>``; a last name after ``~``."""
    name = re.sub(r"\s*<[^<>]*>$", "", match[2])
    return name.rpartition(".")[2] if name.startswith("~") else name.removeprefix(".")


def is_known(fmt: AnyFormat) -> bool:
    """Return whether the format's name alone says what it is."""
    try:
        return format_named(fmt.name) == fmt
    except TcsmtError:
        return False


def table_of_format(fmt: AnyFormat) -> dict[str, int | bool | str]:
    """Return what :func:`.format_of_table` reads."""
    values = {field.name: getattr(fmt, field.name) for field in fields(fmt) if field.name != "name"}
    names = {kind: name for name, kind in SPECIALS.items()}
    return {name: names[value] if isinstance(value, Specials) else value for name, value in values.items()}
