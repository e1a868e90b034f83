"""The command line: one module for each group of commands, imported when it is used."""

from __future__ import annotations

import click

from tcsmt import __version__
from tcsmt.cli.lazy import Lazy

__all__ = ["main"]

_COMMANDS = {
    "find": "ask",
    "properties": "show",
    "compare": "compare",
    "atlas": "atlas",
    "audit": "audit",
    "models": "show",
    "describe": "show",
    "claims": "claims",
    "explain": "picture",
    "run": "data",
    "gemm": "matrices",
    "probe": "hardware",
    "validate": "data",
    "identify": "identify",
    "accuracy": "accuracy",
    "reproduce": "papers",
    "export": "papers",
}


@click.group(
    cls=Lazy,
    modules={name: f"{__name__}.{module}" for name, module in _COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="tcsmt")
def main() -> None:
    """Formal models of GPU matrix units: find inputs that tell them apart, or prove there are none.

    Results go to standard output, everything else to standard error.
    """
