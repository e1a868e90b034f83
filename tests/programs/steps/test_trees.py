"""Orders of additions, and nested ones, as texts of what is added to what."""

from __future__ import annotations

import pytest

from tcsmt.programs.steps.trees import SumOrder, summed
from tcsmt.support.errors import TcsmtError


def added(x: str, y: str) -> str:
    return f"({x}{y})"


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ("order", "((((ab)c)d)e)"),
        ("reversed", "((((ed)c)b)a)"),
        ("pairs", "(((ab)(cd))e)"),
        ("halves", "(((ad)c)(be))"),
        ("folded", "(((e(ad))b)c)"),
        ("4-0-1-3-2", "((((ea)b)d)c)"),
    ],
)
def test_orders(order: str, wanted: str) -> None:
    assert summed(order, "abcde", added) == wanted


def test_nested_sums_are_of_neighbours() -> None:
    tree = SumOrder((("order", 2), ("reversed", 2), ("pairs", 0)))
    assert tree.sum("abcdefgh", added) == "(((cd)(ab))((gh)(ef)))"
    assert str(tree) == "order of 2, then reversed of 2, then pairs"


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(TcsmtError, match="of 8 numbers, not of 6"):
        SumOrder((("order", 4), ("halves", 2))).sum("abcdef", added)
    with pytest.raises(TcsmtError, match="needs a number of neighbours"):
        SumOrder((("order", 0), ("halves", 2)))
    with pytest.raises(TcsmtError, match="halfs"):
        SumOrder((("halfs", 0),))
    with pytest.raises(TcsmtError, match="each number from 0 on once"):
        SumOrder((("0-2", 2),))
    with pytest.raises(TcsmtError, match="an order of 2 parts, of 3"):
        summed("1-0", "abc", added)
