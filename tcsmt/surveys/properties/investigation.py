"""Claims, an investigation to ask in, and its report; property modules see ``tcsmt.investigation``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, all_of
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, float_format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, Kind, Model
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.engine.engine import Decision, decide
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.question import Question, difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.invariants import checked_cast
from tcsmt.support.results import Result


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A published statement about the property."""

    source: str
    section: str
    statement: str


def one_block(model: Model) -> Model:
    """One fused sum of the unit by itself: k = N_FMA, c aligned as usual.

    On hardware the other lanes are zero; a zero block passes the result on unchanged.
    """
    if isinstance(model, FusedDotAdd):
        return model.replace(k=model.lanes.n_fma, interleave=0, order=None)
    return model


def cannot_become(model: Model, **parameters: Any) -> str:
    """Why no unit has these parameters with the model's others; empty where one has."""
    try:
        one_block(model).replace(**parameters)
    except TcsmtError as why:
        return str(why)
    return ""


def all_terms_zero(unit: Model) -> Term:
    """Return whether every product and c are zero: a case by itself where the zeros' exponent is in
    question.
    """
    products = [s.term.eq(0) for s in unit.trace.of(Kind.PRODUCT)]
    return all_of([*products, decode(float_format(unit.c_format), unit.trace.c).significand.eq(0)])


def ieee_like(unit: Model, **parameters: Any) -> IeeeDotAdd:
    """A dot product by IEEE operations with the unit's formats and NaN; other parameters as given.

    Sums are in FP32 unless ``sum_format`` says otherwise.
    """
    chosen: dict[str, Any] = {
        "a_format": unit.a_format,
        "b_format": unit.b_format,
        "c_format": unit.c_format,
        "d_format": unit.d_format,
        "k": unit.k,
        "sum_format": FORMATS["f32"],
    }
    if isinstance(unit, FusedDotAdd):
        chosen["nan"] = unit.nan_word
    return IeeeDotAdd.of(**(chosen | parameters))


def concluded(verdict: Verdict, present: str, absent: str, question: str) -> str:
    """Return what follows from a verdict: ``present`` from an input, ``absent`` from a proof that there is
    none.

    question: what stays unknown without either, as "it can be seen".
    """
    match verdict:
        case Distinguished():
            return present
        case Equivalent():
            return absent
        case Unknown():
            return f"unknown whether {question}"


@dataclass(frozen=True)
class Groups:
    """Names of what was compared, by the verdict on each: told apart, proved the same, not known."""

    told: tuple[str, ...]
    same: tuple[str, ...]
    open: tuple[str, ...]

    @classmethod
    def of(cls, verdicts: Mapping[str, Verdict]) -> Groups:
        """Sorted by their verdicts."""
        kinds = (Distinguished, Equivalent, Unknown)
        return cls(*(tuple(n for n, v in verdicts.items() if isinstance(v, kind)) for kind in kinds))

    @property
    def rest(self) -> str:
        """Return what was not told apart; empty where all was."""
        parts = [f"no input tells apart {', '.join(self.same)}"] if self.same else []
        return "; ".join([*parts, *([f"open: {', '.join(self.open)}"] if self.open else [])])

    def __str__(self) -> str:
        told = f"told apart: {', '.join(self.told) or 'none'}"
        return f"{told}; {self.rest}" if self.rest else told


@dataclass
class Investigation:
    """The place where a property module asks: the catalogue row, the solvers, and how a question is
    decided.
    """

    row: Row
    solving: Solving
    progress: Callable[[Finding], None] = lambda finding: None
    findings: list[Finding] = field(default_factory=list)
    decide: Callable[[Question, Solving], Decision] = decide

    @property
    def unit(self) -> FusedDotAdd:
        """Return the row's model, one fused sum of it."""
        model = one_block(self.row.model)
        return checked_cast(model, FusedDotAdd)

    def ask(self, question: Question) -> Verdict:
        """Return the verdict on a question; it becomes a finding of the report."""
        decision = self.decide(question, self.solving)
        verdict = decision.verdict
        supported: tuple[str, ...] = ()
        if isinstance(verdict, Distinguished):
            supported = _supported(self.row, question, verdict)
        finding = Finding(question, verdict, supported, decision.certified)
        self.findings.append(finding)
        self.progress(finding)
        return verdict

    def differ(
        self,
        title: str,
        left: tuple[str, Model],
        right: tuple[str, Model],
        domain: Domain | None = None,
        **options: Any,
    ) -> Verdict:
        """Do two models differ? Options as in :func:`.difference`."""
        return self.ask(difference(title, left, right, domain, **options))


