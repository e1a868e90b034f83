"""sf-tensor/tcgen05: its model of the FP4 kinds with block scales, in exact integers, from its text.

A number is (integer, exponent, raw exponent): integer · 2^exponent. The raw exponent is the one that its
fields say; a subnormal number has the smallest. FACTS2.md, 1e and 1f, has the same steps; nothing here is
shared with the models or with :mod:`tests.oracles.exact`.
"""

from __future__ import annotations

from collections.abc import Sequence

Number = tuple[int, int, int]

#: A group of products that is summed before it is truncated where products lead, by the format of scales.
INNER = {"ue8m0": 16, "ue4m3": 4}
NAN = 0x7FFFFFFF


def e2m1(word: int) -> Number:
    field, fraction = word >> 1 & 3, word & 1
    raw = max(field, 1) - 1
    integer = fraction + 2 * (field > 0)
    return (-integer if word & 8 else integer), raw - 1, raw


def scale(name: str, word: int) -> Number | None:
    """A scale; None: a NaN."""
    if name == "ue8m0":
        return None if word == 0xFF else (1, word - 127, word - 127)
    field, fraction = word >> 3 & 15, word & 7
    raw = max(field, 1) - 7
    return None if word & 0x7F == 0x7F else (fraction + 8 * (field > 0), raw - 3, raw)


def _f32(word: int) -> Number:
    field, fraction = word >> 23 & 255, word & 0x7FFFFF
    raw = max(field, 1) - 127
    integer = fraction + (field > 0) * (1 << 23)
    return (-integer if word >> 31 else integer), raw - 23, raw


def _cut(integer: int, exponent: int, unit: int) -> int:
    """In units of 2^unit, truncated toward zero."""
    size = abs(integer) << exponent - unit if exponent >= unit else abs(integer) >> unit - exponent
    return -size if integer < 0 else size


def total(numbers: Sequence[Number]) -> tuple[int, int]:
    """The exact sum: an integer and its exponent."""
    least = min(exponent for _, exponent, _ in numbers)
    return sum(integer << exponent - least for integer, exponent, _ in numbers), least


def _word(units: int, unit: int) -> int:
    """units · 2^unit as a binary32 word, truncated; zero is +0."""
    size = abs(units)
    if size == 0:
        return 0
    top = size.bit_length() - 1 + unit
    if top > 127:
        return 0x7F800000 | (units < 0) << 31
    last = max(top, -126) - 23
    kept = _cut(size, unit, last)
    field = top + 127 if kept >> 23 else 0
    return (field << 23 | kept & 0x7FFFFF | (units < 0) << 31) if kept else 0


def result(
    scales: str, block: int, a: Sequence[int], b: Sequence[int], c: int, sa: Sequence[int], sb: Sequence[int]
) -> int:
    """The word of D: 64 lanes, ``block`` of which share a scale."""
    pairs = [(scale(scales, x), scale(scales, y)) for x, y in zip(sa, sb, strict=True)]
    if any(x is None or y is None for x, y in pairs) or c & 0x7FFFFFFF > 0x7F800000:
        return NAN
    if c & 0x7FFFFFFF == 0x7F800000:
        return c
    products: list[Number] = []
    raw_scales: list[int] = []
    for lane, (x, y) in enumerate(zip(a, b, strict=True)):
        one, two = pairs[lane // block]
        assert one is not None
        assert two is not None
        integer, exponent, raw = 1, 0, 0
        for n, e, r in (e2m1(x), e2m1(y), one, two):
            integer, exponent, raw = integer * n, exponent + e, raw + r
        products.append((integer, exponent, raw))
        raw_scales.append(one[2] + two[2])
    live = [lane for lane in range(64) if products[lane][0]]
    addend, c_exponent, c_raw = _f32(c)
    if not live:
        return c if addend else 0
    highest, top_scale = max(products[i][2] for i in live), max(raw_scales[i] for i in live)
    if addend and c_raw >= highest:
        unit = c_raw - 35
        sums = [total(products[i : i + 16]) for i in range(0, 64, 16)]
        return _word(_cut(addend, c_exponent, unit) + sum(_cut(*one, unit) for one in sums), unit)
    unit = max(highest - 39, top_scale - 35, *([c_raw - 39] if addend else []))
    whole = _cut(addend, c_exponent, unit)
    kept = whole
    for start in range(0, 64, INNER[scales]):
        lanes = range(start, start + INNER[scales])
        alive = [i for i in lanes if products[i][0]]
        own = unit
        if scales == "ue8m0" and addend and alive and c_raw >= max(products[i][2] for i in alive):
            own = max(unit, c_raw - 35)
        units = _cut(*total([products[i] for i in lanes]), own) << own - unit
        whole += units
        lower = alive and max(raw_scales[i] for i in alive) < top_scale
        if not (lower and abs(units) < (1 << max(0, -174 - unit))):
            kept += units
    word = _word(whole, unit)
    subnormal = 0 < word & 0x7FFFFFFF < 1 << 23
    return _word(kept, unit) if scales == "ue8m0" and subnormal else word
