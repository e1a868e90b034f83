"""Names of kernels and of IEEE operations: how :func:`.resolve` reads them."""

from __future__ import annotations

import re

from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.resolve import ResolvedName, file_of, register_spelling, resolve
from tcsmt.programs.kernels.model import unit_of_kernel
from tcsmt.programs.kernels.units import ARCHITECTURE, ieee_rows, ieee_unit

_PROGRAM = re.compile(r".*\.toml(,[^,@]*)*@\d+", re.IGNORECASE)


def is_kernel(text: str) -> bool:
    """Return whether a text is ``UNIT+REDUCTION...``; a plus in the path of a file does not count."""
    return "+" in text[len(file_of(text)) :]


def _kernel(text: str, like: Model | None) -> ResolvedName:
    return ResolvedName.of_row(unit_of_kernel(text, lambda unit: resolve(unit, like).row), text)


def is_program(text: str) -> bool:
    """Return whether a text is ``FILE.toml[,FREEDOM=N...]@K``, a program at one K, or a compiled kernel."""
    from tcsmt.programs.written.programs import is_compiled  # slow to import

    return _is_written(text) or is_compiled(text)


def _is_written(text: str) -> bool:
    return _PROGRAM.fullmatch(text) is not None


def _program(text: str, like: Model | None) -> ResolvedName:
    from tcsmt.programs.written.programs import program_row  # slow to import

    return ResolvedName.of_row(program_row(text, lambda unit: resolve(unit).row), text)


def _is_ieee(text: str) -> bool:
    return text.partition("/")[0] == ARCHITECTURE


def _ieee(text: str, like: Model | None) -> ResolvedName:
    if text == ARCHITECTURE:
        return ResolvedName(text, ieee_rows(), listed=True)
    return ResolvedName.of_row(ieee_unit(text), text)


register_spelling(is_kernel, _kernel)
register_spelling(_is_written, _program)
register_spelling(_is_ieee, _ieee)
