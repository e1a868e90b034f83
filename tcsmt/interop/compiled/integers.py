"""The integer instructions of PTX on lanes of concrete words: what decides addresses, masks and branches.

Words are arrays of unsigned 64-bit integers, one for each lane. An operation takes its operands extended to
64 bits, by sign where its type is signed, and its result is cut to the type's width. The table names every
form with all of its modifiers; source: the PTX ISA, sections "Integer Arithmetic Instructions", "Comparison
and Selection Instructions", "Logic and Shift Instructions" and "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Words of the lanes, of shape (lanes,), uint64.
Bits = np.ndarray[Any, np.dtype[np.uint64]]
_Rule = Callable[..., Any]


@dataclass(frozen=True)
class IntegerForm:
    """One form. rule: of the operands, extended. widths: of the operands. signed: are they. width: of the
    result; 1: a predicate.
    """

    rule: _Rule
    widths: tuple[int, ...]
    width: int
    signed: bool = False

    def apply(self, *operands: Bits) -> Bits:
        """Return the result's words."""
        pairs = zip(operands, self.widths, strict=True)
        taken = [extended(word, width, signed=self.signed) for word, width in pairs]
        with np.errstate(all="ignore"):
            return cut(np.asarray(self.rule(*taken)).astype(np.uint64), self.width)


def cut(bits: Bits, width: int) -> Bits:
    """Return the lowest bits."""
    return bits if width == 64 else bits & np.uint64((1 << width) - 1)


def extended(bits: Bits, width: int, *, signed: bool) -> Bits:
    """Return words of a width as words of 64 bits."""
    if not signed or width == 64:
        return bits
    spare = np.uint64(64 - width)
    return ((bits << spare).view(np.int64) >> np.int64(64 - width)).view(np.uint64)


def _signed(rule: _Rule) -> _Rule:
    return lambda *words: rule(*(word.view(np.int64) for word in words)).view(np.uint64)


