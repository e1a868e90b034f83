"""Records with terms in their fields, changed as a whole."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from tcsmt.language.terms import Term, substitute

__all__ = ["with_node"]


def with_node(record: Any, old: Term, new: Term) -> Any:
    """The record with a node replaced in the graphs of all of its fields, and in records and tuples there."""
    if isinstance(record, Term):
        return substitute([record], {old: new})[0]
    if isinstance(record, tuple):
        return tuple(with_node(item, old, new) for item in record)
    if hasattr(record, "__dataclass_fields__"):
        changes = {f.name: with_node(getattr(record, f.name), old, new) for f in fields(record)}
        return replace(record, **changes)
    return record
