"""Sums over one word at points of the others: LLVM and NumPy against integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tcsmt.language.run import jit
from tcsmt.language.run.sums import ArraySums, LlvmSums, LlvmWords, dependents
from tcsmt.language.terms import Term, const, operands_first, var
from tests.oracles.wordmath import Maker, Node, evaluate
from tests.support.computations import constructed

pytestmark = pytest.mark.skipif(not jit.available(), reason="the extra `fast` is not installed")
NAMES = ("x", "y", "z")


def computation(seed: int, widths: tuple[int, ...]) -> tuple[list[Node], list[Term]]:
    """Random nodes over some variables, and their terms."""
    made = Maker(random.Random(seed), 90)
    for name, width in zip(NAMES, widths, strict=True):
        made.add("var", width, data=name)
    for _ in range(25):
        made.step()
    terms: list[Term] = []
    for node in made.nodes:
        terms.append(constructed(node, [terms[place] for place in node.args]))
    return made.nodes, terms


@pytest.mark.parametrize(("seed", "widths"), list(enumerate([(5, 8, 4), (1, 32, 7), (20, 3, 1), (9, 11, 8)])))
def test_random_computations(seed: int, widths: tuple[int, int, int]) -> None:
    nodes, terms = computation(seed, widths)
    places = [place for place, term in enumerate(terms) if term.args and term.width <= 32][-6:]
    outer, inner = terms[:2], terms[2]
    rng = np.random.default_rng(seed)
    points = np.array([rng.integers(0, 1 << width, 7) for width in widths[:2]], dtype=np.uint32)
    values = [
        [evaluate(nodes, {"x": int(x), "y": int(y), "z": z}) for z in range(1 << widths[2])]
        for x, y in points.T
    ]
    expected = [[sum(row[place] for row in rows) % (1 << 32) for rows in values] for place in places]
    for kind in (LlvmSums, ArraySums):
        found = kind([terms[place] for place in places], outer, inner)(points)
        assert found.dtype == np.uint32
        assert found.tolist() == expected, kind


def test_words_of_points_in_a_sum() -> None:
    """A sum of which most parts depend on the point alone."""
    x, y, z = var("x", 8), var("y", 8), var("z", 6)
    points = np.array([[200, 1, 7], [9, 0, 255]], dtype=np.uint32)
    root = x + y + z.zext(8) + (x & y)
    expected = [sum((int(x) + int(y) + z + (int(x) & int(y))) % 256 for z in range(64)) for x, y in points.T]
    assert LlvmSums([root], [x, y], z)(points).tolist() == [expected]


def test_roots_of_points_alone() -> None:
    """A root without the inner word, a constant, and a variable that nothing depends on."""
    x, y, z = var("x", 8), var("y", 3), var("z", 6)
    points = np.array([[200, 1], [0, 7]], dtype=np.uint32)
    for kind in (LlvmSums, ArraySums):
        found = kind([x, const(1, 1), z.eq(5)], [x, y], z)(points)
        assert found.tolist() == [[64 * 200, 64], [64, 64], [1, 1]], kind
    assert LlvmSums([z.eq(5)], [x, y], z)(points[:, :0]).shape == (1, 0)


def test_words() -> None:
    nodes, terms = computation(5, (13, 32, 2))
    place = next(p for p in range(len(terms) - 1, 2, -1) if terms[p].args and terms[p].width <= 64)
    rng = np.random.default_rng(1)
    points = np.array([rng.integers(0, 1 << 13, 21), rng.integers(0, 1 << 32, 21), rng.integers(0, 4, 21)])
    found = LlvmWords(terms[place], terms[:3])(points.astype(np.uint32))
    assert found.tolist() == [
        evaluate(nodes, dict(zip(NAMES, map(int, point), strict=True)))[place] for point in points.T
    ]


def test_dependents() -> None:
    x, z = var("x", 8), var("z", 8)
    two, product = x + 2, (x + 2) * z
    assert dependents(operands_first([product]), z) == {z, product}
    assert two not in dependents(operands_first([product]), z)
