"""What a command line needs beside calls and results: exit codes, errors, progress, files, counts."""

from __future__ import annotations

from tcsmt.support.errors import Exit, TcsmtError, UnknownName, choose
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.progress import shown, told, unseen
from tcsmt.support.text import agreeing, counted

__all__ = [
    "Exit",
    "TcsmtError",
    "UnknownName",
    "agreeing",
    "choose",
    "counted",
    "make_folder",
    "replace_text",
    "shown",
    "told",
    "unseen",
]
