"""Programs in files: TOML files with the formats of the inputs and the text of the steps.

    a_format = "f16"
    b_format = "f16"
    program = '''
    for P in blocks(K, 32):
        s[P] = chain(h100/m16n8k16.f32.f16, A·B over P, +0)
    d = sum(s, order, f32)
    '''

``c_format`` is binary32 unless the file says so. ``[units]`` gives units short names. ``nan`` says which
words NaN results have outside of the units (:class:`.NanWords`; unknown without it). ``title``, ``source``
and ``note`` say what it is. As a unit, a program has its K at the end of its name, and the chosen
alternatives of its freedoms before it: ``FILE.toml,contraction=1@64``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.nan_words import UNKNOWN, NanWords
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.units import ieee_rows
from tcsmt.programs.steps.digest import digest
from tcsmt.programs.steps.model import UNKNOWN_NANS, ProgramModel
from tcsmt.programs.steps.program import UnitProgram
from tcsmt.programs.steps.text import text_of
from tcsmt.programs.written.grammar import program_of
from tcsmt.simulate.matmul import check_chain
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.text import one_line
from tcsmt.support.toml_files import TomlFile, read_toml

_NAME = re.compile(r"(?P<file>.*\.toml)(?P<choices>(?:,[^,@]*)*)@(?P<k>\d+)", re.IGNORECASE)
_FORMATS = ("a_format", "b_format", "c_format")
_KEYS = (*_FORMATS, "nan", "note", "program", "source", "title", "units")


@dataclass(frozen=True, kw_only=True)
class WrittenProgram(ProgramModel):
    """A program that was written down, at one K.

    identity: the digest of its steps, by which two are the same. nans: of operations outside of the units.
    """

    kind: ClassVar[str] = "program"
    title: ClassVar[str] = "a program on matrix units"
    identity: str
    steps: UnitProgram = field(compare=False)
    nan: NanWords = UNKNOWN

    def validate(self) -> None:
        """Refuse chains that a unit cannot make."""
        for chain in self.steps.chains:
            unit: Model = chain.how["unit"]
            count = sum(-(-len(run.indices) // unit.k) for run in chain.how["runs"])
            check_chain(unit, count * unit.k)
            if unit.scale_format is not None:
                raise TcsmtError("a program as a model takes no block scales")

    @property
    def program(self) -> UnitProgram:
        """Return its steps."""
        return self.steps

    @property
    def nans(self) -> NanWords:
        """Return which words NaN results have outside of the units."""
        return self.nan

    def as_json(self) -> dict[str, Any]:
        """Return what identifies it as plain values."""
        formats = {name: getattr(self, name).name for name in (*_FORMATS, "d_format")}
        return {"kind": self.kind, "steps": self.identity, "nan": str(self.nan), **formats, "k": self.k}


def program_row(text: str, unit_named: Callable[[str], Row]) -> Row:
    """Return the program ``FILE.toml[,FREEDOM=N...]@K`` as a row. unit_named: the row of a unit's name.

    Raises :class:`.TcsmtError`, which names the file and the line.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise TcsmtError(f"{text!r}: a program as a unit needs its K at the end: FILE.toml@64")
    path = Path(match["file"])
    return _File(path, *read_toml(path)).row(match["choices"], int(match["k"]), unit_named)


def lines_of(program: UnitProgram) -> list[str]:
    """Return the lines of a program's text, with the catalogue's names of its units."""
    return text_of(program, _name_of).splitlines()


@cache
def _name_of(unit: Model) -> str:
    named = (row.name for row in (*rows(claims=False), *ieee_rows()) if row.model == unit)
    return next(named, "UNIT")


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
        steps = program_of(
            text, k, {"A": formats["a_format"], "B": formats["b_format"], "c": formats["c_format"]},
            self.units(unit_named), _choices(choices), self.line_of_program,
        )  # fmt: skip
        nan = NanWords.named(self.text("nan")) if "nan" in self.given else UNKNOWN
        model = WrittenProgram(
            **formats, d_format=steps.result.format, k=k, identity=digest(steps), steps=steps, nan=nan
        )
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

    def line_of_program(self, number: int) -> str:
        """Return the place of one of the program's lines."""
        file, _, start = self.at("program").rpartition(":")
        first = self.lines[int(start) - 1].partition("=")[2].strip() if file else ""
        opens = first in ('"""', "'''")  # TOML leaves out the line break after it
        return f"{file}:{int(start) + number - (not opens)}" if file else f"{self.path}, line {number}"


def _choices(text: str) -> dict[str, int]:
    choices = {}
    for option in filter(None, text.split(",")):
        name, equals, number = option.partition("=")
        if not equals or not number.isdecimal():
            raise TcsmtError(f"{option!r}: must be FREEDOM=N, N counted from 0")
        choices[name.strip()] = int(number)
    return choices
