"""Constants of a text and their formats, and options that stand more than once."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.programs.written.tokens import Wrong
from tcsmt.support.errors import TcsmtError
from tests.support.program_texts import last_step


def test_constants() -> None:
    for text, value in (("1.5:f16", Fraction(3, 2)), ("-2^-3:f32", Fraction(-1, 8)), ("0x3c00:f16", 1)):
        step = last_step(text)
        assert step.how["fmt"].value(step.how["word"]) == value
    assert last_step("-0:f32").how["word"] == 1 << 31


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1", "say in which format"),
        ("1:f33", "f33"),
        ("0x1ffffffff:f32", "not a word of f32"),
        ("2^99999:f32", "in no format"),
        ("1.1:f32", "1.1 is not a number of f32"),
        ("add(x, x, f32, size=1)", "size"),
        ("add(x, y, f32)", "'y' has no value yet"),
        ("x[0]", "has no words along K"),
    ],
)
def test_what_is_no_value(text: str, why: str) -> None:
    with pytest.raises((Wrong, TcsmtError), match=why):
        last_step(text)
