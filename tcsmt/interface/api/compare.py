"""Are two units the same function? A proof, or an input on which they differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tcsmt.interface.api.designs import DesignFiles, rows_compared
from tcsmt.interface.api.pictures import JudgedResult
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.api.views import WitnessView
from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import Sheet, compared
from tcsmt.matrix_units.catalogue import Row, status_text
from tcsmt.matrix_units.catalogue.description import ports_as_json, ports_lines
from tcsmt.prove.engine.engine import Decision, compare_models, finding_of
from tcsmt.prove.engine.enumeration import LAYOUT
from tcsmt.prove.engine.exhaustive import compare_exhaustively
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.shared_inputs import words_given_to
from tcsmt.prove.statements.verdict import (
    Distinguished,
    Equivalent,
    Unknown,
    Verdict,
    certificate_lines,
    in_a_word,
    truth,
)
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress


@dataclass(frozen=True, repr=False)
class Comparison(JudgedResult):
    """A comparison of two units on a domain: see ``equal`` and ``witness``, or print it.

    witness: words on which the units differ. decision: the question, the verdict, and every step of a proof.
    rows: what is known of both units. scripts: the files of ``dump_smt``.
    """

    decision: Decision
    rows: tuple[Row, Row]
    scripts: tuple[Path, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``Equivalent``, ``Distinguished`` or ``Unknown``."""
        return self.decision.verdict

    @property
    def equal(self) -> bool | None:
        """True: proved equal; False: there is a witness; None: unknown."""
        return truth(self.verdict, proved=True)

    def _facts(self) -> dict[str, Any]:
        return {
            "models": [
                {"name": row.name, "evidence": row.evidence, "status": row.status, "source": row.source}
                | ports_as_json(row)
                for row in self.rows
            ],
            **finding_of(self.decision).as_json(),
            "steps": [step.as_json() for step in self.decision.steps],
        }

    def sheet(self) -> Sheet | None:
        """Both units on the witness, bit by bit; None: there is none, or no model draws the whole chain."""
        if not isinstance(self.verdict, Distinguished):
            return None
        finding = finding_of(self.decision)
        formats, values = self.decision.question.formats, self.verdict.values
        pictures = []
        for side in self.decision.question.sides:
            words = words_given_to(side, formats, values)
            if words is None:
                return None
            pictures.append(draw(side.label, side.model, words))
        left, right = pictures
        differing = finding.first_difference()
        stage = differing["stage"] if differing else ""
        caption = f"they first differ at '{stage}'" if stage else "the results differ"
        return compared(left, right, stage, caption)

    @property
    def view(self) -> WitnessView | None:
        """Return what a page shows of the witness, chained units as kernels; None where there is none."""
        if not isinstance(self.verdict, Distinguished):
            return None
        formats, values = self.decision.question.formats, self.verdict.values
        rows: list[Row] = []
        words: list[Mapping[str, int]] = []
        for row, side in zip(self.rows, self.decision.question.sides, strict=True):
            length = len(side.trace.a)
            whole = row if length == row.model.k else _chained(row, length)
            if whole is None:
                return None
            own = words_given_to(replace(side, model=whole.model), formats, values)
            if own is None:
                return None
            rows.append(whole)
            words.append(own)
        return WitnessView(tuple(rows), tuple(words))

    def _times(self, k: int) -> str:
        """Return how often a unit's instruction is repeated, for people; empty where it is not."""
        length = len(self.decision.question.sides[0].trace.a)
        return "" if length == k else f"; chained {length // k} times to K = {length}"

    def _lines(self) -> list[str]:
        decision = self.decision
        lines = []
        for row in self.rows:
            times = self._times(row.model.k)
            lines.append(f"{row.name}: evidence: {row.evidence}, {status_text(row)}{times}")
            lines += [f"  {line}" for line in ports_lines(row)]
        lines += [f"domain: {decision.question.domain_text}", ""]
        verdict = decision.verdict
        match verdict:
            case Equivalent():
                if not verdict.scripts:
                    lines.append("EQUIVALENT: both models are the same graph, without a solver")
                else:
                    sure = "confirmed by another solver" if verdict.sure else f"says {verdict.by_whom}"
                    lines.append(f"EQUIVALENT, {sure}; {verdict.seconds:.3f} s in solvers; what was proved:")
                    lines += [f"  {number}. {step}" for number, step in enumerate(decision.steps, 1)]
                lines += certificate_lines(decision.certified)
            case Distinguished():
                lines += [f"DISTINGUISHED by {verdict.by}, replayed", *finding_of(decision).witness_lines()]
            case Unknown():
                lines.append(f"UNKNOWN: {verdict.reason}; {verdict.seconds:.3f} s in solvers")
                lines += [f"  proved on the way: {step}" for step in decision.steps]
        return lines

    @property
    def _title(self) -> str:
        names = " against ".join(row.name for row in self.rows)
        return f"{names}: {in_a_word(self.verdict)}"


def _chained(row: Row, length: int) -> Row | None:
    """Return the kernel of a unit's instructions over so many products; None: the unit is none of the
    catalogue.
    """
    try:
        return side_of(f"{row.name}+chained@{length}").row
    except TcsmtError:
        return None


@ieee_floats
def compare(
    left: UnitLike,
    right: UnitLike,
    domain: Domain | None = None,
    *,
    k: int | None = None,
    lanes: int | None = None,
    exhaustive: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    design: DesignFiles | None = None,
    options: SolvingOptions = SolvingOptions(confirm=True),
    progress: ProgressCallback = no_progress,
) -> Comparison:
    """Return whether two units give the same word for every input of a domain: a proof, or a witness that
    replays.

    Where the units take an operand in two formats of which one holds the other's values, the inputs are those
    of the narrower one. An exhaustive run does some 200 million rows a second of one core; when confirming,
    NumPy runs them all, too, at 3 million rows a second. The options' jobs are its threads.

    Args:
        left: A unit, or a hardware design.
        right: The other one.
        domain: Of the inputs; None: all words.
        k: Length of the dot product; units are chained as in a kernel. [default: fits both]
        lanes: Only the first N lanes; the others are zero.
        exhaustive: Run every finite input instead of asking solvers (one for each set that the graphs do not
            tell apart).
        checkpoint: Save the progress of an exhaustive run here; the same command continues from it.
        design: How to read the one that is a design, beside what its text says.
        options: Of solvers; a proof is confirmed where they leave it open.
        progress: Called with how far it is.

    Raises :class:`tcsmt.TcsmtError` for units without inputs or results in common, for an empty domain, and
    for more than 2^41 rows.

    >>> import tcsmt
    >>> print(tcsmt.compare("volta", "ampere").equal)
    False
    """
    rows = rows_compared(left, right, design and replace(design, query=options.timeout, progress=progress))
    options = options.confirming(True)
    solving = Solving(options)
    left_model, right_model = ((row.name, row.model) for row in rows)
    domain, lemmas = domain or Domain(finite=False), Lemmas(solving, lasting=True)
    if exhaustive:
        with Checkpoint(checkpoint, LAYOUT, "--checkpoint") as file:
            decision = compare_exhaustively(
                left_model,
                right_model,
                domain,
                solving,
                lemmas,
                k=k,
                lanes=lanes,
                kept=file,
                jobs=options.jobs,
                seen=progress,
            )
    elif checkpoint is not None or options.jobs != 1:
        raise TcsmtError("a checkpoint and jobs are for runs of all inputs: exhaustive is missing")
    else:
        decision = compare_models(left_model, right_model, domain, solving, k=k, lanes=lanes, lemmas=lemmas)
    return Comparison(decision, rows, solving.scripts)
