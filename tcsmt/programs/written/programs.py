"""Programs in files: TOML files with the formats of the inputs and the text of the steps.

    a_format = "f16"
    b_format = "f16"
    program = '''
    for P in blocks(K, 32):
        s[P] = chain(h100/m16n8k16.f32.f16, A·B over P, +0)
    d = sum(s, order, f32)
    '''

``c_format`` is binary32 unless the file says so. ``[inputs]`` has the formats and axes of other inputs
(``sa = "f32 A/128"``), and ``tile`` the members of a tile. ``[units]`` gives units short names. ``nan`` says
which words NaN results have outside of the units (:class:`.NanWords`; unknown without it). ``title``,
``source`` and ``note`` say what it is. As a unit, a program has its K at the end of its name, and the chosen
alternatives of its freedoms before it: ``FILE.toml,contraction=1@64``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN, NanWords
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format, format_named
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.base import Terms, role_of
from tcsmt.matrix_units.models.file_texts import toml_value
from tcsmt.programs.kernels.units import ieee_rows
from tcsmt.programs.steps.digest import digest
from tcsmt.programs.steps.model import UNKNOWN_NANS, ProgramModel
from tcsmt.programs.steps.program import ProgramStep, UnitProgram
from tcsmt.programs.steps.text import text_of
from tcsmt.programs.written.grammar import program_of
from tcsmt.simulate.matmul import check_chain
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.invariants import checked_cast
from tcsmt.support.text import one_line
from tcsmt.support.toml_files import TomlFile, read_toml, toml_of

_NAME = re.compile(r"(?P<file>.*\.toml)(?P<choices>(?:,[^,@]*)*)@(?P<k>\d+)", re.IGNORECASE)
_FORMATS = ("a_format", "b_format", "c_format")
_KEYS = (*_FORMATS, "inputs", "nan", "note", "program", "source", "tile", "title", "units")
#: Files of compiled kernels, which another wing reads to programs; their K is that of the arguments.
_COMPILED = (".ptx",)
_AXES = re.compile(r"[AB](/[1-9]\d{0,4})?|[ab]|t|tB|tK")


@dataclass(frozen=True, kw_only=True)
class WrittenProgram(ProgramModel):
    """A program that was written down, at one K.

    identity: the digest of its steps, by which two are the same. nans: of operations outside of the units.
    tile: its members.
    """

    kind: ClassVar[str] = "program"
    title: ClassVar[str] = "a program on matrix units"
    identity: str
    steps: UnitProgram = field(compare=False)
    nan: NanWords = UNKNOWN
    tile: int = 0

    def validate(self) -> None:
        """Refuse chains that a unit cannot make."""
        for chain in self.steps.chains:
            unit: Model = chain.how["unit"]
            count = sum(-(-len(run.indices) // unit.k) for run in chain.how["runs"])
            check_chain(unit, count * unit.k)

    def require_unit(self) -> None:
        """Refuse what a unit does not give or take. Raises :class:`.TcsmtError`, which names the input."""
        axes = self.steps.result.axes
        if axes not in ("", "a", "b"):
            raise TcsmtError(f"the result has a word for each of {axes}: a unit gives one: d = y[0]")
        if "t" in {step.axes[:1] for step in self._others.values()} and not self.tile:
            raise TcsmtError("inputs of axes t, tB and tK need a tile")
        _ = self.further_inputs

    @cached_property
    def scale_inputs(self) -> tuple[ProgramStep, ...]:
        """Return the inputs that stand where a unit's block scales do: one for blocks of A, one for those of
        B. There are none where the program has other inputs than these: then each has its own name.
        """
        found = tuple(sorted(self._others.values(), key=lambda step: step.axes))
        if [step.axes[:2] for step in found] != ["A/", "B/"] or found[0].format != found[1].format:
            return ()
        of_a, of_b = (int(step.axes[2:]) for step in found)
        divides = self.k % of_a == 0 or self.k < of_a
        return found if of_a == of_b and divides and isinstance(found[0].format, Format) else ()

    @property
    def _others(self) -> dict[str, ProgramStep]:
        """Return the inputs beside A, B and c, by name."""
        return {name: step for name, step in self.steps.inputs.items() if name not in ("A", "B", "c")}

    @property
    def scale_format(self) -> Format | None:
        """Return the format of these."""
        return float_format(self.scale_inputs[0].format) if self.scale_inputs else None

    @property
    def scales(self) -> int:
        """Return how many of them a row has, and a column."""
        return self._count(self.scale_inputs[0].axes) or 0 if self.scale_inputs else 0

    @cached_property
    def further_inputs(self) -> Mapping[str, tuple[AnyFormat, int | None]]:
        """Return the inputs beside A, B, c and those. Raises :class:`.TcsmtError` for names of a unit's
        words, which they would be mistaken for.
        """
        if self.scale_inputs:
            return {}
        for name in self._others:
            if role_of(name).operand or name in ("scale_a", "scale_b"):
                raise TcsmtError(f"input {name}: a unit's words are called so: {name}=NAME renames it")
        return {name: (step.format, self._count(step.axes)) for name, step in self._others.items()}

    def _count(self, axes: str) -> int | None:
        """Return how many words an input of such axes has; None where it is one."""
        if axes in ("", "a", "b"):
            return None
        if axes.startswith("t"):
            return self.tile if axes == "t" else self.tile * self.k
        return -(-self.k // int(axes.partition("/")[2] or 1))

    def words(self, x: Terms) -> dict[str, Any]:
        """Return what the program's inputs are of a row's words."""
        given = super().words(x)
        for step, words in zip(self.scale_inputs, (x.scale_a, x.scale_b), strict=False):
            given[step.how["name"]] = words
        for name, words in x.further.items():
            axes = self._others[name].axes
            if self._count(axes) is None:
                given[name] = words[0]
            elif axes in ("tB", "tK"):  # of each member, its words along K
                given[name] = [words[at : at + self.k] for at in range(0, len(words), self.k)]
            else:
                given[name] = words
        return given

    @property
    def program(self) -> UnitProgram:
        """Return its steps."""
        return self.steps

    @property
    def nans(self) -> NanWords:
        """Return which words NaN results have outside of the units."""
        return self.nan

    def in_file(self, name_of: Callable[[Model], str]) -> str:
        """Return a file of the same program at its K that rests on no catalogue.

        name_of: what the file of a unit's model is called.
        """
        units: dict[str, str] = {}
        text = text_of(self.steps, lambda unit: units.setdefault(name_of(unit), f"U{len(units)}"))
        lines = [f"{name} = {toml_value(getattr(self, name))}" for name in _FORMATS]
        lines += [f"nan = {toml_value(str(self.nan))}", f"tile = {self.tile}", f"program = '''\n{text}'''"]
        further = {name: f"{step.format.name} {step.axes}".strip() for name, step in self._others.items()}
        tables = {"inputs": further, "units": {name: file for file, name in units.items()}}
        for table, given in tables.items():
            lines += [
                f"[{table}]",
                *(f"{toml_value(key)} = {toml_value(said)}" for key, said in given.items()),
            ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        """Return what identifies it as plain values."""
        formats = {name: getattr(self, name).name for name in (*_FORMATS, "d_format")}
        data = {"kind": self.kind, "steps": self.identity, "nan": str(self.nan), **formats, "k": self.k}
        further = {name: self._others[name] for name in self.further_inputs}
        inputs = {name: f"{step.format.name} {step.axes}".strip() for name, step in further.items()}
        return data | ({"inputs": inputs} if inputs else {})


def is_compiled(text: str) -> bool:
    """Return whether a text is a compiled kernel's, ``FILE.ptx,ARGUMENT,...[@K]``, a program at one K."""
    return text.partition(",")[0].lower().endswith(_COMPILED)


