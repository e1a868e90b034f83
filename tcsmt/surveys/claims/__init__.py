"""Statements in the literature about matrix units, judged by measured results and proofs.

The claims are data (``published.toml``): a unit, and two hypotheses about it, the claimed one and
the one that it contradicts, each as changes of the unit's catalogue row or as a disputed row of it; or
integers and a K for which sums of products on the unit are said to be exact.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Any

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.largest import Exactness, exact
from tcsmt.analysis.exactness.programs import ProgramSubject
from tcsmt.analysis.exactness.search import Subject, UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.language.terms import Term, all_of
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.engine.engine import decide, finding_of
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.simulate.measured.datasets import Mismatch, Replay, explaining_row, objection, replay
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.properties.investigation import all_terms_zero, one_block

__all__ = ["DecidingRow", "Judgement", "PublishedClaim", "judge", "published"]


@dataclass(frozen=True, kw_only=True)
class PublishedClaim:
    """A statement about a unit.

    claimed, otherwise: parameters that differ from the unit's catalogue row where the statement
        holds, and where it does not.
    reading: in place of ``claimed``: the tag of the unit's disputed row (``tt-metal``) that has the model
        where the statement holds.
    tells_apart: None for a statement about hardware. True or False for one about tests: some
        input, or none, tells the two hypotheses apart.
    exact: of a statement that sums of products are exact: the largest magnitude of the integers
        (``integers``) and the number of products (``k``), all numbers of products up to it.
    algorithm: by which they are summed on the unit ("": in one chain of its instructions).
    evidence: what else is known that bears on it, and does not decide.
    """

    name: str
    source: str
    section: str
    statement: str
    unit: str
    claimed: Mapping[str, Any] = field(default_factory=dict)
    otherwise: Mapping[str, Any] = field(default_factory=dict)
    reading: str = ""
    tells_apart: bool | None = None
    exact: Mapping[str, int] | None = None
    algorithm: str = ""
    evidence: str = ""

    @property
    def row(self) -> Row:
        """Return the unit's catalogue row."""
        return row_named(self.unit)

    def model(self, *, holds: bool) -> Model:
        """Return the unit where the statement holds, or where it does not."""
        if self.reading and holds:
            return row_named(f"{self.unit}@{self.reading}").model
        parameters = self.claimed if holds else self.otherwise
        changes: dict[str, Any] = {name: None if v == "none" else v for name, v in parameters.items()}
        return self.row.model.replace(**changes)


