"""Integers that a unit, or an algorithm on it, adds up exactly: ``tcsmt.accuracy.exact`` and ``slices``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.certified import certify_exact, certify_slices
from tcsmt.analysis.exactness.largest import Exactness
from tcsmt.analysis.exactness.largest import exact as exact_of
from tcsmt.analysis.exactness.lattice import missing_integer
from tcsmt.analysis.exactness.search import Inputs
from tcsmt.analysis.exactness.table import SOURCES, families, record, table
from tcsmt.analysis.subjects import subject_named
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.programs.recipes.emulation.named import emulation_named, is_emulation
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import (
    Certified,
    certificate_json,
    certificate_lines,
    engine_digest,
    has_certificate,
)
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__


@dataclass(frozen=True, repr=False)
class AccuracyExactness(Result):
    """Up to where sums of products of integers are exact; print it.

    algorithm: "" for the unit alone. asked: what was given, ``integers`` and ``k``.
    """

    algorithm: str
    row: Row
    asked: tuple[int | None, int | None]
    found: Exactness
    certified: Certified | None = None

    @property
    def k(self) -> int:
        """Products in a dot product, at most, for which exactness is proved; 0: for none."""
        return self.found.k

    @property
    def integers(self) -> int:
        """Return the largest magnitude of the operands."""
        return self.found.integers

    @property
    def is_exact(self) -> bool | None:
        """Return whether what was asked about is exact: proved (True), refuted by an input (False), unknown
        (None).

        Where the largest K or integer was looked for: whether anything is.
        """
        if self.found.k:
            return True
        return False if self.found.beyond is not None else None

    @property
    def reason(self) -> str:
        """Why ``is_exact`` is None; empty where it is not."""
        return "" if self.is_exact is not None else self.found.ends or "no way to prove it was found"

    @property
    def counterexample(self) -> Inputs | None:
        """Products beyond what is proved whose sum is not the result; None: none was found."""
        return self.found.beyond

    def _facts(self) -> dict[str, Any]:
        about: dict[str, Any] = {"algorithm": self.algorithm or None, "unit": self.row.name}
        about |= dict(zip(("asked_integers", "asked_k"), self.asked, strict=True))
        answer = {"exact": self.is_exact, "reason": self.reason}
        return about | answer | self.found.as_json() | certificate_json(self.certified)

    def _lines(self) -> Iterator[str]:
        answer = self.found
        name = f"{self.algorithm}: {self.row.name}" if self.algorithm else self.row.name
        operands = f"a and b: {answer.a}" if answer.a == answer.b else f"a: {answer.a}; b: {answer.b}"
        yield f"{name}, evidence: {self.row.evidence}"
        scales = "; block scales are 1" if self.row.model.scale_format is not None else ""
        yield f"{operands}; c = 0{scales}"
        yield ""
        if answer.proof is not None:
            yield f"EXACT up to K = {answer.k}: proved {answer.proof.how}"
            yield from (f"  {step}" for step in answer.proof.stage.split("; "))
        else:
            yield "NOT EXACT" if answer.beyond is not None else "UNKNOWN"
        if answer.ends:
            yield f"the proof ends there: {answer.ends}" if answer.k else f"no proof: {answer.ends}"
        if answer.beyond is not None:
            more = "" if answer.closed or not answer.k else " (the smallest that was found)"
            yield f"not exact, replayed{more}: {answer.beyond}"
        elif answer.ends and not answer.ends.startswith("no "):
            yield "no input beyond it was found, or looked for, with another result"
        yield from certificate_lines(self.certified)

    @property
    def _title(self) -> str:
        name = f"{self.algorithm} on {self.row.name}" if self.algorithm else self.row.name
        limit = f"unknown ({self.reason})" if self.is_exact is None else f"K up to {self.k}"
        return f"of {name}: integers up to {self.integers}, {limit}"

    @property
    def exit_code(self) -> Exit:
        """0: exactness is proved; 1: an input shows that it does not hold; 3: neither."""
        return Exit.of(self.is_exact)


@ieee_floats
def exact(
    unit: UnitLike,
    *,
    integers: int | None = None,
    k: int | None = None,
    algorithm: str = "",
    search: bool = True,
    options: SolvingOptions = SolvingOptions(),
) -> AccuracyExactness:
    """Return how far the chained result of a unit is exactly the dot product of integers, with c = 0.

    Block scales, where the unit takes any, are 1.

    >>> import tcsmt
    >>> found = tcsmt.accuracy.exact("turing/mma.m8n8k16.s32.s8.s8.s32", integers=128, search=False)
    >>> found.k, found.is_exact
    (131071, True)

    Give integers or k, and the largest other one is proved; or both, and that pair is. The integers are all
    of a's and b's formats up to the largest, which must have every integer in their range up to it (f16: up
    to 2048). An algorithm multiplies binary32 integers on the unit (an emulation: binary64 ones).

    Args:
        unit: The unit.
        integers: Largest magnitude of the integers in a and b.
        k: Products in the dot product.
        algorithm: A name of :func:`tcsmt.accuracy.recipes`.
        search: Look for inputs beyond what is proved.
        options: Of solvers; a proof is not confirmed where they leave it open.

    Raises :class:`tcsmt.TcsmtError` for unknown names and where neither, or a number below 1, is given,
    or integers that the formats do not have.
    """
    if integers is None and k is None:
        raise TcsmtError("integers and k are both missing: give one of them, or both")
    for name, limit in (("integers", integers), ("k", k)):
        if limit is not None and not 1 <= limit <= 1 << 40:
            raise TcsmtError(f"{name} = {limit}: must be from 1 to 2^40")
    where = unit if isinstance(unit, str) else side_of(unit).row
    if algorithm and is_emulation(algorithm):
        row = emulation_named(algorithm, where)[1]
    else:
        row = algorithm_named(algorithm, where)[1] if algorithm else side_of(unit).row
    if options.certificate is not None and isinstance(row.model, ProgramModel):
        raise TcsmtError("certificates of exact kernels and programs are not written")
    solving = Solving(options)
    chain = StepwiseProof(solving)
    asked = subject_named(chain, algorithm, row)
    if k is not None and k > asked.longest:
        raise TcsmtError(f"k = {k}: must be from 1 to {asked.longest} here")
    if integers is not None and (why := missing_integer(asked.formats[:2], integers)):
        raise TcsmtError(f"integers = {integers}: {why}")
    exactness = exact_of(asked, chain, integers=integers, k=k, search=search)
    certified = None
    if solving.certificates is not None and exactness.k:
        certified = certify_exact(solving.certificates, algorithm, row, exactness.integers, exactness.k)
    return AccuracyExactness(algorithm, row, (integers, k), exactness, certified)


@dataclass(frozen=True, repr=False)
class ExactSlices(Result):
    """The largest K that is proved for each size of slices: print it, or see ``families``.

    families: units of the same model together: ``units``, ``formats`` and, for each number of ``bits``,
    ``slices`` with the largest ``k``, why the proof ``ends`` there, and products ``beyond`` it.
    """

    families: tuple[Mapping[str, Any], ...]

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Return what is proved of each number of bits, as records of verdicts."""
        return _proofs(self.families)

    def _facts(self) -> dict[str, Any]:
        return {"families": [*self.families]}

    def _lines(self) -> Iterator[str]:
        yield from table(self.families)

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.families), 'family', 'families')} of units"


