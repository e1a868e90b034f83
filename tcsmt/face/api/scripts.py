"""SMT-LIB scripts that need nothing else: the curated ones, and hard ones for solvers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Script", "curated", "hard"]


@dataclass(frozen=True)
class Script:
    """A script: its name, its file in the folder of all of them, and its text."""

    name: str
    file: str
    text: str

    @property
    def status(self) -> str:
        """Return the answer that the script says it has: ``sat``, ``unsat`` or ``unknown``."""
        status = re.search(r"\(set-info :status (\w+)\)", self.text)
        return status[1] if status else "unknown"


def curated() -> Iterator[Script]:
    """Published questions, each with its answer."""
    from tcsmt.study.properties.scripts import scripts

    for name, text in scripts():
        yield Script(name, f"{name}.smt2", text)


def hard() -> Iterator[Script]:
    """A benchmark set for SMT solvers: questions that are hard when a solver gets them whole."""
    from tcsmt.study.papers.hard_queries import hard_queries

    for query in hard_queries():
        yield Script(f"{query.family}/{query.name}", query.path, query.text)
