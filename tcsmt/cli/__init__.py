"""The command line: one module for each command, of its name, imported when it is used."""

from __future__ import annotations

import click

from tcsmt import __version__
from tcsmt.cli.lazy import Lazy

__all__ = ["main"]

_COMMANDS = (
    "find", "properties", "compare", "atlas", "audit", "models", "describe", "claims", "explain", "run",
    "gemm", "probe", "validate", "identify", "accuracy", "reproduce", "export",
)  # fmt: skip


@click.group(
    cls=Lazy,
    modules={name: f"{__name__}.{name}" for name in _COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="tcsmt")
def main() -> None:
    """Formal models of GPU matrix units: find inputs that tell them apart, or prove there are none.

    Results go to standard output, everything else to standard error.
    """
