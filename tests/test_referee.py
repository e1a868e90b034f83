"""Every verdict on tiny models against all their inputs, by an oracle that shares no code with them.

The engine's search for witnesses is switched off: what is tested are proofs, and witnesses of solvers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from random import Random
from typing import Any

import pytest
from oracles import exact, solving, tiny

from tcsmt import engine, query
from tcsmt.engine import compare_models
from tcsmt.errors import TcsmtError
from tcsmt.models import Model
from tcsmt.query import Distinguished, Domain, Equivalent, Solving, Verdict
from tcsmt.solvers.run import Settings

#: Seconds for a query: on such models the answer takes milliseconds, or it would take minutes.
TIMEOUT = 2.0


@pytest.fixture(autouse=True)
def no_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """No witness by search; solvers in this process."""
    monkeypatch.setattr(engine, "search", lambda question: None)
    monkeypatch.setattr(query, "solve", solving.solve)


# --- compare ---------------------------------------------------------------------------------------


def changes(left: Model, right: Model) -> str:
    """What the second model has otherwise."""
    if type(left) is not type(right):
        return str(right)
    values = ((one.name, getattr(left, one.name), getattr(right, one.name)) for one in fields(left))
    return ", ".join(f"{name} = {new!r}" for name, old, new in values if old != new)


@dataclass(frozen=True)
class Case:
    """Two models, a domain, and all inputs in it."""

    seed: int
    left: Model
    right: Model
    domain: Domain
    lanes: int | None
    everything: tiny.Everything

    def __str__(self) -> str:
        lanes = "" if self.lanes is None else f", {self.lanes} lanes"
        other = changes(self.left, self.right)
        return f"seed {self.seed}: {self.left}, against {other}, on {self.domain!r}{lanes}"

    @classmethod
    def drawn(cls, seed: int, most: int) -> Case:
        """One with at most so many inputs."""
        rng = Random(f"compare {seed}")
        while True:
            left = tiny.some_model(rng)
            right = tiny.mutated(rng, left) if rng.random() < 0.95 else left
            domain = tiny.some_domain(rng, left)
            lanes = rng.randint(1, left.k) if rng.random() < 0.15 else None
            fixed = {f"{side}{lane}": 0 for side in "ab" for lane in range(lanes or left.k, left.k)}
            if left.input_formats == right.input_formats and tiny.countable(left, domain):
                everything = tiny.Everything.of(left.input_formats, domain, fixed)
                if everything.count <= most:
                    return cls(seed, left, right, domain, lanes, everything)

    def difference(self) -> dict[str, int] | None:
        """An input at which the oracle gives two words."""
        for columns in self.everything:
            places = (exact.results(self.left, columns) != exact.results(self.right, columns)).nonzero()[0]
            if places.size:
                return {name: int(words[places[0]]) for name, words in columns.items()}
        return None

    def differs(self, values: dict[str, int]) -> bool:
        """Whether the oracle gives two words at this input."""
        columns = {name: exact.np.array([word]) for name, word in values.items()}
        return bool((exact.results(self.left, columns) != exact.results(self.right, columns))[0])

    def verdict(self) -> Verdict | None:
        """The engine's; None where it says that the domain is empty."""
        sides: Any = (("left", self.left), ("right", self.right))
        solving = Solving(Settings(timeout=TIMEOUT))
        try:
            return compare_models(*sides, self.domain, solving, lanes=self.lanes).verdict
        except TcsmtError as error:
            if "the domain is empty" in str(error):
                return None
            raise

    def judged(self) -> str:
        """What was answered; an error where it is wrong."""
        verdict = self.verdict()
        match verdict:
            case None:
                assert self.everything.count == 0, f"there are inputs: {self}"
                return "empty"
            case Equivalent():
                assert self.difference() is None, f"proved equal, and is not at {self.difference()}: {self}"
                return "equal, by a proof" if verdict.scripts else "equal, the same graph"
            case Distinguished():
                values = dict(verdict.values)
                assert values in self.everything, f"{values} does not lie in the domain: {self}"
                assert self.differs(values), f"{values} is no witness: {self}"
                return "different"
        return "unknown, equal" if self.difference() is None else "unknown, different"


def refereed(seeds: range, most: int) -> Counter[str]:
    """How often which answer was given; all of them right."""
    counts = Counter(Case.drawn(seed, most).judged() for seed in seeds)
    print(f"compare: {dict(counts)}")
    return counts


def test_compare() -> None:
    counts = refereed(range(40), 1 << 14)
    assert counts["equal, by a proof"] >= 8 and counts["equal, the same graph"] and counts["different"] >= 8


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_compare_many(part: int) -> None:
    refereed(range(1000 + 200 * part, 1200 + 200 * part), 1 << 20)
