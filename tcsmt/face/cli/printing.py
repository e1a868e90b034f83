"""Results and JSON on standard output; every JSON document is an object that says which version wrote it."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from tcsmt.face.api.terminal import Result, json_text

__all__ = ["answer", "echo_json", "json_text", "show"]


def echo_json(data: dict[str, Any]) -> None:
    """Print the object as JSON, its version first."""
    click.echo(json_text(data))


def show(result: Result, *, as_json: bool, text: str | None = None, links: Result | None = None) -> None:
    """Print a result: its JSON, or its text where it has any. text: in place of what ``str`` gives.

    links: to it, which come last.
    """
    if as_json:
        echo_json(result.as_json() | ({} if links is None else links.as_json()))
        return
    for part in (str(result) if text is None else text, "" if links is None else str(links)):
        if part:
            click.echo(part)


def answer(
    result: Result, *, as_json: bool, text: str | None = None, links: Result | None = None
) -> NoReturn:
    """Print a result, and exit with what it answers; links: to it."""
    show(result, as_json=as_json, text=text, links=links)
    sys.exit(result.exit_code)