@dataclass(frozen=True, repr=False)
class Report(Result):
    """An answered property: the findings in order and the conclusion; scripts: the files of ``dump_smt``."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    row: Row
    findings: tuple[Finding, ...]
    conclusion: str
    scripts: tuple[Path, ...] = ()

    @property
    def unknown(self) -> bool:
        """Return whether some question stayed without an answer."""
        return any(isinstance(f.verdict, Unknown) for f in self.findings)

    @property
    def exit_code(self) -> Exit:
        """0: every question has an answer; 3: some has none."""
        return Exit.UNKNOWN if self.unknown else Exit.ANSWERED

    def _lines(self) -> list[str]:
        row = self.row
        measured = f" ({', '.join(row.measured)})" if row.measured else f" ({row.source})"
        lines = [
            f"{self.name}: {self.title}",
            f"unit: {row.name}, evidence: {row.evidence}{measured}",
            "",
        ]
        for finding in self.findings:
            lines += [str(finding), ""]
        lines.append(f"answer: {self.conclusion}")
        return [*lines, *(f"  claimed: {c.source}, {c.section}: {c.statement}" for c in self.claims)]

    @property
    def _title(self) -> str:
        return f"of {self.name} on {self.row.name}: {self.conclusion}"

    def _facts(self) -> dict[str, Any]:
        row = self.row
        return {
            "property": self.name,
            "title": self.title,
            "architecture": row.architecture,
            "instruction": row.instruction,
            "evidence": row.evidence,
            "measured": list(row.measured),
            "conclusion": self.conclusion,
            "findings": [finding.as_json() for finding in self.findings],
            "claims": [vars(claim) for claim in self.claims],
        }


def on_instruction(
    model: Model, formats: Mapping[str, AnyFormat], values: Mapping[str, int]
) -> dict[str, int] | None:
    """A witness' words on a whole instruction, other lanes zero; None where they do not fit.

    formats, values: of the question's inputs, by name. One fused sum of interleaved blocks goes to the
    lanes that the instruction deals to its first block. A zero that has no place is no loss.
    """
    input_formats = model.input_formats
    lanes: Sequence[int] = range(model.k)
    roles = {name: role_of(name) for name in formats}
    used = sum(role.factor == 0 for role in roles.values())
    if isinstance(model, FusedDotAdd) and model.parameters.interleave and used <= model.lanes.n_fma:
        lanes = model.blocks[0]
    placed = dict.fromkeys(input_formats, 0)
    for name, fmt in formats.items():
        target, word, role = name, values.get(name, 0), roles[name]
        if role.factor is not None and role.lane is not None and role.lane < len(lanes):
            target = f"{role.operand}{lanes[role.lane]}"
        if target in input_formats and input_formats[target].width == fmt.width:
            placed[target] = word
        elif word:
            return None
    return placed


def _supported(row: Row, question: Question, verdict: Distinguished) -> tuple[str, ...]:
    """Return the sides that give what the unit's model gives on the witness (other lanes zero)."""
    model = row.model
    placed = on_instruction(model, question.formats, verdict.values)
    if placed is None or any(side.format is not model.d_format for side in question.sides):
        return ()
    (of_unit,) = evaluate([model.trace.output], placed)
    words = evaluate([side.trace.output for side in question.sides], verdict.values)
    return tuple(s.label for s, w in zip(question.sides, words, strict=True) if w == of_unit)
