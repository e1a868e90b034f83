"""What ``--dump-smt`` has written, on standard error."""

from __future__ import annotations

import click

from tcsmt.prove.engine.dumping import Dump
from tcsmt.support.text import counted

__all__ = ["say_dumped"]


def say_dumped(dump: Dump | None) -> None:
    """Say how many scripts were written and where, or that there was nothing to write."""
    if dump is None:
        return
    paths = dump.written
    if not paths:
        click.echo("--dump-smt: nothing to write: every question was answered without a solver", err=True)
        return
    last = f" to {paths[-1].name}" if len(paths) > 1 else ""
    scripts = counted(len(paths), "script")
    click.echo(f"--dump-smt: {scripts}: {paths[0]}{last}", err=True)
