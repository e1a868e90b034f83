"""Other people's files as sides, by their suffixes: designs and C have a model, programs and answers do not.

What reads a file is imported when one is read.
"""

from __future__ import annotations

import os
from pathlib import Path

from tcsmt.interop.implementations.suffixes import BTOR2, RTL, C
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.resolve import ResolvedName, file_of, register_files, register_spelling
from tcsmt.support.files import COMPRESSED

#: Rows and results, and transcripts.
_RECORDED = (".json", ".jsonl", ".csv", ".npz", ".hex", ".mem")
#: With what a program begins: an executable of Linux, a script that names its interpreter.
_PROGRAMS = (b"\x7fELF", b"#!")


def is_design(text: str) -> bool:
    """Return whether a text is a file of a design or of C, by its suffix, perhaps with options."""
    return file_of(text).lower().endswith((*RTL, *BTOR2, *C))


def _design(text: str, like: Model | None) -> ResolvedName:
    from tcsmt.interop.implementations.designs import design_side

    return design_side(text, like=like)


def _whole_options(options: str) -> str:
    from tcsmt.interop.implementations.designs import whole_options

    return whole_options(options)


def _recorded(text: str, like: Model | None) -> ResolvedName:
    return _asked(
        text, f"recorded answers have no model: `tcsmt check UNIT --data {text}` compares them with a unit's"
    )


def _is_program(text: str) -> bool:
    if text.lower().endswith(".py"):
        return True
    if text.lower().endswith(".toml") or not os.path.isfile(text):
        return False
    with open(text, "rb") as file:
        return file.read(4).startswith(_PROGRAMS)


def _program(text: str, like: Model | None) -> ResolvedName:
    in_python = text.lower().endswith(".py")
    option = f"--python {Path(text).stem}:FUNCTION" if in_python else f"--command {text}"
    search = "`tcsmt.identify(FUNCTION, ...)` in Python" if in_python else f"`tcsmt identify {option}`"
    return _asked(
        text,
        f"a program can only be asked, it has no model: `tcsmt check UNIT {option}` compares its answers "
        f"with a unit's, and {search} looks for the unit",
    )


def _asked(text: str, questions: str) -> ResolvedName:
    return ResolvedName(text, (), questions=questions)


register_files((*RTL, *BTOR2, *C), _design, _whole_options)
register_files((*_RECORDED, *(suffix + COMPRESSED for suffix in _RECORDED)), _recorded)
register_spelling(_is_program, _program)
