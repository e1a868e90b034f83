"""How accurate algorithms are that multiply binary32 matrices on a unit: ``tcsmt.accuracy``.

>>> from tcsmt import accuracy
>>> "ootomo-halfhalf" in accuracy.recipes()
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from tcsmt.analysis.certified import certify_bound, certify_comparison
from tcsmt.analysis.emulation.bound import bound as bound_of_emulation
from tcsmt.analysis.emulation.certified import certify_emulation
from tcsmt.analysis.emulation.search import LANES
from tcsmt.analysis.search import bound as bounds
from tcsmt.analysis.search.bound import Bound as FoundBound
from tcsmt.analysis.search.bound import Extreme
from tcsmt.analysis.search.bound import bound as bound_of
from tcsmt.analysis.search.compare import AlgorithmPair, BothErrors, ErrorComparison
from tcsmt.analysis.search.compare import compare as compare_pair
from tcsmt.analysis.search.records import bound_json, comparison_json, error_text
from tcsmt.analysis.search.walk import parting, walk
from tcsmt.compose.recipes.emulation.named import EMULATIONS, emulation_named, is_emulation
from tcsmt.compose.recipes.named import RECIPES, algorithm_named, recipe_named
from tcsmt.compose.recipes.split import F32
from tcsmt.face.api.exact import AccuracyExactness, exact
from tcsmt.face.api.multiply import multiply
from tcsmt.face.api.pictures import DrawnResult
from tcsmt.face.api.result_flaws import TYPE1, AccuracyFlaw, find
from tcsmt.face.api.splits import SplitAnalysis, split
from tcsmt.face.api.sweep import Sweep, sweep
from tcsmt.face.api.units import UnitLike, side_of
from tcsmt.face.pictures.drawing import Sheet
from tcsmt.face.pictures.error_walk import Walked, walked_sheet
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.preferred import of_other_arithmetic
from tcsmt.matrix_units.resolve import file_of, resolve
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.certified import Certified, certificate_json, certificate_lines
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.explain import signed_text
from tcsmt.prove.statements.finding import shown
from tcsmt.prove.statements.verdict import (
    Distinguished,
    Equivalent,
    Unknown,
    Verdict,
    exit_of,
    in_a_word,
    reason_of,
    verdict_text,
)
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.results import Result
from tcsmt.support.text import ranges

__all__ = [
    "AccuracyBound",
    "AccuracyComparison",
    "AccuracyExactness",
    "AccuracyFlaw",
    "SplitAnalysis",
    "Sweep",
    "bound",
    "compare",
    "exact",
    "find",
    "multiply",
    "recipes",
    "split",
    "sweep",
]


def recipes() -> dict[str, str]:
    """The algorithms by name, each with what it does; ``NAME,PARAMETER=VALUE,...`` changes one."""
    return {one.name: one.title for one in RECIPES.values()} | {
        one.name: one.title for one in EMULATIONS.values()
    }


@dataclass(frozen=True, repr=False)
class AccuracyComparison(DrawnResult):
    """Whether one algorithm is ever less accurate than another: see ``ever_worse``, or print it."""

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
        return {Distinguished: True, Equivalent: False, Unknown: None}[type(self.verdict)]

    @property
    def reason(self) -> str:
        """Why ``ever_worse`` is None; empty where it is not."""
        return reason_of(self.verdict)

    @property
    def witness(self) -> Mapping[str, int] | None:
        """The binary32 word of each input on which the first one's error is larger, by name."""
        return self.verdict.values if isinstance(self.verdict, Distinguished) else None

    def _facts(self) -> dict[str, Any]:
        data: dict[str, Any] = {"arch": [row.name for row in self.rows], "others": list(self.others)}
        data |= comparison_json(self.found)
        if isinstance(self.verdict, Distinguished):
            moves = [walk(algorithm, self.verdict.values) for algorithm in self.found.pair.algorithms]
            data["steps"] = [[move.as_json() for move in one] for one in moves]
        return data | certificate_json(self.certified)

    def sheet(self) -> Sheet | None:
        """Both algorithms on the witness, step by step; None where there is none."""
        values = self.witness
        if values is None:
            return None
        pair = self.found.pair
        sides = zip(pair.names, self.rows, pair.algorithms, strict=True)
        return walked_sheet([Walked.on(*side, values) for side in sides], values)

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
        yield from _others_lines(self.others)

    @property
    def _title(self) -> str:
        return f"{' against '.join(self.found.pair.names)}: {in_a_word(self.verdict)}"

    @property
    def exit_code(self) -> Exit:
        """0: never less accurate (proved); 1: an input shows that it is; 3: unknown."""
        return exit_of(self.verdict)


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
    """Whether algorithm ``one`` is ever less accurate than ``two`` on a unit: an input, or a proof.

    one, two: names of :func:`recipes`, with parameters changed where wanted. unit: an architecture (its
    first unit with the formats that they need), or a unit. k: length of the dot product (None: the unit's
    own). search: seconds for the simulator. options: of solvers; a
    proof is not confirmed where they leave it open. Errors are absolute,
    against the exact dot product. Raises :class:`tcsmt.TcsmtError` for unknown names and lengths above 64.
    """
    pair, rows = _pair_of((one, two), unit if isinstance(unit, str) else side_of(unit).row, k, domain)
    solving = Solving(options)
    found = compare_pair(pair, solving, search=search)
    others = _others(unit, dict(zip((one, two), rows, strict=True)))
    certified = None
    if solving.certificates is not None and isinstance(found.verdict, Equivalent):
        certified = certify_comparison(solving.certificates, pair, rows)
    return AccuracyComparison(found, rows, others, certified, solving.scripts)


