"""Questions in advance: what is told apart is recounted from the candidates' own answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from tcsmt.identification.units import plan
from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import COLUMNS, Family
from tcsmt.identification.units.plan import (
    Candidates,
    PlanNode,
    candidates,
    catalogue_members,
    decision_tree,
    fixed_set,
)
from tcsmt.identification.units.questions import Questions
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.support.invariants import not_none
from tests.support.families import family_like

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
FAMILY = Family.of((FORMATS[name] for name in ("e2m1", "e2m1", "f16", "f16")), 1)


@pytest.fixture(autouse=True)
def few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools that are quick to look through."""
    monkeypatch.setattr(plan, "PLAIN", 60)
    monkeypatch.setattr(plan, "POOL", 120)


@pytest.fixture(scope="module")
def near() -> Candidates:
    return candidates(FAMILY)


def test_units_of_the_catalogue() -> None:
    """Each arithmetic once; none of other formats or K."""
    family = family_like(VOLTA)
    found = catalogue_members(family)
    assert any(name.startswith("volta/") for name in found)
    assert (next(iter(found.values())) == not_none(family.row(VOLTA))).all()
    assert len({tuple(row.tolist()) for row in found.values()}) == len(found)
    for name, row in found.items():
        model = row_named(name).model
        assert (not_none(family.row(model)) == row).all()
    assert catalogue_members(FAMILY) == {}


def test_candidates_are_one_column_apart(near: Candidates) -> None:
    """From the row that they are listed with; none is there twice, nor a row that a range makes equal."""
    assert near.names == ["a plain unit"]
    assert len(np.unique(canonical(FAMILY, near.table), axis=0)) == len(near.table) > 30
    for row, of, column in zip(near.table, near.of, near.column, strict=True):
        differing = np.flatnonzero(row != near.table[of])
        assert differing[:1].tolist() == ([column] if column >= 0 else [])
    rows = np.flatnonzero(near.column == COLUMNS.index("rounding"))
    assert near.changed(rows) == ["rounding"] and near.changed(rows[:0]) == []
    assert set(near.changed(np.arange(len(near.table)))) >= {"rounding", "fraction_bits", "zero_exponent"}


def classes(near: Candidates, asked: Questions) -> int:
    return len(np.unique(predictions(FAMILY, near.table, asked), axis=0))


@pytest.mark.slow
def test_each_question_of_a_fixed_set_tells_more_apart(near: Candidates) -> None:
    """Classes are sets with the same answers; more are told apart with each question of the second part."""
    chosen = fixed_set(FAMILY, near, np.random.default_rng(1), 18)
    assert 14 <= len(chosen) <= 18
    before = np.zeros(len(near.table), bool)
    for number in range(len(chosen)):
        asked = Questions.joined([one.question for one in chosen[: number + 1]])
        assert chosen[number].classes == classes(near, asked)
        answers = predictions(FAMILY, near.table, asked)
        apart = (answers != answers[near.of]).any(axis=1)
        assert chosen[number].decides == near.changed(np.flatnonzero(apart & ~before))
        before = apart
    counts = [one.classes for one in chosen]
    assert counts == sorted(counts)
    assert all(one < two for one, two in pairwise(counts[13:]))
    few = fixed_set(FAMILY, near, np.random.default_rng(1), 3)
    assert [one.classes for one in few] == counts[:3]


def leaves(
    node: PlanNode, path: tuple[tuple[Questions, int], ...] = ()
) -> Iterator[tuple[PlanNode, tuple[tuple[Questions, int], ...]]]:
    if node.question is None:
        yield node, path
    for word, child in node.answers.items():
        assert node.question is not None
        yield from leaves(child, (*path, (node.question, word)))


def test_every_candidate_lies_in_the_leaf_of_its_answers(near: Candidates) -> None:
    """Every candidate lies in the leaf to which its own answers lead, and nowhere else."""
    tree = decision_tree(FAMILY, near, np.random.default_rng(1))
    found = list(leaves(tree))
    assert sorted(number for leaf, _ in found for number in leaf.rows.tolist()) == list(
        range(len(near.table))
    )
    for leaf, path in found:
        for question, word in path:
            assert (predictions(FAMILY, near.table[leaf.rows], question)[:, 0] == word).all()
    assert tree.leaves == len(found)
    assert tree.depth == max(len(path) for _, path in found)
    total = sum(len(leaf.rows) * len(path) for leaf, path in found)
    assert tree.expected == pytest.approx(total / len(near.table))
    assert tree.decides and set(tree.decides) <= set(COLUMNS)
    alone = PlanNode(np.array([3]))
    assert (alone.depth, alone.expected, alone.leaves) == (0, 0.0, 1)
