"""JSON on standard output: every document is an object that says which version wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from tcsmt.support.version import __version__

__all__ = ["echo_json", "json_text"]


def json_text(data: Mapping[str, Any]) -> str:
    """The object as JSON, its version first."""
    return json.dumps({"tcsmt": __version__, **data}, indent=1, ensure_ascii=False)


def echo_json(data: Mapping[str, Any]) -> None:
    """Print the object as JSON, its version first."""
    click.echo(json_text(data))
