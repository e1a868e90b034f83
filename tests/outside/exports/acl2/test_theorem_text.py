"""Theorems in lines: nothing of them is lost, and each call of a unit says what it is."""

from __future__ import annotations

import re

import pytest

from tcsmt.outside.exports.acl2.theorem_text import laid_out

LONG = (
    f"(IMPLIES (IF (WORDS-P {' '.join(f'A{i}' for i in range(40))}) (IN-DOMAIN A0 C) 'NIL) "
    "(EQUAL (UNIT.1 A0 C) (SIDE-1 (UNIT.2 C '(5 10 :IEEE)))))"
)


@pytest.mark.parametrize(
    "theorem", [LONG, "(NOT (CLAIM A B))", "T", '(EQUAL "a (b" \'(1 2))', "((LAMBDA (X) X) Y)"]
)
def test_the_text_is_the_same(theorem: str) -> None:
    lines = laid_out(theorem, {"unit.1": "volta; with (a) parenthesis"})
    whole = " ".join(line.split("  ; ")[0] for line in lines)
    assert re.sub(r"\s+", " ", re.sub(r"\(\s+", "(", whole)) == re.sub(r"\s+", " ", theorem)


def test_units_have_their_names() -> None:
    lines = laid_out(LONG, {"unit.1": "volta", "unit.2": "turing", "unit.3": "ampere"})
    assert "    (UNIT.1 A0 C)  ; volta" in lines
    assert "      (UNIT.2 C '(5 10 :IEEE)))))  ; turing" in lines
    assert not any("ampere" in line for line in lines)
