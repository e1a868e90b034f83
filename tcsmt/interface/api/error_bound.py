"""The largest error of an algorithm on a unit, found and proved: ``tcsmt.accuracy.bound``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import inf
from typing import Any, overload

from tcsmt.analysis.certified import certify_bound
from tcsmt.analysis.emulation.bound import bound as bound_of_emulation
from tcsmt.analysis.emulation.certified import certify_emulation
from tcsmt.analysis.emulation.search import LANES
from tcsmt.analysis.search import bound as bounds
from tcsmt.analysis.search.bound import Bound as FoundBound
from tcsmt.analysis.search.bound import Extreme
from tcsmt.analysis.search.bound import bound as bound_of
from tcsmt.analysis.search.records import bound_json
from tcsmt.interface.api.asked import TYPE1, check_effort
from tcsmt.interface.api.kernel_bound import KernelBound, kernel_bound
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.row import of_other_arithmetic
from tcsmt.matrix_units.resolve import file_of, resolve
from tcsmt.programs.names import is_kernel
from tcsmt.programs.recipes.emulation.named import emulation_named, is_emulation
from tcsmt.programs.recipes.named import algorithm_named, recipe_named
from tcsmt.programs.steps.split import F32
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.explain import signed_text
from tcsmt.prove.statements.verdict import Certified, certificate_json, certificate_lines
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.support.text import ranges

#: Lines of a witness that are shown unless all are asked for.
_BRIEF = 4


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
        """Return the bound of the error relative to ``|c| + Σ|a·b|``; None: none was proved (see ``reason``).

        In units of 2^-24; of an emulation of binary64, of 2^-53.
        """
        return None if self.found.proved is None else float(self.found.proved)

    @property
    def proved_error(self) -> float | None:
        """``proved`` as a plain number: a bound of ``|result - exact| / (|c| + Σ|a·b|)``."""
        return None if self.found.proved is None else float(self.found.proved * bounds.unit(self.wide))

    @property
    def found_error(self) -> float:
        """Return the largest such error that was found; infinite where a result is not finite, 0.0: none."""
        if self.found.relative is None:
            return 0.0
        relative = self.found.relative.relative
        return inf if relative is None else float(relative * bounds.unit(self.wide))

    @property
    def reason(self) -> str:
        """Why no bound is proved; empty where one is."""
        if self.found.proved is not None:
            return ""
        return self.found.open or "no way to prove one was found"

    @property
    def proved_of_largest(self) -> float | None:
        """Return, for an emulation of binary64, the bound relative to ``|c| + K·max|a|·max|b|``, in units
        of 2^-53.
        """
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

    def text(self, *, full: bool = False) -> str:
        """Return the answer, and briefly what it rests on; full: all inputs and every step of the proof."""
        return "\n".join(self._written(None if full else _BRIEF))

    def _lines(self) -> Iterator[str]:
        return self._written(_BRIEF)

    def _written(self, most: int | None) -> Iterator[str]:
        """most: lines of inputs of a witness, and no steps of the proof; None: all of both."""
        error_bound, unit = self.found, f"2^-{self.wide.precision}"
        yield f"{self.algorithm} on {self.row.name}, K = {self.k}; domain: {self.domain}"
        yield from self._answer(unit)
        yield ""
        if self.searched < self.k:
            first = self.searched
            yield f"the search changed the first {first} products only; the others repeat them, or are zero"
        relative, wide = "relative to |c| + Σ|a·b|", self.wide
        yield from _extreme_lines(error_bound.relative, relative, f"·{unit}", wide, most)
        yield from _extreme_lines(error_bound.ulps, "in ulps of the exact result", "", wide, most)
        if error_bound.proof is not None and self.proved is not None:
            yield f"proved {error_bound.proof.how}{':' if most is None else ''}"
            if most is None:
                yield from (f"  {step}" for step in error_bound.proof.stage.split("; "))
            if error_bound.open:
                yield f"not closed: {error_bound.open}"
        yield from certificate_lines(self.certified)
        yield from others_lines(self.others)

    def _answer(self, unit: str) -> Iterator[str]:
        """Yield how large the error can be, and where the bound comes from."""
        error_bound = self.found
        low = "0" if error_bound.relative is None else _size(error_bound.relative.relative, f"·{unit}")
        if error_bound.proof is None or self.proved is None:
            yield f"found, not proved: at least {low}; no bound ({self.reason})"
            return
        most_error = f"{self.proved:.6g}·{unit}"
        yield f"the largest relative error is at least {low} (found) and at most {most_error} (proved)"
        yield from (f"  {float(loss):>12.6g}  {name}" for name, loss in error_bound.shares.items())
        if self.proved_of_largest is not None:
            yield f"relative to |c| + K·max|a|·max|b|, at most {self.proved_of_largest:.6g}·{unit}"
        if error_bound.in_ulps is not None:
            yield f"  and so at most {float(error_bound.in_ulps):.6g} ulps of the exact result"
        elif error_bound.ulps is not None:
            yield "  in ulps there is no bound: the exact sum may cancel"

    @property
    def _title(self) -> str:
        bound = f"not proved ({self.reason})" if self.proved is None else self.proved
        return f"of {self.algorithm} on {self.row.name}, K = {self.k}: {bound}"

    @property
    def exit_code(self) -> Exit:
        """0: a bound is proved; 3: none is, and the error shown is only found."""
        return Exit.UNKNOWN if self.proved is None else Exit.ANSWERED


@overload
def bound(
    algorithm: str,
    unit: UnitLike,
    *,
    k: int = ...,
    domain: Domain = ...,
    search: float = ...,
    options: SolvingOptions = ...,
) -> AccuracyBound: ...
@overload
def bound(
    algorithm: str,
    unit: None = ...,
    *,
    k: int = ...,
    domain: Domain = ...,
    search: float = ...,
    options: SolvingOptions = ...,
) -> KernelBound: ...
@ieee_floats
def bound(
    algorithm: str,
    unit: UnitLike | None = None,
    *,
    k: int = 1,
    domain: Domain = TYPE1,
    search: float = 20.0,
    options: SolvingOptions = SolvingOptions(),
) -> AccuracyBound | KernelBound:
    """Return the largest error of an algorithm that is found on a unit, and the smallest bound that is
    proved.

    Without a unit, algorithm is a kernel with its K, ``UNIT+REDUCTION[+EPILOGUE]@K``, of every reduction and
    epilogue that :func:`tcsmt.gemm` has, or a program in a file, ``FILE.toml@K``; its errors are relative to
    ``|alpha|·Σ|a·b| + |beta·c| + |bias|``.
    K may be up to 65536; above 1024, the search for errors changes the first 1024 products only (of an
    emulation, the first 12).

    Args:
        algorithm: As for :func:`compare`, an emulation of binary64 (``ozaki1-int8``), or a kernel.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file; none for a kernel.
        k: Products in the dot product; not the unit's K by default, because time grows with K.
        domain: Of the inputs.
        search: Time for the simulator's search, in seconds.
        options: Of solvers; a proof is not confirmed where they leave it open.

    Raises :class:`tcsmt.TcsmtError` for unknown names.
    """
    check_effort(k, search, bounds.LONGEST)
    if unit is None:
        return kernel_bound(algorithm, domain=domain, search=search, options=options)
    if is_kernel(algorithm):
        raise TcsmtError(f"{algorithm} names its unit: give no other one")
    instruction, certified = unit if isinstance(unit, str) else side_of(unit).row, None
    solving = Solving(options)
    if is_emulation(algorithm):
        emulation, row = emulation_named(algorithm, instruction)
        lost = bound_of_emulation(emulation, domain, k, solving, seconds=search)
        if solving.certificates is not None and lost.proved is not None:
            certified = certify_emulation(solving.certificates, algorithm, emulation, row, k, domain, lost)
        return AccuracyBound(algorithm, row, k, domain, lost, certified=certified, wide=emulation.wide)
    chosen, row = algorithm_named(algorithm, instruction, k)
    error_bound = bound_of(chosen, domain, solving, seconds=search)
    if solving.certificates is not None and error_bound.proved is not None:
        certified = certify_bound(solving.certificates, algorithm, chosen, row, domain, error_bound)
    return AccuracyBound(algorithm, row, k, domain, error_bound, others_of(unit, {algorithm: row}), certified)


def others_of(unit: UnitLike, chosen: Mapping[str, Row]) -> tuple[str, ...]:
    """Where an architecture was given: its instructions of the same formats that compute otherwise.

    chosen: the instruction for each algorithm, by name.
    """
    if not isinstance(unit, str) or {"/", "+"} & {*unit} or file_of(unit):
        return ()
    on_unit = [row for name, row in chosen.items() if not recipe_named(name).ordinary]
    others = [other for row in on_unit for other in of_other_arithmetic(row, resolve(unit).units)]
    return tuple(dict.fromkeys(other.name for other in others))


def others_lines(others: Sequence[str]) -> Iterator[str]:
    """Yield what is said of the units of :func:`others_of`."""
    if others:
        yield f"other instructions with these formats compute otherwise: {', '.join(others)}"


def _extreme_lines(
    extreme: Extreme | None, measure: str, unit: str, wide: Format, most: int | None
) -> Iterator[str]:
    """Yield the largest error that was found in one measure, and the input with it: so many lines of it, or
    all.
    """
    if extreme is None:
        yield f"largest error found, {measure}: none at all"
        return
    yield f"largest error found, {measure}: {_size(extreme.relative if unit else extreme.ulps, unit)}"
    # inputs in a row that hold the same word are one line
    inputs = ((name, word) for name, word in extreme.values.items() if word)
    lines = [
        (_shortened(ranges([name for name, _ in group]), most), word)
        for (_, word), group in groupby(inputs, lambda item: (item[0][0], item[1]))
    ]
    for names, word in lines[:most]:
        yield f"  {names:>5} = {wide.hex(word)}  {wide.describe(word)}"
    rest = 0 if most is None else len(lines[most:])
    if rest:
        yield f"  and {rest} more (--full shows all)"
    yield f"  result {wide.describe(extreme.result)}, exact {signed_text(extreme.exact)}"


def _shortened(names: Sequence[str], most: int | None) -> str:
    """Names of inputs; of many, the first few."""
    shown = names if most is None or len(names) <= 2 * most else [*names[: 2 * most], "..."]
    return ", ".join(shown)


def _size(error: Fraction | None, unit: str) -> str:
    return "infinite" if error is None else f"{float(error):.6g}{unit}"
