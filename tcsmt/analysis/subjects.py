"""Subjects of questions about exact integer sums, by name: a unit, an algorithm on it, or an emulation."""

from __future__ import annotations

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.on_digits import cuts_digits
from tcsmt.analysis.emulation.subject import DigitSubject
from tcsmt.analysis.exactness.programs import ProgramSubject
from tcsmt.analysis.exactness.search import Subject, UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.recipes.emulation.named import emulation_named, is_emulation
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.model import ProgramModel


def subject_named(chain: StepwiseProof, algorithm: str, row: Row) -> Subject:
    """Return the subject, whose lemmas are added to the chain. algorithm: "" for the unit alone.

    Raises :class:`.TcsmtError` for unknown names, and where the unit does not take the algorithm.
    """
    if not algorithm:
        if isinstance(row.model, ProgramModel):
            subject = DigitSubject if cuts_digits(row.model.program) else ProgramSubject
            return subject.of_model(chain, row.model)
        return UnitSubject(ExactUnit(chain, row.model))
    if is_emulation(algorithm):
        emulation = emulation_named(algorithm, row)[0]
        return DigitSubject(chain, emulation.program, (emulation.wide,) * 3)
    return ProgramSubject.of_algorithm(chain, algorithm_named(algorithm, row)[0])
