"""Words that look alike: what is offered has a node's values on every row, and what must be found is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tcsmt.language.terms import Term, const, operands_first, total, var
from tcsmt.prove.engine.candidate_equalities import CandidateEqualities, Values, values_of
from tests.oracles import terms
from tests.oracles.wordmath import described
from tests.support.computations import constructed

X, Y = var("x", 8), var("y", 8)
ROWS = {"x": np.arange(256) * 37 % 256, "y": np.arange(256) * 91 % 251}


def offered(node: Term, *ours: Term) -> list[Term]:
    nodes = operands_first([node, *ours])
    alike = CandidateEqualities(values_of(nodes, ROWS))
    alike.add(operands_first(ours))
    return list(alike.to(node))


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        (X * Y, Y * X + 0, X * Y),
        ((X * Y).zext(12), X * Y, (X * Y).zext(12)),
        ((X * Y).sext(12), X * Y, (X * Y).sext(12)),
        ((X ^ Y).zext(12) << 3, X ^ Y, (X ^ Y).zext(9).concat(const(0, 3))),
        ((X ^ Y) << 2, (X ^ Y).zext(10) << 2, None),  # other bits are cut off
        (X.zext(9) + 100, X, X.zext(9) + 100),
        ((X[6:0].zext(9) << 1) + 5, X[6:0], None),  # twice as steep
        ((X & 0x7F) * 1 + 3, X[6:0], X[6:0].zext(8) + 3),
    ],
)
def test_known_words_are_found_extended_and_shifted(theirs: Term, ours: Term, expected: Term | None) -> None:
    found = offered(theirs, ours)
    assert (expected in found) if expected is not None else not found
    assert all(one.width == theirs.width for one in found)


@pytest.mark.parametrize("seed", range(4))
def test_offered_candidates_have_the_same_values(seed: int) -> None:
    """On the rows, by arrays that share nothing with the program; of random graphs."""
    rng = Random(seed)
    nodes: list[Term] = [X, Y, X.sext(12), Y.zext(12), X.zext(70) << 60]
    for node in described(rng, 40, 60):
        if node.op == "var":
            nodes.append(
                rng.choice((X, Y, X ^ Y)).sext(node.width) if node.width > 8 else X[node.width - 1 : 0]
            )
        else:
            start = len(nodes) - (len(nodes) - 5)
            nodes.append(constructed(node, [nodes[start + place] for place in node.args]))
    every = operands_first(nodes)
    alike = CandidateEqualities(values_of(every, ROWS))
    alike.add(every)
    count = 0
    for term in every:
        for other in alike.to(term):
            one, two = terms.values([term, other], ROWS)
            assert np.array_equal(np.broadcast_to(one, 256), np.broadcast_to(two, 256)), (term, other)
            count += other is not term
    assert count >= 3


def test_constants_and_short_words_are_not_offered() -> None:
    zero = (X ^ Y) & (X ^ ~Y) & X & Y  # on every row, though not by the constructors
    assert offered(X[1:0], X[1:0]) == []
    assert offered(zero.zext(9), zero) == []
    assert offered(X, const(7, 8)) == []


def test_few_candidates_are_offered_the_simplest_first() -> None:
    ours = [total(X.zext(9), const(n, 9)) for n in range(9)]
    found = offered(X.zext(9) + 20, *ours)
    assert found == [X.zext(9) + 20]  # all of them are the same word, said once
    words = [X.zext(9 + n) for n in range(9)]
    assert offered(X.zext(30), *words)[0] is X.zext(30)
    assert len(offered(X.zext(30) * 1 + 0, *words)) <= 6


@pytest.mark.parametrize("width", [8, 62, 63, 64, 100])
def test_values_as_numbers(width: int) -> None:
    """In two's complement, at widths that NumPy has no integers for too."""
    words = [0, 1, (1 << (width - 1)) - 1, 1 << (width - 1), (1 << width) - 1]
    found = Values.of(width, np.array(words, object))
    assert [int(word) for word in found.unsigned] == words
    assert [int(word) for word in found.signed] == [0, 1, words[2], -(1 << (width - 1)), -1]
    assert not found.constant
    assert Values.of(width, np.array([5, 5, 5], object)).constant


@pytest.mark.parametrize(
    ("words", "zeros"), [([8, 24, 0], 3), ([1, 2], 0), ([0, 0], 0), ([1 << 70, 1 << 66], 66)]
)
def test_low_bits_that_are_zero_on_every_row(words: list[int], zeros: int) -> None:
    assert Values.of(80, np.array(words, object)).zeros == zeros
    if max(words) < 1 << 40:
        assert Values.of(40, np.array(words)).zeros == zeros
