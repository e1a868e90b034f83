"""Names that a command line needs beside calls and results: exit codes, errors, progress, files, tables,
counts.
"""

from __future__ import annotations

from tcsmt.support.errors import Exit, TcsmtError, UnknownName, choose
from tcsmt.support.files import make_folder, replace_bytes, replace_text
from tcsmt.support.floats import IeeeFloats
from tcsmt.support.interrupts import interrupted_once
from tcsmt.support.plots import require_matplotlib
from tcsmt.support.progress import ignore, no_progress, progress_bar, progress_line
from tcsmt.support.results import Result, columns, json_text
from tcsmt.support.text import counted
from tcsmt.support.version import __version__

__all__ = [
    "Exit",
    "IeeeFloats",
    "Result",
    "TcsmtError",
    "UnknownName",
    "__version__",
    "choose",
    "columns",
    "counted",
    "ignore",
    "interrupted_once",
    "json_text",
    "make_folder",
    "no_progress",
    "progress_bar",
    "progress_line",
    "replace_bytes",
    "replace_text",
    "require_matplotlib",
]
