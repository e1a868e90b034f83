"""A unit as a file of another language, and scripts of queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interop.exports.languages import LANGUAGES, Exported, exported
from tcsmt.support.floats import ieee_floats

__all__ = ["LANGUAGES", "Exported", "Script", "curated", "export", "hard"]


@ieee_floats
def export(unit: UnitLike, language: str, *, name: str | None = None, pipeline: bool = False) -> Exported:
    """A unit in another language, as a file that needs nothing else.

    SystemVerilog comes with a test bench, WebAssembly with its loader in JavaScript and the loader's types.
    A name is letters, digits and underscores.

    Args:
        unit: The unit.
        language: systemverilog, c (a C99 header), btor2, smt2 (SMT-LIB) or wasm (WebAssembly).
        name: Name of the module or function. [default: made from the unit's]
        pipeline: SystemVerilog with registers behind the stages, and a clock.

    Raises :class:`tcsmt.TcsmtError` for an unknown language, and for what does not fit it.

    >>> import tcsmt
    >>> made = tcsmt.export("volta", "systemverilog", name="dot_add")
    >>> [line.strip() for line in made.text.splitlines() if line.startswith("  input")][1:]
    ['input  logic [3:0][15:0] b,', 'input  logic [31:0] c,']
    >>> tcsmt.export("volta", "systemverilog", pipeline=True).latency
    4
    """
    return exported(side_of(unit).row, language, name=name, pipeline=pipeline)


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
    from tcsmt.surveys.properties.scripts import scripts

    for name, text in scripts():
        yield Script(name, f"{name}.smt2", text)


def hard() -> Iterator[Script]:
    """A benchmark set for SMT solvers: questions that are hard when a solver gets them whole."""
    from tcsmt.surveys.papers.hard_queries import hard_queries

    for query in hard_queries():
        yield Script(f"{query.family}/{query.name}", query.path, query.text)
