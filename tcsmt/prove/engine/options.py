"""The options of solving: one object, carried whole."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from tcsmt.support.errors import TcsmtError, choose

#: Every solver, fastest on these queries first (see ``benchmarks/queries.py``).
SOLVERS = ("bitwuzla", "z3", "cvc5")
#: What ``--solver`` takes: ``auto`` is the fastest one, ``portfolio`` races them all.
CHOICES = ("auto", *SOLVERS, "portfolio")


@dataclass(frozen=True)
class SolvingOptions:
    """Options of how questions are put to solvers, and what becomes of the answers.

    A proof that an earlier run has kept counts, but not with ``confirm``, as anyone can write to a file;
    with ``certificate``, only if it has one. A certificate (:func:`tcsmt.check_certificate`) needs the extra
    ``certificates``. Limits of processor time hang on the machine and the load; steps are a solver's own
    count: z3's and cvc5's resource units, for Bitwuzla how often it asks whether to go on.

    Args:
        solver: One of auto, bitwuzla, z3, cvc5, portfolio.
        timeout: Limit of each query, in seconds of processor time.
        memory: Memory limit of each solver process, in MiB.
        steps: Limit of each query in the solver's own count: the same verdict on every machine.
        confirm: A proof counts only if another solver confirms it, which takes up to twice as long.
        reuse: Use the proofs that an earlier run has kept, or prove everything again. [default: again with
            --confirm, else kept]
        jobs: Number of parallel processes or threads on this machine.
        scheduler: Use the workers of this Dask scheduler, e.g. tcp://host:8786 (needs the extra dask).
        store: Keep verdicts in this JSON file; a run continues where it stopped.
        certificate: Write a certificate of each proof here; see `tcsmt certificate`.
        dump_smt: Write the SMT-LIB scripts here.

    ``portfolio`` is a race of all solvers. Where confirm is None, the call decides. With jobs = 0, this
    process works itself. A second script gets a number.

    Raises :class:`tcsmt.TcsmtError` for values that are not allowed.

    >>> import tcsmt
    >>> options = tcsmt.SolvingOptions(timeout=5, confirm=False)
    >>> tcsmt.compare("volta", "ampere", options=options).equal
    False
    """

    solver: str = "auto"
    timeout: float = 60.0
    memory: int = 8192
    _: KW_ONLY
    steps: int | None = None
    confirm: bool | None = None
    reuse: bool | None = None
    jobs: int = 1
    scheduler: str = ""
    store: str | os.PathLike[str] | None = None
    certificate: str | os.PathLike[str] | None = None
    dump_smt: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "solver", choose("solver", self.solver, CHOICES))
        if not 0 < self.timeout <= 1e6:
            raise TcsmtError(f"timeout = {self.timeout}: must be over 0 and up to 1000000 seconds")
        if self.steps is not None and not 0 < self.steps < 1 << 32:
            raise TcsmtError(f"steps = {self.steps}: must be from 1 to {(1 << 32) - 1}")
        if not 64 <= self.memory <= 1 << 20:
            raise TcsmtError(f"memory = {self.memory}: must be from 64 to {1 << 20} MiB")
        if not 0 <= self.jobs <= 256:
            raise TcsmtError(f"jobs = {self.jobs}: must be from 0 to 256")

    @property
    def team(self) -> tuple[str, ...]:
        """Return the solvers that are started."""
        if self.solver == "portfolio":
            return SOLVERS
        return SOLVERS[:1] if self.solver == "auto" else (self.solver,)

    @property
    def certificates(self) -> Path | None:
        """Return the folder for certificates."""
        return None if self.certificate is None else Path(self.certificate)

    def takes(self, *, sure: bool) -> bool:
        """Return whether an earlier run's proof counts; sure: no solver alone stands for it."""
        reuse = not self.confirm if self.reuse is None else self.reuse
        return reuse and (sure or not self.confirm)

    def confirming(self, default: bool) -> SolvingOptions:
        """Return the same, where ``confirm`` is left to the call, with the call's default."""
        return self if self.confirm is not None else replace(self, confirm=default)