@dataclass(frozen=True)
class DecidingRow:
    """A measured row on which a hypothesis differs from the hardware.

    hypothesis: ``claimed`` or ``otherwise``. mismatch: the row, the measured word and the hypothesis's.
    """

    dataset: DataSet
    hypothesis: str
    mismatch: Mismatch

    @classmethod
    def simplest(cls, hypothesis: str, replays: Iterable[Replay]) -> DecidingRow:
        """Return the row with the fewest words that are not zero, and of those with the fewest bits set."""

        def size(row: DecidingRow) -> tuple[int, int]:
            words = [row.mismatch.c, *row.mismatch.a, *row.mismatch.b]
            return sum(map(bool, words)), sum(word.bit_count() for word in words)

        return min((cls(one.dataset, hypothesis, row) for one in replays for row in one.examples), key=size)

    @property
    def _words(self) -> dict[str, str]:
        formats, row = self.dataset.formats, self.mismatch
        sides = zip("ab", (row.a, row.b), (formats.a, formats.b), strict=True)
        words = {f"{side}{n}": fmt.hex(w) for side, lanes, fmt in sides for n, w in enumerate(lanes) if w}
        return words | {"c": formats.c.hex(row.c)}

    def __str__(self) -> str:
        row, fmt = self.mismatch, self.dataset.formats.d
        inputs = " ".join(f"{name}={word}" for name, word in self._words.items())
        measured, got = (f"{fmt.hex(word)}, {fmt.describe(word)}" for word in (row.expected, row.got))
        return (
            f"row {row.row} of {self.dataset.name} decides: {inputs} (all others 0); measured: {measured}; "
            f"{self.hypothesis}: {got}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain data: inputs that are not zero, and both words."""
        fmt = self.dataset.formats.d
        words = {"measured": fmt.hex(self.mismatch.expected), self.hypothesis: fmt.hex(self.mismatch.got)}
        return {"dataset": self.dataset.name, "row": self.mismatch.row, "inputs": self._words} | words


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict: ``confirmed``, ``refuted`` or ``undecided``, and what decides.

    replays: data sets of the unit against both hypotheses. row: the simplest measured row that decides.
    finding: the solver's answer, where it was asked: its witness is the vector that would decide on hardware.
    exactness: of a statement about exact sums: up to where they are.
    """

    claim: PublishedClaim
    verdict: str
    why: str
    replays: tuple[tuple[Replay, Replay], ...] = ()
    finding: Finding | None = None
    exactness: Exactness | None = None
    row: DecidingRow | None = None

    def __str__(self) -> str:
        claim = self.claim
        lines = [
            f"{self.verdict.upper():<9}  {claim.name}: {claim.statement}",
            f"           {claim.source}, {claim.section}; {claim.unit}",
            f"           {self.why}",
        ]
        indent = " " * 11
        if claim.evidence:
            lines += wrap(claim.evidence.strip(), 100, initial_indent=indent, subsequent_indent=indent)
        if self.row is not None:
            lines += wrap(str(self.row), 100, initial_indent=indent, subsequent_indent=f"{indent}    ")
        if self.finding is not None:
            lines += [f"{indent}{line}" for line in str(self.finding).splitlines()[1:]]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        claim = self.claim
        return {
            "name": claim.name,
            "source": claim.source,
            "section": claim.section,
            "unit": claim.unit,
            "statement": claim.statement,
            "claimed": dict(claim.claimed),
            "otherwise": dict(claim.otherwise),
            "reading": claim.reading,
            "models": {
                claim.unit: claim.row.model.digest,
                "claimed": claim.model(holds=True).digest,
                "otherwise": claim.model(holds=False).digest,
            },
            "verdict": self.verdict,
            "why": self.why,
            "evidence": claim.evidence.strip(),
            "data": [
                {
                    "dataset": a.dataset.name,
                    "rows": a.rows,
                    "claimed": a.mismatches,
                    "otherwise": b.mismatches,
                }
                for a, b in self.replays
            ],
            "row": None if self.row is None else self.row.as_json(),
            "question": None if self.finding is None else self.finding.as_json(),
            "exactness": None if self.exactness is None else self.exactness.as_json(),
        }


def published() -> list[PublishedClaim]:
    """Every claim of the data file."""
    table = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
    return [PublishedClaim(name=name, **facts) for name, facts in table.items()]


def judge(claim: PublishedClaim, datasets: Iterable[DataSet], solving: Solving) -> Judgement:
    """Hold a claim against the data of its unit; where they do not decide, ask the solver."""
    if claim.tells_apart is not None:
        return _about_tests(claim, solving)
    if claim.exact is not None:
        return _about_sums(claim, claim.exact["integers"], claim.exact["k"], solving)
    holds, fails = claim.model(holds=True), claim.model(holds=False)
    pairs = tuple(
        (replay(dataset, holds, keep=dataset.rows), replay(dataset, fails, keep=dataset.rows))
        for dataset in datasets
        if _is_about(dataset, claim.row, holds)
    )
    wrong, wrong_otherwise = (sum(pair[side].mismatches for pair in pairs) for side in (0, 1))
    rows = sum(pair[0].rows for pair in pairs)
    names = ", ".join(pair[0].dataset.name for pair in pairs)
    if wrong:
        why = f"{wrong} of {rows} measured rows contradict it ({names})"
        if wrong_otherwise:
            why += f"; {wrong_otherwise} the opposite as it is written here"
        row = DecidingRow.simplest("claimed", (claimed for claimed, _ in pairs))
        return Judgement(claim, "refuted", why, pairs, row=row)
    if wrong_otherwise:
        why = f"all {rows} measured rows agree; {wrong_otherwise} contradict the opposite ({names})"
        row = DecidingRow.simplest("otherwise", (otherwise for _, otherwise in pairs))
        return Judgement(claim, "confirmed", why, pairs, row=row)
    finding = _asked(claim, solving)
    held = f"{rows} measured rows agree with both" if rows else "no measured rows are held"
    match finding.verdict:
        case Equivalent():
            why = f"{held}; proved: no input tells them apart"
        case Distinguished():
            why = f"{held}; the vector tells"
        case Unknown() as unknown:
            why = f"{held}; no vector found: {unknown.reason}"
    return Judgement(claim, "undecided", why, pairs, finding)


def _about_tests(claim: PublishedClaim, solving: Solving) -> Judgement:
    finding = _asked(claim, solving)
    match finding.verdict:
        case Unknown() as unknown:
            return Judgement(claim, "undecided", unknown.reason, (), finding)
        case Distinguished():
            holds, why = True, "the vector tells them apart"
        case Equivalent():
            holds, why = False, "proved: no input tells them apart"
    verdict = "confirmed" if holds == claim.tells_apart else "refuted"
    return Judgement(claim, verdict, why, (), finding)


def _about_sums(claim: PublishedClaim, limit: int, k: int, solving: Solving) -> Judgement:
    """Return whether sums of up to ``k`` products are exact: by proof, or by an input with no more
    products.
    """
    chain = StepwiseProof(solving)
    subject: Subject = UnitSubject(ExactUnit(chain, claim.row.model))
    if claim.algorithm:
        subject = ProgramSubject.of_algorithm(chain, algorithm_named(claim.algorithm, claim.row)[0])
    result = exact(subject, chain, integers=limit)
    if result.k >= k:
        return Judgement(claim, "confirmed", f"proved: up to K = {result.k}", exactness=result)
    if result.beyond is not None and result.beyond.k <= k:
        why = f"{result.beyond} (of the unit's model)"
        if result.k:
            why = f"proved up to K = {result.k}; {why}"
        return Judgement(claim, "refuted", why, exactness=result)
    return Judgement(claim, "undecided", f"proved up to K = {result.k}: {result.ends}", exactness=result)


def _asked(claim: PublishedClaim, solving: Solving) -> Finding:
    """Return whether some finite input tells the hypotheses apart: on one fused sum, where both are one."""
    holds, fails = claim.model(holds=True), claim.model(holds=False)
    changed = claim.claimed.keys() | claim.otherwise.keys()
    first, second = one_block(holds), one_block(fails)
    if first.k == second.k and "interleave" not in changed:
        holds, fails = first, second
    cases = (all_terms_zero(holds),) if "zero_exponent" in changed else ()
    if claim.reading:
        cases = (_one_product(holds),)  # a vector of one product, where there is one, is easier to run
    question = difference(claim.statement, ("claimed", holds), ("otherwise", fails), Domain(), cases=cases)
    return finding_of(decide(question, solving))


def _one_product(model: Model) -> Term:
    """Return whether the operands of every lane but the first are zero."""
    lanes = model.trace
    return all_of(word.eq(0) for word in (*lanes.a[1:], *lanes.b[1:]))


def _is_about(dataset: DataSet, row: Row, model: Model) -> bool:
    try:
        return explaining_row(dataset).name == row.name and not objection(dataset, model)
    except TcsmtError:
        return False
