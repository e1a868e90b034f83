"""Pictures as text: no wider than asked for, bits where they belong, colours only where they are wanted."""

from __future__ import annotations

import re

from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.text import as_text
from tcsmt.matrix_units.catalogue import row_named
from tests.support.drawn import VOLTA, picture

UNIT = row_named(VOLTA).model
SHOWN = Sheet((picture(UNIT, a0="1.5", b0="24576", c="-0.111328125"),))


def test_text_width() -> None:
    for texts in ({"a0": "0x1p60", "b0": "0x1p60", "a1": "0x1p-60", "b1": "0x1p-60"}, {}):
        shown = picture(row_named("ampere/mma.m16n8k8.f32.bf16").model, **texts)
        for most in (80, 110):
            lines = as_text(Sheet((shown,)), most).splitlines()
            bits = [line for line in lines if "│" in line]
            assert bits and max(map(len, bits)) <= most + (most == 80) * 20


def test_bits_stand_below_their_powers() -> None:
    text = as_text(SHOWN)
    assert "a0·b0        + ···│10.01000000000000000000···  2.25·2^14" in text
    assert "rounded      + ···│10.0011111111111111100011₁" in text
    assert "result     0x470fffe3: sign 0 | exponent 10001110 | fraction 00011111111111111100011" in text
    lines = text.splitlines()
    (bits,) = (line for line in lines if line.strip().startswith("a0·b0"))
    (powers,) = (line for line in lines if "power of two" in line)
    point, top = bits.index("."), powers.index("╷2^14")
    assert point == top + 1  # the leading exponent's column is left of the binary point
    zones = next(line for line in lines if "F = 23" in line)
    assert "carry" in zones


def test_colours_only_where_asked_for() -> None:
    plain = as_text(SHOWN)
    assert "\x1b" not in plain
    coloured = as_text(Sheet((picture(UNIT, a0="1", b0="1"),)), colour=True)
    assert "\x1b[32m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", as_text(SHOWN, colour=True)) == plain
