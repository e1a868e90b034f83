"""How solvers are asked: one object of all that a long run is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tcsmt.prove.engine.solvers.run import Settings

__all__ = ["Asking"]


@dataclass(frozen=True)
class Asking:
    """How pairs are asked.

    settings: of solvers. confirm: whether another solver has to confirm every proof. jobs: pairs at a time,
    on this machine. scheduler: the address of a Dask scheduler, whose workers ask instead; empty: none.
    kept: whether proofs that are in the store count (:class:`.Trust`). certificates: a folder for those of
    proofs; a proof in the store then counts only if it has one.
    """

    settings: Settings = field(default_factory=Settings)
    confirm: bool = True
    jobs: int = 1
    scheduler: str = ""
    kept: bool | None = None
    certificates: Path | None = None