def program_row(text: str, unit_named: Callable[[str], Row]) -> Row:
    """Return the program ``FILE.toml[,FREEDOM=N...]@K`` as the row of a unit. unit_named: the row of a unit's
    name.

    Raises :class:`.TcsmtError`, which names the file and the line.
    """
    row = written_program(text, unit_named)
    checked_cast(row.model, WrittenProgram).require_unit()
    return row


def written_program(text: str, unit_named: Callable[[str], Row]) -> Row:
    """Return the same where the program may take and give what no unit does."""
    if is_compiled(text):
        return unit_named(text)
    match = _NAME.fullmatch(text)
    if match is None:
        raise TcsmtError(f"{text!r}: a program as a unit needs its K at the end: FILE.toml@64")
    path = Path(match["file"])
    return _File(path, *read_toml(path)).row(match["choices"], int(match["k"]), unit_named)


def program_of_file(path: Path, content: str, choices: str, k: int, unit_named: Callable[[str], Row]) -> Row:
    """Return the program of a text of TOML that was made of a file. choices: ``,FREEDOM=N...``."""
    return _File(path, *toml_of(path, content.encode())).row(choices, k, unit_named)


def lines_of(program: UnitProgram) -> list[str]:
    """Return the lines of a program's text, with the catalogue's names of its units."""
    return text_of(program, _name_of).splitlines()


def _name_of(unit: Model) -> str:
    row = row_of(unit)
    return "UNIT" if row is None else row.name


