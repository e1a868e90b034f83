"""Words that look alike: what is offered has a node's values on every row, and what must be found is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, operands_first, substitute, total, umax, var, variables
from tcsmt.prove.engine.candidate_equalities import (
    CandidateEqualities,
    Cones,
    PartialSums,
    Values,
    extended_number,
    maximum,
    values_of,
)
from tcsmt.prove.engine.stage_by_stage import says_range
from tests.oracles import terms
from tests.oracles.wordmath import described
from tests.support.computations import constructed


def graph(seed: int) -> list[Term]:
    nodes: list[Term] = []
    for node in described(Random(seed), 60, 20):
        made = var(f"v{len(nodes)}", node.width) if node.op == "var" else None
        nodes.append(made or constructed(node, [nodes[place] for place in node.args]))
    return nodes


@pytest.mark.parametrize("seed", range(12))
def test_the_edge_is_what_separates_what_is_shared(seed: int) -> None:
    nodes, rng = graph(seed), Random(seed)
    cones = Cones()
    for _ in range(40):
        one, two = rng.choice(nodes[-15:]), rng.choice(nodes[-15:])
        shared = set(operands_first([one])) & set(operands_first([two]))
        edge = cones.edge(one, two)
        assert set(edge) <= shared
        assert not any(node.value is not None or says_range(node) for node in edge)
        assert len(edge) == len(set(edge))
        # with the edge free, no input is left, and what is left of what is shared says where words lie
        free = {node: var(f"free {place}", node.width) for place, node in enumerate(edge)}
        rest = substitute([one, two], free)
        assert {str(v.data) for v in variables(rest)} <= {str(v.data) for v in free.values()} | {
            str(v.data) for v in variables([one, two]) if v not in shared
        }


def test_order_is_of_a_walk() -> None:
    """Words of other lanes give the same query."""
    first, second = ([var(f"{name}{lane}", 8) for name in "xyz"] for lane in (1, 2))
    scripts = []
    for x, y, z in (first, second):
        one, two = (x * y) + (z ^ x), (z ^ x) - -(x * y)
        scripts.append([node.op for node in Cones().edge(one, two)])
    assert scripts[0] == scripts[1]
    assert sorted(scripts[0]) == ["mul", "xor"]


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


Z = var("z", 8)
SUM = total(X.sext(11), Y.sext(11), Z.sext(11))


def same(one: Term, two: Term, seed: int = 0) -> bool:
    rng = Random(seed)
    rows = [
        {name: rng.choice((0, 1, 127, 128, 255, rng.randrange(256))) for name in "xyz"} for _ in range(300)
    ]
    return all(left == right for left, right in (evaluate([one, two], row) for row in rows))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (
            X.ult(Y).ite(Y, X),
            umax(X, Y),
        ),
        (
            X.zext(12).ult(Y.zext(12)).ite(Y.zext(12), X.zext(12)),
            umax(X, Y).zext(12),
        ),
        (
            X.zext(12).ult(umax(Y, Z).zext(12)).ite(umax(Y, Z).zext(12), X.zext(12)),
            umax(X, umax(Y, Z)).zext(12),
        ),
        (
            X[3:0].zext(12).ult(Y.zext(12)).ite(Y.zext(12), X[3:0].zext(12)),
            umax(X[3:0].zext(8), Y).zext(12),
        ),
        (
            X.ult(Y).ite(X, Y),
            None,
        ),  # the smaller one
        (X.slt(Y).ite(Y, X), None),
        (X.ult(Z).ite(Y, X), None),
    ],
)
def test_maximum(node: Term, expected: Term | None) -> None:
    assert maximum(node) is expected
    assert expected is None or same(node, expected)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X.zext(12) ^ 128, X.sext(12) + 128),
        (SUM[7:0].zext(20) ^ 128, SUM[7:0].sext(20) + 128),
        (X.zext(12) ^ 64, None),
        (X.zext(12) ^ Y.zext(12), None),
        (X ^ 128, None),
    ],
)
def test_extended_number(node: Term, expected: Term | None) -> None:
    assert extended_number(node) is expected
    assert expected is None or same(node, expected)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X.sext(16) + Z.sext(16), (X.sext(11) + Z.sext(11)).sext(16)),
        (X.sext(9) + Z.sext(9), (X.sext(11) + Z.sext(11))[8:0]),
        (
            (X.sext(11) + Z.sext(11)).sext(16) + Y.sext(16),
            total(X.sext(11) + Z.sext(11), Y.sext(11)).sext(16),
        ),
        (
            (X.sext(11) + Y.sext(11))[8:0].sext(16),
            (X.sext(11) + Y.sext(11)).sext(16),
        ),
        (X.sext(16) + X.sext(16), None),  # there is one of it
        (X.sext(16) + const(3, 16), None),
        ((X & Y).sext(16) + Z.sext(16), None),
        (X.sext(16) - Z.sext(16), None),
    ],
)
def test_sums(node: Term, expected: Term | None) -> None:
    sums = PartialSums()
    sums.add([X, X.sext(11), X + Y, SUM])
    assert sums.of(node) is expected
    assert expected is None or same(node, expected)


def test_a_sum_is_found_as_it_grows() -> None:
    """Two words at a time, wider than they need be, in another order: the sum of all in the end."""
    words = [var(f"w{place}", 6) for place in range(7)]
    whole = total(*(word.sext(9) for word in words))
    sums = PartialSums()
    sums.add([whole])
    stranger = words[3].sext(32)
    for place in (5, 0, 1, 6, 2, 4):
        step = sums.of(stranger + words[place].sext(32))
        assert step is not None and step.width == 32
        assert step.op == "sext" and step.args[0].op == "add" and step.args[0].width == 9
        stranger = step
    rng = Random(1)
    for _ in range(100):
        one, two = evaluate(
            [stranger, whole.sext(32)], {f"w{place}": rng.randrange(64) for place in range(7)}
        )
        assert one == two
