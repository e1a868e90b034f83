"""Texts that are numbers or words of a format, or nearly: what the command and the page read alike."""

from __future__ import annotations

import random

from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS

__all__ = ["TEXTS", "cases"]

#: Each rule of ``docs/reference/formats.md`` and its neighbours that are no numbers.
TEXTS = (
    "inf", "-inf", "+inf", "infinity", "-Infinity", "nan", "-nan", "NaN", "infinit", "--inf", "\u2212inf",
    "0", "-0", "+0", "00", "0.0", ".5", "5.", ".", "+", "-", "", " 1.5 ", "1 5", "1,5", "1'000",
    "1e", "1e5", "1E5", "1e+2", "1e-2", "1e 2", "e5", "1e5000", "1e9999", "1.5e-3", "1.5.5",
    "1_0", "1_000.5", "0x3e_00", "0x_3e00", "\u22121.5", "\u20131.5", "1\u22122", "\u0661", "\uff11",
    "\u00bd", "1\u00b2",
    "1/3", "-1/4", "1/0", "1/-4", "1./4", "1/4/2", "1 / 4", "3/2", "+3/2",
    "0x", "0x1", "0x0", "0x3e0", "0x3e00", "0x03e00", "0x3E00", "0X3e00", "-0x3e00", "+0x3e00", "0xzz",
    "0x3f800000", "0x38", "0x7", "0x007", "3e00", "3c0", "3f800000", "1000", "1e20", "0e00", "38", "7",
    "0x1p", "0x1p0", "0x1.8", "0x1.8p-3", "0x.8p1", "0x1.p2", "0x.p1", "0xp1", "-0x1p-2", "0X1P3", "0x1.8e3",
    "0x1.g", "0x1p5001", "1.5\u00b72^-3", "1.5*2^-3", "2^-3", "-2^3", "2^1.5", "1.5x2^3", "2^5001", "3^2",
    "1e-400", "1" * 3999, "1" * 4001, "0." + "1" * 4001, "abc", "one", "true", "1j", "0b11", "0o7", "1f",
)  # fmt: skip


def cases() -> list[tuple[str, str]]:
    """Return each text with each format, and as many texts that are drawn."""
    draw = random.Random(3)
    made = [*TEXTS]
    for _ in range(150):
        digits = "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 7)))
        hexes = "".join(draw.choice("0123456789abcdef") for _ in range(draw.randrange(1, 9)))
        sign = draw.choice(["", "-", "+", "\u2212"])
        made.append(draw.choice([
            f"{sign}{digits}", f"{sign}{digits}.{digits}", f"{sign}0.{digits}e{draw.randrange(-50, 45)}",
            f"{sign}0x1.{hexes[:5]}p{draw.randrange(-160, 130)}", f"0x{hexes}", hexes,
            f"{sign}{digits}e{draw.randrange(-9, 9)}", f"{sign}{digits}/{digits[::-1]}",
            f"{sign}1.{digits}\u00b72^{draw.randrange(-40, 40)}",
        ]))  # fmt: skip
    return [(fmt, text) for fmt in {**FORMATS, **INTEGERS} for text in made]
