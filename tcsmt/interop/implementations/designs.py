"""A design as a unit: SystemVerilog, BTOR2 or C with what its ports are, and its text with options.

The text is a file with options: ``fdp.sv,top=fdp,like=volta,port=a=in_a``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tcsmt.interop.c_reader.c_source import CFunction
from tcsmt.interop.implementations.rtl import read_rtl
from tcsmt.interop.implementations.suffixes import BTOR2, RTL, C
from tcsmt.interop.implementations.verilog_types import DeclaredPorts
from tcsmt.language.read.btor2_reader import read_btor2
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, format_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.circuit import SCALES, Circuit, Port, UndrivenBits, read_constants
from tcsmt.matrix_units.resolve import ResolvedName, file_of, resolve, whole_paths
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.files import read_bytes
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import one_line

_OPERANDS = ("a", "b", "c", "d")


@dataclass(frozen=True, kw_only=True)
class DesignFiles:
    """A design's files, and how its ports are the operands and the result of a unit.

    files: SystemVerilog in the order in which it is compiled, one BTOR2 file, or one file of C. top: the
    module ("": the only one that no other has). function: of C ("": the only one that other files can call).
    ports, constants, cycles, cut, hold: as :class:`.Circuit` has them. formats: of a, b, c, d and, for a unit
    with block scales, ``scale``; or their names. scale_block: lanes that share a scale (0: as the ports of
    the scales say). k: products (None: as many as the ports of a hold). parameters, include, define: for the
    compiler. timeout: seconds for reading it, in all. query: seconds for each question to a solver. progress:
    is told what the reading is at.
    """

    files: Sequence[Path]
    top: str = ""
    function: str = ""
    ports: Sequence[str] = ()
    constants: Sequence[str] = ()
    cycles: int = 0
    cut: Sequence[str] = ()
    hold: bool = False
    formats: Mapping[str, str | AnyFormat] = field(default_factory=dict)
    k: int | None = None
    scale_block: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)
    include: Sequence[Path] = ()
    define: Sequence[str] = ()
    timeout: float = 300.0
    query: float = 60.0
    progress: ProgressCallback = no_progress

    def like(self, model: Model) -> DesignFiles:
        """Return the files with a model's formats and k where none are said."""
        formats = {f"{name}": getattr(model, f"{name}_format") for name in _OPERANDS}
        lanes = any(re.match(r"a\d", text) for text in self.ports)
        block = self.scale_block
        if model.scale_format is not None and "scale" not in self.formats:
            formats["scale"], block = model.scale_format, model.k // model.scales
        return replace(
            self,
            formats=formats | dict(self.formats),
            scale_block=block,
            k=model.k if self.k is None and not lanes else self.k,
        )

    def text(self, formats: Mapping[str, AnyFormat]) -> tuple[str, DeclaredPorts | None]:
        """Return the design as BTOR2, and how its ports are declared, where SystemVerilog says it.

        formats: of a, b, c and d. Raises :class:`.TcsmtError`.
        """
        if not self.files:
            raise TcsmtError("a design needs a file")
        if self.files[-1].suffix.lower() in C:
            return self._of_c(formats), None
        if self.function:
            raise TcsmtError(f"{self.files[-1]}: --function is for C; a module is given by --top")
        binary = [path for path in self.files if path.suffix.lower() in BTOR2]
        if binary:
            if len(self.files) > 1 or self.top or self.parameters or self.include or self.define:
                raise TcsmtError(f"{binary[0]}: a BTOR2 file is read as it is, without other files or --top")
            try:
                return read_bytes(binary[0]).decode(), None
            except UnicodeDecodeError:
                raise TcsmtError(f"{binary[0]}: not BTOR2: not text") from None
        output = next((port.path for port in map(Port.read, self.ports) if port.operand == "d"), "d")
        design = read_rtl(
            self.files, self.top, output, parameters=self.parameters, cut=self.cut, include=self.include,
            define=self.define, timeout=self.timeout,
        )  # fmt: skip
        read = read_btor2(design.btor2, str(self.files[-1]))
        widths = {name: node.width for name, node in read.inputs.items()}
        widths |= {name: read.width_of(name) for name in read.outputs}
        return design.btor2, DeclaredPorts(widths, design.tree.types)

    def _of_c(self, formats: Mapping[str, AnyFormat]) -> str:
        if len(self.files) > 1 or self.top or self.parameters or self.cycles or self.cut or self.hold:
            options = "--source, --top, --param, --cycles, --cut and --hold"
            raise TcsmtError(f"{self.files[-1]}: C is one file, without {options}")
        return CFunction(
            file=self.files[0], name=self.function, ports=[Port.read(port) for port in self.ports],
            formats=formats, k=self.k, scales=self._scales(formats),
            constants=read_constants(self.constants), include=self.include, define=self.define,
            timeout=self.timeout, query=self.query, progress=self.progress,
        ).btor2  # fmt: skip

    def _scales(self, formats: Mapping[str, AnyFormat]) -> int:
        """Return how many block scales a has, for C."""
        if "scale" not in formats:
            return 0
        if not self.scale_block or self.k is None:
            raise TcsmtError(f"{self.files[-1]}: how many block scales? Give --like UNIT")
        return self.k // self.scale_block

    def _block(self, text: str, declared: DeclaredPorts | None, scale: AnyFormat | None, k: int) -> int:
        """Return lanes that share a scale; where nothing says it, as many scales as their ports hold."""
        if scale is None or self.scale_block:
            return self.scale_block
        return max(1, k // self._lanes(text, declared, "scale_a", scale))

    def _lanes(self, text: str, declared: DeclaredPorts | None, operand: str, fmt: AnyFormat) -> int:
        """Return how many words of an operand its ports hold."""
        ports = [port for port in map(Port.read, self.ports) if port.operand == operand]
        if any(port.lane is not None for port in ports):
            return 1 + max(port.lane or 0 for port in ports)
        inputs = read_btor2(text, str(self.files[-1])).inputs
        port = ports[0] if ports else Port.read(f"{operand}={operand}")
        width = declared.width(port) if declared is not None else None
        if width is None:
            if port.name not in inputs:
                return 1  # refused, with its name, when the model is built
            high, low = port.range_in(inputs[port.name].width)
            width = high - low + 1
        return max(1, width // fmt.width)

    def _spelled(
        self, declared: DeclaredPorts | None, formats: Mapping[str, AnyFormat], k: int, block: int
    ) -> tuple[str, ...]:
        """Return the ports, as bits of their vectors where their declarations decide which lane is where."""
        if declared is None:
            return tuple(self.ports)
        ports = [Port.read(text) for text in self.ports]
        operands = [*_OPERANDS, *(SCALES if "scale" in formats else ())]
        given = {port.operand for port in ports}
        texts: list[str] = []
        for port in [*ports, *(Port.read(f"{name}={name}") for name in operands if name not in given)]:
            one = port.lane is not None or port.operand in "cd"
            fmt = formats.get("scale" if port.operand in SCALES else port.operand)
            if fmt is None:
                texts.append(port.text)
                continue
            lanes = 1 if one else k if port.operand in "ab" else k // block
            spelled = declared.spelled(port, fmt.width, lanes)
            default = port.operand not in given and spelled == [port.text]
            texts += [] if default else spelled
        return tuple(texts)


def read_design(design: DesignFiles) -> Row:
    """Return the design as a row: ``design/NAME``, conjectured, its source the file.

    Raises :class:`.TcsmtError`, with file and line where they are known.
    """
    missing = [name for name in _OPERANDS if name not in design.formats]
    if missing:
        name = design.files[-1] if design.files else "a design"
        raise TcsmtError(
            f"no format for {', '.join(missing)}: give --format {missing[0]}=f16, for example; "
            f"in a unit's name, {name},like=UNIT or {name},format={missing[0]}=f16"
        )
    for name in design.formats:
        choose("format of", name, (*_OPERANDS, "scale"))
    chosen = {name: design.formats[name] for name in (*_OPERANDS, "scale") if name in design.formats}
    formats = {n: format_named(f) if isinstance(f, str) else f for n, f in chosen.items()}
    text, declared = design.text(formats)
    file = design.files[-1]
    try:
        k = design._lanes(text, declared, "a", formats["a"]) if design.k is None else design.k
        block = design._block(text, declared, formats.get("scale"), k)
        model = _settled(
            min(design.query, _SECONDS),
            a_format=formats["a"], b_format=formats["b"], c_format=formats["c"], d_format=formats["d"], k=k,
            scale_format=formats.get("scale"), scale_block=block, btor2=text,
            ports=design._spelled(declared, formats, k, block), constants=tuple(design.constants),
            cycles=design.cycles, cut=tuple(design.cut), hold=design.hold,
        )  # fmt: skip
    except TcsmtError as why:
        raise TcsmtError(f"{design.top or file}: {why}") from None
    return Row(
        architecture="design",
        instruction=one_line(design.top or design.function or file.stem),
        model=model,
        source=one_line(str(file)),
        date=datetime.fromtimestamp(file.stat().st_mtime, UTC).year,
        evidence="conjectured",
        note=_readers.get(file.suffix.lower(), ""),
    )


def _settled(seconds: float, /, **parameters: Any) -> Circuit:
    """Return the circuit; where its graph has undriven bits or don't-cares, proved not to depend on them.

    Two solvers have to say so; then it does not matter what is put for them.
    """
    try:
        return Circuit(**parameters)
    except UndrivenBits:
        model = Circuit(**parameters, undriven="zero")
        differ = model.with_undriven_free.ne(model.trace.output)
        verdict = Solving(SolvingOptions(timeout=seconds, confirm=True)).verdict_on(differ)
        if not isinstance(verdict, Equivalent):
            raise
        return model


#: What has read a file, by its suffix.
_readers = dict.fromkeys(RTL, "read by Yosys") | dict.fromkeys(C, "read by clang")
#: For the question whether a result depends on undriven bits.
_SECONDS = 30.0

#: Options that may be repeated, and the field that holds them; pairs NAME=VALUE; a single text; a number.
_LISTS = {"port": "ports", "const": "constants", "cut": "cut", "define": "define"}
_FILES = {"source": "files", "include": "include"}
_PAIRS = {"format": "formats", "param": "parameters"}
_NUMBERS: dict[str, tuple[str, Callable[[str], int | float]]] = {
    "cycles": ("cycles", int),
    "read-timeout": ("timeout", float),
}
_OPTIONS = ("top", "function", *_LISTS, *_FILES, *_PAIRS, *_NUMBERS, "hold", "like")
#: A comma that is not part of a value: the name of an option follows.
_COMMA = re.compile(rf",(?=(?:{'|'.join(_OPTIONS)})(?:=|,|$))")
#: A comma, and what looks like an option's name but is none.
_UNKNOWN = re.compile(r",([a-z][a-z-]*)=")


def design_side(text: str, options: DesignFiles | None = None, like: Model | None = None) -> ResolvedName:
    """Return the side of a design's file; its options are those of ``tcsmt design``, without dashes, after
    commas.

    options: more of them, which those of the text precede. like: the model whose formats and k it has where
    neither states any. Raises :class:`.TcsmtError`.
    """
    file = file_of(text)
    design = options or DesignFiles(files=())
    if text != file and not _COMMA.match(text, len(file)):
        choose("option of a design", text[len(file) + 1 :].partition("=")[0], _OPTIONS)
    for option in _COMMA.split(text[len(file) :])[1:]:
        name, equals, value = option.partition("=")
        unknown = _UNKNOWN.search(value)
        if unknown is not None:
            choose("option of a design", unknown[1], _OPTIONS)
        if bool(value) == (name == "hold") or bool(equals) != bool(value):
            raise TcsmtError(f"{text}: {option}: expected {'hold' if name == 'hold' else f'{name}=VALUE'}")
        if name == "like":
            like = resolve(value).row.model
        else:
            design = replace(design, **_changes(design, name, value))
    design = replace(design, files=(*design.files, Path(file)))
    row = read_design(design if like is None else design.like(like))
    return ResolvedName.of_row(row, text)


def whole_options(options: str) -> str:
    """Return a design's options, ``,NAME=VALUE,...``, with whole paths for files and folders."""
    return ",".join(map(_whole_option, _COMMA.split(options)))


def _whole_option(option: str) -> str:
    name, _, value = option.partition("=")
    if name == "like":
        return f"like={whole_paths(value)}"
    return f"{name}={Path(value).resolve()}" if name in _FILES else option


def _changes(design: DesignFiles, name: str, value: str) -> dict[str, Any]:
    """Return the fields that an option changes."""
    if name in _NUMBERS:
        field, number = _NUMBERS[name]
        try:
            return {field: number(value)}
        except ValueError:
            raise TcsmtError(f"{name}={value}: must be a number") from None
    if name in _PAIRS:
        field = _PAIRS[name]
        before: dict[str, Any] = getattr(design, field)
        return {field: before | named_values(name, [value])}
    if name in _FILES:
        return {_FILES[name]: (*getattr(design, _FILES[name]), Path(value))}
    if name in _LISTS:
        return {_LISTS[name]: (*getattr(design, _LISTS[name]), value)}
    return {name: True if name == "hold" else value}


def named_values(option: str, texts: Iterable[str]) -> dict[str, str]:
    """Split ``NAME=VALUE`` of each text. Raises :class:`.TcsmtError`, also for a name that is given twice."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise TcsmtError(f"{option} {text}: expected NAME=VALUE")
        if name in values:
            raise TcsmtError(f"{option} {text}: {name} is given twice")
        values[name] = value
    return values
