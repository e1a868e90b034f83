"""Groups of commands whose modules are imported when they are used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from tcsmt.support.errors import TcsmtError, UnknownName

__all__ = ["Lazy"]


class Lazy(click.Group):
    """Imports a command's module when the command is named; turns our errors into their exit codes.

    modules: the module of each command, in which it has its name.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, none imported."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module imported."""
        if cmd_name not in self.modules:
            return None
        command: click.Command = getattr(importlib.import_module(self.modules[cmd_name]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest commands where there is none of the name."""
        if args and args[0] not in self.modules and not args[0].startswith("-"):
            raise click.UsageError(str(UnknownName("command", args[0], self.modules, "tcsmt --help")), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command named."""
        try:
            return super().invoke(ctx)
        except TcsmtError as error:
            failure = click.ClickException(str(error))
            failure.exit_code = error.exit_code  # type: ignore[misc]
            raise failure from None
        except KeyboardInterrupt:  # called from Python; tcsmt.__main__ has handlers of its own
            raise click.exceptions.Exit(130) from None
