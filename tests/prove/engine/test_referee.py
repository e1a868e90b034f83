"""Every verdict on tiny models against all their inputs, by an oracle that shares no code with them.

The engine's search for witnesses is switched off: what is tested are proofs, and witnesses of solvers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from random import Random

import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.question import ComparedModel
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Verdict
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.properties.discovery import LoadedProperty, load, properties
from tcsmt.surveys.properties.investigation import Investigation
from tests.oracles import exact, terms, tiny
from tests.support.sampling import one_in

#: Seconds for a query: on such models the answer takes milliseconds, or it would take minutes.
STEPS = 100_000


pytestmark = pytest.mark.usefixtures("no_luck")


# --- compare ---------------------------------------------------------------------------------------


def changes(left: Model, right: Model) -> str:
    """What the second model has otherwise."""
    if type(left) is not type(right):
        return str(right)
    values = (
        (f.name, getattr(left.parameters, f.name), getattr(right.parameters, f.name))
        for f in fields(left.table())
    )
    return ", ".join(f"{name} = {new!r}" for name, old, new in values if old != new)


@dataclass(frozen=True)
class Case:
    """Two models, a domain, and all inputs in it."""

    seed: str
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
    def drawn(cls, seed: str, most: int) -> Case:
        """One with at most so many inputs."""
        rng = Random(seed)
        while True:
            left = tiny.some_model(rng)
            right = tiny.mutated(rng, left) if rng.random() < 0.95 else left
            if seed.startswith("zeros"):
                left, right = tiny.zeros_apart(rng)
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
        columns = {name: np.array([word]) for name, word in values.items()}
        return bool((exact.results(self.left, columns) != exact.results(self.right, columns))[0])

    def verdict(self) -> Verdict | None:
        """The engine's; None where it says that the domain is empty."""
        left, right = ("left", self.left), ("right", self.right)
        solving = Solving(SolvingOptions(steps=STEPS))
        try:
            return compare_models(left, right, self.domain, solving, lanes=self.lanes).verdict
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


def refereed(kind: str, seeds: range, most: int) -> Counter[str]:
    """How often which answer was given; all of them right."""
    counts = Counter(Case.drawn(f"{kind} {seed}", most).judged() for seed in seeds)
    print(f"compare, {kind}: {dict(counts)}")
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 30), marks=pytest.mark.long)], ids=str)
def test_compare(seeds: range) -> None:
    counts = refereed("any", seeds, 1 << 13)
    assert counts["equal, by a proof"] >= 3 and counts["equal, the same graph"] and counts["different"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 8), marks=pytest.mark.long)], ids=str)
def test_compare_zeros(seeds: range) -> None:
    """Proofs by grids and by cases, the longest arguments that the engine has."""
    counts = refereed("zeros", seeds, 1 << 12)
    assert counts["equal, by a proof"] >= 1


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", ["any", "zeros"])
def test_compare_many(kind: str, part: int) -> None:
    refereed(kind, range(1000 + 200 * part, 1200 + 200 * part), 1 << 18)


# --- find ------------------------------------------------------------------------------------------


def words_of(formats: Mapping[str, Format]) -> tiny.Everything:
    """Every word of every input."""
    return tiny.Everything.of(formats, Domain(finite=False))


def held_side(side: ComparedModel, columns: tiny.Columns) -> None:
    """A side's graph gives what its model gives, by the oracle."""
    rows = len(next(iter(columns.values())))
    given = [np.broadcast_to(word, rows) for word in terms.values(side.trace.inputs, columns)]
    inputs = {n: w.astype(np.int64) for n, w in zip(side.model.input_formats, given, strict=True)}
    output = np.broadcast_to(terms.values([side.trace.output], columns)[0], rows).astype(np.int64)
    assert np.array_equal(output, exact.results(side.model, inputs)), (side.label, side.model)


def held_finding(finding: Finding, most: int) -> str:
    """A question's verdict against all its inputs; what it was."""
    question, verdict = finding.question, finding.verdict
    everything = words_of(question.formats)
    if everything.count > most:
        return "too many inputs"
    holds = []
    for columns in everything:
        for side in question.sides:
            if exact.describes(side.model):
                held_side(side, columns)
        (goal,) = terms.values([question.goal], columns)
        holds += [{n: int(w[row]) for n, w in columns.items()} for row in np.flatnonzero(goal)[:1]]
    match verdict:
        case Equivalent():
            assert not holds, f"{question.title}: proved, and false at {holds[0]}"
            return "proved"
        case Distinguished():
            columns = {name: np.array([word]) for name, word in verdict.values.items()}
            assert terms.values([question.goal], columns)[0][0] == 1, f"{question.title}: no witness"
            return "witness"
    assert "replay" not in verdict.reason, verdict
    return "unknown"


def tiny_row(rng: Random, bits: int, prop: LoadedProperty) -> Row:
    """A catalogue row of a tiny fused unit with so many bits of input, to which the property applies."""
    while True:
        model = tiny.some_model(rng, FusedDotAdd, narrow=True)
        if sum(fmt.width for fmt in model.input_formats.values()) <= bits:
            row = Row(
                architecture="tiny", instruction=f"k{model.k}", model=model, source="drawn", date=2025,
                evidence="conjectured",
            )  # fmt: skip
            if not prop.objection(row):
                return row


def found(name: str, first: int, rows: int, bits: int) -> Counter[str]:
    """A property of so many tiny rows: each finding held against all inputs of its question."""
    counts: Counter[str] = Counter()
    prop = load(name)
    for seed in range(first, first + 10 * rows):
        rng = Random(f"find {name} {seed}")
        row = tiny_row(rng, bits - FEWER.get(name, 0), prop)
        ask = Investigation(row, Solving(SolvingOptions(steps=STEPS)))
        try:
            prop.investigate(ask)
        except TcsmtError as error:  # the variant that is asked about contradicts the row
            if ": must be " not in str(error):
                raise
        counts.update(held_finding(finding, 1 << (bits + 5)) for finding in ask.findings)
        rows -= bool(ask.findings)
        if not rows:
            break
    print(f"{name}: {dict(counts)}")
    return counts


#: They ask about FP16, TF32, or four lanes and more: more words than can be tried.
NOT_TINY = ("exact-sum-f16", "tf32-truncation", "interleaving")
#: Bits fewer for the row, of those that ask about more inputs than it has.
FEWER = {"block-size": 2, "monotonicity": 2}
FOUND = [name for name in properties() if name not in NOT_TINY]


#: What takes a while.
SLOW = ("accumulation-order", "accumulator-rounding")


@pytest.mark.parametrize(
    "name",
    [
        *one_in(6, (name for name in FOUND if name not in SLOW)),
        *(pytest.param(name, marks=pytest.mark.long) for name in SLOW),
    ],
)
@pytest.mark.slow_cases("block-size")
def test_find(name: str) -> None:
    counts = found(name, 0, 1, 12)
    assert counts["proved"] + counts["witness"]


@pytest.mark.long
@pytest.mark.parametrize("name", FOUND)
def test_find_many(name: str) -> None:
    found(name, 100, 40, 16)
