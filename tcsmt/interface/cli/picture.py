"""Pictures on the command line: their options, vectors as text, and where a picture goes; numbers that are
rounded to the nearest value of a format, which is said on standard error.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcsmt.interface.api.terminal import Result, TcsmtError, choose, counted, replace_text
from tcsmt.interface.cli.printing import json_text

if TYPE_CHECKING:
    from tcsmt.interface.api.pictures import Explanation

_FORMATS: dict[str, Callable[[Explanation], str]] = {
    "text": lambda picture: picture.as_text() + "\n",
    "svg": lambda picture: picture.as_svg(),
    "html": lambda picture: picture.as_html(),
}
_SUFFIXES = {".txt": "text", ".svg": "svg", ".html": "html"}


def picture_options(command: Any) -> Any:
    """Return how a picture is shown: ``form`` and ``output`` for :func:`show_picture`."""
    for option in (
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


_MOST = 5


class RoundedInputs:
    """Called with what became of each number that its format does not hold; the first few are shown."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, said: str) -> None:
        """What became of one number."""
        self.said.append(said)
        if len(self.said) <= _MOST:
            click.echo(said, err=True)

    def finish(self) -> None:
        """Say how many more there were."""
        if len(self.said) > _MOST:
            more = len(self.said) - _MOST
            click.echo(f"and {counted(more, 'more value')} rounded to nearest", err=True)


@contextmanager
def vector_option() -> Iterator[Callable[[str], None]]:
    """Yield the callback of a call that takes ``--vector``: for what was rounded; errors name the option."""
    from tcsmt.interface.api.pictures import VectorError

    rounded = RoundedInputs()
    try:
        yield lambda text: rounded(f"--vector: {text}")
    except VectorError as error:
        raise TcsmtError(f"--vector: {error}") from None
    except TcsmtError:
        rounded.finish()
        raise
    rounded.finish()
