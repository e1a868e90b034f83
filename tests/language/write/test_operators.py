"""Operators that C and SystemVerilog share, against Python's own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.terms import FOLD, const, var
from tcsmt.language.write.operators import OPERATORS, bare, distinct, identifier, infix


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_an_operator_means_in_python_what_the_operation_does(op: str) -> None:
    """On words of 8 bits, modulo 2^8."""
    for x, y in ((200, 100), (5, 7), (3, 3), (255, 2), (1, 0)):
        text = f"{OPERATORS[op]}{x}" if op in ("not", "neg") else f"{x} {OPERATORS[op]} {y}"
        values = [x] if op in ("not", "neg") else [x, y]
        assert eval(text) % 256 == FOLD[op](8, None, [8] * len(values), values) % 256


def test_an_operator_stands_between_all_arguments() -> None:
    x, y, z = (var(name, 8) for name in "xyz")
    assert infix(x + y + z, ["a", "b", "c"]) == "(a + b + c)"
    assert infix(x.ult(const(9, 8)), ["a", "9"]) == "(a < 9)"


@given(
    st.recursive(
        st.just("x"),
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({' '.join(parts)})"),
    )
)
def test_parentheses_around_the_whole_are_left_out(expression: str) -> None:
    assert bare(expression) == (expression[1:-1] if expression != "x" else "x")
    assert bare(f"{expression} + {expression}") == f"{expression} + {expression}"


NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("block 0: aligned c", "block_0_aligned_c"), ("a[31:0]", "a_31_0"), ("7 bits", "n_7_bits"),
        ("_x_", "x"), ("Σ a·b", "a_b"), ("", "n"), ("--", "n"), ("largest exponent", "largest_exponent"),
    ],
)  # fmt: skip
def test_texts_become_identifiers(text: str, expected: str) -> None:
    assert identifier(text) == expected


@given(st.text("aZ09_ :[].-Σ·\n\t", max_size=12))
def test_every_text_becomes_a_name(text: str) -> None:
    assert NAME.fullmatch(identifier(text))


@given(st.lists(st.text("aA_1 :", max_size=4), max_size=12), st.lists(st.sampled_from(["a", "a_2", "n"])))
def test_no_name_is_given_twice(texts: list[str], taken: list[str]) -> None:
    found = distinct(dict(enumerate(texts)), taken)
    assert list(found) == list(range(len(texts)))
    assert len({*found.values(), *taken}) == len(texts) + len(set(taken))
    assert all(NAME.fullmatch(name) for name in found.values())
    for key, name in found.items():  # the text's own, where it is free
        assert name == identifier(texts[key]) or re.fullmatch(
            re.escape(identifier(texts[key])) + r"_\d+", name
        )


def test_names_that_are_taken_get_a_number() -> None:
    given = {"x": "sum", "y": "sum", "z": "sum 2", "w": "other"}
    assert distinct(given, ["other"]) == {"x": "sum", "y": "sum_2", "z": "sum_2_2", "w": "other_2"}
