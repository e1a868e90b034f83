"""A theorem as ACL2 prints it, laid out in lines, with what the units' functions are beside their calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

__all__ = ["laid_out"]

_WIDTH = 100
_TOKEN = re.compile(r"\(|\)|'|\"(?:\\.|[^\"\\])*\"|[^\s()'\"]+", re.DOTALL)
#: A symbol, or a list, each with what is before it (a quote or nothing).
_Form: TypeAlias = "str | tuple[str, list[_Form]]"


def laid_out(theorem: str, names: Mapping[str, str]) -> list[str]:
    """Return the lines of a theorem. names: what a function is; its calls have lines of their own.

    >>> laid_out("(EQUAL (UNIT.1 A) (UNIT.2 A))", {"unit.1": "volta", "unit.2": "turing"})
    ['(EQUAL', '  (UNIT.1 A)  ; volta', '  (UNIT.2 A))  ; turing']
    """
    forms = _read(iter(_TOKEN.findall(theorem)))
    known = {function.lower(): name for function, name in names.items()}
    return [line for form in forms for line in _lines(form, 0, "", known)]


def _read(tokens: Iterator[str]) -> list[_Form]:
    """Return the forms up to the end, or to the parenthesis that closes them."""
    forms: list[_Form] = []
    before = ""
    for token in tokens:
        match token:
            case "'":
                before = "'"
                continue
            case "(":
                forms.append((before, _read(tokens)))
            case ")":
                break
            case _:
                forms.append(before + token)
        before = ""
    return forms


def _flat(form: _Form) -> str:
    return form if isinstance(form, str) else f"{form[0]}({' '.join(map(_flat, form[1]))})"


def _called(form: _Form, names: Mapping[str, str]) -> str:
    """Return what the function is that a form calls; "" of others."""
    first = form[1][0] if not isinstance(form, str) and form[1] else ""
    return names.get(first.lower(), "") if isinstance(first, str) else ""


def _has_call(form: _Form, names: Mapping[str, str]) -> bool:
    return not isinstance(form, str) and any(_called(f, names) or _has_call(f, names) for f in form[1])


def _lines(form: _Form, indent: int, after: str, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a form. after: the parentheses that close what it is in."""
    space, flat, name = " " * indent, _flat(form), _called(form, names)
    fits = indent + len(flat) + len(after) <= _WIDTH
    if isinstance(form, str) or name or (fits and not _has_call(form, names)):
        yield f"{space}{flat}{after}{name and f'  ; {name}'}"
        return
    before, (first, *others) = form[0], form[1] or [""]
    if not isinstance(first, str):
        first, others = "", [first, *others]
    yield f"{space}{before}({first}".rstrip()
    for number, other in enumerate(others, 1):
        yield from _lines(other, indent + 2, f"){after}" if number == len(others) else "", names)
