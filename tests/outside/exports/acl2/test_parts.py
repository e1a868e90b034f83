"""Long functions as calls of short ones: the same values, and functions that lanes share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, expand, substitute, total, umax, var, variables
from tcsmt.language.write.acl2 import Acl2Writer, defined, variables_of
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.outside.exports.acl2.parts import Parts
from tests.support.acl2_text import Session
from tests.support.interpretations import MANY, Case, on_many_random_cases, on_random_cases, on_shapes


def session_of(
    roots: Sequence[Term], names: Sequence[str], cuts: Mapping[Term, str]
) -> tuple[Parts, Session]:
    """The roots as a list, a function ``f`` of the inputs and the cuts."""
    parts = Parts(Acl2Writer(variables_of(names)))
    bindings, results = parts.bindings(roots, cuts)
    session = Session()
    for text in parts.definitions:
        session.read(text)
    formals = [*parts.write.inputs.values(), *cuts.values()]
    session.read(defined("f", formals, bindings, f"(list {' '.join(results)})"))
    return parts, session


def check_parts(case: Case) -> None:
    """Every node has the value of the integers', in every row."""
    names = [str(x.data) for x in variables([*case.terms, *case.variables])]
    _, session = session_of(expand(case.terms), names, {})
    for row, words in enumerate(case.rows()):
        args = [words[name] for name in names]
        assert session.value(["f", *args], {}) == [column[row] for column in case.values], case.name


@pytest.mark.slow
def test_shapes() -> None:
    on_shapes(check_parts)


def test_random_computations() -> None:
    on_random_cases(check_parts, 12)


@pytest.mark.long
@pytest.mark.parametrize("steps", MANY)
def test_many_random_computations(steps: int) -> None:
    on_many_random_cases(check_parts, steps)


def lane(number: int, top: Term | None = None) -> Term:
    a, b = var(f"a{number}", 8), var(f"b{number}", 8)
    product = (a.zext(16) * b.zext(16)) ^ ~b.zext(16)
    return product if top is None else product >> (top - product)


def test_lanes_share_their_functions() -> None:
    top = umax(*(lane(number) for number in range(4)))
    (root,) = expand([total(*(lane(number, top) for number in range(4)))])
    names = [f"{side}{number}" for number in range(4) for side in "ab"]
    parts, session = session_of([root], names, {})
    assert len(parts.definitions) < 6  # a product, the maximum, a product below it, the sum
    rng = Random(1)
    for _ in range(20):
        words = {name: rng.getrandbits(8) for name in names}
        assert session.value(["f", *words.values()], {}) == evaluate([root], words)


def test_nothing_is_written_below_a_cut() -> None:
    """The value of a node that has a name is the name's, below it the other inputs are not met."""
    x, y = var("x", 8), var("y", 8)
    cut = (x * y) + x
    wide = cut.zext(16)
    root = (wide * wide) ^ (y.zext(16) - wide)
    for node in (cut, wide):
        parts, session = session_of([root, node], ["x", "y"], {node: "free-0"})
        free = var("free-0", node.width)
        for words in ({"x": 3, "y": 7, "free-0": 11}, {"x": 0, "y": 255, "free-0": 200}):
            expected = evaluate(substitute([root, node], {node: free}), words)
            assert session.value(["f", *words.values()], {}) == expected
        assert not any("(* x-" in text and "x-2" in text for text in parts.definitions)


def test_roots_that_are_inputs_constants_and_widened() -> None:
    x = var("x", 8)
    roots = [x, const(5, 8), x.zext(12), (x + const(1, 8)).zext(12), x + const(1, 8)]
    _, session = session_of(roots, ["x"], {})
    assert session.value(["f", 255], {}) == [255, 5, 255, 0, 0]


def test_a_unit_has_short_functions() -> None:
    """So that ACL2 has few variables in each: the unit in one function has 2,000 lines."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    (root,) = expand([model.trace.output])
    whole, _ = Acl2Writer(variables_of(model.input_names)).bindings([root], {})
    parts, session = session_of([root], model.input_names, {})
    lines = [len(re.findall(r"\(w-\d+ ", text)) for text in parts.definitions]
    assert max(lines) < len(whole) / 5
    rng = Random(2)
    for _ in range(5):
        words = {name: rng.getrandbits(fmt.width) for name, fmt in model.input_formats.items()}
        args = [words[name] for name in model.input_names]
        assert session.value(["f", *args], {}) == evaluate([root], words)
