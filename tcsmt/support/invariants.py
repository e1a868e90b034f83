"""Invariants of the code, checked in every run: ``python -O`` leaves out assertions, but not these."""

from __future__ import annotations

from typing import TypeVar

from tcsmt.support.errors import InternalError

T = TypeVar("T")


def checked_cast(value: object, kind: type[T]) -> T:
    """Return the value, which has this type. Raises :class:`.InternalError` for another."""
    if not isinstance(value, kind):
        raise InternalError(f"expected {kind.__name__}, not {type(value).__name__}")
    return value


def not_none(value: T | None) -> T:
    """Return the value, which is there. Raises :class:`.InternalError` for None."""
    if value is None:
        raise InternalError("a value that must be there is missing")
    return value
