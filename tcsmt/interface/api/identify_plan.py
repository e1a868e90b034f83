"""Questions in advance, for a black box on another machine: a set of them, or a decision tree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tcsmt.identification.units.plan import candidates, decision_tree, fixed_set
from tcsmt.identification.units.report import set_data, tree_data
from tcsmt.interface.api.black_boxes import BoxShape
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.support.errors import choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result, json_text
from tcsmt.support.text import counted

#: Kinds of plans: all questions at once, or each by the answers to those before.
Plan = Literal["set", "tree"]
PLANS: tuple[Plan, ...] = get_args(Plan)


@dataclass(frozen=True, repr=False)
class IdentifyPlan(Result):
    """Questions that tell the likely models of a black box apart; its text is a JSON document.

    kind: ``set``, which ``tcsmt.probe(UNIT, vectors=FILE)`` reads, or ``tree``. facts: the document.
    """

    kind: str
    facts: Mapping[str, Any]

    @property
    def hypotheses(self) -> int:
        """Return the models: units of the catalogue of these formats and K, and changes of one parameter."""
        return int(self.facts["hypotheses"])

    @property
    def told_apart(self) -> int:
        """Classes of models that the answers would tell apart."""
        return int(self.facts["told_apart"])

    def as_json(self) -> dict[str, Any]:
        """As plain data. A set is a file of rows, which does not say which version wrote it."""
        return dict(self.facts) if self.kind == "set" else super().as_json()

    def _facts(self) -> dict[str, Any]:
        return dict(self.facts)

    def _lines(self) -> Iterator[str]:
        if self.kind == "tree":
            yield json_text(self._facts())
            return
        head = {name: value for name, value in self.facts.items() if name != "rows"}
        rows = ",\n".join(map(json.dumps, self.facts["rows"]))
        yield f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}'

    @property
    def _title(self) -> str:
        return f"a {self.kind}: {self.told_apart} of {counted(self.hypotheses, 'hypothesis')} told apart"


@ieee_floats
def identify_plan(
    kind: Plan = "set",
    *,
    like: UnitLike | None = None,
    formats: Sequence[str] | None = None,
    k: int | None = None,
    budget: int = 60,
    seed: int = 1,
) -> IdentifyPlan:
    """Questions for a black box that is asked elsewhere; nothing is asked. Only of fused dot-adds.

    ``set``: questions for a program that asks all of them (``tcsmt.probe(UNIT, vectors=FILE)``), whose
    answers :func:`tcsmt.identify` goes on from (``answers=``); ``tree``: a question, and for each answer the
    next one.

    Args:
        kind: Print the questions in advance; ask nothing.
        like: A unit with the box's formats and K.
        formats: Those of a, b, c and d.
        k: Products.
        budget: Questions of a set at most.
        seed: Seed of the random questions.

    Raises :class:`tcsmt.TcsmtError` for another kind, and for formats that no fused dot-add has.

    >>> import tcsmt
    >>> plan = tcsmt.identify_plan(formats=["e2m1", "e2m1", "f16", "f16"], k=1, budget=5)
    >>> len(plan.as_json()["rows"])
    5
    """
    shape = BoxShape.of(like, formats, k)
    family = shape.fused("a plan")
    near, random = candidates(family), np.random.default_rng(seed)
    if choose("plan", kind, PLANS) == "set":
        name = None if like is None else side_of(like).row.name
        return IdentifyPlan(kind, set_data(family, name, near, fixed_set(family, near, random, budget)))
    node = decision_tree(family, near, random)
    facts = {
        "of": near.names,
        "hypotheses": len(near.table),
        "told_apart": node.leaves,
        "depth": node.depth,
        "expected": round(node.expected, 2),
    }
    return IdentifyPlan(kind, facts | {"tree": tree_data(family, near, node)})
