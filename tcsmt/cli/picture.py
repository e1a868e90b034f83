"""Pictures on the command line: their options, vectors as text, and where a picture goes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import click

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.words import to_word
from tcsmt.cli import options
from tcsmt.cli.rounded import RoundedInputs
from tcsmt.models import Model
from tcsmt.pictures.drawing import Sheet
from tcsmt.pictures.html import as_html
from tcsmt.pictures.svg import as_svg
from tcsmt.pictures.text import as_text
from tcsmt.support.errors import TcsmtError, UnknownName, choose
from tcsmt.support.files import replace_text

_WIDTH = 110
_FORMATS: dict[str, Callable[[Sheet], str]] = {
    "text": lambda sheet: as_text(sheet, _WIDTH) + "\n",
    "svg": as_svg,
    "html": as_html,
}
_SUFFIXES = {".txt": "text", ".svg": "svg", ".html": "html"}


def picture_options(command: Any) -> Any:
    """How a picture is shown: ``form``, ``output`` and ``as_json`` for :func:`show_sheet`."""
    for option in (
        options.as_json,
        click.option("--output", type=click.Path(path_type=Path), help="Write the picture here."),
        click.option(
            "--format", "form", type=click.Choice(list(_FORMATS)), help="By --output's suffix, or text."
        ),
    ):
        command = option(command)
    return command


def show_sheet(sheet: Sheet, form: str | None, output: Path | None, *, as_json: bool) -> None:
    """Print the sheet, or write it where there is an ``output``."""
    if as_json:
        pictures = [picture.as_json() for picture in sheet.pictures]
        data = {"pictures": pictures, "difference": sheet.difference or None}
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    elif form is None and output is None and sys.stdout.isatty():
        width = min(160, max(80, shutil.get_terminal_size().columns - 1))
        text = as_text(sheet, width, colour=not os.environ.get("NO_COLOR")) + "\n"
    else:
        text = _FORMATS[form or form_of(output)](sheet)
    if output is not None:
        replace_text(output, text)
    else:
        click.echo(text, nl=False)


def form_of(output: Path | None) -> str:
    """The format that a file's suffix says; text where there is no file."""
    return (
        _SUFFIXES[choose("suffix of a picture", output.suffix, _SUFFIXES)] if output is not None else "text"
    )


def vector_of(text: str, model: Model) -> dict[str, int]:
    """The words of a model's inputs, by name, from ``a0=1.5 b0=0x3e00``.

    A decimal number that the format does not hold is its nearest value, which is said.
    """
    formats = model.input_formats
    values: dict[str, int] = {}
    rounded = RoundedInputs()
    if not text.strip(" ,"):
        first = next(iter(formats))
        raise TcsmtError(
            f"--vector names no input; give at least one, such as {first}=1.5 (zeros: {first}=0)"
        )
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        if not equals:
            raise TcsmtError(f"--vector: {part!r} is not of the form a0=1.5")
        if name not in formats:
            raise UnknownName("input in --vector", name, formats)
        if name in values:
            raise TcsmtError(f"--vector: {name} is given twice")
        try:
            values[name] = to_word(formats[name], value, partial(_told, rounded, name))
        except TcsmtError as error:
            raise TcsmtError(f"--vector: {name}: {error}") from None
    rounded.finish()
    return {name: neutral(name, fmt) for name, fmt in formats.items()} | values


def _told(rounded: RoundedInputs, name: str, said: str) -> None:
    rounded(f"--vector: {name}: {said}")


def neutral(name: str, fmt: Format) -> int:
    """What an input that is not named holds: 0, or 1 where it is a block scale."""
    return fmt.word(Fraction(1)) if name.startswith("s") else 0
