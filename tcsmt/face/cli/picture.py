"""Pictures on the command line: their options, vectors as text, and where a picture goes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.pictures import Explanation
from tcsmt.face.api.terminal import Result, choose, replace_text
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import json_text

_FORMATS: dict[str, Callable[[Explanation], str]] = {
    "text": lambda picture: picture.as_text() + "\n",
    "svg": Explanation.as_svg,
    "html": Explanation.as_html,
}
_SUFFIXES = {".txt": "text", ".svg": "svg", ".html": "html"}


def picture_options(command: Any) -> Any:
    """Return how a picture is shown: ``form``, ``output`` and ``as_json`` for :func:`show_picture`."""
    for option in (
        options.as_json,
        click.option("--output", type=click.Path(path_type=Path), help="Write the picture here."),
        click.option(
            "--format",
            "form",
            type=click.Choice(list(_FORMATS)),
            help="Output format.  [default: by the suffix of --output, else text]",
        ),
    ):
        command = option(command)
    return command


def show_picture(
    picture: Explanation,
    form: str | None,
    output: Path | None,
    *,
    as_json: bool,
    links: Result | None = None,
) -> None:
    """Print the picture, or write it where there is an ``output``; links: to it, which come last."""
    if as_json:
        text = json_text(picture.as_json() | ({} if links is None else links.as_json())) + "\n"
    elif form is None and output is None and sys.stdout.isatty():
        width = min(160, max(80, shutil.get_terminal_size().columns - 1))
        text = picture.as_text(width, colour=not os.environ.get("NO_COLOR")) + "\n"
    else:
        text = _FORMATS[form or form_of(output)](picture)
    if output is not None:
        replace_text(output, text)
    else:
        click.echo(text, nl=False)
    if links is not None and not as_json and str(links):
        click.echo(links)


def form_of(output: Path | None) -> str:
    """Return the format that a file's suffix says; text where there is no file."""
    return (
        _SUFFIXES[choose("suffix of a picture", output.suffix, _SUFFIXES)] if output is not None else "text"
    )
