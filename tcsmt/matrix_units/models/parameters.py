"""Declared parameters: what each one is, the values that it may have, and the refusal of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, partial
from numbers import Integral
from typing import Any, ClassVar

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, format_named
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import Rounding, rounding_named
from tcsmt.support.errors import TcsmtError, choose


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """A table of parameters: each field is one, with its type, default and declared values.

    qualifiers: those that say how something is done, and say nothing of a model that does not do it.

    Formats, rounding modes and NaN rules may be given by name, and lanes in a list. Raises
    :class:`.TcsmtError` for a value that is not of the parameter's type, or outside of its declared range.
    """

    qualifiers: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        table: Any = type(self)
        for name, kind, allowed, named, optional, ends in _declared(table):
            own = value = getattr(self, name)
            if kind is NanRule and isinstance(value, int):
                value = NanRule((), value)
            elif kind is tuple and isinstance(value, Sequence):
                value = tuple(value)
            elif isinstance(value, str) and named is not None:
                value = named(value)
            if value is not own:
                object.__setattr__(self, name, value)
            if not (isinstance(value, kind) or (optional and value is None)):
                self.check(name, False, allowed)
            if ends and value is not None and not ends[0] <= value <= ends[1]:
                self.check(name, False, f"{'None or ' * optional}from {ends[0]} to {ends[1]}")

    def check(self, name: str, holds: bool, allowed: str) -> None:
        """Refuse a parameter with an error that names it, its value and what is allowed."""
        if not holds:
            raise self.refusal(name, allowed)

    def refusal(self, name: str, allowed: str) -> TcsmtError:
        """Return the error about a parameter, with its value and what is allowed."""
        value = getattr(self, name)
        shown = value.name if isinstance(value, AnyFormat) else f"{value!r:.200}"
        return TcsmtError(f"{name} = {shown}: must be {allowed}")


#: What a parameter of a kind must be, how errors call that, and how a name is looked up.
_KINDS: dict[str, tuple[type, str, Callable[[str], Any] | None]] = {
    "int": (Integral, "an integer", None),
    "bool": (bool, "True or False", None),
    "str": (str, "a name", None),
    "AnyFormat": (AnyFormat, "a format or its name", format_named),
    "Format": (Format, "a floating-point format or its name", format_named),
    "IntegerFormat": (IntegerFormat, "an integer or fixed-point format or its name", format_named),
    "Rounding": (Rounding, "a rounding mode or its name", rounding_named),
    "tuple[int, ...]": (tuple, "a permutation of the lanes", None),
    "NanRule": (NanRule, "a NaN's word or a rule for it", NanRule.named),
}


@cache
def _declared(
    table: Any,
) -> list[tuple[str, type, str, Callable[[str], Any] | None, bool, tuple[int, int] | None]]:
    """Return for each parameter its name, the rest as in ``_KINDS``, if it may be None, and its ends."""
    checks = []
    for f in fields(table):
        kind, _, optional = str(f.type).partition(" | ")
        if kind not in _KINDS:
            continue
        expected, allowed, named = _KINDS[kind]
        if "choices" in f.metadata:
            choices = f.metadata["choices"]
            allowed, named = " or ".join(choices), partial(choose, f.name, allowed=choices)
        allowed = f"{allowed} or {optional}" if optional else allowed
        checks.append((f.name, expected, allowed, named, bool(optional), f.metadata.get("ends")))
    return checks


def choice(default: str, *others: str) -> Any:
    """Return a parameter that is one of some names, with its default."""
    return field(default=default, metadata={"choices": (default, *others)})


def number(least: int, most: int, *, default: Any = MISSING) -> Any:
    """Return a parameter that is a number from ``least`` to ``most``."""
    return field(default=default, metadata={"ends": (least, most)})


def lane_count(*, default: Any = MISSING) -> Any:
    """Return a parameter that counts lanes; which counts fit, the model says."""
    return field(default=default, metadata={"unit": "lanes"})
