"""The largest error of a kernel on a domain, found and proved: ``tcsmt.accuracy.bound``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.budget import budget
from tcsmt.analysis.emulation.on_digits import cuts_digits
from tcsmt.analysis.tolerance.domain_search import ErrorSubject, FoundError, largest_found
from tcsmt.analysis.tolerance.relative import chooses, program_bound, relative_bound
from tcsmt.analysis.tolerance.remembered import RememberedProof
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.kernels.kernel import Kernel, kernel_named
from tcsmt.programs.names import is_kernel, is_program
from tcsmt.programs.written.programs import WrittenProgram
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import Contradiction, Exit, TcsmtError
from tcsmt.support.invariants import checked_cast
from tcsmt.support.results import Result
from tcsmt.support.text import counted

#: The largest K.
_LONGEST = 1 << 16


@dataclass(frozen=True, repr=False)
class KernelBound(Result):
    """The largest error of a kernel that was found on a domain, and the bound that is proved; print it.

    Both are relative to ``|alpha|·Σ|a·b| + |beta·c| + |bias|``. chooses: whether conditions or maxima choose
    what the result is, so that the exact one is that of the program's steps without any rounding.
    """

    subject: ErrorSubject
    k: int
    domain: Domain
    found: FoundError | None
    bound: Fraction | None
    reason: str
    proof: Equivalent | None
    chooses: bool = False

    @property
    def unit(self) -> Fraction:
        """Return what errors are counted in: 2^-p, p being the significand bits of the result's format."""
        return Fraction(1, 1 << self.subject.d_format.precision)

    @property
    def proved_error(self) -> float | None:
        """Return the bound in such units; None: none was proved (see ``reason``)."""
        return None if self.bound is None else float(self.bound / self.unit)

    @property
    def found_error(self) -> float | None:
        """Return the largest error found, in such units: infinite where a result is; None: nothing was
        tried.
        """
        if self.found is None:
            return None
        return float("inf") if self.found.relative is None else float(self.found.relative / self.unit)

    @property
    def exit_code(self) -> Exit:
        """0: a bound is proved; 3: none is, and the error shown is only found."""
        return Exit.UNKNOWN if self.bound is None else Exit.ANSWERED

    def _facts(self) -> dict[str, Any]:
        found = self.found
        return {
            "kernel": self.subject.name,
            "k": self.k,
            "domain": str(self.domain),
            "unit": str(self.unit),
            **({"exact": "the program's steps without any rounding"} if self.chooses else {}),
            "found": None if found is None else self.found_error,
            "tried": 0 if found is None else found.tried,
            "proved": self.proved_error,
            "reason": self.reason,
            "lemmas": [] if self.proof is None else self.proof.stage.split("; "),
        }

    def _lines(self) -> Iterator[str]:
        bits = self.subject.d_format.precision
        yield f"{self.subject.name}, K = {self.k}; domain: {self.domain}"
        found = "0" if self.found_error is None else f"{self.found_error:.6g}·2^-{bits}"
        if self.found is None and self.proof is None:
            yield f"no bound is proved, and no error was looked for: {self.reason}"
            return
        if self.proof is None:
            yield f"found, not proved: at least {found}; no bound ({self.reason})"
        else:
            most = f"{self.proved_error:.6g}·2^-{bits}"
            yield f"the largest relative error is at least {found} (found) and at most {most} (proved)"
        yield f"relative to {self.subject.size}, and so whatever the sizes of A and B are"
        if self.chooses:
            yield "the exact result is that of the program's steps without any rounding, conditions included"
        if self.found is not None:
            fmt = self.subject.d_format
            result, exact = fmt.describe(self.found.result), float(self.found.exact)
            yield f"found in {self.found.tried} inputs: the result {result}, exact {exact:.9g}"
        if self.proof is not None:
            lemmas = counted(len(self.proof.stage.split("; ")), "lemma")
            yield f"proved {self.proof.how} ({lemmas}, about the unit's graph and IEEE 754)"

    @property
    def _title(self) -> str:
        bound = self.reason if self.bound is None else self.proved_error
        return f"of {self.subject.name}, K = {self.k}: {bound}"


def kernel_bound(
    text: str, *, domain: Domain, search: float, options: SolvingOptions = SolvingOptions()
) -> KernelBound:
    """Return the bound of ``UNIT+REDUCTION[+EPILOGUE]@K``, or of a program ``FILE.toml@K``.

    The other arguments are those of :func:`tcsmt.accuracy.bound`.

    Raises :class:`tcsmt.TcsmtError` for unknown names and for options that a kernel's bound does not have,
    and :class:`.Contradiction` where a larger error is found than is proved.
    """
    if options.certificate is not None:
        raise TcsmtError("certificates of kernels' bounds are not written")
    start, chain = time.monotonic(), RememberedProof(options)
    subject, k, prove, plain, chosen = _asked(text, chain, domain)
    bound, reason, proof = None, "", None
    try:
        bound = prove()
        proof = chain.verdict(time.monotonic() - start)
    except Unbounded as why:
        reason = str(why)
    found = largest_found(subject, k, domain, search) if plain else None
    result = KernelBound(subject, k, domain, found, bound, reason, proof, chosen)
    if bound is not None and found is not None and (found.relative is None or found.relative > bound):
        raise Contradiction(
            f"no error of {text} is over {result.proved_error:.9g} units of {result.unit} ({domain})",
            f"an error of {result.found_error:.9g} units",
        )
    return result


def _asked(
    text: str, chain: StepwiseProof, domain: Domain
) -> tuple[ErrorSubject, int, Callable[[], Fraction], bool, bool]:
    """Return what is asked about, its K, what proves the bound, and whether errors can be looked for, and
    whether conditions choose the result.
    """
    if is_program(text):
        row = resolve(text).row
        model = checked_cast(row.model, WrittenProgram)
        subject = ErrorSubject.of_program(row.name, model)
        if cuts_digits(model.program):
            return subject, model.k, lambda: budget(chain, model.program, domain, model.k).total, True, False
        chosen = chooses(model.program)
        return subject, model.k, lambda: program_bound(chain, model, domain), not chosen, chosen
    name, at, length = text.rpartition("@")
    if not is_kernel(text) or not at or not length.isdecimal() or not 1 <= int(length) <= _LONGEST:
        raise TcsmtError(
            f"{text!r}: a kernel needs its K at the end, from 1 to {_LONGEST}: UNIT+split-k:2@4096"
        )
    kernel, k = kernel_named(name, lambda unit: resolve(unit).row), int(length)
    if not isinstance(kernel.schedule.sum_format, Format):
        raise TcsmtError(f"{kernel.name}: integers are exact or wrap; `tcsmt accuracy exact` says which")
    plain = not kernel.reduction.tiled and kernel.unit.model.scale_format is None
    subject = replace(ErrorSubject.of_kernel(_in_some_order(kernel, k)), name=kernel.name)
    return subject, k, lambda: relative_bound(chain, kernel, k, domain), plain, False


def _in_some_order(kernel: Kernel, k: int) -> Kernel:
    """A kernel whose parts are added in any order as it may be: in one of them."""
    return replace(kernel, reduction=kernel.reduction.orders(k, kernel.unit.model.k, c=False)[0])
