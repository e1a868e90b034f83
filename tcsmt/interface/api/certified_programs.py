"""Statements of certificates about programs whose texts they have.

The checker proves a statement about graphs: units applied to terms. That these are the graphs of the programs
in a certificate is found here: each text is read again, and the whole question must be the same term.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.files.model_files import row_of_model
from tcsmt.matrix_units.models import Model
from tcsmt.programs.written.programs import program_of_file
from tcsmt.prove.certificates.files import model_in, model_name
from tcsmt.prove.certificates.parts import as_list, in_file, with_keys
from tcsmt.prove.certificates.statement import Statement, domain_of
from tcsmt.prove.engine.engine import question_of_models
from tcsmt.prove.statements.question import Question
from tcsmt.support.errors import Malformed, TcsmtError
from tcsmt.support.files import read_bytes

#: A file of a program with more bytes is refused.
_MOST = 1 << 24


@dataclass(frozen=True)
class StatedPrograms:
    """The programs that a statement names. files: of both. question: do they differ on its domain?"""

    files: tuple[str, str]
    question: Question

    def __str__(self) -> str:
        told = " and ".join(self.files)
        return f"on inputs that are {self.question.domain_text}, {told} give the same word"


def stated_programs(path: Path, statement: Statement) -> StatedPrograms | None:
    """Return what a statement's file says of programs; None where it names none.

    Raises :class:`.Malformed` for what cannot be read, and where the statement is not about them.
    """
    programs = statement.record.get("programs")
    if programs is None:
        return None
    with in_file(path):
        try:
            found = _read(path.parent.parent, programs)
        except Malformed:
            raise
        except (TcsmtError, OSError, TypeError, ValueError, LookupError) as why:
            raise Malformed(f"the programs cannot be read: {why}") from None
        if found.question.goal is not statement.goal:
            raise Malformed(f"the statement is not that {found}")
        return found


def _read(folder: Path, programs: Any) -> StatedPrograms:
    with_keys("programs", programs, ("sides", "domain", "k"))
    length, sides = programs["k"], as_list(programs["sides"])
    if type(length) is not int or len(sides) != 2:
        raise Malformed("programs: k is a number, and there are two sides")
    left, right = (_side(folder, side) for side in sides)
    question = question_of_models(left, right, domain_of(programs["domain"]), k=length)
    return StatedPrograms((left[0], right[0]), question)


def _side(folder: Path, side: Mapping[str, Any]) -> tuple[str, Model]:
    """Return a unit, or a program at its K, with its file."""
    if "model" in with_keys("a side", side, (), ("model", "program", "k")):
        return f"models/{side['model']}", model_in(folder, side["model"])
    with_keys("a side", side, ("program", "k"))
    name, length = side["program"], side["k"]
    if not isinstance(name, str) or not re.fullmatch(r"[0-9a-f]{16}\.toml", name) or type(length) is not int:
        raise Malformed(f"{name!r:.80} at K = {length!r:.80} is not a program")
    path = folder / "programs" / name
    content = read_bytes(path, _MOST)
    if model_name(content) != name:
        raise Malformed(f"{path}: its content is not the one that its name says")
    text = content.decode("utf-8", "surrogateescape")
    row = program_of_file(path, text, "", length, lambda unit: row_of_model(model_in(folder, unit)))
    return f"programs/{name}@{length}", row.model