def _divided(a: Any, b: Any) -> Any:
    """Truncate towards zero; a divisor of 0 is refused before."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    if a.dtype == np.uint64:
        return a // safe
    size = _magnitude(a) // _magnitude(safe)
    return np.where((a < 0) != (safe < 0), np.uint64(0) - size, size).view(np.int64)


def _magnitude(a: Any) -> Any:
    bits = a.view(np.uint64)
    return np.where(a < 0, np.uint64(0) - bits, bits)


def _remainder(a: Any, b: Any) -> Any:
    return a - _divided(a, b) * b


def _shifted_left(width: int) -> _Rule:
    return lambda a, n: np.where(n >= width, np.uint64(0), a << (n & np.uint64(63)))


def _shifted_right(width: int, *, signed: bool) -> _Rule:
    def rule(a: Bits, n: Bits) -> Any:
        a = extended(a, width, signed=signed)
        if signed:
            return (a.view(np.int64) >> np.minimum(n, np.uint64(63)).view(np.int64)).view(np.uint64)
        return np.where(n >= width, np.uint64(0), a >> (n & np.uint64(63)))

    return rule


def _field(width: int, *, signed: bool) -> _Rule:
    def rule(a: Bits, first: Bits, count: Bits) -> Any:
        first, count = first & np.uint64(255), count & np.uint64(255)
        last = np.minimum(first + count - np.uint64(1), np.uint64(width - 1))
        moved = np.where(first >= width, np.uint64(0), a >> np.minimum(first, np.uint64(63)))
        mask = np.where(
            count >= 64, ~np.uint64(0), (np.uint64(1) << np.minimum(count, np.uint64(63))) - np.uint64(1)
        )
        found = moved & mask
        if signed:
            sign = a >> last & np.uint64(1)
            held = np.where(
                first >= width,
                np.uint64(0),
                np.minimum(count, np.uint64(width) - np.minimum(first, np.uint64(width))),
            )
            full = np.where(held >= 64, np.uint64(0), ~np.uint64(0) << np.minimum(held, np.uint64(63)))
            found = np.where(sign == 1, (moved & ~full) | full, moved & ~full)
        return np.where(count == 0, np.uint64(0), found)

    return rule


def _inserted(a: Bits, b: Bits, first: Bits, count: Bits) -> Any:
    first, count = first & np.uint64(255), count & np.uint64(255)
    mask = (np.uint64(1) << np.minimum(count, np.uint64(32))) - np.uint64(1)
    place = np.minimum(first, np.uint64(32))
    return (b & ~(mask << place)) | ((a & mask) << place)


def _permuted(a: Bits, b: Bits, selector: Bits) -> Any:
    both = a | (b << np.uint64(32))
    found = np.zeros_like(both)
    for place in range(4):
        nibble = selector >> np.uint64(4 * place) & np.uint64(15)
        byte = both >> (np.uint64(8) * (nibble & np.uint64(7))) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        found |= np.where(nibble & np.uint64(8), sign, byte) << np.uint64(8 * place)
    return found


def _looked_up(a: Bits, b: Bits, c: Bits, table: Bits) -> Any:
    found = np.zeros_like(a)
    for row in range(8):
        terms = [word if row >> bit & 1 else ~word for word, bit in ((a, 2), (b, 1), (c, 0))]
        found |= np.where(
            table >> np.uint64(row) & np.uint64(1), terms[0] & terms[1] & terms[2], np.uint64(0)
        )
    return found


_COMPARED: dict[str, _Rule] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
_UNSIGNED_COMPARED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _forms() -> Iterator[tuple[str, IntegerForm]]:
    for kind in ("s16", "u16", "s32", "u32", "s64", "u64"):
        width, signed = int(kind[1:]), kind[0] == "s"
        two, three = (width,) * 2, (width,) * 3
        yield f"add.{kind}", IntegerForm(lambda a, b: a + b, two, width)
        yield f"sub.{kind}", IntegerForm(lambda a, b: a - b, two, width)
        yield f"mul.lo.{kind}", IntegerForm(lambda a, b: a * b, two, width)
        yield f"mad.lo.{kind}", IntegerForm(lambda a, b, c: a * b + c, three, width)
        for name, rule in (("min", np.minimum), ("max", np.maximum), ("div", _divided), ("rem", _remainder)):
            yield f"{name}.{kind}", IntegerForm(_signed(rule) if signed else rule, two, width, signed)
        if signed:
            yield f"neg.{kind}", IntegerForm(lambda a: np.uint64(0) - a, (width,), width)
            yield f"abs.{kind}", IntegerForm(_signed(np.abs), (width,), width, signed)
        for name, compared in _COMPARED.items():
            rule = _signed_compared(compared) if signed else compared
            yield f"setp.{name}.{kind}", IntegerForm(rule, two, 1, signed)
        if not signed:
            for name, same in _UNSIGNED_COMPARED.items():
                yield f"setp.{name}.{kind}", IntegerForm(_COMPARED[same], two, 1)
        if width < 64:
            yield f"mul.wide.{kind}", IntegerForm(lambda a, b: a * b, two, 2 * width, signed)
        if width == 32:
            yield f"mul.hi.{kind}", IntegerForm(_high(signed), two, width, signed)
            yield f"mad.wide.{kind}", IntegerForm(_wide_added(signed), (width, width, 64), 64)
        yield f"shr.{kind}", IntegerForm(_shifted_right(width, signed=signed), (width, 32), width)
        if width > 16:
            yield f"bfe.{kind}", IntegerForm(_field(width, signed=signed), (width, 32, 32), width)
        for other in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
            source = int(other[1:])
            yield f"cvt.{kind}.{other}", IntegerForm(lambda a: a, (source,), width, other[0] == "s")
    for width in (16, 32, 64):
        two = (width,) * 2
        yield f"and.b{width}", IntegerForm(lambda a, b: a & b, two, width)
        yield f"or.b{width}", IntegerForm(lambda a, b: a | b, two, width)
        yield f"xor.b{width}", IntegerForm(lambda a, b: a ^ b, two, width)
        yield f"not.b{width}", IntegerForm(lambda a: ~a, (width,), width)
        yield f"shl.b{width}", IntegerForm(_shifted_left(width), (width, 32), width)
        yield f"shr.b{width}", IntegerForm(_shifted_right(width, signed=False), (width, 32), width)
        for name in ("eq", "ne"):
            yield f"setp.{name}.b{width}", IntegerForm(_COMPARED[name], two, 1)
    yield "and.pred", IntegerForm(lambda a, b: a & b, (1, 1), 1)
    yield "or.pred", IntegerForm(lambda a, b: a | b, (1, 1), 1)
    yield "xor.pred", IntegerForm(lambda a, b: a ^ b, (1, 1), 1)
    yield "not.pred", IntegerForm(lambda a: ~a, (1,), 1)
    yield "bfi.b32", IntegerForm(_inserted, (32,) * 4, 32)
    yield "prmt.b32", IntegerForm(_permuted, (32,) * 3, 32)
    yield "lop3.b32", IntegerForm(_looked_up, (32,) * 4, 32)


def _signed_compared(rule: _Rule) -> _Rule:
    return lambda a, b: rule(a.view(np.int64), b.view(np.int64))


def _high(signed: bool) -> _Rule:
    shift = _shifted_right(64, signed=signed)
    return lambda a, b: shift(a * b, np.full_like(a, 32))


def _wide_added(signed: bool) -> _Rule:
    def rule(a: Bits, b: Bits, c: Bits) -> Any:
        return extended(a, 32, signed=signed) * extended(b, 32, signed=signed) + c

    return rule


#: Every form that is read, by its name with all modifiers.
INTEGER_FORMS: dict[str, IntegerForm] = dict(_forms())
