"""Planted differences: pairs of graphs that differ on few inputs, or that only look different.

Every verdict, and every step of a proof, is held against all inputs, by the evaluator of the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest

from tcsmt.language.terms import Term
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.engine.stage_by_stage import StageByStage
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Verdict
from tests.oracles import terms, tiny
from tests.support.planted import planted, question

pytestmark = pytest.mark.usefixtures("no_luck")

#: Seconds for a query.
STEPS = 100_000


@dataclass(frozen=True)
class Planted:
    """A question about two traces with planted changes, and all inputs of its domain."""

    seed: str
    question: Question
    everything: tiny.Everything

    @classmethod
    def drawn(cls, seed: str, most: int) -> Planted:
        """One with at most so many inputs, and at least one."""
        rng = Random(seed)
        while True:
            left, right = cls._models(seed, rng)
            domain = tiny.some_domain(rng, left) if rng.random() < 0.5 else Domain(finite=rng.random() < 0.5)
            if left.input_formats != right.input_formats or not tiny.countable(left, domain):
                continue
            everything = tiny.Everything.of(left.input_formats, domain)
            if 0 < everything.count <= most:
                break
        row = {name: int(words[0]) for name, words in everything.some(rng, 1).items()}
        traces = [left.trace, planted(rng, right.trace, row)]
        if rng.random() < 0.5:
            traces.reverse()
        sides = [ComparedModel(name, left, trace) for name, trace in zip(("one", "two"), traces, strict=True)]
        return cls(seed, question(sides[0], sides[1], domain), everything)

    @staticmethod
    def _models(seed: str, rng: Random) -> tuple[Model, Model]:
        if seed.startswith("zeros"):
            return tiny.zeros_apart(rng)
        left = tiny.some_model(rng, FusedDotAdd if rng.random() < 0.6 else None)
        return left, left if seed.startswith("same") else tiny.mutated(rng, left)

    def rows(self, goal: Term) -> Iterator[dict[str, int]]:
        """Inputs of the domain at which a truth value is 1, one of each chunk that has any."""
        for columns in self.everything:
            rows = len(next(iter(columns.values())))
            found = np.flatnonzero(np.broadcast_to(terms.values([goal], columns)[0], rows))
            if found.size:
                yield {name: int(words[found[0]]) for name, words in columns.items()}

    def differs(self) -> dict[str, int] | None:
        """An input of the domain at which the outputs differ."""
        one, two = (side.trace.output for side in self.question.sides)
        return next(self.rows(one.ne(two)), None)

    def held(self, verdict: Verdict) -> str:
        """What was answered; an error where it is wrong."""
        witness = self.differs()
        match verdict:
            case Equivalent():
                assert witness is None, f"{self.seed}: called equal, and is not at {witness}"
                return "equal"
            case Distinguished():
                assert verdict.values in self.everything, f"{self.seed}: not in the domain"
                given = {name: np.array([word]) for name, word in verdict.values.items()}
                assert terms.values([self.question.goal], given)[0][0] == 1, f"{self.seed}: no witness"
                return "different"
        return f"unknown, {'equal' if witness is None else 'different'}"


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[StageByStage]:
    """Every sweep that the engine makes, as it is at its end."""
    found: list[StageByStage] = []
    run = StageByStage.run

    def remembered(sweep: StageByStage, deep: bool) -> Term:
        found.append(sweep)
        return run(sweep, deep)

    monkeypatch.setattr(StageByStage, "run", remembered)
    return found


def held_merges(case: Planted, sweeps: list[StageByStage]) -> int:
    """What was merged, and each fact that it rests on, is so on every input of the domain."""
    count = 0
    for sweep in sweeps:
        for theirs, ours in sweep.merged.items():
            wrong = next(case.rows(theirs.ne(ours)), None)
            assert wrong is None, f"{case.seed}: merged {theirs} with {ours}, which is not so at {wrong}"
            count += 1
        for fact in (*sweep.facts, *sweep.multiples.values()):
            wrong = next(case.rows(~fact), None)
            assert wrong is None, f"{case.seed}: a fact that is not so at {wrong}"
    sweeps.clear()
    return count


def compared(kind: str, seeds: range, most: int, sweeps: list[StageByStage]) -> Counter[str]:
    """How often the engine gave which answer; all of them right."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        case = Planted.drawn(f"{kind} {seed}", most)
        counts[case.held(decide(case.question, Solving(SolvingOptions(steps=STEPS))).verdict)] += 1
        counts["merged"] += held_merges(case, sweeps)
    print(f"{kind}: {dict(counts)}")
    return counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        ("any", range(3)),
        *(pytest.param(kind, range(6), marks=pytest.mark.long) for kind in ("same", "any", "zeros")),
    ],
)
def test_planted_differences_are_found(kind: str, seeds: range, sweeps: list[StageByStage]) -> None:
    counts = compared(kind, seeds, 1 << 11, sweeps)
    assert counts["merged"] and counts["different"]
    assert counts["equal"] or len(seeds) < 6


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("kind", ["same", "any", "zeros"])
def test_planted_differences_are_found_many(kind: str, part: int, sweeps: list[StageByStage]) -> None:
    compared(kind, range(1000 + 200 * part, 1200 + 200 * part), 1 << 15, sweeps)


# --- questions that are put to solvers as a whole, and at cuts -----------------------------------------


@pytest.mark.slow
def test_cuts_and_cases_of_planted_differences() -> None:
    """A proof at a stage counts only where what follows is the same; one by cases only if all are proved."""
    counts: Counter[str] = Counter()
    for seed in range(8):
        case = Planted.drawn(f"{('same', 'any')[seed % 2]} cut {seed}", 1 << 11)
        rng = Random(seed)
        inputs = case.question.sides[0].trace.inputs
        cases = tuple(x.eq(rng.choice((0, rng.getrandbits(x.width)))) for x in rng.sample(inputs, seed % 3))
        verdict = decide(replace(case.question, cases=cases), Solving(SolvingOptions(steps=STEPS))).verdict
        counts[case.held(verdict)] += 1
        counts["at a stage"] += isinstance(verdict, Equivalent) and bool(verdict.stage)
    print(dict(counts))
    assert counts["equal"] >= 1 and counts["different"] >= 1 and counts["at a stage"]
