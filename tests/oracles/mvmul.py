"""Tenstorrent's MVMUL in exact integers: one element of Dst, in one fidelity phase, K = 16.

Written from a description of the vendor's simulator, as a list of steps on register words. Source words
have a sign, 8 bits of exponent and 10 of fraction; words of Dst have the fields of binary32. FP16 uses the
lower five bits of the exponent.
"""

from __future__ import annotations

from collections.abc import Sequence


def shifted(value: int, by: int, ties: str) -> int:
    """value / 2^by to the nearest integer; ties go ``away`` from zero, or ``up``."""
    if by == 0:
        return value
    half = 1 << (by - 1)
    if ties == "up":
        return (value + half) >> by
    size = (abs(value) + half) >> by
    return -size if value < 0 else size


def mvmul(
    architecture: str, source: str, dst: str, phase: int, a: Sequence[int], b: Sequence[int], c: int
) -> int:
    """The word of Dst after the instruction. source: bf16, tf32 or f16; dst: f32, bf16 or f16."""
    wide = dst == "f32"
    adjustment = -127
    if source == "f16":
        adjustment = 97 if wide else -15
    adjustment -= 5 * (phase & 1) + 7 * (phase >> 1)
    products = []  # (exponent, value with 10 fraction bits)
    for x, y in zip(a, b, strict=True):
        x_field, y_field = x >> 10 & 255, y >> 10 & 255
        if x_field == 0 or y_field == 0:
            products.append((max(adjustment, 0), 0))
            continue
        x_bits, y_bits = 1024 | x & 1023, 1024 | y & 1023
        x_part = x_bits >> 1 & 31 if phase & 1 else x_bits >> 6
        y_part = (y_bits & 15) * 8 if phase & 2 else y_bits >> 4
        negative = (x ^ y) >> 18
        products.append((x_field + y_field + adjustment, -x_part * y_part if negative else x_part * y_part))
    terms = []  # (exponent, value with 23 fraction bits, ties)
    for group in (products[:8], products[8:]):
        top = max(exponent for exponent, _ in group)
        if top > 0:
            terms.append((top, sum(shifted(v, top - e, "away") for e, v in group) << 13, "up"))
    field = c >> 23 & 255
    size = (1 << 23 | c & (1 << 23) - 1) if field else 0
    terms.append((field, -size if c >> 31 else size, "away"))
    top = max(exponent for exponent, _, _ in terms)
    total = 0
    for exponent, value, ties in terms:
        value = shifted(value, top - exponent, ties) if top - exponent < 31 else 0
        total += value if wide else shifted(value, 13, ties)
    if top <= 0 or total == 0:
        return 0
    sign = 1 << 31 if total < 0 else 0
    precision = {"f32": 24, "bf16": 8, "f16": 11}[dst]
    exponent = top - (23 if wide else 10) + abs(total).bit_length() - 1
    significand = abs(total) << 64  # then there is always something to drop
    drop = significand.bit_length() - precision
    significand = shifted(significand, drop, "away")
    if significand >> precision:
        significand, exponent = significand >> 1, exponent + 1
    if wide and total == -1 and architecture == "wormhole":
        exponent += 27
    if exponent <= 0:
        return 0
    if exponent >= (32 if dst == "f16" else 255):
        return sign | (31 << 23 | 0x3FF << 13 if dst == "f16" else 255 << 23)
    return sign | exponent << 23 | (significand - (1 << (precision - 1))) << (24 - precision)