@cache
def row_of(unit: Model) -> Row | None:
    """Return the catalogue's row of a unit, or that of IEEE operations; None where it has none."""
    return next((row for row in (*rows(claims=False), *ieee_rows()) if row.model == unit), None)


class _File(TomlFile):
    def row(self, choices: str, k: int, unit_named: Callable[[str], Row]) -> Row:
        for key in self.given:
            if key not in _KEYS:
                raise self.error(key, str(UnknownName("key of a program", key, _KEYS)))
        if missing := [key for key in ("a_format", "b_format", "program") if key not in self.given]:
            raise TcsmtError(f"{self.path}: these are needed: {', '.join(missing)}")
        formats = {key: format_named(self.text(key)) for key in _FORMATS if key in self.given}
        formats.setdefault("c_format", format_named("f32"))
        text = self.given["program"]
        if not isinstance(text, str) or not text.strip():
            raise self.error("program", "program: must be the lines of a program")
        if not 1 <= k <= ProgramModel.longest:
            raise TcsmtError(f"K = {k}: must be from 1 to {ProgramModel.longest}")
        inputs = {"A": formats["a_format"], "B": formats["b_format"], "c": formats["c_format"]}
        others = self.inputs()
        tile = self.given.get("tile", 0)
        if not isinstance(tile, int) or not 0 <= tile <= ProgramModel.longest:
            raise self.error("tile", f"tile: must be an integer from 1 to {ProgramModel.longest}")
        steps = program_of(
            text, k, inputs | {name: fmt for name, (fmt, _) in others.items()},
            self.units(unit_named), _choices(choices), self.line_of_program,
            {name: axes for name, (_, axes) in others.items()}, tile,
        )  # fmt: skip
        nan = NanWords.named(self.text("nan")) if "nan" in self.given else UNKNOWN
        model = WrittenProgram(
            **formats, d_format=steps.result.format, k=k, identity=digest(steps), steps=steps, nan=nan,
            tile=tile,
        )  # fmt: skip
        year = datetime.fromtimestamp(self.path.stat().st_mtime, UTC).year
        title = self.text("title") if "title" in self.given else "a program"
        note = self.text("note") if "note" in self.given else title
        return Row(
            architecture="program", instruction=f"{one_line(self.path.stem)}{choices}@{k}", model=model,
            source=self.text("source") if "source" in self.given else one_line(str(self.path)), date=year,
            evidence="conjectured", nans_outside=nan,
            note=note + ("" if model.knows_nans else f"; {UNKNOWN_NANS}"),
        )  # fmt: skip

    def units(self, unit_named: Callable[[str], Row]) -> Callable[[str], Model]:
        """Return how units are named in the text: by the short names of the file, or as everywhere."""
        short = self.given.get("units", {})
        if not isinstance(short, dict) or not all(isinstance(name, str) for name in short.values()):
            raise self.error("units", "units: must be a table of names")
        return lambda name: unit_named(short.get(name, name)).model

    def inputs(self) -> dict[str, tuple[AnyFormat, str]]:
        """Return the formats and axes of the inputs besides A, B and c, by their names."""
        given = self.given.get("inputs", {})
        if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
            raise self.error("inputs", 'inputs: must be a table of formats and axes: sa = "f32 A/128"')
        found = {}
        for name, text in given.items():
            fmt, *axes = text.split()
            if name in ("A", "B", "K", "c", "d", "t") or not name.isidentifier():
                raise self.error("inputs", f"input {name}: this name is taken, or is none")
            if len(axes) > 1 or (axes and not _AXES.fullmatch(axes[0])):
                raise self.error(
                    "inputs", f"input {name}: {text!r}: a format, and axes: A, A/32, a, B, B/32, b, t, tB, tK"
                )
            found[name] = (format_named(fmt), axes[0] if axes else "")
        return found

    def line_of_program(self, number: int) -> str:
        """Return the place of one of the program's lines."""
        file, _, start = self.at("program").rpartition(":")
        first = self.lines[int(start) - 1].partition("=")[2].strip() if file else ""
        opens = first in ('"""', "'''")  # TOML leaves out the line break after it
        return f"{file}:{int(start) + number - (not opens)}" if file else f"{self.path}, line {number}"


def _choices(text: str) -> dict[str, str]:
    choices = {}
    for option in filter(None, text.split(",")):
        name, equals, choice = option.partition("=")
        if not equals or not choice.strip():
            raise TcsmtError(f"{option!r}: must be FREEDOM=N, N counted from 0, INPUT=NUMBER or INPUT=NAME")
        choices[name.strip()] = choice.strip()
    return choices