@dataclass(frozen=True, repr=False)
class AccuracyBound(Result):
    """The largest error of an algorithm that was found, and the smallest bound that was proved; print it."""

    algorithm: str
    row: Row
    k: int
    domain: Domain
    found: FoundBound
    others: tuple[str, ...] = ()
    certified: Certified | None = None
    wide: Format = F32

    @property
    def proved(self) -> float | None:
        """The bound of the error relative to ``|c| + Σ|a·b|``; None: none was proved (see ``reason``).

        In units of 2^-24; of an emulation of binary64, of 2^-53.
        """
        return None if self.found.proved is None else float(self.found.proved)

    @property
    def reason(self) -> str:
        """Why no bound is proved; empty where one is."""
        if self.found.proved is not None:
            return ""
        return self.found.open or "no way to prove one was found"

    @property
    def proved_of_largest(self) -> float | None:
        """Of an emulation of binary64, the bound relative to ``|c| + K·max|a|·max|b|``, in units of 2^-53."""
        return None if self.found.of_largest is None else float(self.found.of_largest)

    @property
    def searched(self) -> int:
        """Products that the search for errors changed; the others repeat them, or are zero."""
        return min(self.k, bounds.SEARCHED if self.wide == F32 else LANES)

    def _facts(self) -> dict[str, Any]:
        about = {
            "algorithm": self.algorithm,
            "unit": self.row.name,
            "k": self.k,
            "domain": str(self.domain),
            "searched": self.searched,
            "others": list(self.others),
        }
        facts = about | bound_json(self.found, self.wide) | {"reason": self.reason}
        return facts | certificate_json(self.certified)

    def _lines(self) -> Iterator[str]:
        found, unit = self.found, f"2^-{self.wide.precision}"
        yield f"{self.algorithm} on {self.row.name}, K = {self.k}; domain: {self.domain}"
        yield ""
        if self.searched < self.k:
            most = self.searched
            yield f"the search changed the first {most} products only; the others repeat them, or are zero"
        yield from _extreme_lines(found.relative, "relative to |c| + Σ|a·b|", f"·{unit}", self.wide)
        yield from _extreme_lines(found.ulps, "in ulps of the exact result", "", self.wide)
        low = "0" if found.relative is None else _size(found.relative.relative, f"·{unit}")
        if found.proof is None or self.proved is None:
            yield f"found, not proved: at least {low}; no bound ({self.reason})"
        else:
            most_error = f"{self.proved:.6g}·{unit}"
            yield f"the largest relative error is at least {low} (found) and at most {most_error} (proved)"
            yield from (f"  {float(loss):>12.6g}  {name}" for name, loss in found.shares.items())
            if self.proved_of_largest is not None:
                yield f"relative to |c| + K·max|a|·max|b|, at most {self.proved_of_largest:.6g}·{unit}"
            if found.in_ulps is not None:
                yield f"  and so at most {float(found.in_ulps):.6g} ulps of the exact result"
            elif found.ulps is not None:
                yield "  in ulps there is no bound: the exact sum may cancel"
            yield f"proved {found.proof.how}:"
            yield from (f"  {step}" for step in found.proof.stage.split("; "))
            if found.open:
                yield f"not closed: {found.open}"
        yield from certificate_lines(self.certified)
        yield from _others_lines(self.others)

    @property
    def _title(self) -> str:
        bound = f"not proved ({self.reason})" if self.proved is None else self.proved
        return f"of {self.algorithm} on {self.row.name}, K = {self.k}: {bound}"

    @property
    def exit_code(self) -> Exit:
        """0: a bound is proved; 3: none is, and the error shown is only found."""
        return Exit.UNKNOWN if self.proved is None else Exit.ANSWERED


