"""Which expressions get names."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.language.write.inlining import Inlining, fresh


def test_a_word_gets_a_name_where_it_is_asked_for_and_where_it_is_nested_too_deeply() -> None:
    lines: list[str] = []

    def define(node: str, expression: str) -> str:
        lines.append(f"{node} = {expression}")
        return node

    text = Inlining(3, define)
    text.add("x", "1", [], named=True)
    for before, node in zip("xabcd", "abcde", strict=True):
        text.add(node, f"({text[before]} + 1)", [before], named=node == "a")
    assert lines == ["a = (1 + 1)", "d = (((a + 1) + 1) + 1)"]
    assert text == {"x": "1", "a": "a", "b": "(a + 1)", "c": "((a + 1) + 1)", "d": "d", "e": "(d + 1)"}


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.lists(st.integers(0, 30), max_size=3), st.booleans()), max_size=30),
    st.integers(1, 4),
)
def test_no_line_is_deeper_than_allowed_and_all_lines_say_the_same(
    nodes: list[tuple[list[int], bool]], most: int
) -> None:
    """Against writing every node out: a name stands for its line."""
    whole: list[str] = []
    lines: dict[str, str] = {}

    def define(node: int, expression: str) -> str:
        lines[f"t{node}"] = expression
        return f"t{node}"

    text = Inlining(most, define)
    for number, (places, named) in enumerate(nodes):
        arguments = [place for place in places if place < number and len(whole[place]) < 300]
        whole.append(f"({number}: {' '.join(whole[place] for place in arguments)})")
        text.add(
            number, f"({number}: {' '.join(text[place] for place in arguments)})", arguments, named=named
        )
    for line in lines.values():
        depths = [line[:place].count("(") - line[:place].count(")") for place in range(len(line) + 1)]
        assert max(depths) <= most + 1  # variables and constants have parentheses here, too
    for number, expression in enumerate(whole):
        shown = text[number]
        while "t" in shown:
            name = next(name for name in sorted(lines, key=len, reverse=True) if name in shown)
            shown = shown.replace(name, lines[name])
        assert shown == expression


def test_names_are_those_that_are_not_taken() -> None:
    assert list(islice(fresh({"t0", "t2", "x"}), 3)) == ["t1", "t3", "t4"]
