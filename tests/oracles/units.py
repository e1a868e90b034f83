"""Radeon's DOT2 and WMMA steps and RISC-V's RVBNA in exact integers, one row at a time.

Written from the published algorithms (FACTS.md beside the measured rows, sections 1 and 5) and from nothing
of the package: words are taken apart here, and a sum is an integer in units of a grid 2^g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Float:
    """A format: bits of the exponent field and of the fraction; whether the top field has infinities."""

    exponent: int
    fraction: int
    infinities: bool = True

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction


F16, BF16, F32 = Float(5, 10), Float(8, 7), Float(8, 23)
E5M2, E4M3 = Float(5, 2), Float(4, 3, infinities=False)


@dataclass(frozen=True)
class Read:
    """(-1)^sign * significand * 2^(exponent - fraction bits); kind: finite, inf or nan."""

    sign: int
    significand: int
    exponent: int
    kind: str
    word: int
    format: Float

    @property
    def zero(self) -> bool:
        return self.kind == "finite" and self.significand == 0


def read(fmt: Float, word: int, *, flush: bool = False) -> Read:
    """A word taken apart; a subnormal number has the exponent of the smallest normal one, or is a zero."""
    fraction = word & ((1 << fmt.fraction) - 1)
    field = word >> fmt.fraction & ((1 << fmt.exponent) - 1)
    top = (1 << fmt.exponent) - 1
    sign = word >> (fmt.width - 1)
    kind = "finite"
    if fmt.infinities and field == top:
        kind = "nan" if fraction else "inf"
    elif not fmt.infinities and field == top and fraction == (1 << fmt.fraction) - 1:
        kind = "nan"
    significand = fraction | (1 << fmt.fraction) if field else (0 if flush else fraction)
    return Read(sign, significand, max(field, 1) - fmt.bias, kind, word, fmt)


def floor_shift(value: int, down: int) -> int:
    """value / 2^down rounded down; down may be negative."""
    return value >> down if down >= 0 else value << -down


def nearest(fmt: Float, negative: bool, size: int, unit: int, *, least: int | None) -> int:
    """size * 2^unit rounded to nearest even; least: the exponent of the last place of subnormal numbers
    (None: exponents have no lower end, and what is below the smallest normal number is +0).
    """
    sign = int(negative) << (fmt.width - 1)
    if size == 0:
        return 0
    place = size.bit_length() - 1 + unit - fmt.fraction
    if least is not None:
        place = max(place, least)
    down = place - unit
    if down > 0:
        kept, rest = size >> down, size & ((1 << down) - 1)
        half = 1 << (down - 1)
        kept += rest > half or (rest == half and kept & 1)
    else:
        kept = size << -down
    if kept >> (fmt.fraction + 1):
        kept, place = kept >> 1, place + 1
    if kept == 0:
        return 0
    e_min = 1 - fmt.bias
    if place + fmt.fraction < e_min or (kept >> fmt.fraction == 0):
        return 0 if least is None else sign | kept
    field = place + fmt.fraction + fmt.bias
    if field >= (1 << fmt.exponent) - 1:
        return sign | ((1 << fmt.exponent) - 1) << fmt.fraction
    return sign | field << fmt.fraction | (kept & ((1 << fmt.fraction) - 1))


# --- Radeon ----------------------------------------------------------------------------------------

#: Of a result: the word for a NaN factor, and for an invalid operation.
NANS = {"f32": (0xFFC00A3D, 0xFFC00000), "f16": (0xFE3D, 0xFE00), "bf16": (0xFFFD, 0xFFC0)}
FORMATS = {"f32": F32, "f16": F16, "bf16": BF16}


def special(d: str, x: Sequence[Read], y: Sequence[Read], c: Read, nans: tuple[int, int]) -> int | None:
    """1a.1 to 1a.4: the word of a result that is no finite sum."""
    fmt = FORMATS[d]
    of_factor, invalid = nans
    if any(one.kind == "nan" for one in (*x, *y)):
        return of_factor
    signs = set()
    for one, two in zip(x, y, strict=True):
        if "inf" in (one.kind, two.kind):
            if one.zero or two.zero:
                return invalid
            signs.add(one.sign ^ two.sign)
    if len(signs) == 2:
        return invalid
    if c.kind == "nan":
        return c.word | 1 << (fmt.fraction - 1)
    signs |= {c.sign} if c.kind == "inf" else set()
    if len(signs) == 2:
        return invalid
    infinity = ((1 << fmt.exponent) - 1) << fmt.fraction
    return None if not signs else signs.pop() << (fmt.width - 1) | infinity


def finish(d: str, negative: bool, size: int, unit: int, *, gfx11: bool) -> int:
    """1a.9, 1b.6, 1c: the sum as a word of D; a bf16 result is the upper half of the f32 one."""
    if d == "f16":
        return nearest(F16, negative, size, unit, least=-24)
    word = nearest(F32, negative, size, unit, least=None if gfx11 else -149)
    if word & 0x7FFFFFFF == 0:
        word = 0
    return word >> 16 if d == "bf16" else word


def gfx11_step(a: str, d: str, left: Sequence[int], right: Sequence[int], addend: int) -> int:
    """Two products and c (1a, 1c)."""
    flush = a == "bf16"
    x, y = ([read(FORMATS[a], word, flush=flush) for word in side] for side in (left, right))
    c = read(FORMATS[d], addend, flush=d != "f16")
    found = special(d, x, y, c, NANS[d])
    if found is not None:
        return found
    bits = FORMATS[a].fraction
    products = [
        (one.sign ^ two.sign, one.significand * two.significand, one.exponent + two.exponent)
        for one, two in zip(x, y, strict=True)
    ]
    if c.zero and not any(size for _, size, _ in products):
        return 0
    exponents = [exponent for _, size, exponent in products if size]
    if not c.zero or d == "f16":
        exponents.append(c.exponent - 2)
    unit = max(exponents) - 24
    total = 0
    for sign, size, exponent in products:
        kept = floor_shift(size, unit - (exponent - 2 * bits))
        total += kept if sign == c.sign else -kept - 1
    total += floor_shift(c.significand, unit - (c.exponent - FORMATS[d].fraction))
    return finish(d, bool(c.sign) != (total < 0), abs(total), unit, gfx11=True)


def gfx12_step(a: str, b: str, d: str, left: Sequence[int], right: Sequence[int], addend: int) -> int:
    """Two products, or four in pairs, and c (1b, 1c); products of FP8 are one group (1d)."""
    formats = FORMATS | {"e4m3": E4M3, "e5m2": E5M2}
    x = [read(formats[a], word) for word in left]
    y = [read(formats[b], word) for word in right]
    c = read(FORMATS[d], addend)
    fp8 = a in ("e4m3", "e5m2")
    found = special(d, x, y, c, (0xFFC00A3D, 0xFFC00A3D) if fp8 else NANS[d])
    if found is not None:
        return found
    bits = formats[a].fraction + formats[b].fraction
    products = [
        ((-1) ** (one.sign ^ two.sign) * one.significand * two.significand, one.exponent + two.exponent)
        for one, two in zip(x, y, strict=True)
    ]
    unit = max([c.exponent - 2, *(exponent for size, exponent in products if size)]) - 24
    total = 0
    group = 4 if fp8 else 2
    for start in range(0, len(products), group):
        members = [(size, exponent) for size, exponent in products[start : start + group] if size]
        if not members:
            continue
        own = max(exponent for _, exponent in members) - 24 if fp8 else min(e for _, e in members) - bits
        whole = sum(floor_shift(size, own - (exponent - bits)) for size, exponent in members)
        total += floor_shift(whole, unit - own)
    value = (-1) ** c.sign * c.significand
    kept = floor_shift(value, unit - (c.exponent - FORMATS[d].fraction))
    least = 1 - FORMATS[d].bias
    if not (unit > least and kept == -1 and vanishes(c, unit, FORMATS[d].fraction)):
        total += kept
    return finish(d, total < 0, abs(total), unit, gfx11=False)


def vanishes(c: Read, unit: int, fraction: int) -> bool:
    """Whether the magnitude of c is below a unit."""
    return floor_shift(c.significand, unit - (c.exponent - fraction)) == 0


# --- RISC-V ----------------------------------------------------------------------------------------


def to_odd(size: int, down: int) -> int:
    """size / 2^down to odd."""
    if down <= 0:
        return size << -down
    return size >> down | (size & ((1 << down) - 1) != 0)


def odd_word(negative: bool, size: int, unit: int) -> int:
    """size * 2^unit to odd in binary32 with subnormal numbers; too large is infinite, zero is +0."""
    if size == 0:
        return 0
    sign = int(negative) << 31
    place = max(size.bit_length() - 24 + unit, -149)
    kept = to_odd(size, place - unit)
    field = place + 150 if kept >> 23 else 0
    if field >= 255:
        return sign | 0x7F800000
    return sign | field << 23 | kept & 0x7FFFFF


def rvbna(a: Float, b: Float, left: Sequence[int], right: Sequence[int], addend: int, n: int) -> int:
    """The dot product (5a), then c by an addition rounded to odd (5b)."""
    nan = 0x7FC00000
    x, y = [read(a, word) for word in left], [read(b, word) for word in right]
    c = read(F32, addend)
    signs, invalid = set(), any(one.kind == "nan" for one in (*x, *y))
    for one, two in zip(x, y, strict=True):
        if "inf" in (one.kind, two.kind):
            invalid |= one.zero or two.zero
            signs.add(one.sign ^ two.sign)
    if invalid or len(signs) == 2:
        return nan
    if signs:
        dot = signs.pop() << 31 | 0x7F800000
    else:
        bits, guard = a.fraction + b.fraction, (n - 1).bit_length()
        products = [
            (one.sign ^ two.sign, one.significand * two.significand, one.exponent + two.exponent)
            for one, two in zip(x, y, strict=True)
        ]
        exponents = [exponent for _, size, exponent in products if size]
        unit = max(exponents, default=0) - 23 - guard
        total = sum(
            (-1) ** sign * to_odd(size, unit - (exponent - bits)) for sign, size, exponent in products if size
        )
        dot = odd_word(total < 0, abs(total), unit)
    s = read(F32, dot)
    if c.kind == "nan" or (s.kind == c.kind == "inf" and s.sign != c.sign):
        return nan
    if "inf" in (s.kind, c.kind):
        return dot if s.kind == "inf" else addend
    if s.zero and c.zero:
        return 0x80000000 if s.sign and c.sign else 0
    unit = min(s.exponent, c.exponent) - 23
    total = sum((-1) ** v.sign * (v.significand << (v.exponent - 23 - unit)) for v in (s, c))
    return odd_word(total < 0, abs(total), unit)
