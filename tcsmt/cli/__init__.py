"""The command line: one module for each group of commands, imported when it is used."""

from __future__ import annotations

import importlib

import click

from tcsmt import __version__
from tcsmt.errors import TcsmtError

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


class _Lazy(click.Group):
    """Imports a command's module when the command is named; turns our errors into exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"tcsmt.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from tcsmt.errors import UnknownName

            raise click.UsageError(str(UnknownName("command", args[0], _COMMANDS)), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except TcsmtError as error:
            failure = click.ClickException(str(error))
            failure.exit_code = 2  # type: ignore[misc]
            raise failure from None
        except KeyboardInterrupt:  # called from Python; tcsmt.__main__ has handlers of its own
            raise click.exceptions.Exit(130) from None


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tcsmt")
def main() -> None:
    """Formal models of GPU matrix units: find inputs that tell them apart, or prove there are none.

    Results go to standard output, everything else to standard error.
    """
