"""Operators that C and SystemVerilog share, against Python's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.terms import FOLD, const, var
from tcsmt.language.write.operators import OPERATORS, bare, infix


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
