"""Formats of one's own as plain tables, for files: a floating-point format or one of integers.

exponent_bits, fraction_bits, bias, specials, signed, ignored_low_bits, ignored_high_bits
bits, signed, fraction_bits
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, Specials, format_named
from tcsmt.support.errors import TcsmtError, UnknownName

#: What each value of a table may be, from and to.
_RANGES = {
    "bits": (1, 64),
    "exponent_bits": (1, 15),
    "fraction_bits": (0, 64),
    "bias": (-(1 << 15), 1 << 15),
    "ignored_low_bits": (0, 63),
    "ignored_high_bits": (0, 63),
}
#: Kinds of special words, by their names in tables.
SPECIALS = {kind.name.lower().replace("_", "-"): kind for kind in Specials}


def format_of_table(name: str, table: Mapping[str, Any]) -> AnyFormat:
    """Return the format of that name. Raises :class:`.TcsmtError`, which names the wrong value first."""
    if not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
        raise TcsmtError(f"{name!r} is not a format's name: letters, digits, - and _, the first one a letter")
    try:
        format_named(name)
    except UnknownName:
        pass
    else:
        raise TcsmtError(f"{name} is the name of another format")
    kinds = [kind for kind, key in ((Format, "exponent_bits"), (IntegerFormat, "bits")) if key in table]
    if len(kinds) != 1:
        raise TcsmtError(
            f"a table has either exponent_bits, for a floating-point format, or bits, for integers: "
            f"{name} has {'both' if kinds else 'neither'}"
        )
    members = {member.name: member for member in fields(kinds[0]) if member.name != "name"}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in members:
            raise UnknownName("value of a format", key, list(members))
        values[key] = _checked(key, value)
    if kinds[0] is Format and "bias" not in values:
        values["bias"] = (1 << (values["exponent_bits"] - 1)) - 1
    missing = [key for key, member in members.items() if key not in values and member.default is MISSING]
    if missing:
        raise TcsmtError(f"{name} lacks {', '.join(missing)}")
    result: AnyFormat = kinds[0](name=name, **values)
    if result.width > _RANGES["bits"][1]:
        raise TcsmtError(f"{name} has {result.width} bits: at most {_RANGES['bits'][1]} are possible")
    if isinstance(result, Format):
        _check_specials(result)
    return result


def _checked(key: str, value: object) -> Any:
    match key:
        case "signed":
            if not isinstance(value, bool):
                raise TcsmtError(f"signed = {value!r}: must be true or false")
            return value
        case "specials":
            if not isinstance(value, str) or value not in SPECIALS:
                raise TcsmtError(f"specials = {value!r}: must be one of {', '.join(SPECIALS)}")
            return SPECIALS[value]
    low, high = _RANGES[key]
    if type(value) is not int or not low <= value <= high:
        raise TcsmtError(f"{key} = {value!r}: must be an integer from {low} to {high}")
    return value


def _check_specials(fmt: Format) -> None:
    """Refuse formats whose special words would leave no number, or would not be words of their own."""
    match fmt.specials:
        case Specials.IEEE:
            holds, needed = (
                fmt.fraction_bits >= 1 and fmt.exponent_bits >= 2,
                "2 exponent bits and a fraction",
            )
        case Specials.NEGATIVE_ZERO_NAN:
            holds, needed = fmt.signed and fmt.fraction_bits >= 1, "a sign and a fraction"
        case Specials.NAN_ONLY:
            holds, needed = fmt.exponent_bits + fmt.fraction_bits >= 2, "2 bits"
        case Specials.NONE:
            return
    if not holds:
        kind = fmt.specials.name.lower().replace("_", "-")
        raise TcsmtError(f"specials = {kind!r}: such a format has at least {needed}")
