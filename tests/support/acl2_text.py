"""A reader and evaluator of the ACL2 that we write, for tests where ACL2 is not installed.

Written from ACL2's documentation: it shares nothing with what writes the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import reduce
from math import prod
from pathlib import Path
from typing import Any

__all__ = ["Session", "forms"]


def forms(text: str) -> list[Any]:
    """The forms of a text: lists, integers, and symbols and strings as text."""
    words = iter(re.findall(r"""\(|\)|'|"[^"]*"|[^\s()']+""", re.sub(r"(?m)^;.*$", "", text)))
    return list(_forms(words))


def _forms(words: Iterator[str]) -> Iterator[Any]:
    for word in words:
        if word == ")":
            return
        if word == "'":
            yield ["quote", next(_forms(words))]
        elif word == "(":
            yield list(_forms(words))
        else:
            yield int(word) if re.fullmatch(r"-?\d+", word) else _fraction(word)


def _fraction(word: str) -> Any:
    """A fraction of two numbers, or a symbol."""
    return Fraction(word) if re.fullmatch(r"-?\d+/\d+", word) else word


def _signed(width: int, number: int) -> int:
    low = number % (1 << width)
    return low - (1 << width) if low >> (width - 1) else low


_FUNCTIONS: dict[str, Any] = {
    "loghead": lambda n, x: x % (1 << n),
    "logtail": lambda n, x: x >> n,
    "logapp": lambda n, low, high: low % (1 << n) + (high << n),
    "logext": _signed,
    "lognot": lambda x: -1 - x,
    "logand": lambda x, y: x & y,
    "logior": lambda x, y: x | y,
    "logxor": lambda x, y: x ^ y,
    "ash": lambda x, n: x << n if n >= 0 else x >> -n,
    "bool->bit": int,
    "expt": lambda x, n: Fraction(x) ** n,
    "floor": lambda x, y: Fraction(x) // y,
    "mod": lambda x, y: Fraction(x) % y,
    "truncate": lambda x, y: int(Fraction(x) / y),
    "max": max,
    "min": min,
    "abs": abs,
    "integer-length": lambda x: (x if x >= 0 else ~x).bit_length(),
    "cons": lambda x, xs: [x, *(xs or [])],
    "consp": lambda xs: isinstance(xs, list) and bool(xs),
    "car": lambda xs: xs[0],
    "cdr": lambda xs: xs[1:],
    "cadr": lambda xs: xs[1],
    "caddr": lambda xs: xs[2],
    "cadddr": lambda xs: xs[3],
    "+": lambda *xs: sum(xs),
    "-": lambda x, *ys: x - sum(ys) if ys else -x,
    "*": lambda *xs: prod(xs),
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "equal": lambda x, y: x == y,
    "not": lambda x: not x,
    "nth": lambda n, xs: xs[n],
    "list": lambda *xs: list(xs),
    "implies": lambda x, y: not x or bool(y),
    "unsigned-byte-p": lambda n, x: 0 <= x < 1 << n,
    "signed-byte-p": lambda n, x: -(1 << n) <= 2 * x < 1 << n,
    "integerp": lambda x: isinstance(x, int),
    "rationalp": lambda x: isinstance(x, (int, Fraction)),
}


class Session:
    """Functions that were defined, and theorems by symbolic simulation."""

    def __init__(self) -> None:
        self.functions: dict[str, tuple[list[str], Any]] = {}
        self.simulated: dict[str, tuple[Any, Any]] = {}
        self.theorems: dict[str, Any] = {}

    def read(self, text: str, folder: Path | None = None) -> None:
        """Take over the events of a text. folder: of the books that it includes."""
        for form in forms(text):
            match form:
                case ["include-book", name, *_] if folder and "units" in name:
                    self.read((folder / f"{name.strip(chr(34))}.lisp").read_text(encoding="utf-8"))
                case ["with-refutation", _, event]:
                    self._take(event)
                case _:
                    self._take(form)

    def _take(self, form: Any) -> None:
        match form:
            case ["defun", name, formals, *body]:
                assert name not in self.functions, f"{name} is defined twice"
                self.functions[name] = formals, body[-1]
            case ["gl::def-gl-thm", name, ":hyp", hyp, ":concl", concl, *_]:
                self.simulated[name] = hyp, concl
            case ["defthm", name, says, *_]:
                self.theorems[name] = says

    def value(self, form: Any, words: Mapping[str, Any]) -> Any:
        """The value of an expression, where variables have these values."""
        match form:
            case int() | Fraction():
                return form
            case "t" | "nil":
                return form == "t"
            case str() if form.startswith(":"):
                return form
            case ["quote", literal]:
                return literal
            case ["cond", *clauses]:
                return next(self.value(x, words) for test, x in clauses if self.value(test, words))
            case ["case", key, *clauses]:
                found = self.value(key, words)
                return next((self.value(x, words) for literal, x in clauses if literal == found), False)
            case str():
                return words[form]
            case ["let*" | "let", bindings, *body]:
                inner = dict(words)
                for name, value in bindings:
                    inner[name] = self.value(value, inner)
                return self.value(body[-1], inner)
            case ["if", test, then, otherwise]:
                return self.value(then if self.value(test, words) else otherwise, words)
            case ["and", *parts]:
                return all(self.value(part, words) for part in parts)
            case ["or", *parts]:
                return any(self.value(part, words) for part in parts)
            case ["logand" | "logior" as name, *parts]:
                return reduce(_FUNCTIONS[name], [self.value(part, words) for part in parts])
            case [name, *args]:
                values = [self.value(arg, words) for arg in args]
                if name in self.functions:
                    formals, body = self.functions[name]
                    return self.value(body, dict(zip(formals, values, strict=True)))
                return _FUNCTIONS[name](*values)
        raise AssertionError(form)
