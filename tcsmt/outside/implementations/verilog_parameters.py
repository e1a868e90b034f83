"""Parameters that a user gives to a module of SystemVerilog: it has each of them, with the value given."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tcsmt.outside.implementations.verilog_tree import VerilogTree, members
from tcsmt.support.errors import TcsmtError, UnknownName

__all__ = ["require_parameters"]

_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}


def require_parameters(tree: VerilogTree, given: Mapping[str, str]) -> None:
    """Raise :class:`.TcsmtError` where a module does not have a parameter, or not with the value given.

    A front end passes over names that a module does not have, and cuts off what does not fit a type. What an
    expression is, and in how many bits, is left to the front end.
    """
    taken = {
        str(node["name"]): str(node.get("value", ""))
        for node in members(tree.top)
        if node["kind"] == "Parameter" and not node.get("isLocal")
    }
    for name, text in given.items():
        if name not in taken:
            raise UnknownName("parameter", name, taken)
        number, kept = _number(text), _number(taken[name])
        if None not in (number, kept) and number != kept:
            raise TcsmtError(
                f"parameter {name}={text:.80}: its type does not have this value: {taken[name]:.80}"
            )


def _number(text: str) -> int | None:
    """Return the value of an integer literal; None for what is none, or not known in all bits."""
    match = re.fullmatch(r"(-?)\s*(?:(\d+)?'(s?)([bodh]))?([0-9a-f_]+)", text.strip().lower())
    if match is None:
        return None
    minus, width, signed, base, digits = match.groups()
    try:
        value = int(digits, _BASES[base or "d"])
    except ValueError:
        return None
    if width and value >> int(width):
        return None
    if width and signed and value >> (int(width) - 1):
        value -= 1 << int(width)
    return -value if minus else value