def bound(
    algorithm: str,
    unit: UnitLike,
    *,
    k: int = 1,
    domain: Domain = TYPE1,
    search: float = 20.0,
    options: SolvingOptions = SolvingOptions(),
) -> AccuracyBound:
    """The largest error of an algorithm that is found on a unit, and the smallest bound that is proved.

    algorithm: an emulation of binary64, too (``ozaki1-int8``). k: up to 65536; above 1024, the search for
    errors changes the first 1024 products only (of an emulation, the first 12). The other arguments as for
    :func:`compare`. Raises :class:`tcsmt.TcsmtError` for unknown names.
    """
    given, certified = unit if isinstance(unit, str) else side_of(unit).row, None
    solving = Solving(options)
    if is_emulation(algorithm):
        if not 1 <= k <= bounds.LONGEST:
            raise TcsmtError(f"k = {k}: must be from 1 to {bounds.LONGEST}")
        emulation, row = emulation_named(algorithm, given)
        lost = bound_of_emulation(emulation, domain, k, solving, seconds=search)
        if solving.certificates is not None and lost.proved is not None:
            certified = certify_emulation(solving.certificates, algorithm, emulation, row, k, domain, lost)
        return AccuracyBound(algorithm, row, k, domain, lost, certified=certified, wide=emulation.wide)
    chosen, row = algorithm_named(algorithm, given, k)
    found = bound_of(chosen, domain, solving, seconds=search)
    if solving.certificates is not None and found.proved is not None:
        certified = certify_bound(solving.certificates, algorithm, chosen, row, domain, found)
    return AccuracyBound(algorithm, row, k, domain, found, _others(unit, {algorithm: row}), certified)


def _others(unit: UnitLike, chosen: Mapping[str, Row]) -> tuple[str, ...]:
    """Where an architecture was given: its instructions of the same formats that compute otherwise.

    chosen: the instruction for each algorithm, by name.
    """
    if not isinstance(unit, str) or {"/", "+"} & {*unit} or file_of(unit):
        return ()
    on_unit = [row for name, row in chosen.items() if not recipe_named(name).ordinary]
    found = [other for row in on_unit for other in of_other_arithmetic(row, resolve(unit).units)]
    return tuple(dict.fromkeys(other.name for other in found))


def _others_lines(others: Sequence[str]) -> Iterator[str]:
    if others:
        yield f"other instructions with these formats compute otherwise: {', '.join(others)}"


def _pair_of(
    names: tuple[str, str], unit: str | Row, k: int | None, domain: Domain
) -> tuple[AlgorithmPair, tuple[Row, Row]]:
    """Two algorithms on one architecture or unit; k is that of the first one's unit where not given."""
    one, row = algorithm_named(names[0], unit, k)
    two, other = algorithm_named(names[1], unit, one.k)
    return AlgorithmPair(names, (one, two), domain), (row, other)


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
    parts = parting(*(walk(algorithm, values) for algorithm in pair.algorithms))
    if parts is not None:
        yield f"  they first differ at '{parts.name}' (after the split)"


def _extreme_lines(extreme: Extreme | None, measure: str, unit: str, wide: Format) -> Iterator[str]:
    """The largest error that was found in one measure, and the input with it."""
    if extreme is None:
        yield f"largest error found, {measure}: none at all"
        return
    yield f"largest error found, {measure}: {_size(extreme.relative if unit else extreme.ulps, unit)}"
    # inputs in a row that hold the same word are one line
    inputs = ((name, word) for name, word in extreme.values.items() if word)
    for (_, word), group in groupby(inputs, lambda item: (item[0][0], item[1])):
        names = ", ".join(ranges([name for name, _ in group]))
        yield f"  {names:>5} = {wide.hex(word)}  {wide.describe(word)}"
    yield f"  result {wide.describe(extreme.result)}, exact {signed_text(extreme.exact)}"


def _size(error: Fraction | None, unit: str) -> str:
    return "infinite" if error is None else f"{float(error):.6g}{unit}"
