"""Two algorithms' errors on a unit compared or drawn, and flaws of one: a result that falls, a wrong sign.

``tcsmt.accuracy.compare``, ``explain`` and ``find``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.analysis.certified import certify_comparison, certify_flaw
from tcsmt.analysis.search import result_flaws
from tcsmt.analysis.search.compare import AlgorithmPair, BothErrors, ErrorComparison
from tcsmt.analysis.search.compare import compare as compare_pair
from tcsmt.analysis.search.records import comparison_json, error_text, flaw_json
from tcsmt.analysis.search.result_flaws import FLAWS, Case, FlawFinding
from tcsmt.analysis.search.traced_steps import first_divergence, trace_steps
from tcsmt.interface.api.asked import TYPE1, check_effort
from tcsmt.interface.api.error_bound import others_lines, others_of
from tcsmt.interface.api.pictures import Explanation, JudgedResult, Vector, vector_words
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.pictures.drawing import Sheet
from tcsmt.interface.pictures.error_trace import TracedAlgorithm, trace_sheet
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.explain import signed_text
from tcsmt.prove.statements.finding import shown
from tcsmt.prove.statements.verdict import (
    Certified,
    Distinguished,
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
class AccuracyComparison(JudgedResult):
    """A comparison of the errors of two algorithms: see ``ever_worse``, or print it.

    witness: binary32 words with which the error of the first one is larger.
    """

    found: ErrorComparison
    rows: tuple[Row, Row]
    others: tuple[str, ...] = ()
    certified: Certified | None = None
    scripts: tuple[Path, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``Distinguished``: there is such an input; ``Equivalent``: there is none; ``Unknown``."""
        return self.found.verdict

    @property
    def ever_worse(self) -> bool | None:
        """True: there is a witness; False: proved that there is none; None: unknown."""
        return truth(self.verdict, proved=False)

    def _facts(self) -> dict[str, Any]:
        data: dict[str, Any] = {"arch": [row.name for row in self.rows], "others": list(self.others)}
        data |= comparison_json(self.found)
        if isinstance(self.verdict, Distinguished):
            traces = [trace_steps(algorithm, self.verdict.values) for algorithm in self.found.pair.algorithms]
            data["steps"] = [[step.as_json() for step in trace] for trace in traces]
        return data | certificate_json(self.certified)

    def sheet(self) -> Sheet | None:
        """Both algorithms on the witness, step by step; None where there is none."""
        values = self.witness
        if values is None:
            return None
        pair = self.found.pair
        sides = zip(pair.names, self.rows, pair.algorithms, strict=True)
        return trace_sheet([TracedAlgorithm.on(*side, values) for side in sides], values)

    def _lines(self) -> Iterator[str]:
        pair, verdict = self.found.pair, self.verdict
        for name, row in zip(pair.names, self.rows, strict=True):
            yield f"{name}: {row.name}, evidence: {row.evidence}"
        yield f"K = {pair.k}; domain: {pair.domain}"
        yield ""
        if isinstance(verdict, Equivalent) and not verdict.scripts and not verdict.solver:
            yield f"NEVER WORSE: {verdict.stage}"
        else:
            yield verdict_text(verdict, "WORSE", "NEVER WORSE")
        if isinstance(verdict, Distinguished) and self.found.judgement is not None:
            yield from _witness_lines(pair, verdict.values, self.found.judgement)
        yield from certificate_lines(self.certified)
        yield from others_lines(self.others)

    @property
    def _title(self) -> str:
        return f"{' against '.join(self.found.pair.names)}: {in_a_word(self.verdict)}"


