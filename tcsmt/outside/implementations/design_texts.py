"""A design's file with options as a text: ``fdp.sv,top=fdp,like=volta,port=a=in_a``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.resolve import NamedSide, file_of, resolve, whole_paths
from tcsmt.outside.implementations.designs import DesignFiles, read_design
from tcsmt.support.errors import TcsmtError, choose

__all__ = ["design_side", "named_values", "whole_options"]

#: Options that may be repeated, and the field that holds them; pairs NAME=VALUE; a single text; a number.
_LISTS = {"port": "ports", "const": "constants", "cut": "cut", "define": "define"}
_FILES = {"source": "files", "include": "include"}
_PAIRS = {"format": "formats", "param": "parameters"}
_NUMBERS: dict[str, tuple[str, Callable[[str], int | float]]] = {
    "cycles": ("cycles", int),
    "read-timeout": ("timeout", float),
}
_OPTIONS = ("top", "function", *_LISTS, *_FILES, *_PAIRS, *_NUMBERS, "hold", "like")
#: A comma that is not part of a value: the name of an option follows.
_COMMA = re.compile(rf",(?=(?:{'|'.join(_OPTIONS)})(?:=|,|$))")
#: A comma, and what looks like an option's name but is none.
_UNKNOWN = re.compile(r",([a-z][a-z-]*)=")


def design_side(text: str, options: DesignFiles | None = None, like: Model | None = None) -> NamedSide:
    """Return the side of a design's file; its options are those of ``tcsmt design``, without dashes, after
    commas.

    options: more of them, which those of the text precede. like: the model whose formats and k it has where
    neither states any. Raises :class:`.TcsmtError`.
    """
    file = file_of(text)
    design = options or DesignFiles(files=())
    if text != file and not _COMMA.match(text, len(file)):
        choose("option of a design", text[len(file) + 1 :].partition("=")[0], _OPTIONS)
    for option in _COMMA.split(text[len(file) :])[1:]:
        name, equals, value = option.partition("=")
        unknown = _UNKNOWN.search(value)
        if unknown is not None:
            choose("option of a design", unknown[1], _OPTIONS)
        if bool(value) == (name == "hold") or bool(equals) != bool(value):
            raise TcsmtError(f"{text}: {option}: expected {'hold' if name == 'hold' else f'{name}=VALUE'}")
        if name == "like":
            like = resolve(value).row.model
        else:
            design = replace(design, **_changes(design, name, value))
    design = replace(design, files=(*design.files, Path(file)))
    row = read_design(design if like is None else design.like(like))
    return NamedSide.of_row(row, text)


def whole_options(options: str) -> str:
    """A design's options, ``,NAME=VALUE,...``, with whole paths for the files and folders that they name."""
    return ",".join(map(_whole_option, _COMMA.split(options)))


def _whole_option(option: str) -> str:
    name, _, value = option.partition("=")
    if name == "like":
        return f"like={whole_paths(value)}"
    return f"{name}={Path(value).resolve()}" if name in _FILES else option


def _changes(design: DesignFiles, name: str, value: str) -> dict[str, Any]:
    """Return the fields that an option changes."""
    if name in _NUMBERS:
        field, number = _NUMBERS[name]
        try:
            return {field: number(value)}
        except ValueError:
            raise TcsmtError(f"{name}={value}: must be a number") from None
    if name in _PAIRS:
        field = _PAIRS[name]
        before: dict[str, Any] = getattr(design, field)
        return {field: before | named_values(name, [value])}
    if name in _FILES:
        return {_FILES[name]: (*getattr(design, _FILES[name]), Path(value))}
    if name in _LISTS:
        return {_LISTS[name]: (*getattr(design, _LISTS[name]), value)}
    return {name: True if name == "hold" else value}


def named_values(option: str, texts: Iterable[str]) -> dict[str, str]:
    """``NAME=VALUE`` of each text. Raises :class:`.TcsmtError`, also for a name that is given twice."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise TcsmtError(f"{option} {text}: expected NAME=VALUE")
        if name in values:
            raise TcsmtError(f"{option} {text}: {name} is given twice")
        values[name] = value
    return values
