"""The message about files that ``--dump-smt`` has written, on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.terminal import counted

__all__ = ["say_dumped"]


def say_dumped(options: SolvingOptions, paths: Sequence[Path]) -> None:
    """Say how many scripts were written and where, or that there was nothing to write."""
    if options.dump_smt is None:
        return
    if not paths:
        click.echo("--dump-smt: nothing to write: every question was answered without a solver", err=True)
        return
    last = f" to {paths[-1].name}" if len(paths) > 1 else ""
    scripts = counted(len(paths), "script")
    click.echo(f"--dump-smt: {scripts}: {paths[0]}{last}", err=True)