@ieee_floats
def compare(
    one: str,
    two: str,
    unit: UnitLike,
    *,
    k: int | None = None,
    domain: Domain = TYPE1,
    search: float = 5.0,
    options: SolvingOptions = SolvingOptions(),
) -> AccuracyComparison:
    """Return whether algorithm ``one`` is ever less accurate than ``two`` on a unit: an input, or a proof.

    Errors are absolute, against the exact dot product.

    Args:
        one: A name of :func:`recipes`, with parameters changed where wanted.
        two: The other algorithm.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file; for an architecture, its first unit with
            the formats that the algorithms need.
        k: Products in the dot product. [default: the unit's own K]
        domain: Of the inputs.
        search: Time for the simulator's search, in seconds.
        options: Of solvers; a proof is not confirmed where they leave it open.

    Raises :class:`tcsmt.TcsmtError` for unknown names and lengths above 64.
    """
    check_effort(k, search)
    pair, rows = _pair_of((one, two), unit if isinstance(unit, str) else side_of(unit).row, k, domain)
    solving = Solving(options)
    comparison = compare_pair(pair, solving, search=search)
    others = others_of(unit, dict(zip((one, two), rows, strict=True)))
    certified = None
    if solving.certificates is not None and isinstance(comparison.verdict, Equivalent):
        certified = certify_comparison(solving.certificates, pair, rows)
    return AccuracyComparison(comparison, rows, others, certified, solving.scripts)


def _pair_of(
    names: tuple[str, str], unit: str | Row, k: int | None, domain: Domain
) -> tuple[AlgorithmPair, tuple[Row, Row]]:
    """Two algorithms on one architecture or unit; k is that of the first one's unit where not given."""
    first, row = algorithm_named(names[0], unit, k)
    second, other = algorithm_named(names[1], unit, first.k)
    return AlgorithmPair(names, (first, second), domain), (row, other)


def _witness_lines(pair: AlgorithmPair, values: Mapping[str, int], judgement: BothErrors) -> Iterator[str]:
    """An input on which the first algorithm is worse, both results, and by how much they are wrong."""
    for name, word in values.items():
        if word:
            number = shown(F32, word)
            yield f"  {name:>5} = {number['word']}  {number['value']:<32} {number['decimal']}"
    yield f"  exact = {signed_text(judgement.exact)}"
    for name, word, error in zip(pair.names, judgement.words, judgement.errors, strict=True):
        yield f"  {name}: {F32.hex(word)}  {F32.describe(word)}  error {error_text(error)}"
    if judgement.excess is not None and judgement.relative is not None:
        yield (
            f"  worse by {float(judgement.excess):.4g} ulp of the exact result, "
            f"{float(judgement.relative):.4g}·2^-24 of |c| + Σ|a·b|"
        )
    parts = first_divergence(*(trace_steps(algorithm, values) for algorithm in pair.algorithms))
    if parts is not None:
        yield f"  they first differ at '{parts.name}' (after the split)"


@ieee_floats
def explain(
    algorithm: str,
    unit: UnitLike,
    vector: Vector,
    against: str | None = None,
    *,
    k: int | None = None,
    rounded: Callable[[str], None] | None = None,
) -> Explanation:
    """Return what each step of an algorithm gives and loses on one dot product; beside it those of another
    one.

    Args:
        algorithm: A name of :func:`recipes`.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file.
        vector: "a0=1.5 b0=0x3fc00000 c=-0x1p-4"; inputs not named are 0.
        against: Another algorithm.
        k: Products in the dot product. [default: the unit's own K]
        rounded: As for :func:`tcsmt.explain`.

    In place of a text, vector may be a mapping of such names to numbers or texts.

    Raises :class:`tcsmt.TcsmtError` for unknown names, values that are not finite, and other lengths.

    >>> import tcsmt
    >>> picture = tcsmt.accuracy.explain("markidis", "volta", "a0=1 b0=1 c=0x1p-30", k=1)
    >>> picture.as_json()["pictures"][0]["results"]["markidis"]
    '1, error -2^-30 = -0.007812 ulp = -0.01562·2^-24 of size'
    """
    check_effort(k)
    where = unit if isinstance(unit, str) else side_of(unit).row
    first, row = algorithm_named(algorithm, where, k)
    values = vector_words(vector, first, rounded)
    traces = [TracedAlgorithm.on(algorithm, row, first, values)]
    if against is not None:
        second, row = algorithm_named(against, where, first.k)
        traces.append(TracedAlgorithm.on(against, row, second, values))
    return Explanation(trace_sheet(traces, values))


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
        return trace_sheet([TracedAlgorithm.on(flaw.name, self.row, flaw.algorithm, values)], values)

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