@ieee_floats
def slices(
    only: str = "",
    *,
    output: str | os.PathLike[str] | None = None,
    options: SolvingOptions = SolvingOptions(),
    progress: ProgressCallback = no_progress,
) -> ExactSlices:
    """For every unit, the largest K up to which products of slices of b bits are summed exactly, c being 0.

    >>> import tcsmt
    >>> found = tcsmt.accuracy.slices("rvv")  # doctest: +SKIP

    A slice of b bits is an integer of at most 2^b in magnitude.

    Args:
        only: Only units with this text in their names.
        output: JSON file; a run continues where it stopped.
        options: Of solvers; a proof is not confirmed where they leave it open.

    Raises :class:`tcsmt.TcsmtError` for a file that another run has, or that was written by something else.
    """
    solving = Solving(options)
    asked = engine_digest(*SOURCES) + (" confirmed" if options.confirm else "")
    wanted = [family for family in families(rows(claims=False)) if only in family[0].name]
    with Checkpoint(output, _LAYOUT, "--output") as kept:
        # what no code has proved yet comes before what other code has
        order = sorted(wanted, key=lambda family: family[0].name in kept.records)
        for number, family in enumerate(order, 1):
            name = family[0].name
            before = kept.records.get(name, {})
            models = {row.name: family[0].model.digest for row in family}
            result = before
            if (before.get("asked"), before.get("models")) != (asked, models):
                result = record(family, solving) | {"asked": asked}
            certified = all(has_certificate(proof, options.certificates) for proof in _proofs([result]))
            if solving.certificates is not None and not certified:
                result = certify_slices(solving.certificates, family[0], result)
            if result is not before:
                kept.keep(name, result)
            progress(number, len(wanted), name)
        return ExactSlices(tuple(kept.records[family[0].name] for family in wanted))


def _proofs(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{**size, "verdict": "equivalent"} for record in records for size in record["slices"] if size["k"]]


def _key(family: Record) -> str:
    return str(family["unit"])


def _head(records: Mapping[str, Record]) -> Record:
    return {
        "tcsmt": __version__,
        "question": "up to which K are products of slices summed exactly, with c = 0?",
    }


_LAYOUT = Layout("families", _key, _head)
