"""What two words share, by bits of integers and by walks."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.language.terms import Term, operands_first, substitute, var, variables
from tcsmt.prove.engine.cones import Cones
from tcsmt.prove.engine.stage_by_stage import says_range
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
