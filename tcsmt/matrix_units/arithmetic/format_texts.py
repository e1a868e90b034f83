"""Formats as the plain tables that :mod:`.format_tables` reads, and whether a name alone says what one is."""

from __future__ import annotations

from dataclasses import fields

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.format_tables import SPECIALS
from tcsmt.matrix_units.arithmetic.formats import Specials, format_named
from tcsmt.support.errors import TcsmtError

__all__ = ["is_known", "table_of_format"]


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
