"""Flaws of algorithms on a unit, wrong signs and results that are not monotone: ``tcsmt.accuracy.find``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcsmt.analysis.certified import certify_flaw
from tcsmt.analysis.search import result_flaws
from tcsmt.analysis.search.records import flaw_json
from tcsmt.analysis.search.result_flaws import FLAWS, Case, FlawFinding
from tcsmt.interface.api.asked import TYPE1, check_effort
from tcsmt.interface.api.pictures import JudgedResult
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.error_walk import TracedAlgorithm, walked_sheet
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.explain import signed_text
from tcsmt.prove.statements.verdict import (
    Certified,
    Equivalent,
    Verdict,
    certificate_json,
    certificate_lines,
    in_a_word,
    truth,
    verdict_text,
)
from tcsmt.support.errors import choose
from tcsmt.support.floats import ieee_floats


@dataclass(frozen=True, repr=False)
class AccuracyFlaw(JudgedResult):
    """A search for a flaw of an algorithm: see ``has_flaw``, or print it.

    found: the verdict, the short witness and the worst one that was found, as exact fractions.
    """

    question: str
    row: Row
    found: FlawFinding
    certified: Certified | None = None

    @property
    def verdict(self) -> Verdict:
        """``Distinguished``: there is such an input; ``Equivalent``: there is none; ``Unknown``."""
        return self.found.verdict

    @property
    def has_flaw(self) -> bool | None:
        """True: there is a witness; False: proved that there is none; None: unknown."""
        return truth(self.verdict, proved=False)

    @property
    def witness(self) -> Mapping[str, int] | None:
        """Return the binary32 word of each input that shows the flaw, by name (of ``monotone``: before it
        rises).
        """
        return None if self.found.short is None else self.found.short.values

    def _facts(self) -> dict[str, Any]:
        about = {"question": self.question, "unit": self.row.name}
        return about | flaw_json(self.found) | certificate_json(self.certified)

    def sheet(self) -> Sheet | None:
        """Return the algorithm on the witness, step by step; None where there is none."""
        flaw, values = self.found.flaw, self.witness
        if values is None:
            return None
        return walked_sheet([TracedAlgorithm.on(flaw.name, self.row, flaw.algorithm, values)], values)

    def _lines(self) -> Iterator[str]:
        flaw, short, worst = self.found.flaw, self.found.short, self.found.worst
        yield f"{flaw.name}: {self.row.name}, evidence: {self.row.evidence}"
        yield f"K = {flaw.k}; domain: {flaw.domain}"
        yield ""
        yield verdict_text(self.verdict, flaw.title, flaw.absent)
        yield from certificate_lines(self.certified)
        if short is not None and worst is not None:
            yield from _case_lines(short)
            yield f"the worst found ({flaw.measure}): {float(worst.size):.4g}, {float(worst.ulps):.4g} ulp"
            yield from _case_lines(worst)

    @property
    def _title(self) -> str:
        return f"{self.question} of {self.found.flaw.name} on {self.row.name}: {in_a_word(self.verdict)}"


@ieee_floats
def find(
    question: str,
    algorithm: str,
    unit: UnitLike,
    *,
    k: int = 1,
    domain: Domain = TYPE1,
    search: float = 5.0,
    options: SolvingOptions = SolvingOptions(),
) -> AccuracyFlaw:
    """Return whether an algorithm has a flaw on a unit: an input that shows it, or a proof that there is
    none.

    >>> import tcsmt
    >>> found = tcsmt.accuracy.find("sign", "markidis", "hopper", k=2, search=0.5)
    >>> found.has_flaw, sorted(found.witness)
    (True, ['a0', 'a1', 'b0', 'b1', 'c'])

    ``"monotone"``: can the result decrease when one input increases, and the exact c + Σ a·b with
    it? ``"sign"``: can the result be zero or have the wrong sign when the exact sum is not zero?

    Args:
        question: ``"monotone"`` or ``"sign"``.
        algorithm: A name of :func:`recipes`.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file.
        k: Products in the dot product; not the unit's K by default, because time grows with K.
        domain: Of the inputs.
        search: Time for the simulator's search, in seconds.
        options: Of solvers; a proof is not confirmed where they leave it open.

    Sizes of flaws are relative to ``|c| + Σ|a·b|`` or in ulps of the exact sum; the output says which.

    Raises :class:`tcsmt.TcsmtError` for unknown names, for lengths above 64, and for times that are not over
    0 and up to 10^6 seconds.
    """
    check_effort(k, search)
    kind = FLAWS[choose("question", question, FLAWS)]
    chosen, row = algorithm_named(algorithm, unit if isinstance(unit, str) else side_of(unit).row, k)
    flaw = kind(algorithm, chosen, domain)
    solving = Solving(options)
    finding = result_flaws.find(flaw, solving, search=search)
    certified = None
    if solving.certificates is not None and isinstance(finding.verdict, Equivalent):
        certified = certify_flaw(solving.certificates, question, flaw, row)
    return AccuracyFlaw(question, row, finding, certified)


def _case_lines(case: Case) -> Iterator[str]:
    for name, word in case.values.items():
        if word or name == case.moved:
            yield f"  {name:>5} = {F32.hex(word)}  {F32.describe(word)}"
    yield f"  exact {signed_text(case.exact)}, result {F32.describe(case.result)}"
    if case.moved:
        yield f"  {case.moved:>5} = {F32.hex(case.word)}  {F32.describe(case.word)}"
        yield f"  exact {signed_text(case.exact_after)}, result {F32.describe(case.after)}"
