"""What is computed of single operand words."""

from __future__ import annotations

import pytest

from tcsmt.language.terms import Term, const, operands_first, substitute, var
from tcsmt.simulate.prepared import prepared


def words(name: str, width: int) -> list[Term]:
    """Two operand words."""
    return [var(f"{name}{lane}", width) for lane in range(2)]


@pytest.mark.parametrize("width", [8, 16, 24])
def test_results_are_what_products_are_made_of(width: int) -> None:
    """What both lanes share is one result; a variable stands for it."""
    a, b = words("a", width), words("b", width)
    own = [[(word + 3).zext(32) << 2, word.ne(5).zext(9)] for word in a]
    roots = [x[0] + y.zext(32) for x, y in zip(own, b, strict=True)] + [
        x[1] + y[8 - 1 : 0].zext(9) for x, y in zip(own, b, strict=True)
    ]
    found = prepared({"a": a, "b": b}, roots)
    assert found is not None
    of_a, _ = found
    assert {*of_a.terms[0], *of_a.terms[1]} == {term for lane in own for term in lane}
    assert sorted(of_a.bits) == [16, 32]
    for part in found:
        for terms, variables in zip(part.terms, part.inputs, strict=True):
            assert [term.width for term in terms] == [variable.width for variable in variables]
    free = {
        term: variable
        for part in found
        for terms, variables in zip(part.terms, part.inputs, strict=True)
        for term, variable in zip(terms, variables, strict=True)
    }
    left = [node for node in operands_first(substitute(roots, free)) if node.op == "var"]
    assert left
    assert set(left) <= set(free.values())


def test_lanes_that_differ_are_not_prepared() -> None:
    a, b = words("a", 8), words("b", 8)
    roots = [(a[0] + 1) * b[0], (a[1] + 2) * b[1]]
    assert prepared({"a": a, "b": b}, roots) is None


def test_constants_belong_to_nobody() -> None:
    a, b = words("a", 8), words("b", 8)
    roots = [(x + 1).ult(const(7, 8)) & y[0] for x, y in zip(a, b, strict=True)]
    found = prepared({"a": a, "b": b}, roots)
    assert found is not None
    assert [own.terms for own in found] == [(tuple((x + 1).ult(7) for x in a),), (tuple(y[0] for y in b),)]
