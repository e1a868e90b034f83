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


def show(result: Result, *, as_json: bool, text: str | None = None) -> None:
    """Print a result: its JSON, or its text where it has any. text: in place of what ``str`` gives."""
    if as_json:
        echo_json(result.as_json())
    elif text := str(result) if text is None else text:
        click.echo(text)


def answer(result: Result, *, as_json: bool, text: str | None = None) -> NoReturn:
    """Print a result, and exit with what it answers."""
    show(result, as_json=as_json, text=text)
    sys.exit(result.exit_code)
