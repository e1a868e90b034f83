"""The languages in which a model can be written, by name."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.interop.exports.c import c
from tcsmt.interop.exports.design import Design
from tcsmt.interop.exports.smtlib import smtlib
from tcsmt.interop.exports.systemverilog import bench, latency, systemverilog
from tcsmt.interop.exports.webassembly import declarations, loader, webassembly
from tcsmt.language.write.btor2 import Btor2
from tcsmt.matrix_units.catalogue import Row
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.results import Result
from tcsmt.support.text import counted


def btor2(design: Design) -> str:
    """Return the text of the file; the stages' names are the symbols of their lines."""
    nodes = design.ordered([design.root])
    file = Btor2()
    for operand in design.inputs:
        file.input(operand.terms, operand.name)
    file.nodes(nodes, design.names(nodes))
    file.output(design.root, "d")
    return "\n".join([*design.comment(lambda line: f"; {line}"), *file.lines, ""])


_WRITE = {"c": c, "btor2": btor2, "smt2": smtlib}
#: By the names that ``--as`` takes.
LANGUAGES = ("systemverilog", *_WRITE, "wasm")


@dataclass(frozen=True, repr=False)
class Exported(Result):
    """A unit in another language; as text, what the file holds.

    unit, language: what was asked for. name: of the module or function. text: of the file. testbench: of
    SystemVerilog, the text of a file with a test bench. latency: of SystemVerilog, clock edges from the
    inputs to the result (0: combinational). module: of WebAssembly, the binary module; then ``text`` is its
    loader in JavaScript, and ``declarations`` are the loader's types in TypeScript.
    """

    unit: str
    language: str
    name: str
    text: str
    testbench: str | None = None
    latency: int | None = None
    module: bytes | None = None
    declarations: str | None = None

    def files(self, path: Path) -> dict[str, tuple[Path, str | bytes]]:
        """Return the files to be written for ``path``, by what they are, each with its content.

        A module in ``dot.wasm`` has its loader and the loader's types beside it, ``dot.mjs`` and
        ``dot.d.mts``. Raises :class:`.TcsmtError` where a module's name does not end in .wasm.
        """
        if self.module is None or self.declarations is None:
            return {"output": (path, self.text)}
        if path.suffix != ".wasm":
            raise TcsmtError(f"{path}: a WebAssembly module is named like {self.name}.wasm")
        return {
            "output": (path, self.module),
            "loader": (path.with_suffix(".mjs"), self.text),
            "declarations": (path.with_suffix(".d.mts"), self.declarations),
        }

    @property
    def texts(self) -> dict[str, str]:
        """Return the content as plain data: the text, and of WebAssembly the module in Base64, and
        declarations.
        """
        if self.module is None or self.declarations is None:
            return {"text": self.text}
        module = b64encode(self.module).decode()
        return {"text": self.text, "module": module, "declarations": self.declarations}

    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def _title(self) -> str:
        return f"{self.name}: {self.unit} in {self.language}, {counted(self.text.count(chr(10)), 'line')}"

    def _facts(self) -> dict[str, Any]:
        data = {"unit": self.unit, "language": self.language, "name": self.name}
        return data | ({} if self.latency is None else {"latency": self.latency})


def exported(row: Row, language: str, *, name: str | None = None, pipeline: bool = False) -> Exported:
    """Write a row's model in a language.

    name: of the module or function (default: made from the unit's). pipeline: with registers behind the
    stages, for SystemVerilog. Raises :class:`.TcsmtError` for what does not fit.
    """
    chosen = choose("language", language, LANGUAGES)
    design = Design.of(row, name)
    if chosen == "systemverilog":
        edges = latency(design) if pipeline else 0
        text, tested = systemverilog(design, pipeline=pipeline), bench(design, pipeline=pipeline)
        return Exported(row.name, chosen, design.name, text, tested, edges)
    if pipeline:
        raise TcsmtError(f"a pipeline is possible in systemverilog, not in {chosen}")
    if chosen == "wasm":
        module = webassembly(design).code
        return Exported(row.name, chosen, design.name, loader(), module=module, declarations=declarations())
    return Exported(row.name, chosen, design.name, _WRITE[chosen](design))
